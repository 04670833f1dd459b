package validate

import (
	"slices"
	"strconv"
)

// containment decides whether every document that some schemas admit together is admitted by others. It is sound: where
// it says so, it is so. Where it cannot tell, it says what differs.
type containment struct {
	output   bool
	known    map[string]outcome
	open     map[string]int // comparisons under way: recursive types end in them
	steps    int
	ids      map[*node]int
	expanded map[expansion][]shape
	alike    map[[2]*node]bool
	ofType   map[types]*node
	ofName   map[string]*node
}

func newContainment(output bool) *containment {
	return &containment{
		output: output, known: map[string]outcome{}, open: map[string]int{}, ids: map[*node]int{}, expanded: map[expansion][]shape{},
		alike: map[[2]*node]bool{}, ofType: map[types]*node{}, ofName: map[string]*node{},
	}
}

// outcome is what differs, at paths from where the schemas stand. What was found on the assumption that a comparison under
// way comes out well holds only if it does.
type outcome struct {
	breaks []Break
	floor  int // the outermost comparison that was assumed; settled where there is none
}

const (
	settled  = 1 << 30
	maxSteps = 1 << 15
)

func (o *outcome) add(more outcome) {
	o.floor = min(o.floor, more.floor)
	for _, b := range more.breaks {
		if len(o.breaks) < maxBreaks && !slices.Contains(o.breaks, b) {
			o.breaks = append(o.breaks, b)
		}
	}
}

func (c *containment) differs(path, rule, sub, sup string) outcome {
	return outcome{breaks: []Break{c.note(path, rule, sub, sup)}, floor: settled}
}

func under1(prefix string, o outcome) outcome {
	o.breaks = under(prefix, o.breaks)
	return o
}

// within compares what the schemas of sub admit together with what those of sup do.
func (c *containment) within(sub, sup []*node) outcome {
	sup = c.unlike(sub, sup)
	if len(sup) == 0 {
		return outcome{floor: settled}
	}
	key := c.key(sub) + "<" + c.key(sup)
	if known, ok := c.known[key]; ok {
		return known
	}
	if depth, ok := c.open[key]; ok {
		return outcome{floor: depth}
	}
	if c.steps++; c.steps > maxSteps {
		return c.differs("", "$ref", "a schema", "too much to compare")
	}
	depth := len(c.open)
	c.open[key] = depth
	out := c.decide(sub, sup)
	delete(c.open, key)
	if out.floor >= depth {
		out.floor = settled
		c.known[key] = out
	}
	return out
}

// holds is within for a question whose answer is yes or no: out, which rests on the answer, rests on its assumptions too.
func (c *containment) holds(out *outcome, sub, sup []*node) bool {
	o := c.within(sub, sup)
	out.floor = min(out.floor, o.floor)
	return len(o.breaks) == 0
}

func (c *containment) key(list []*node) string {
	ids := make([]int, len(list))
	for i, n := range list {
		id, ok := c.ids[n]
		if !ok {
			id = len(c.ids)
			c.ids[n] = id
		}
		ids[i] = id
	}
	slices.Sort(ids)
	key := ""
	for _, id := range slices.Compact(ids) {
		key += strconv.Itoa(id) + ","
	}
	return key
}

// unlike leaves out of sup what sub says word for word.
func (c *containment) unlike(sub, sup []*node) []*node {
	own := make([]*node, 0, len(sub))
	for _, n := range sub {
		own = append(own, together(n)...)
	}
	var out []*node
	for _, n := range sup {
		if (n.verdict == nil || !*n.verdict) && !c.sameAsOne(n, own) {
			out = append(out, n)
		}
	}
	return out
}

func (c *containment) sameAsOne(n *node, list []*node) bool {
	return slices.ContainsFunc(list, func(m *node) bool { return c.same(m, n) })
}

// together returns n and the schemas that hold wherever it does.
func together(n *node) []*node {
	list := []*node{n}
	for i := 0; i < len(list) && len(list) <= maxApplied; i++ {
		list = append(list, list[i].allOf...)
		if list[i].ref != nil {
			list = append(list, list[i].ref)
		}
	}
	return list
}

func (c *containment) decide(sub, sup []*node) outcome {
	out := outcome{floor: settled}
	if values := valuesOf(sub); values != nil {
		return c.listed(sub, sup, values)
	}
	ways := c.alternatives(sup, containing)
	for _, s := range c.alternatives(sub, contained) {
		if typesOf(s.parts) == 0 {
			continue // nothing obeys it
		}
		if values := valuesOf(s.parts); values != nil {
			out.add(c.listed(s.parts, sup, values))
			continue
		}
		if len(ways) == 1 {
			out.add(c.oneWay(sub, sup, s, ways[0]))
			continue
		}
		for _, one := range c.byType(s) {
			out.add(c.someWay(sub, sup, one, ways))
		}
	}
	return out
}

// byType tells the values of a shape apart by their types: each may be admitted by another branch of a choice.
func (c *containment) byType(s shape) (out []shape) {
	all := typesOf(s.parts)
	for _, t := range []types{nullType, booleanType, numberType | integerType, stringType, arrayType, objectType} {
		if t &= all; t == 0 {
			continue
		}
		if t == all {
			return []shape{s}
		}
		out = append(out, s.and(shape{parts: []*node{c.typed(t)}}))
	}
	return out
}

// typed is a schema of a type alone.
func (c *containment) typed(t types) *node {
	if n, ok := c.ofType[t]; ok {
		return n
	}
	n := blank()
	n.types = t
	c.ofType[t] = n
	return n
}

