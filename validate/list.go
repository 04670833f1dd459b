package validate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
)

// Field describes one place of a schema, for data maps and redaction.
type Field struct {
	Path      string       // "destination.country", "lines[].sku", "labels{}"; a union's branches share their places
	Types     string       // JSON Schema types, joined by "|"
	Class     redact.Class // of branches that share the place, the strictest
	Untrusted bool         // free text: a string without enum, const, pattern or format that is not declared trusted, or one that is declared untrusted
	Lint      string       // the reason given in the lint tag
	Narrowed  bool         // enum, const, format or a pattern says what it may be; not a pattern that takes JSON, XML, SQL or prose
	MaxLength int          // in code points; -1: no bound of its own
	Optional  bool         // its object may be without it
}

// Fields lists the places of the schema in its order, each once; a recursive type is entered once.
func (s *Schema) Fields() []Field {
	var out []Field
	at := map[string]int{}
	for _, f := range list(s.root) {
		field := Field{
			Path: f.path, Types: f.node.follow().types.String(), Class: f.node.class, Untrusted: f.untrusted(), Lint: f.node.lint,
			Narrowed: f.narrowed(), MaxLength: f.node.follow().maxLength, Optional: f.optional,
		}
		i, ok := at[f.path]
		if !ok {
			at[f.path] = len(out)
			out = append(out, field)
			continue
		}
		out[i].Untrusted = out[i].Untrusted || field.Untrusted
		out[i].Narrowed = out[i].Narrowed && field.Narrowed
		out[i].MaxLength = max(out[i].MaxLength, field.MaxLength)
		if c := field.Class; c != redact.ClassUnset && (out[i].Class == redact.ClassUnset || c < out[i].Class) {
			out[i].Class = c // of two branches the stricter: the classes count upwards from secret
		}
	}
	return out
}

// Untrusted lists the places that hold free text, which comes from outside and must not be obeyed.
func (s *Schema) Untrusted() []string {
	var out []string
	for _, f := range s.Fields() {
		if f.Untrusted {
			out = append(out, f.Path)
		}
	}
	return out
}

// Hidden lists the places whose values a recording must not keep: secret, internal and personal ones, and free text.
func (s *Schema) Hidden() []string {
	var out []string
	for _, f := range s.Fields() {
		switch f.Class {
		case redact.ClassSecret, redact.ClassInternal, redact.ClassPersonal, redact.ClassUntrusted:
			out = append(out, f.Path)
		case redact.ClassUnset, redact.ClassTrusted:
			if f.Untrusted {
				out = append(out, f.Path)
			}
		}
	}
	return out
}

// Declared cuts a field path of an error back to what the schema declares: names that the sender chose, keys of maps
// among them, are dropped, and what follows them; so is what stands in brackets and is no index.
func (s *Schema) Declared(field string) string {
	at := []*node{s.root}
	end := 0
	for pos := 0; pos < len(field); {
		rest := field[pos:]
		if rest[0] == '[' {
			bracket := strings.IndexByte(rest, ']')
			if bracket < 2 || strings.Trim(rest[1:bracket], "0123456789") != "" { // an index, or a text that somebody made up
				break
			}
			if at = items(at); len(at) == 0 {
				break
			}
			pos += bracket + 1
			end = pos
			continue
		}
		rest = strings.TrimPrefix(rest, ".")
		name := rest
		if i := strings.IndexAny(rest, ".["); i >= 0 {
			name = rest[:i]
		}
		if at = members(at, name); len(at) == 0 {
			break
		}
		pos = len(field) - len(rest) + len(name)
		end = pos
	}
	return field[:end]
}

// members returns the schemas that may stand for the declared member of that name.
func members(at []*node, name string) (out []*node) {
	for _, n := range spread(at) {
		if p := n.property(name); p != nil {
			out = append(out, p)
		}
	}
	return out
}

func items(at []*node) (out []*node) {
	for _, n := range spread(at) {
		if n.items != nil {
			out = append(out, n.items)
		}
		out = append(out, n.prefix...)
	}
	return out
}

// spread returns the nodes and all that apply to the same value.
func spread(at []*node) []*node {
	seen := map[*node]bool{}
	var out []*node
	var add func(n *node)
	add = func(n *node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		out = append(out, n)
		for _, sub := range n.sameValue() {
			add(sub)
		}
	}
	for _, n := range at {
		add(n)
	}
	return out
}

// listed is one place of a schema.
type listed struct {
	path  string
	node  *node
	owner *node // the field that carries the tags: items belong to their array

	optional bool
}

// narrowed reports whether a string may not be just any text.
func (f listed) narrowed() bool {
	n := f.node.follow()
	switch {
	case n.constant != nil, n.enum != nil, n.format != noFormat:
		return true
	case n.pattern == nil:
		return false
	}
	for _, text := range [...]string{`{"a":["b",1]}`, `<a b="c">d</a>`, `SELECT * FROM t WHERE a = 'b'`, "Anything, and more of it."} {
		if n.pattern.match([]byte(text)) {
			return false
		}
	}
	return true
}

func (f listed) untrusted() bool {
	n := f.node.follow()
	switch f.owner.class {
	case redact.ClassTrusted:
		return false
	case redact.ClassUntrusted:
		return n.types.has(stringType)
	case redact.ClassUnset, redact.ClassSecret, redact.ClassInternal, redact.ClassPersonal:
	}
	return n.types.has(stringType) && n.constant == nil && n.enum == nil && n.pattern == nil && n.format == noFormat
}

// list walks the places of a schema.
func list(root *node) []listed {
	w := walker{}
	w.walk(root, root, "", map[*node]bool{})
	return w.out
}

type walker struct{ out []listed }

func (w *walker) walk(n, owner *node, path string, open map[*node]bool) {
	if path != "" {
		w.out = append(w.out, listed{path: path, node: n, owner: owner})
	}
	for _, sub := range spread([]*node{n}) {
		if open[sub] {
			continue
		}
		open[sub] = true
		if sub != n && path != "" && sub.types.has(stringType) {
			w.out = append(w.out, listed{path: path, node: sub, owner: owner})
		}
		for _, p := range sub.properties {
			at := len(w.out)
			w.walk(p.node, p.node, envelope.Member(path, p.name), open)
			w.out[at].optional = !slices.Contains(sub.required, p.name)
		}
		for i, p := range sub.prefix {
			w.walk(p, owner, path+"["+strconv.Itoa(i)+"]", open)
		}
		for _, elem := range []*node{sub.items, sub.unevaluatedItems} {
			if elem != nil && elem.verdict == nil {
				w.walk(elem, owner, path+"[]", open)
			}
		}
		for _, p := range sub.patterns {
			w.walk(p.node, owner, path+"{}", open)
		}
		for _, elem := range []*node{sub.additional, sub.unevaluatedProperties} {
			if elem != nil && elem.verdict == nil {
				w.walk(elem, owner, path+"{}", open)
			}
		}
		delete(open, sub)
	}
}

func (t types) String() string {
	var names []string
	for _, tn := range typeNames {
		if t.has(tn.bit) {
			names = append(names, tn.name)
		}
	}
	return strings.Join(names, "|")
}
