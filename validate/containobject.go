package validate

import (
	"slices"

	"github.com/toolcontract/toolcontract/envelope"
)

func (c *containment) objects(out *outcome, s []*node, q *node) {
	c.counts(out, s, q)
	for _, d := range q.dependentRequired {
		if !cannotHave(s, d.name) && slices.ContainsFunc(d.needs, func(need string) bool { return !needs(s, d.name, need) }) {
			out.add(c.differs("", "dependentRequired", said("dependentRequired", s...), said("dependentRequired", q)))
		}
	}
	names := c.namesOf(s, q)
	for _, name := range names.known {
		c.member(out, s, q, name)
	}
	c.required(out, s, q)
	if names.open {
		for _, class := range classesOf(s) {
			c.others(out, s, class, q)
		}
	}
	c.propertyNames(out, s, q, names)
}

func (c *containment) required(out *outcome, s []*node, q *node) {
	for _, name := range q.required {
		if !requires(s, name) {
			sub := "not declared"
			switch {
			case declares(s, name):
				sub = optionality(false)
			case c.output:
				sub = "removed"
			}
			out.add(c.differs(envelope.Member("", name), "required", sub, optionality(true)))
		}
	}
}

func (c *containment) counts(out *outcome, s []*node, q *node) {
	least := most(s, func(n *node) int { return max(n.minProperties, len(n.required)) })
	if q.minProperties > max(least, 0) {
		out.add(c.differs("", "minProperties", countWord(max(most(s, func(n *node) int { return n.minProperties }), 0)), countWord(q.minProperties)))
	}
	largest := unset
	for _, n := range s {
		largest = fewer(largest, n.maxProperties)
		if refuses(n.additional) && len(n.patterns) == 0 {
			largest = fewer(largest, len(n.properties))
		}
	}
	if q.maxProperties >= 0 && (largest < 0 || largest > q.maxProperties) {
		out.add(c.differs("", "maxProperties", countWord(fewest(s, func(n *node) int { return n.maxProperties })), countWord(q.maxProperties)))
	}
}

func requires(s []*node, name string) bool {
	return slices.ContainsFunc(s, func(n *node) bool { return slices.Contains(n.required, name) })
}

func declares(s []*node, name string) bool {
	return slices.ContainsFunc(s, func(n *node) bool { return n.property(name) != nil && n.property(name) != admitsAll })
}

// needs reports whether s asks for a member where it has another.
func needs(s []*node, name, need string) bool {
	return requires(s, need) || slices.ContainsFunc(s, func(n *node) bool {
		return slices.ContainsFunc(n.dependentRequired, func(d dependency) bool { return d.name == name && slices.Contains(d.needs, need) })
	})
}

// cannotHave reports whether no object of s has a member of that name.
func cannotHave(s []*node, name string) bool {
	return slices.ContainsFunc(memberSchemas(s, name), refuses) || slices.ContainsFunc(s, func(n *node) bool {
		return n.propertyNames != nil && len(explain(n.propertyNames, &value{kind: stringKind, text: name})) > 0
	})
}

func memberSchemas(s []*node, name string) (list []*node) {
	for _, n := range s {
		list = append(list, n.memberSchemas(name)...)
	}
	return list
}

// nameSpace is the names that are looked at one by one, and whether there are others.
type nameSpace struct {
	known []string
	open  bool
}

func (c *containment) namesOf(s []*node, q *node) nameSpace {
	out := nameSpace{open: true}
	add := func(name string) {
		if !slices.Contains(out.known, name) {
			out.known = append(out.known, name)
		}
	}
	lists := append(slices.Clone(s), q)
	if c.output { // the older schema's names first
		slices.Reverse(lists)
	}
	for _, n := range lists {
		for _, p := range n.properties {
			add(p.name)
		}
	}
	for _, n := range s {
		if n.propertyNames == nil {
			continue
		}
		values := valuesOf([]*node{n.propertyNames})
		for _, v := range values {
			if v.kind == stringKind {
				add(v.text)
			}
		}
		out.open = out.open && values == nil
	}
	return out
}

