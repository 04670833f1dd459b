package export

import (
	"bytes"
	"encoding/json/jsontext"
)

// isUnion reports whether the value is told by its variants: they say the types, and nothing that must be kept whole
// stands beside them.
func (m *mover) isUnion(names []string) bool {
	_, variants := m.variants()
	if variants == nil || len(variants.values) == 0 {
		return false
	}
	for _, keyword := range []string{"properties", "items", "additionalProperties", "patternProperties", "prefixItems", "required"} {
		if m.s.has(keyword) {
			return false
		}
	}
	if len(names) == 0 {
		return true
	}
	for i := range variants.values {
		v := &variants.values[i]
		if t := v.member("type"); !t.is(jsontext.KindString) || len(names) != 1 || t.text() != names[0] {
			return false
		}
	}
	return true
}

// variants returns the union's keyword and its schemas; nil where there is none, or more than one.
func (m *mover) variants() (string, *span) {
	one, some := m.s.member("oneOf"), m.s.member("anyOf")
	switch {
	case one.is(jsontext.KindBeginArray) && some == nil:
		return "oneOf", one
	case some.is(jsontext.KindBeginArray) && one == nil:
		return "anyOf", some
	}
	return "", nil
}

// union carries the variants. That exactly one of them fits is lost where the provider has no oneOf, unless a member tells
// them apart: then no two fit anyway.
func (m *mover) union(n *nulls) object {
	keyword, variants := m.variants()
	m.done[keyword], m.done["type"] = true, true
	name, tags := m.c.discriminator(variants)
	var out list
	n.tag = name
	if name != "" {
		n.tags = map[string]*nulls{}
	}
	for i := range variants.values {
		v := &variants.values[i]
		if v.is(jsontext.KindFalse) {
			continue
		}
		within := &nulls{}
		out = append(out, m.c.schema(sub{v, m.s.path, m.s.optional}, within))
		if name != "" {
			n.tags[tags[i]] = within
		} else {
			n.any = append(n.any, within)
		}
	}
	if len(out) == 0 {
		return m.whole("a union that admits nothing")
	}
	if keyword == "oneOf" && m.c.subset.oneOf {
		return object{{"oneOf", out}}
	}
	if keyword == "oneOf" && name == "" {
		text := "exactly one of the forms"
		m.moved = append(m.moved, text)
		m.c.lose(m.s.path, "oneOf", text)
	}
	return object{{"anyOf", out}}
}

// discriminator returns the member whose constant tells all variants apart, and its texts; empty where there is none.
func (c *carrier) discriminator(variants *span) (name string, tags []string) {
	first := &variants.values[0]
	properties := first.member("properties")
	if properties == nil {
		return "", nil
	}
	for i := range properties.names {
		name := properties.names[i].text()
		if tags := tagged(variants, name); tags != nil {
			return name, tags
		}
	}
	return "", nil
}

// tagged returns the constants of a required member, one for each variant and no two alike; nil where they are not.
func tagged(variants *span, name string) []string {
	var tags []string
	seen := map[string]bool{}
	for i := range variants.values {
		v := &variants.values[i]
		k := v.member("properties").constant(name)
		if k == nil || seen[*k] || !v.requires(name) || v.member("type") == nil || v.has("$ref") {
			return nil
		}
		seen[*k] = true
		tags = append(tags, *k)
	}
	return tags
}

func (s *span) constant(name string) *string {
	if !s.is(jsontext.KindBeginObject) {
		return nil
	}
	k := s.member(name)
	if !k.is(jsontext.KindBeginObject) {
		return nil
	}
	if k = k.member("const"); !k.is(jsontext.KindString) {
		return nil
	}
	text := k.text()
	return &text
}

func (s *span) requires(name string) bool {
	r := s.member("required")
	if !r.is(jsontext.KindBeginArray) {
		return false
	}
	for i := range r.values {
		if r.values[i].is(jsontext.KindString) && r.values[i].text() == name {
			return true
		}
	}
	return false
}

// enumeration carries enum and const: by type, since a provider wants one said.
func (m *mover) enumeration(names []string) object {
	values, keyword := m.values()
	m.done["type"] = true
	if values == nil {
		return m.whole("an enum that is no list, or beside const")
	}
	groups := map[string]list{}
	var order []string
	for i := range values {
		name, ok := typeOf(&values[i], names)
		if !ok {
			continue // the type beside it does not admit the value
		}
		if groups[name] == nil {
			order = append(order, name)
		}
		groups[name] = append(groups[name], values[i].raw())
	}
	m.done[keyword] = true
	var variants list
	for _, name := range order {
		variants = append(variants, m.group(name, keyword, groups[name]))
	}
	switch len(variants) {
	case 0:
		return m.whole("an enum without a value that its type admits")
	case 1:
		one, _ := variants[0].(object)
		return one
	}
	return object{{"anyOf", variants}}
}

// group carries the values of one type.
func (m *mover) group(name, keyword string, values list) object {
	out := object{{"type", name}}
	sub := m.c.subset
	switch name {
	case "null":
		return out
	case "boolean":
		if !sub.scalarEnum {
			if len(values) < 2 {
				m.lose(keyword, values[0].(jsontext.Value)) //nolint:errcheck // they are put in as jsontext.Value
			}
			return out
		}
	case "object", "array":
		if sub.strict {
			m.c.fail(m.s, "an enum of objects or arrays")
		} else {
			m.done[keyword] = false
		}
		return out
	}
	if keyword == "const" && sub.constant {
		return append(out, entry{"const", values[0]})
	}
	return append(out, entry{"enum", values})
}

func (m *mover) values() ([]span, string) {
	enum, constant := m.s.member("enum"), m.s.member("const")
	switch {
	case constant != nil && enum == nil:
		return []span{*constant}, "const"
	case constant == nil && enum.is(jsontext.KindBeginArray):
		return enum.values, "enum"
	}
	return nil, ""
}

// typeOf returns the type of a constant: of those that the schema names the one that admits it.
func typeOf(v *span, names []string) (string, bool) {
	name := map[jsontext.Kind]string{
		jsontext.KindNull: "null", jsontext.KindTrue: "boolean", jsontext.KindFalse: "boolean", jsontext.KindString: "string",
		jsontext.KindNumber: "number", jsontext.KindBeginObject: "object", jsontext.KindBeginArray: "array",
	}[v.kind()]
	whole := name == "number" && !bytes.ContainsAny(v.raw(), ".eE")
	if len(names) == 0 {
		if whole {
			return "integer", true
		}
		return name, true
	}
	for _, n := range names {
		if n == name || n == "integer" && whole {
			return n, true
		}
	}
	return "", false
}