func (c *containment) oneWay(sub, sup []*node, s, way shape) outcome {
	if s.label != way.label && s.label != "" && way.label != "" {
		return c.branchGone(s.label)
	}
	if typesOf(s.parts)&typesOf(way.parts) == 0 {
		return c.otherType(sub, sup, s, way)
	}
	o := c.all(sub, s, way)
	if s.label != "" {
		return under1("<"+s.label+">", o)
	}
	return o
}

func (c *containment) branchGone(label string) outcome {
	if c.output {
		return c.differs("<"+label+">", "oneOf", "added", "not a branch")
	}
	return c.differs("<"+label+">", "oneOf", "a branch", "removed")
}

func (c *containment) otherType(sub, sup []*node, ways ...shape) outcome {
	for _, s := range ways {
		if s.label != "" {
			return c.differs("", "oneOf", c.describe(sub), c.describe(sup))
		}
	}
	return c.differs("", "type", c.typeWords(sub), c.typeWords(sup))
}

func (c *containment) someWay(sub, sup []*node, s shape, ways []shape) outcome {
	var near []shape
	unions := len(ways) > 0
	for _, w := range ways {
		if unions = unions && w.label != ""; typesOf(s.parts)&typesOf(w.parts) != 0 {
			near = append(near, w)
		}
	}
	if unions && s.label != "" {
		near = slices.DeleteFunc(near, func(w shape) bool { return w.label != s.label })
		if len(near) == 0 {
			return c.branchGone(s.label)
		}
	}
	switch len(near) {
	case 0:
		return c.otherType(sub, sup, append(ways, s)...)
	case 1:
		return c.oneWay(sub, sup, s, near[0])
	}
	for _, w := range near {
		if o := c.all(sub, s, w); len(o.breaks) == 0 {
			return o
		}
	}
	rule := "anyOf"
	if unions || len(near[0].except) > 0 {
		rule = "oneOf"
	}
	return c.differs("", rule, c.choice(sub), c.choice(sup))
}

// choice says what is to be chosen from.
func (c *containment) choice(list []*node) string {
	for _, n := range list {
		for _, sub := range together(n) {
			for _, keyword := range []string{"anyOf", "oneOf"} {
				if text := said(keyword, sub); text != "none" {
					return text
				}
			}
		}
	}
	return c.typeWords(list)
}

// all compares a shape with everything that another asks.
func (c *containment) all(sub []*node, s, way shape) outcome {
	out := outcome{floor: settled}
	for _, q := range way.parts {
		if !c.sameAsOne(q, s.parts) {
			out.add(c.own(sub, s.parts, q))
		}
	}
	for _, other := range way.except {
		if !c.disjoint(s.parts, other, 0) {
			out.add(c.differs("", "oneOf", "one branch", "may be two branches at once"))
			break
		}
	}
	return out
}

// own compares schemas that hold together with the keywords of q alone: what it refers to and applies are parts of their
// own.
func (c *containment) own(sub, s []*node, q *node) outcome {
	out := outcome{floor: settled}
	t := typesOf(s)
	if refuses(q) {
		return c.differs("", "false", "admitted", "refused")
	}
	if q.types != 0 && t&^widen(q.types) != 0 {
		out.add(c.differs("", "type", c.typeWords(s), c.typeWords([]*node{q})))
		if t &= widen(q.types); t == 0 {
			return out
		}
	}
	if q.admitted() != nil && !fewValues(t, q) {
		out.add(c.differs("", "enum", words(nil), words(q.admitted())))
	}
	if t&(numberType|integerType) != 0 {
		c.numbers(&out, s, t, q)
	}
	if t.has(stringType) {
		c.texts(&out, s, q)
	}
	if t.has(arrayType) {
		c.arrays(&out, s, q)
	}
	if t.has(objectType) {
		c.objects(&out, s, q)
	}
	c.conditions(&out, sub, s, q)
	return out
}

// conditions compares not, if and dependentSchemas.
func (c *containment) conditions(out *outcome, sub, s []*node, q *node) {
	ask := func(sub []*node, sup *node) bool { return sup == nil || c.holds(out, sub, []*node{sup}) }
	if q.not != nil && !c.disjoint(s, q.not, 0) {
		out.add(c.differs("", "not", said("not", s...), said("not", q)))
	}
	if q.condition != nil {
		then, otherwise := slices.Clone(sub), slices.Clone(sub)
		for _, p := range s {
			if p.condition == nil || !c.same(p.condition, q.condition) {
				continue
			}
			if then = append(then, q.condition); p.then != nil {
				then = append(then, p.then)
			}
			if p.otherwise != nil {
				otherwise = append(otherwise, p.otherwise)
			}
		}
		if !ask(then, q.then) || !ask(otherwise, q.otherwise) {
			out.add(c.differs("", "if", said("if", s...), said("if", q)))
		}
	}
	for _, d := range q.dependentSchemas {
		if cannotHave(s, d.name) {
			continue
		}
		with := append(slices.Clone(sub), c.requiring(d.name))
		for _, p := range s {
			for _, own := range p.dependentSchemas {
				if own.name == d.name {
					with = append(with, own.node)
				}
			}
		}
		if !ask(with, d.node) {
			out.add(c.differs("", "dependentSchemas", said("dependentSchemas", s...), said("dependentSchemas", q)))
		}
	}
}

// requiring is a schema that requires a member alone.
func (c *containment) requiring(name string) *node {
	if n, ok := c.ofName[name]; ok {
		return n
	}
	n := blank()
	n.required = []string{name}
	c.ofName[name] = n
	return n
}
