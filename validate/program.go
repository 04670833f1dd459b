package validate

import (
	"math"
	"slices"
)

// compiler makes checks of nodes; each node once, so that a recursive schema becomes a graph.
type compiler struct {
	made     map[*node]*check
	outside  bool           // a keyword, or a combination, that the scan does not know
	optional map[*node]bool // choices beside null
	late     []copied
}

// copied is a check that becomes another one with null beside it, when all are built.
type copied struct{ from, to *check }

// anything admits every value. It refers to itself, and is not changed once it is made.
var anything = newAnything() //nolint:gochecknoglobals // a constant that Go cannot spell as one

func newAnything() *check {
	c := &check{
		text: &textCheck{max: math.MaxInt}, number: &numberCheck{low: math.MinInt64, high: math.MaxInt64, simple: true},
		yes: true, no: true, null: true,
	}
	c.array = &arrayCheck{max: math.MaxInt, items: c}
	c.members = &mapCheck{max: math.MaxInt, values: c}
	return c
}

const anyType = nullType | booleanType | numberType | stringType | arrayType | objectType

// program returns the check of a schema; false where the scan cannot decide it.
func program(root *node) (*check, bool) {
	c := compiler{made: map[*node]*check{}, optional: map[*node]bool{}}
	p := c.check(root)
	for _, l := range c.late {
		*l.to = *l.from
		l.to.null = true
	}
	return p, !c.outside
}

func (c *compiler) check(n *node) *check {
	if n == nil { // nothing is said
		return anything
	}
	if n.ref != nil && n.bare() {
		return c.check(n.ref)
	}
	if made, ok := c.made[n]; ok {
		return made
	}
	out := &check{}
	c.made[n] = out
	switch {
	case n.verdict != nil && *n.verdict:
		*out = *anything
	case n.verdict != nil:
	case n.uncovered():
		c.outside = true
	default:
		c.build(n, out)
	}
	return out
}

func (c *compiler) build(n *node, out *check) {
	if n.ref != nil {
		c.outside = true // a reference with rules beside it
		return
	}
	if other := nullable(n.anyOf); other != nil {
		if c.optional[n] = true; !n.bare() || c.optional[other.follow()] || nullable(other.follow().anyOf) != nil {
			c.outside = true
			return
		}
		c.late = append(c.late, copied{from: c.check(other), to: out})
		return
	}
	if n.allOf != nil {
		c.merge(n, out)
		return
	}
	t := n.types
	if t == 0 {
		t = anyType
	}
	if n.union != nil {
		c.union(n, t, out)
		return
	}
	c.kinds(n, t, out)
}

// uncovered looks at the keywords of n alone.
func (n *node) uncovered() bool {
	return n.not != nil || n.condition != nil || n.then != nil || n.otherwise != nil || len(n.dependentSchemas) > 0 ||
		n.contains != nil || n.unevaluatedItems != nil ||
		len(n.oneOf) > 0 && n.union == nil || len(n.anyOf) > 0 && nullable(n.anyOf) == nil
}

// bare reports whether the schema says nothing but what it refers to, applies or describes.
func (n *node) bare() bool {
	for _, k := range n.keywords {
		switch k {
		case "$ref", "anyOf", "title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "$defs":
		default:
			return false
		}
	}
	return true
}

func (c *compiler) kinds(n *node, t types, out *check) {
	values := n.admitted()
	if n.constant != nil && n.enum != nil {
		c.outside = true
		return
	}
	admits := func(k kind) bool {
		return values == nil || slices.ContainsFunc(values, func(v *value) bool { return v.kind == k })
	}
	out.null = t.has(nullType) && admits(nullKind)
	if t.has(booleanType) {
		out.yes = values == nil || slices.ContainsFunc(values, func(v *value) bool { return v.kind == boolKind && v.raw[0] == 't' })
		out.no = values == nil || slices.ContainsFunc(values, func(v *value) bool { return v.kind == boolKind && v.raw[0] == 'f' })
	}
	if t.has(stringType) && admits(stringKind) {
		out.text = textOf(n, values)
	}
	if t&(numberType|integerType) != 0 && admits(numberKind) {
		out.number = c.numberOf(n, t, values)
	}
	if values != nil {
		if slices.ContainsFunc(values, func(v *value) bool { return v.kind >= arrayKind }) {
			c.outside = true
		}
		return
	}
	if t.has(arrayType) {
		out.array = c.arrayOf(n)
	}
	if t.has(objectType) {
		c.objectOf(n, out)
	}
}
