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
	Untrusted bool         // a string that may be free text, by the rule of the package's comment, or one that is declared untrusted
	Keys      bool         // a map whose keys may be free text by the same rule
	Lint      string       // the reason given in the lint tag
	Narrowed  bool         // enum, const, format or a pattern says what it may be; not a pattern that takes JSON, XML, SQL or prose
	MaxLength int          // in code points; -1: no bound of its own
	Optional  bool         // its object may be without it
}

// Fields lists the places of the schema in its order, each once, without the document itself; a recursive type is entered
// once.
func (s *Schema) Fields() []Field {
	out, _ := s.places()
	return slices.DeleteFunc(out, func(f Field) bool { return f.Path == "" })
}

// cut is where a type begins again within itself.
type cut struct{ path, first string }

// places lists the document, whose path is "", and what is in it, and where the list was cut.
func (s *Schema) places() ([]Field, []cut) {
	var out []Field
	at := map[string]int{}
	w := list(s.root)
	for _, f := range w.out {
		field := Field{
			Path: f.path, Types: f.node.follow().types.String(), Class: f.node.class, Untrusted: f.untrusted(), Keys: f.keys, Lint: f.node.lint,
			Narrowed: f.narrowed(), MaxLength: f.node.follow().maxLength, Optional: f.optional,
		}
		i, ok := at[f.path]
		if !ok {
			at[f.path] = len(out)
			out = append(out, field)
			continue
		}
		out[i].Untrusted = out[i].Untrusted || field.Untrusted
		out[i].Keys = out[i].Keys || field.Keys
		out[i].Narrowed = out[i].Narrowed && field.Narrowed
		out[i].MaxLength = max(out[i].MaxLength, field.MaxLength)
		if c := field.Class; c != redact.ClassUnset && (out[i].Class == redact.ClassUnset || c < out[i].Class) {
			out[i].Class = c // of two branches the stricter: the classes count upwards from secret
		}
	}
	return out, w.cuts
}

// Untrusted lists the places that may hold free text, which comes from outside and must not be obeyed, in the order of the
// schema and each once:
//
//	note         a string
//	lines[].sku  a string in every item of a list
//	pair[1]      a string at one place of a list whose places differ
//	labels{}     the values of a map, whatever their keys
//	labels       the keys of a map; where a string may stand there instead, that too
//	children[]   where a type begins again within itself: all that is there and below
//
// The document itself is "", so that the keys of one that is a map are "" and its values "{}". What is free text is said in
// the package's comment. Keys count as the map's values do: a tag on the map is for both.
func (s *Schema) Untrusted() []string {
	return s.where(func(f Field) []string {
		if f.Untrusted || f.Keys {
			return []string{f.Path}
		}
		return nil
	})
}

// Hidden lists the places whose values a recording must not keep: secret, internal and personal ones, and free text. Of a
// map whose keys may be free text it lists the entries: "labels{}".
func (s *Schema) Hidden() []string {
	return s.where(func(f Field) (hidden []string) {
		switch f.Class {
		case redact.ClassSecret, redact.ClassInternal, redact.ClassPersonal, redact.ClassUntrusted:
			hidden = append(hidden, f.Path)
		case redact.ClassUnset, redact.ClassTrusted:
			if f.Untrusted {
				hidden = append(hidden, f.Path)
			}
		}
		if f.Keys {
			hidden = append(hidden, f.Path+"{}")
		}
		return hidden
	})
}

// where lists the places that pick names, each once, and those where a type that holds such a place begins again.
func (s *Schema) where(pick func(Field) []string) (out []string) {
	add := func(path string) {
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	fields, cuts := s.places()
	for _, f := range fields {
		for _, path := range pick(f) {
			add(path)
		}
	}
	for again := true; again; { // a type that begins again may hold another one that does
		before := len(out)
		for _, c := range cuts {
			if slices.ContainsFunc(out, func(path string) bool { return below(path, c.first) }) {
				add(c.path)
			}
		}
		again = len(out) > before
	}
	return out
}

// below reports whether a place is the other one or below it.
func below(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (other == "" || rest == "" || strings.IndexByte(".[{", rest[0]) >= 0)
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
	path   string
	node   *node
	owner  *node // the field that carries the tags: items belong to their array
	narrow bool  // what else applies to the place leaves no free text
	keys   bool  // of a map: its keys may be free text

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
	return n.types.has(stringType) && !f.narrow && !n.narrow()
}

// list walks the places of a schema.
func list(root *node) walker {
	w := walker{}
	w.walk(root, root, "", map[*node]string{})
	return w
}

type walker struct {
	out  []listed
	cuts []cut
}

func (w *walker) walk(n, owner *node, path string, open map[*node]string) {
	subs := spread([]*node{n})
	narrow := n.narrow()
	w.out = append(w.out, listed{path: path, node: n, owner: owner, narrow: narrow, keys: freeKeys(n, owner, subs)})
	for _, sub := range subs {
		if first, ok := open[sub]; ok {
			if first != path {
				w.cuts = append(w.cuts, cut{path, first})
			}
			continue
		}
		open[sub] = path
		if sub != n && sub.types.has(stringType) {
			w.out = append(w.out, listed{path: path, node: sub, owner: owner, narrow: narrow})
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
