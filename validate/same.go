package validate

import (
	"slices"
)

// same reports whether two schemas ask the same of every value, word for word but for the order of members, what is only
// said to people, and where their references lead by. Pairs that are met again on the way are taken for the same: they are
// if all the rest is.
func (c *containment) same(a, b *node) bool {
	if a == b {
		return true
	}
	if known, ok := c.alike[[2]*node{a, b}]; ok {
		return known
	}
	s := sameness{met: map[[2]*node]bool{}}
	ok := s.nodes(a, b)
	c.alike[[2]*node{a, b}] = ok
	return ok
}

type sameness struct{ met map[[2]*node]bool }

func (s *sameness) nodes(a, b *node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a == b || s.met[[2]*node{a, b}] {
		return true
	}
	s.met[[2]*node{a, b}] = true
	if a.verdict != nil || b.verdict != nil {
		return a.verdict != nil && b.verdict != nil && *a.verdict == *b.verdict
	}
	return a.types == b.types && a.goKind == b.goKind && a.goTime == b.goTime && sameValues(a, b) && sameBounds(a, b) &&
		s.nodes(a.ref, b.ref) && s.arrays(a, b) && s.objects(a, b) && s.applied(a, b)
}

func sameValues(a, b *node) bool {
	if (a.constant == nil) != (b.constant == nil) || a.constant != nil && !equal(a.constant, b.constant) || len(a.enum) != len(b.enum) {
		return false
	}
	return !slices.ContainsFunc(a.enum, func(v *value) bool { return !oneOfValues(b.enum, v) })
}

func sameBounds(a, b *node) bool {
	for _, pair := range [...][2]*bound{
		{a.minimum, b.minimum},
		{a.maximum, b.maximum},
		{a.exclusiveMinimum, b.exclusiveMinimum},
		{a.exclusiveMaximum, b.exclusiveMaximum},
		{a.multipleOf, b.multipleOf},
	} {
		if (pair[0] == nil) != (pair[1] == nil) || pair[0] != nil && pair[0].compare(pair[1].decimal) != 0 {
			return false
		}
	}
	source := func(p *pattern) string {
		if p == nil {
			return ""
		}
		return "/" + p.source
	}
	return a.minLength == b.minLength && a.maxLength == b.maxLength && source(a.pattern) == source(b.pattern) && a.format == b.format
}

func (s *sameness) arrays(a, b *node) bool {
	return a.minItems == b.minItems && a.maxItems == b.maxItems && a.uniqueItems == b.uniqueItems &&
		a.minContains == b.minContains && a.maxContains == b.maxContains && s.lists(a.prefix, b.prefix) &&
		s.nodes(a.items, b.items) && s.nodes(a.contains, b.contains) && s.nodes(a.unevaluatedItems, b.unevaluatedItems)
}

func (s *sameness) objects(a, b *node) bool {
	if a.minProperties != b.minProperties || a.maxProperties != b.maxProperties || !sameNames(a.required, b.required) ||
		len(a.patterns) != len(b.patterns) || len(a.dependentRequired) != len(b.dependentRequired) {
		return false
	}
	for _, d := range a.dependentRequired {
		if !slices.ContainsFunc(b.dependentRequired, func(e dependency) bool { return d.name == e.name && sameNames(d.needs, e.needs) }) {
			return false
		}
	}
	for _, p := range a.patterns {
		if !slices.ContainsFunc(b.patterns, func(o patternProperty) bool {
			return p.pattern.source == o.pattern.source && s.nodes(p.node, o.node)
		}) {
			return false
		}
	}
	return s.named(a.properties, b.properties) && s.nodes(a.additional, b.additional) && s.nodes(a.propertyNames, b.propertyNames) &&
		s.nodes(a.unevaluatedProperties, b.unevaluatedProperties) && s.named(a.dependentSchemas, b.dependentSchemas)
}

func (s *sameness) applied(a, b *node) bool {
	return s.lists(a.allOf, b.allOf) && s.lists(a.anyOf, b.anyOf) && s.lists(a.oneOf, b.oneOf) && s.nodes(a.not, b.not) &&
		s.nodes(a.condition, b.condition) && s.nodes(a.then, b.then) && s.nodes(a.otherwise, b.otherwise)
}

func (s *sameness) lists(a, b []*node) bool { return slices.EqualFunc(a, b, s.nodes) }

func (s *sameness) named(a, b []property) bool {
	if len(a) != len(b) {
		return false
	}
	for _, p := range a {
		if !slices.ContainsFunc(b, func(o property) bool { return p.name == o.name && s.nodes(p.node, o.node) }) {
			return false
		}
	}
	return true
}

func sameNames(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}
