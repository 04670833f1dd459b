package export

import (
	"encoding/json/jsontext"
	"regexp/syntax"
)

// size is what the providers count of a schema.
type size struct {
	properties, depth, enums, text, longEnum int // OpenAI's
	optional, unions                         int // Anthropic's
}

// measure counts. A reference counts what it refers to each time, and a recursive one once.
func measure(schema any) size {
	m := measurer{defs: map[string]any{}, inside: map[string]bool{}}
	if o, ok := schema.(object); ok {
		m.defs["#"] = o
		if defs, ok := o.get("$defs").(object); ok {
			for _, d := range defs {
				m.defs["#/$defs/"+d.name] = d.value
				m.size.text += length(d.name)
			}
		}
	}
	m.inside["#"] = true
	m.schema(schema, 0)
	return m.size
}

type measurer struct {
	size   size
	defs   map[string]any
	inside map[string]bool
	nodes  int
}

func (m *measurer) schema(schema any, depth int) {
	o, ok := schema.(object)
	if m.nodes++; !ok || m.nodes > maxNodes {
		if m.nodes > maxNodes {
			m.size.properties, m.size.optional = maxNodes, maxNodes // beyond every limit
		}
		return
	}
	if ref, ok := o.get("$ref").(string); ok {
		if !m.inside[ref] {
			m.inside[ref] = true
			m.schema(m.defs[ref], depth)
			m.inside[ref] = false
		}
		return
	}
	if _, several := o.get("type").(list); several || o.get("anyOf") != nil {
		m.size.unions++
	}
	switch o.get("type") {
	case "object", "array":
		depth++
		m.size.depth = max(m.size.depth, depth)
	}
	m.enum(o)
	if members, ok := o.get("properties").(object); ok {
		required, _ := o.get("required").(list)
		m.size.properties += len(members)
		m.size.optional += len(members) - len(required)
		for _, e := range members {
			m.size.text += length(e.name)
			m.schema(e.value, depth)
		}
	}
	if variants, ok := o.get("anyOf").(list); ok {
		for _, v := range variants {
			m.schema(v, depth)
		}
	}
	m.schema(o.get("items"), depth)
}

func (m *measurer) enum(o object) {
	values, _ := o.get("enum").(list)
	m.size.text += characters(o.get("const"))
	text := 0
	for _, v := range values {
		text += characters(v)
	}
	m.size.enums += len(values)
	m.size.text += text
	if len(values) > 250 {
		m.size.longEnum = max(m.size.longEnum, text)
	}
}

// characters counts those of a string; other values have none.
func characters(v any) int {
	raw, ok := v.(jsontext.Value)
	if !ok || raw.Kind() != jsontext.KindString {
		return 0
	}
	return length(string(unquote(raw[1 : len(raw)-1])))
}

const largestRepeat = 100

// simple reports whether a pattern is made of what Anthropic lists: literals, classes, groups, the quantifiers *, + and ?,
// and counts up to [largestRepeat].
func simple(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && simpleNode(re)
}

func simpleNode(re *syntax.Regexp) bool {
	switch {
	case re.Op == syntax.OpWordBoundary, re.Op == syntax.OpNoWordBoundary, re.Op == syntax.OpNoMatch, re.Op == syntax.OpAlternate:
		return false
	case re.Op == syntax.OpRepeat && (re.Min > largestRepeat || re.Max > largestRepeat), re.Flags&syntax.FoldCase != 0:
		return false
	}
	for _, sub := range re.Sub {
		if !simpleNode(sub) {
			return false
		}
	}
	return true
}
