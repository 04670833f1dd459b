package validate

// maxWithin bounds how many checks one chain of values within one another may ask of the general validator, which
// remembers nothing: two patterns that both match a name and both refer back to their object ask 2^depth times.
const (
	maxWithin   = 1 << 16
	withinDepth = 32
)

// chainLength returns how many schemas are applied, at most, along one chain of values withinDepth deep; maxWithin + 1 stands
// for more.
func chainLength(root *node) int {
	c := chains{at: map[chain]int{}, about: map[*node][][]*node{}}
	return c.count(root, withinDepth)
}

type chain struct {
	node  *node
	depth int
}

type chains struct {
	at    map[chain]int
	about map[*node][][]*node // lists of schemas that apply to one and the same member or item
}

func (c *chains) count(n *node, depth int) int {
	if known, ok := c.at[chain{n, depth}]; ok {
		return known
	}
	total := len(spread([]*node{n}))
	if depth > 0 {
		most := 0
		for _, list := range c.inner(n) {
			sum := 0
			for _, sub := range list {
				sum = min(sum+c.count(sub, depth-1), maxWithin+1)
			}
			most = max(most, sum)
		}
		total = min(total+most, maxWithin+1)
	}
	c.at[chain{n, depth}] = total
	return total
}

// inner lists, for each declared name, for all others together, and for items, the schemas that may apply there.
func (c *chains) inner(n *node) [][]*node {
	if known, ok := c.about[n]; ok {
		return known
	}
	parts := spread([]*node{n})
	named := map[string]bool{}
	for _, p := range parts {
		for _, m := range p.properties {
			named[m.name] = true
		}
	}
	var others, items []*node
	for _, p := range parts {
		for _, m := range p.patterns {
			others = append(others, m.node)
		}
		for _, sub := range []*node{p.additional, p.unevaluatedProperties} {
			if sub != nil {
				others = append(others, sub)
			}
		}
		for _, sub := range append([]*node{p.items, p.contains, p.unevaluatedItems}, p.prefix...) {
			if sub != nil {
				items = append(items, sub)
			}
		}
	}
	lists := [][]*node{others, items}
	for name := range named {
		var list []*node
		for _, p := range parts {
			list = append(list, p.memberSchemas(name)...)
		}
		lists = append(lists, list)
	}
	c.about[n] = lists
	return lists
}

// memberSchemas returns the schemas that n's own keywords apply to a member of that name.
func (n *node) memberSchemas(name string) (list []*node) {
	if p := n.property(name); p != nil {
		list = append(list, p)
	}
	for _, p := range n.patterns {
		if p.pattern.match([]byte(name)) {
			list = append(list, p.node)
		}
	}
	if len(list) == 0 && n.additional != nil {
		list = append(list, n.additional)
	}
	return list
}
