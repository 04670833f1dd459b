package contracttest

import (
	"bytes"
	"encoding/json" //nolint:depguard // the judge reads numbers as encoding/json.Number, to the digit
	"encoding/json/jsontext"
	"slices"
)

// value is a JSON value that remembers order and spelling, so that a case can differ from a valid document in one byte.
type value struct {
	kind  jsontext.Kind
	raw   string   // the spelling; of an object or array only where it is not to be built from elems
	text  string   // of a string, unescaped
	names []string // of an object
	elems []*value // of an array, or beside names
}

// parseValue reads one document, strictly.
func parseValue(doc []byte) (*value, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(doc))
	return readValue(dec)
}

func readValue(dec *jsontext.Decoder) (*value, error) {
	kind := dec.PeekKind()
	switch kind {
	case '{', '[':
	default:
		raw, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		v := &value{kind: raw.Kind(), raw: string(raw)}
		if v.kind == '"' {
			b, err := jsontext.AppendUnquote(nil, raw)
			if err != nil {
				return nil, err
			}
			v.text = string(b)
		}
		return v, nil
	}
	v := &value{kind: kind}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if kind == '{' {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			v.names = append(v.names, name.String())
		}
		elem, err := readValue(dec)
		if err != nil {
			return nil, err
		}
		v.elems = append(v.elems, elem)
	}
	_, err := dec.ReadToken()
	return v, err
}

func textValue(s string) *value {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // no valid UTF-8: only operators make such, and they spell it themselves
		return rawValue(`""`)
	}
	return &value{kind: '"', raw: string(b), text: s}
}

func numberValue(raw string) *value { return &value{kind: '0', raw: raw} }

// rawValue is a value of the given spelling, whatever it is.
func rawValue(raw string) *value { return &value{raw: raw, kind: jsontext.Value(raw).Kind()} }

func arrayValue(elems ...*value) *value { return &value{kind: '[', elems: elems} }

func objectValue() *value { return &value{kind: '{'} }

// with returns an object that has one member more, at its end.
func (v *value) with(name string, elem *value) *value {
	c := *v
	c.raw = ""
	c.names = append(slices.Clip(v.names), name)
	c.elems = append(slices.Clip(v.elems), elem)
	return &c
}

// without returns an object that lacks the member i, or an array that lacks the element i.
func (v *value) without(i int) *value {
	c := *v
	if v.kind == '{' {
		c.names = slices.Delete(slices.Clone(v.names), i, i+1)
	}
	c.elems = slices.Delete(slices.Clone(v.elems), i, i+1)
	return &c
}

// replaced returns a copy whose element i is another.
func (v *value) replaced(i int, elem *value) *value {
	c := *v
	c.elems = slices.Clone(v.elems)
	c.elems[i] = elem
	return &c
}

func (v *value) index(name string) int {
	if v.kind != '{' {
		return -1
	}
	return slices.Index(v.names, name)
}

func (v *value) member(name string) *value {
	if i := v.index(name); i >= 0 {
		return v.elems[i]
	}
	return nil
}

func (v *value) clone() *value {
	c := *v
	c.names = slices.Clone(v.names)
	c.elems = make([]*value, len(v.elems))
	for i, e := range v.elems {
		c.elems[i] = e.clone()
	}
	return &c
}

// append writes the document, compact.
func (v *value) append(b []byte) []byte {
	if v.raw != "" {
		return append(b, v.raw...)
	}
	switch v.kind {
	case '{':
		b = append(b, '{')
		for i, e := range v.elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, textValue(v.names[i]).raw...)
			b = append(b, ':')
			b = e.append(b)
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i, e := range v.elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.append(b)
		}
		return append(b, ']')
	}
	return append(b, "null"...)
}

func (v *value) bytes() []byte { return v.append(nil) }

// any is the value as the independent judge reads it: numbers keep their spelling.
func (v *value) any() any {
	switch v.kind {
	case '{':
		m := make(map[string]any, len(v.names))
		for i, name := range v.names {
			m[name] = v.elems[i].any()
		}
		return m
	case '[':
		list := make([]any, len(v.elems))
		for i, e := range v.elems {
			list[i] = e.any()
		}
		return list
	case '"':
		return v.text
	case '0':
		return json.Number(v.raw)
	case 't', 'f':
		return v.kind == 't'
	}
	return nil
}

// sameValue compares as JSON Schema does: numbers by value, members in any order.
func sameValue(a, b *value) bool {
	if a.kind != b.kind || len(a.elems) != len(b.elems) {
		return false
	}
	switch a.kind {
	case '"':
		return a.text == b.text
	case '0':
		x, y := rational(a.raw), rational(b.raw)
		return x != nil && y != nil && x.Cmp(y) == 0
	case '[':
		for i := range a.elems {
			if !sameValue(a.elems[i], b.elems[i]) {
				return false
			}
		}
	case '{':
		for i, name := range a.names {
			other := b.member(name)
			if other == nil || !sameValue(a.elems[i], other) {
				return false
			}
		}
	}
	return true
}