// member compares the schemas of a member of a known name.
func (c *containment) member(out *outcome, s []*node, q *node, name string) {
	sup := slices.DeleteFunc(q.memberSchemas(name), func(n *node) bool { return n.verdict != nil && *n.verdict })
	if len(sup) == 0 || cannotHave(s, name) {
		return
	}
	path := envelope.Member("", name)
	sub := memberSchemas(s, name)
	switch {
	case slices.ContainsFunc(sup, refuses):
		word, gone := openness(sub), "refused"
		switch declared := declares(s, name); {
		case declared && c.output:
			word, gone = "added", "not declared"
		case declared:
			word, gone = "declared", "removed"
		}
		out.add(c.differs(path, "properties", word, gone))
	case len(sub) == 0:
		out.add(c.differs(path, "properties", "anything", "declared"))
	default:
		out.add(under1(path, c.within(sub, sup)))
	}
}

// class is a set of names that no properties declare: those that match a pattern, or the others, which match none.
type class struct {
	pattern *pattern // nil: the others
	schemas []*node
}

// classesOf returns the classes of names that the objects of s may have.
func classesOf(s []*node) (out []class) {
	others := class{}
	for i, n := range s {
		if n.additional != nil {
			others.schemas = append(others.schemas, n.additional)
		}
		for _, p := range n.patterns {
			one := class{p.pattern, []*node{p.node}}
			for k, m := range s {
				if k != i {
					one.schemas = append(one.schemas, m.schemasOf(p.pattern)...)
				}
			}
			out = append(out, one)
		}
	}
	out = append(out, others)
	return slices.DeleteFunc(out, func(k class) bool { return slices.ContainsFunc(k.schemas, refuses) })
}

// schemasOf returns the schemas that are known to apply to names which match a pattern and are not declared.
func (n *node) schemasOf(p *pattern) (list []*node) {
	if len(n.patterns) == 0 && n.additional != nil {
		return []*node{n.additional}
	}
	for _, own := range n.patterns {
		if own.pattern.source == p.source {
			list = append(list, own.node)
		}
	}
	return list
}

// others compares the members whose names are of a class of s.
func (c *containment) others(out *outcome, s []*node, k class, q *node) {
	sameSource := func(p *pattern) bool { return k.pattern != nil && p.source == k.pattern.source }
	covered := false
	for _, p := range q.patterns {
		if sameSource(p.pattern) {
			covered = true
		} else if k.pattern == nil && hasPattern(s, p.pattern) {
			continue // such names are of another class
		}
		c.other(out, k, p.node, "patternProperties")
	}
	if !covered && q.additional != nil {
		c.other(out, k, q.additional, "additionalProperties")
	}
}

func hasPattern(s []*node, p *pattern) bool {
	return slices.ContainsFunc(s, func(n *node) bool {
		return slices.ContainsFunc(n.patterns, func(own patternProperty) bool { return own.pattern.source == p.source })
	})
}

func (c *containment) other(out *outcome, k class, sup *node, rule string) {
	switch {
	case refuses(sup), len(k.schemas) == 0 && sup.verdict == nil:
		out.add(c.differs("", rule, openness(k.schemas), openness([]*node{sup})))
	default:
		out.add(under1("{}", c.within(k.schemas, []*node{sup})))
	}
}

func (c *containment) propertyNames(out *outcome, s []*node, q *node, names nameSpace) {
	if q.propertyNames == nil {
		return
	}
	fits := !slices.ContainsFunc(names.known, func(name string) bool {
		return !cannotHave(s, name) && len(explain(q.propertyNames, &value{kind: stringKind, text: name})) > 0
	})
	if fits && names.open {
		list := []*node{c.typed(stringType)}
		for _, n := range s {
			if n.propertyNames != nil {
				list = append(list, n.propertyNames)
			}
		}
		for _, k := range classesOf(s) {
			sub := slices.Clone(list)
			if k.pattern != nil {
				named := blank()
				named.pattern = k.pattern
				sub = append(sub, named)
			}
			fits = c.holds(out, sub, []*node{q.propertyNames}) && fits
		}
	}
	if !fits {
		out.add(c.differs("", "propertyNames", said("propertyNames", s...), said("propertyNames", q)))
	}
}
