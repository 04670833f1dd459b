package validate

import (
	"encoding/json/jsontext"
	"strings"
)

// dialectWriter writes a schema for a validator that takes patterns as RE2 reads them: in place of a dot stands what it
// means in both dialects.
type dialectWriter struct {
	nodes map[*value]*node
	names bool // the patterns of patternProperties too: not where a reference leads through one
}

func newDialectWriter(root *node) *dialectWriter {
	w := &dialectWriter{nodes: map[*value]*node{}, names: true}
	w.visit(root)
	return w
}

func (w *dialectWriter) visit(n *node) {
	if n == nil || n.source == nil || w.nodes[n.source] != nil {
		return
	}
	w.nodes[n.source] = n
	if strings.Contains(n.refName, "/patternProperties/") {
		w.names = false
	}
	list := append(append(n.sameValue(), n.prefix...), n.items, n.contains, n.unevaluatedItems, n.additional, n.propertyNames, n.unevaluatedProperties)
	for _, p := range n.properties {
		list = append(list, p.node)
	}
	for _, p := range n.patterns {
		list = append(list, p.node)
	}
	for _, sub := range list {
		w.visit(sub)
	}
}

// schema appends the value, which may be a schema or anything within one.
func (w *dialectWriter) schema(out []byte, v *value) []byte {
	n := w.nodes[v]
	switch {
	case v == nil:
		return append(out, "true"...)
	case v.kind == arrayKind:
		out = append(out, '[')
		for i := range v.elems {
			if i > 0 {
				out = append(out, ',')
			}
			out = w.schema(out, &v.elems[i])
		}
		return append(out, ']')
	case v.kind != objectKind:
		return append(out, v.raw...)
	}
	return w.object(out, v, func(out []byte, name string, elem *value) []byte {
		switch {
		case n != nil && name == "pattern":
			return quoted(out, n.pattern.read)
		case n != nil && name == "patternProperties" && w.names:
			return w.patterns(out, n, elem)
		}
		return w.schema(out, elem)
	}, func(name string) string { return name })
}

// patterns appends the value of patternProperties.
func (w *dialectWriter) patterns(out []byte, n *node, v *value) []byte {
	read := map[string]string{}
	for _, p := range n.patterns {
		read[p.pattern.source] = p.pattern.read
	}
	return w.object(out, v, func(out []byte, _ string, elem *value) []byte { return w.schema(out, elem) }, func(name string) string { return read[name] })
}

func (w *dialectWriter) object(out []byte, v *value, write func([]byte, string, *value) []byte, spell func(string) string) []byte {
	out = append(out, '{')
	for i, name := range v.names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(quoted(out, spell(name)), ':')
		out = write(out, name, &v.elems[i])
	}
	return append(out, '}')
}

// quoted appends a text that was read from a document, and so is valid UTF-8.
func quoted(out []byte, text string) []byte {
	out, _ = jsontext.AppendQuote(out, text)
	return out
}
