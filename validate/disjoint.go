package validate

import "slices"

// maxDisjoint is how deep members are looked into for a value that tells two schemas apart.
const maxDisjoint = 3

// disjoint reports whether no value obeys both s and n; false where it cannot tell.
func (c *containment) disjoint(s []*node, n *node, depth int) bool {
	for _, x := range c.alternatives([]*node{n}, contained) {
		if !c.apart(s, x.parts, depth) && !c.apart(x.parts, s, depth) && !between(s, x.parts) {
			return false
		}
	}
	return true
}

// apart looks for a reason on the side of x.
func (c *containment) apart(s, x []*node, depth int) bool {
	if typesOf(s)&typesOf(x) == 0 {
		return true
	}
	if values := valuesOf(x); values != nil {
		return !slices.ContainsFunc(values, func(v *value) bool {
			return slices.ContainsFunc(spellings(v), func(spelt *value) bool {
				return !slices.ContainsFunc(s, func(n *node) bool { return len(explain(n, spelt)) > 0 })
			})
		})
	}
	if typesOf(s)&typesOf(x) != objectType || depth == maxDisjoint {
		return false
	}
	for _, n := range x {
		for _, name := range n.required {
			if cannotHave(s, name) {
				return true
			}
			own, other := memberSchemas(x, name), memberSchemas(s, name)
			for _, sub := range other {
				if len(own) > 0 && c.disjoint(own, sub, depth+1) {
					return true
				}
			}
		}
	}
	return false
}

// between reports whether only numbers could obey both, and none lies within the bounds of both.
func between(s, x []*node) bool {
	t := typesOf(s) & typesOf(x)
	if t&^(numberType|integerType) != 0 {
		return false
	}
	low, high := bounds(append(slices.Clone(s), x...), t)
	if low == nil || high == nil {
		return false
	}
	order := low.at.Cmp(high.at)
	return order > 0 || order == 0 && (low.open || high.open)
}
