package validate

import "iter"

// Members returns the declared names of the members that a document has at its root, in the schema's order, each once.
// The document must be one that passed [Schema.Check]; of another the answer means nothing. What it returns is not to be
// changed. Where every declared member is required it does not look at the document.
func (s *Schema) Members(doc []byte) []string {
	root := s.root.follow()
	if len(root.properties) == len(root.required) && root.union == nil {
		return s.members
	}
	present := make([]bool, len(root.properties))
	for name := range rootNames(doc) {
		if k, ok := root.index[name]; ok {
			present[k] = true
		}
	}
	var names []string
	for k, p := range root.properties {
		if present[k] {
			names = append(names, p.name)
		}
	}
	return names
}

// declaredMembers are the names that the root declares.
func declaredMembers(root *node) []string {
	properties := root.follow().properties
	names := make([]string, len(properties))
	for i, p := range properties {
		names[i] = p.name
	}
	return names
}

// rootNames yields the names at the root of a valid document.
func rootNames(doc []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		i := space(doc, 0)
		if i >= len(doc) || doc[i] != '{' {
			return
		}
		for i = space(doc, i+1); i < len(doc) && doc[i] == '"'; i = space(doc, i+1) {
			end := stringEnd(doc, i)
			if !yield(plain(doc[i+1 : end-1])) {
				return
			}
			if i = colon(doc, end); i < 0 {
				return
			}
			if i = space(doc, valueEnd(doc, i)); i >= len(doc) || doc[i] != ',' {
				return
			}
		}
	}
}
