package validate

import "reflect"

// Accepts is the scan's word alone.
func (s *Schema) Accepts(doc []byte, l Limits) bool {
	return s.fast != nil && accepts(s.fast, doc, l.filled())
}

// Explains is the slower pass alone: the reference of the scan.
func (s *Schema) Explains(doc []byte, l Limits) bool {
	v, fault := read(doc, l)
	return fault == nil && len(explain(s.root, &v)) == 0
}

// ScanParses is the scan's word about the grammar and the limits.
func ScanParses(doc []byte, l Limits) bool { return accepts(anything, doc, l.filled()) }

// ReaderParses is the slower pass's.
func ReaderParses(doc []byte, l Limits) bool {
	_, fault := read(doc, l)
	return fault == nil
}

// CompileAny makes a schema without this library's own rules (closed, bounded): for the official suite, whose schemas
// are mostly open.
func CompileAny(doc []byte) (*Schema, error) {
	root, raw, err := load(doc)
	if err != nil {
		return nil, err
	}
	return finish(root, raw, options{})
}

// Pattern matches a text by the automaton and by the byte loops; those say false for have when they do not know the
// pattern.
func Pattern(source, text string) (automaton, loops, haveLoops bool, err error) {
	p, err := compilePattern(source)
	if err != nil {
		return
	}
	automaton = p.match([]byte(text))
	if haveLoops = p.loops != nil; haveLoops {
		loops = p.loops.quoted([]byte(text+`"`), 0) == len(text)
	}
	return
}

// Matches matches texts by one pattern.
func Matches(source string, texts []string) (found []bool, err error) {
	p, err := compilePattern(source)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		found = append(found, p.match([]byte(text)))
	}
	return found, nil
}

// Derive derives a type that is made at run time, which [For] cannot be asked for.
func Derive(t reflect.Type) ([]byte, error) { return derive(t) }

// Narrow reports whether a pattern leaves no free text.
func Narrow(source string) (bool, error) {
	p, err := compilePattern(source)
	if err != nil {
		return false, err
	}
	return p.fast.narrow(), nil
}
