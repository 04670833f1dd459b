package export

import (
	"encoding/json/jsontext"
	"slices"

	"github.com/toolcontract/toolcontract/envelope"
)

// object carries the members of an object. Strict mode takes closed objects alone.
func (m *mover) object(out object, n *nulls) object {
	for _, keyword := range []string{"properties", "required", "additionalProperties", "unevaluatedProperties", "patternProperties"} {
		m.done[keyword] = true
	}
	closed := m.closed()
	if m.c.subset.strict && !closed {
		return append(m.whole("an object that is not closed: its members may have other names"), entry{"type", "object"})
	}
	required := m.required()
	properties := m.s.member("properties")
	if properties != nil && !properties.is(jsontext.KindBeginObject) {
		return append(m.whole("properties that are no object"), entry{"type", "object"})
	}
	members, must := object{}, list{}
	n.members = map[string]member{}
	if properties != nil {
		for i := range properties.names {
			name, value := properties.names[i].text(), &properties.values[i]
			if value.is(jsontext.KindFalse) {
				if required[name] {
					return append(m.whole("a member that is required and not admitted"), entry{"type", "object"})
				}
				if !closed { // a closed object admits no member that is not named
					m.without(name)
				}
				continue
			}
			within := &nulls{}
			schema := m.c.schema(sub{value, envelope.Member(m.s.path, name), m.s.optional || !required[name]}, within)
			known := member{contract: m.c.admitsNull(value, 0), within: within}
			if m.c.subset.all && !required[name] {
				schema, known.ours = m.c.nullable(schema, envelope.Member(m.s.path, name), known.contract)
			}
			n.members[name] = known
			members = append(members, entry{name, schema})
			if required[name] || m.c.subset.all {
				must = append(must, name)
			}
			delete(required, name)
		}
	}
	if len(required) > 0 { // names that no property has
		if m.c.subset.strict {
			return append(m.whole("a name is required that is not among the properties"), entry{"type", "object"})
		}
		m.lose("required", m.s.member("required").raw())
	}
	if len(members) > 0 || !m.c.subset.open { // Gemini has refused properties that are empty
		out = append(out, entry{"properties", members})
	}
	if len(must) > 0 || m.c.subset.all {
		out = append(out, entry{"required", must})
	}
	if m.c.subset.ordering && len(members) > 1 {
		order := list{}
		for _, e := range members {
			order = append(order, e.name)
		}
		out = append(out, entry{"propertyOrdering", order})
	}
	return m.others(out, closed)
}

// without moves into the description that an open object has not a certain member.
func (m *mover) without(name string) {
	text := "no member " + name
	m.moved = append(m.moved, text)
	m.c.lose(m.s.path, "properties", text)
}

// others says what else an object may hold.
func (m *mover) others(out object, closed bool) object {
	if closed {
		return append(out, entry{"additionalProperties", jsontext.Value("false")})
	}
	for _, keyword := range []string{"patternProperties", "unevaluatedProperties"} {
		if v := m.s.member(keyword); v != nil {
			m.lose(keyword, v.raw())
		}
	}
	if v := m.s.member("additionalProperties"); v.is(jsontext.KindBeginObject) && !m.s.has("patternProperties") {
		within := &nulls{}
		return append(out, entry{"additionalProperties", m.c.schema(sub{v, m.s.path + ".*", true}, within)})
	} else if v.is(jsontext.KindBeginObject) || v.is(jsontext.KindFalse) {
		m.lose("additionalProperties", v.raw())
	}
	return out
}

// closed reports whether only the properties may stand in the object.
func (m *mover) closed() bool {
	if m.s.has("patternProperties") {
		return false
	}
	if m.s.member("additionalProperties").is(jsontext.KindFalse) {
		return true
	}
	if m.s.has("additionalProperties") || !m.s.member("unevaluatedProperties").is(jsontext.KindFalse) {
		return false
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "$dynamicRef", "not"} {
		if m.s.has(keyword) {
			return false // they too say what has been looked at
		}
	}
	return true
}

func (m *mover) required() map[string]bool {
	names := map[string]bool{}
	if r := m.s.member("required"); r.is(jsontext.KindBeginArray) {
		for i := range r.values {
			if r.values[i].is(jsontext.KindString) {
				names[r.values[i].text()] = true
			}
		}
	}
	return names
}

const leftOut = "null leaves it out"

// nullable makes an optional member one that is always there: null then stands for leaving it out. Where the contract
// admits null itself, null stays what the contract says it is, and the member cannot be left out.
func (c *carrier) nullable(schema any, path string, contract bool) (nullable any, ours bool) {
	if contract {
		c.lose(path, "required", "not to be left out here")
		return schema, false
	}
	c.introduced = true
	c.lose(path, "required", leftOut)
	o, ok := schema.(object)
	if !ok {
		return schema, true
	}
	own, _ := o.get("description").(string)
	description := described(own, []string{leftOut})
	o = o.without("description")
	typ, plain := o.get("type").(string)
	variants, union := o.get("anyOf").(list)
	null := object{{"type", "null"}}
	switch {
	case union:
		o = o.set("anyOf", append(variants[:len(variants):len(variants)], null))
	case plain && scalar(typ) && o.get("enum") == nil && o.get("const") == nil:
		o = o.set("type", types(typ, "null"))
	default:
		o = object{{"anyOf", list{o, null}}}
	}
	return o.first("description", description), true
}

// admitsNull reports whether the contract may take null. Where it cannot be told, it may: then no null is ours.
func (c *carrier) admitsNull(s *span, depth int) bool {
	if !s.is(jsontext.KindBeginObject) {
		return !s.is(jsontext.KindFalse)
	}
	for _, keyword := range []string{"type", "enum", "const", "$ref", "oneOf", "anyOf"} {
		v := s.member(keyword)
		if v == nil {
			continue
		}
		switch keyword {
		case "const":
			return v.is(jsontext.KindNull)
		case "type":
			return v.names == nil && names(v, "null")
		case "enum":
			return slices.ContainsFunc(v.values, func(e span) bool { return e.is(jsontext.KindNull) })
		case "$ref":
			if !v.is(jsontext.KindString) || depth > maxRefs {
				return true
			}
			target := c.target(v.text())
			return target == nil || c.admitsNull(target, depth+1)
		}
		return depth > maxRefs || slices.ContainsFunc(v.values, func(e span) bool { return c.admitsNull(&e, depth+1) })
	}
	return true
}

// maxRefs ends a chain of references that leads nowhere.
const maxRefs = 64

// names reports whether a keyword type names a type.
func names(t *span, name string) bool {
	if t.is(jsontext.KindString) {
		return t.text() == name
	}
	return slices.ContainsFunc(t.values, func(e span) bool { return e.is(jsontext.KindString) && e.text() == name })
}
