package validate

import (
	"math"
	"slices"
)

func (c *compiler) objectOf(n *node, out *check) {
	if n.unevaluatedProperties != nil && n.additional == nil {
		n = &node{ // nothing else evaluates members here: it says what additionalProperties says
			properties: n.properties, index: n.index, additional: n.unevaluatedProperties, required: n.required, propertyNames: n.propertyNames,
			minProperties: n.minProperties, maxProperties: n.maxProperties, dependentRequired: n.dependentRequired, patterns: n.patterns,
		}
	}
	if refuses(n.additional) && len(n.patterns) == 0 {
		if n.propertyNames != nil {
			c.outside = true
			return
		}
		out.object = &objectCheck{}
		c.closed(n, out.object)
		return
	}
	if len(n.patterns) == 0 && len(n.properties) > 0 || len(n.dependentRequired) > 0 {
		c.outside = true // an open object with declared members
		return
	}
	out.members = &mapCheck{min: max(n.minProperties, 0), max: math.MaxInt, values: c.check(n.additional)}
	if n.maxProperties >= 0 {
		out.members.max = n.maxProperties
	}
	out.members.declared = map[string]declaredCheck{}
	for _, p := range n.properties {
		out.members.declared[p.name] = declaredCheck{c.check(p.node), slices.Contains(n.required, p.name)}
	}
	for _, name := range n.required {
		if _, ok := out.members.declared[name]; !ok {
			c.outside = true // required, and not declared
			return
		}
	}
	out.members.required = len(n.required)
	for _, p := range n.patterns {
		out.members.patterns = append(out.members.patterns, patternCheck{p.pattern, c.check(p.node)})
	}
	if n.propertyNames != nil {
		if out.members.names = c.check(n.propertyNames).text; out.members.names == nil {
			c.outside = true // no name is admitted
		}
	}
}

// closed fills o, which stands in its place already: a recursive schema refers to it while it is built.
func (c *compiler) closed(n *node, o *objectCheck) {
	o.min, o.max = max(n.minProperties, 0), math.MaxInt
	if n.maxProperties >= 0 {
		o.max = n.maxProperties
	}
	if len(n.properties) > maxProperties {
		c.outside = true
		return
	}
	for _, p := range n.properties {
		if !plainName(p.name) {
			c.outside = true
			return
		}
		o.members = append(o.members, namedCheck{name: newLiteral(p.name), check: c.check(p.node)})
	}
	set := func(mask *[maxProperties / 64]uint64, name string) {
		k, ok := n.index[name]
		if !ok {
			c.outside = true // cannot be satisfied
			return
		}
		mask[k>>6] |= 1 << (k & 63)
	}
	for _, name := range n.required {
		set(&o.required, name)
	}
	for _, d := range n.dependentRequired {
		k, ok := n.index[d.name]
		if !ok {
			continue // never present in a closed object
		}
		need := need{trigger: k}
		for _, name := range d.needs {
			set(&need.needs, name)
		}
		o.needs = append(o.needs, need)
	}
	o.simple = len(o.members) <= 64 && o.min == 0 && o.max == math.MaxInt && len(o.needs) == 0
	if !o.index() {
		c.outside = true
	}
}

// plainName reports whether a name is written one way only but for escapes, and has room in the scan's buffers.
func plainName(name string) bool {
	for i := range len(name) {
		if bytesOf[name[i]]&plainByte == 0 {
			return false
		}
	}
	return len(name) <= 64
}

func (c *compiler) union(n *node, t types, out *check) {
	if !t.has(objectType) || n.constant != nil || n.enum != nil || n.members() {
		c.outside = true
		return
	}
	u := &unionCheck{discriminator: newLiteral(discriminator), skipped: anything}
	for _, sub := range n.oneOf {
		branch := sub.follow()
		made := c.check(branch)
		if made.object == nil {
			c.outside = true
			return
		}
		u.kinds = append(u.kinds, newLiteral(branch.property(discriminator).constant.text))
		u.branches = append(u.branches, made.object)
	}
	out.union = u
}

// merge makes one closed object of an allOf whose parts are plain objects, closed together by unevaluatedProperties.
func (c *compiler) merge(n *node, out *check) {
	merged := &node{
		index: map[string]int{}, minProperties: n.minProperties, maxProperties: n.maxProperties,
		additional: n.unevaluatedProperties,
	}
	if !refuses(n.unevaluatedProperties) || n.types != 0 && n.types != objectType || !c.fold(merged, n) || n.types == 0 && !c.objectParts(n) {
		c.outside = true
		return
	}
	out.object = &objectCheck{}
	c.closed(merged, out.object)
}

// objectParts reports whether a part of the allOf says that the value is an object.
func (c *compiler) objectParts(n *node) bool {
	return slices.ContainsFunc(n.allOf, func(sub *node) bool {
		sub = sub.follow()
		return sub.types == objectType || sub.types == 0 && c.objectParts(sub)
	})
}

// fold adds what part says of members to merged; false where it says more than that.
func (c *compiler) fold(merged, part *node) bool {
	for _, k := range part.keywords {
		switch k {
		case "type", "properties", "required", "dependentRequired", "allOf", "unevaluatedProperties", "minProperties", "maxProperties",
			"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "$defs":
		default:
			return false
		}
	}
	for _, p := range part.properties {
		if _, twice := merged.index[p.name]; twice {
			return false
		}
		merged.index[p.name] = len(merged.properties)
		merged.properties = append(merged.properties, p)
	}
	for _, name := range part.required {
		if !slices.Contains(merged.required, name) {
			merged.required = append(merged.required, name)
		}
	}
	merged.dependentRequired = append(merged.dependentRequired, part.dependentRequired...)
	for _, sub := range part.allOf {
		sub = sub.follow()
		if sub.unevaluatedProperties != nil || sub.minProperties >= 0 || sub.maxProperties >= 0 || sub.types != 0 && sub.types != objectType || !c.fold(merged, sub) {
			return false
		}
	}
	return true
}
