package validate

import (
	"slices"
	"strconv"

	"github.com/toolcontract/toolcontract/envelope"
)

func (c *containment) arrays(out *outcome, s []*node, q *node) {
	longest := unset
	for _, n := range s {
		longest = fewer(longest, n.maxItems)
		if refuses(n.items) {
			longest = fewer(longest, len(n.prefix))
		}
	}
	if q.maxItems >= 0 && (longest < 0 || longest > q.maxItems) {
		out.add(c.differs("", "maxItems", countWord(fewest(s, func(n *node) int { return n.maxItems })), countWord(q.maxItems)))
	}
	if least := max(most(s, func(n *node) int { return n.minItems }), 0); q.minItems > least {
		out.add(c.differs("", "minItems", countWord(least), countWord(q.minItems)))
	}
	unique := slices.ContainsFunc(s, func(n *node) bool { return n.uniqueItems })
	if q.uniqueItems && !unique && (longest < 0 || longest > 1) {
		out.add(c.differs("", "uniqueItems", strconv.FormatBool(false), strconv.FormatBool(true)))
	}
	c.items(out, s, q, longest)
	if q.contains != nil && !c.finds(out, s, q, longest) {
		out.add(c.differs("", "contains", said("contains", s...), said("contains", q)))
	}
}

// items compares position by position, and then what may follow.
func (c *containment) items(out *outcome, s []*node, q *node, longest int) {
	positions := len(q.prefix)
	for _, n := range s {
		positions = max(positions, len(n.prefix))
	}
	for i := range positions {
		if longest >= 0 && i >= longest {
			return
		}
		c.item(out, itemSchemas(s, i), q.item(i), envelope.Index("", i), ruleOfItem(q, i))
	}
	if longest < 0 || longest > positions {
		c.item(out, itemSchemas(s, positions), q.item(positions), "[]", "items")
	}
}

func (c *containment) item(out *outcome, sub []*node, sup *node, path, rule string) {
	switch {
	case sup == nil || slices.ContainsFunc(sub, refuses):
	case refuses(sup), len(sub) == 0 && sup.verdict == nil:
		out.add(c.differs("", rule, openness(sub), openness([]*node{sup})))
	default:
		out.add(under1(path, c.within(sub, []*node{sup})))
	}
}

// item returns the schema that prefixItems or items have for a position, nil where they have none.
func (n *node) item(i int) *node {
	if i < len(n.prefix) {
		return n.prefix[i]
	}
	return n.items
}

func itemSchemas(s []*node, i int) (list []*node) {
	for _, n := range s {
		if sub := n.item(i); sub != nil {
			list = append(list, sub)
		}
	}
	return list
}

// finds reports whether what is found among the items of s is enough, and not too much, for the contains of q.
func (c *containment) finds(out *outcome, s []*node, q *node, longest int) bool {
	least := 1
	if q.minContains >= 0 {
		least = q.minContains
	}
	enough := least == 0
	few := q.maxContains < 0 || longest >= 0 && longest <= q.maxContains
	for _, n := range s {
		if n.contains == nil {
			continue
		}
		own := 1
		if n.minContains >= 0 {
			own = n.minContains
		}
		if !enough && own >= least {
			enough = c.holds(out, []*node{n.contains}, []*node{q.contains})
		}
		if !few && n.maxContains >= 0 && n.maxContains <= q.maxContains {
			few = c.holds(out, []*node{q.contains}, []*node{n.contains})
		}
	}
	return enough && few
}
