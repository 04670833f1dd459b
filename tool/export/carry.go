package export

import (
	"encoding/json/jsontext"
	"errors"
	"slices"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// carried is one tool's schema as the provider is sent it.
type carried struct {
	schema     any
	strict     bool
	losses     []Loss
	nulls      *nulls
	introduced bool
}

// maxNodes bounds what one tool's schema may grow to.
const maxNodes = 20_000

var (
	errNotObject = errors.New("the arguments must be an object: type object at the root")
	errNotSchema = errors.New("the input is no JSON Schema document")
)

// carry writes a tool's schema in the provider's subset, in strict mode where that can be, otherwise without.
func (p *provider) carry(t tool.Published, spent *budget) (carried, error) {
	doc, err := parse(t.Input)
	if err != nil || !doc.is(jsontext.KindBeginObject) {
		return carried{}, errNotSchema
	}
	if typ := doc.member("type"); !typ.is(jsontext.KindString) || typ.text() != "object" {
		return carried{}, errNotObject
	}
	c := carrier{subset: p.subset, tool: t.Name, doc: doc, defs: map[string]*def{}, inside: map[*span]bool{}}
	schema, n := c.root()
	if c.stop == "" && p.subset.strict {
		c.stop = p.subset.within(schema, spent)
	}
	switch {
	case c.stop == "":
		return carried{schema: schema, strict: p.subset.strict, losses: c.losses, nulls: n, introduced: c.introduced}, nil
	case p.subset.strict:
		loss := Loss{Tool: t.Name, Keyword: "strict", Text: c.stop}
		return carried{schema: t.Input, losses: []Loss{loss}}, nil
	}
	return carried{}, errors.New(c.stop)
}

// carrier carries one tool's schema over.
type carrier struct {
	subset     subset
	tool       string
	doc        *span
	defs       map[string]*def
	order      []*def         // that are referred to, in the order in which they are met
	inside     map[*span]bool // what is being carried in the place of a reference to it
	losses     []Loss
	introduced bool
	nodes      int
	stop       string // why strict mode cannot take it; empty: it can, so far
}

// def is a definition that is referred to.
type def struct {
	ref    string // "#", "#/$defs/Name"
	schema any
	nulls  *nulls
	open   bool // is being carried: a reference to it is recursive
}

// sub is a schema within the document, and where it stands in the arguments.
type sub struct {
	*span
	path     string
	optional bool // reached through a member that may be left out
}

// fail says what strict mode cannot take. Where there is no strict mode the place is left open, and the contract's own
// schema stands in its description.
func (c *carrier) fail(s sub, why string) object {
	if !c.subset.open {
		if c.stop == "" {
			c.stop = why
			if s.path != "" {
				c.stop = s.path + ": " + why
			}
		}
		return object{}
	}
	text := "JSON Schema " + string(s.raw())
	c.lose(s.path, "schema", text)
	return object{{"description", described("", []string{text})}}
}

// root carries the whole document. Definitions that stay referred to come last.
func (c *carrier) root() (any, *nulls) {
	n := &nulls{}
	c.defs["#"] = &def{ref: "#", nulls: n, open: true}
	schema := c.schema(sub{span: c.doc}, n)
	o, _ := schema.(object)
	if o.get("type") != "object" {
		if c.fail(sub{span: c.doc}, "arguments that are more than one plain object"); c.subset.open {
			o = o.without("anyOf").without("oneOf").set("type", "object")
		}
	}
	var defs object
	for _, d := range c.order {
		if name, ok := strings.CutPrefix(d.ref, "#/$defs/"); ok {
			defs = append(defs, entry{name, d.schema})
		}
	}
	if len(defs) > 0 {
		o = append(o, entry{"$defs", defs})
	}
	return o, n
}

// schema carries one schema, and fills n with where nulls in it are ours.
func (c *carrier) schema(s sub, n *nulls) any {
	c.nodes++
	if c.nodes > maxNodes {
		c.stop = "the schema is too large"
	}
	switch {
	case c.stop != "":
		return object{}
	case !s.is(jsontext.KindBeginObject):
		return c.verdict(s)
	case s.has("$ref"):
		return c.reference(s, n)
	}
	m := mover{c: c, s: s}
	out := m.shape(n)
	return m.finish(out)
}

// verdict carries the schemas true and false.
func (c *carrier) verdict(s sub) any {
	if s.is(jsontext.KindTrue) && c.subset.open {
		return object{}
	}
	return c.fail(s, "a schema of true or false")
}

// reference carries $ref: as it is where it stands alone, otherwise what it refers to in its place.
func (c *carrier) reference(s sub, n *nulls) any {
	ref := s.member("$ref")
	if !ref.is(jsontext.KindString) {
		return c.fail(s, "a $ref that is no string")
	}
	target := c.target(ref.text())
	if target == nil {
		return c.fail(s, "a $ref to anything but the root or a member of $defs")
	}
	var beside []string
	for i := range s.names {
		if name := s.names[i].text(); name != "$ref" && name != "$comment" && name != "$defs" {
			beside = append(beside, name)
		}
	}
	if len(beside) > 0 && !c.inside[target] {
		return c.inPlace(s, target, n)
	}
	out := c.alone(s, ref.text(), target, n)
	if len(beside) > 0 { // within itself: the reference stays, and what is beside it stands around it
		m := mover{c: c, s: s}
		return m.beside(object{{"anyOf", list{out}}})
	}
	return out
}

// alone carries a reference that has nothing beside it, and once what it refers to.
func (c *carrier) alone(s sub, ref string, target *span, n *nulls) object {
	d := c.defs[ref]
	if d == nil {
		d = &def{ref: ref, nulls: &nulls{}, open: true}
		c.defs[ref] = d
		c.order = append(c.order, d)
		d.schema = c.schema(sub{target, s.path, false}, d.nulls)
		d.open = false
	}
	n.any = append(n.any, d.nulls)
	if d.open && !c.subset.recursion {
		c.fail(s, "a type that contains itself")
	}
	if d.open && c.subset.open && !s.optional {
		c.lose(s.path, "$ref", "of the same form as "+strings.TrimPrefix(d.ref, "#/$defs/"))
		return object{{"type", "object"}, {"description", described("", []string{"of the same form as " + strings.TrimPrefix(d.ref, "#/$defs/")})}}
	}
	return object{{"$ref", d.ref}}
}

// inPlace carries what is referred to where it is referred to, since no provider takes a $ref with something beside it.
// Annotations beside it stand before the target's own; anything else beside it is moved into the description.
func (c *carrier) inPlace(s sub, target *span, n *nulls) any {
	if target.has("$ref") || !target.is(jsontext.KindBeginObject) {
		return c.fail(s, "a $ref with something beside it, to another $ref")
	}
	c.inside[target] = true
	m := mover{c: c, s: sub{target, s.path, s.optional}}
	out := m.shape(n)
	c.inside[target] = false
	m.s = s
	return m.beside(out)
}

// beside adds what stands beside a reference.
func (m *mover) beside(out object) any {
	for i := range m.s.names {
		switch name := m.s.names[i].text(); {
		case name == "$ref", name == "$comment", name == "$defs":
		case name == "description" && m.s.values[i].is(jsontext.KindString):
			m.own = m.s.values[i].text()
		default:
			m.lose(name, m.s.values[i].raw())
		}
	}
	return m.finish(out)
}

func (c *carrier) target(ref string) *span {
	if ref == "#" {
		return c.doc
	}
	name, ok := strings.CutPrefix(ref, "#/$defs/")
	if !ok || strings.ContainsAny(name, "/~%") {
		return nil
	}
	defs := c.doc.member("$defs")
	if !defs.is(jsontext.KindBeginObject) {
		return nil
	}
	return defs.member(name)
}

func (c *carrier) lose(path, keyword, text string) {
	c.losses = append(c.losses, Loss{Tool: c.tool, Path: path, Keyword: keyword, Text: text})
}

// mover carries one schema object: what it can say into the provider's schema, the rest into the description.
type mover struct {
	c     *carrier
	s     sub
	own   string   // the description
	moved []string // what is added to it
	done  map[string]bool
}

func (m *mover) lose(keyword string, value jsontext.Value) {
	text := say(keyword, value)
	m.moved = append(m.moved, text)
	m.c.lose(m.s.path, keyword, text)
}

// finish adds the description, the first of the members.
func (m *mover) finish(out object) any {
	if text := described(m.own, m.moved); text != "" {
		return out.first("description", text)
	}
	return out
}

// shape carries everything but the description: what kind of value it is first, then what bounds it.
func (m *mover) shape(n *nulls) object {
	m.done = words("description", "$comment", "$schema", "$defs", "$id", "deprecated", "readOnly", "writeOnly")
	if d := m.s.member("description"); d.is(jsontext.KindString) {
		m.own = d.text()
	}
	out := m.kind(n)
	for i := range m.s.names {
		name, value := m.s.names[i].text(), &m.s.values[i]
		switch {
		case m.done[name], m.c.stop != "":
		case idle(name, out):
		case m.keeps(name, value, out):
			out = append(out, entry{name, value.raw()})
		default:
			m.lose(name, value.raw())
		}
	}
	return out
}

// keeps reports whether the provider takes a keyword as it stands.
func (m *mover) keeps(name string, value *span, out object) bool {
	sub := m.c.subset
	if !sub.keywords[name] || out.get("type") == nil {
		return false // beside variants, or without a type, no provider says what it bounds
	}
	switch name {
	case "format":
		return value.is(jsontext.KindString) && sub.formats[value.text()]
	case "pattern":
		return value.is(jsontext.KindString) && (sub.pattern == nil || sub.pattern(value.text()))
	case "minItems":
		return sub.minItems == 0 || slices.Contains([]string{"0", "1"}, string(value.raw()))
	}
	return true
}

// idle reports whether a keyword bounds values of other types alone than the ones that are admitted.
func idle(name string, out object) bool {
	of := map[string]string{
		"minLength": "string", "maxLength": "string", "pattern": "string", "format": "string",
		"minimum": "number integer", "maximum": "number integer", "exclusiveMinimum": "number integer", "exclusiveMaximum": "number integer", "multipleOf": "number integer",
		"minItems": "array", "maxItems": "array", "uniqueItems": "array", "contains": "array", "minContains": "array", "maxContains": "array",
		"items": "array", "prefixItems": "array", "unevaluatedItems": "array",
		"minProperties": "object", "maxProperties": "object", "propertyNames": "object", "dependentRequired": "object", "dependentSchemas": "object",
		"properties": "object", "required": "object", "additionalProperties": "object", "patternProperties": "object", "unevaluatedProperties": "object",
	}[name]
	if of == "" || out.get("type") == nil {
		return false
	}
	switch t := out.get("type").(type) {
	case string:
		return !strings.Contains(of, t)
	case list:
		return !slices.ContainsFunc(t, func(v any) bool { return strings.Contains(of, v.(string)) }) //nolint:errcheck // types makes lists of strings
	}
	return false
}

// whole gives the schema up in its place: it stands in the description.
func (m *mover) whole(why string) object {
	if !m.c.subset.open {
		return m.c.fail(m.s, why)
	}
	for i := range m.s.names {
		m.done[m.s.names[i].text()] = true
	}
	text := "JSON Schema " + string(m.s.raw())
	m.moved = append(m.moved, text)
	m.c.lose(m.s.path, "schema", text)
	return object{}
}

// kind carries what kind of value it is: an enumeration, a union, or a value of one or several types.
func (m *mover) kind(n *nulls) object {
	names := m.typeNames()
	switch {
	case m.s.has("enum"), m.s.has("const"):
		return m.enumeration(names)
	case m.isUnion(names):
		return m.union(n)
	case len(names) == 1:
		m.done["type"] = true
		return m.typed(names[0], n)
	case len(names) > 1:
		m.done["type"] = true
		return m.several(names, n)
	case m.c.subset.open:
		return object{}
	}
	m.c.fail(m.s, "a value of any type")
	return object{}
}

func (m *mover) typeNames() []string {
	t := m.s.member("type")
	switch {
	case t.is(jsontext.KindString):
		return []string{t.text()}
	case t.is(jsontext.KindBeginArray):
		var names []string
		for i := range t.values {
			if t.values[i].is(jsontext.KindString) {
				names = append(names, t.values[i].text())
			}
		}
		return names
	}
	return nil
}

func (m *mover) typed(name string, n *nulls) object {
	out := object{{"type", name}}
	switch name {
	case "object":
		return m.object(out, n)
	case "array":
		return m.array(out, n)
	case "string", "number", "integer", "boolean", "null":
		return out
	}
	return m.whole("a type that JSON does not have")
}

// several carries a value of more than one type. One scalar type and null stay an array of types, which every provider
// takes; others become a union.
func (m *mover) several(names []string, n *nulls) object {
	others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "null" })
	if len(others) < 2 && len(names) == 2 && scalar(others[0]) {
		return object{{"type", types(names...)}}
	}
	var variants list
	for _, name := range names {
		within := &nulls{}
		variants = append(variants, m.typed(name, within))
		n.any = append(n.any, within)
	}
	return object{{"anyOf", variants}}
}

func scalar(name string) bool {
	switch name {
	case "string", "number", "integer", "boolean":
		return true
	}
	return false
}

// array carries what is in an array.
func (m *mover) array(out object, n *nulls) object {
	if p := m.s.member("prefixItems"); p != nil {
		m.done["prefixItems"] = true
		if !m.c.subset.tuples || !p.is(jsontext.KindBeginArray) {
			return m.whole("an array whose items have schemas of their own")
		}
		var prefix list
		for i := range p.values {
			within := &nulls{}
			prefix = append(prefix, m.c.schema(sub{&p.values[i], envelope.Index(m.s.path, i), m.s.optional}, within))
		}
		out = append(out, entry{"prefixItems", prefix})
	}
	items := m.s.member("items")
	m.done["items"] = true
	switch {
	case items.is(jsontext.KindBeginObject):
		n.items = &nulls{}
		return append(out, entry{"items", m.c.schema(sub{items, m.s.path + "[]", m.s.optional}, n.items)})
	case m.c.subset.open:
		if items != nil && !items.is(jsontext.KindTrue) {
			m.lose("items", items.raw())
		}
		return out
	}
	return m.whole("an array whose items have no schema")
}
