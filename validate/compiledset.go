package validate

// uncovered looks at the keywords of n alone.
func (n *node) uncovered() bool {
	return n.not != nil || n.condition != nil || n.then != nil || n.otherwise != nil || len(n.dependentSchemas) > 0 ||
		n.contains != nil || len(n.patterns) > 0 || n.propertyNames != nil || n.unevaluatedItems != nil ||
		len(n.oneOf) > 0 && n.union == nil || len(n.anyOf) > 0 && nullable(n.anyOf) == nil
}
