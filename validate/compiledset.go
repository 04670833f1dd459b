package validate

// outside reports whether a schema uses a keyword that the compiled check does not cover.
func outside(root *node) bool {
	seen := map[*node]bool{}
	var visit func(n *node) bool
	visit = func(n *node) bool {
		if n == nil || seen[n] {
			return false
		}
		seen[n] = true
		if n.uncovered() {
			return true
		}
		for _, sub := range n.within() {
			if visit(sub) {
				return true
			}
		}
		return false
	}
	return visit(root)
}

// uncovered looks at the keywords of n alone.
func (n *node) uncovered() bool {
	return n.not != nil || n.condition != nil || n.then != nil || n.otherwise != nil || len(n.dependentSchemas) > 0 ||
		n.contains != nil || len(n.patterns) > 0 || n.propertyNames != nil || n.unevaluatedItems != nil ||
		len(n.oneOf) > 0 && n.union == nil || len(n.anyOf) > 0 && nullable(n.anyOf) == nil
}

// within returns every subschema of n.
func (n *node) within() []*node {
	list := n.sameValue()
	list = append(list, n.prefix...)
	list = append(list, n.items, n.contains, n.unevaluatedItems, n.additional, n.propertyNames, n.unevaluatedProperties)
	for _, p := range n.properties {
		list = append(list, p.node)
	}
	for _, p := range n.patterns {
		list = append(list, p.node)
	}
	return list
}
