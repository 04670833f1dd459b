package validate

import (
	"slices"
)

// branches returns the branches of a oneOf by their discriminator, nil where the oneOf is no closed discriminated
// union: each branch a closed object that requires "kind" and gives it another constant text.
func branches(n *node) map[string]*node {
	if len(n.oneOf) == 0 {
		return nil
	}
	union := make(map[string]*node, len(n.oneOf))
	for _, sub := range n.oneOf {
		branch := sub.follow()
		if branch.types != objectType || !refuses(branch.additional) || !slices.Contains(branch.required, discriminator) {
			return nil
		}
		kind := branch.property(discriminator)
		if kind == nil || kind.constant == nil || kind.constant.kind != stringKind || union[kind.constant.text] != nil {
			return nil
		}
		union[kind.constant.text] = branch
	}
	return union
}
