package validate

import (
	"math"
	"reflect"
)

func textOf(n *node, values []*value) *textCheck {
	t := &textCheck{min: max(n.minLength, 0), max: math.MaxInt, pattern: n.pattern, goTime: n.goTime}
	if n.maxLength >= 0 {
		t.max = n.maxLength
	}
	t.format = n.format
	j := newJudge(1)
	for _, v := range values {
		if v.kind != stringKind {
			continue
		}
		if j.text(n, v); len(j.found) > 0 { // a value that the other keywords refuse
			j.found = nil
			continue
		}
		t.values = append(t.values, newLiteral(v.text))
	}
	if values != nil && t.values == nil {
		t.values = []literal{} // none is admitted
	}
	switch {
	case values != nil:
		t.mode = listedText
	case t.pattern != nil && t.pattern.loops != nil && t.format == noFormat:
		t.mode = segmentText
	case t.pattern != nil || t.format != noFormat:
		t.mode = matchedText
	}
	return t
}

func (c *compiler) numberOf(n *node, t types, values []*value) *numberCheck {
	k := &numberCheck{low: math.MinInt64, high: math.MaxInt64, simple: n.multipleOf == nil && values == nil, integer: !t.has(numberType)}
	switch _, _, integer := integerBounds(n.goKind); {
	case unsigned(n.goKind):
		k.holds = unsignedNumber
	case integer:
		k.holds = signedNumber
	case n.goKind == reflect.Float32, n.goKind == reflect.Float64:
		k.holds = floatNumber
	}
	most := int64(math.MaxInt64) // beyond it, and for what is very small, the slower pass knows what a float holds
	switch n.goKind {
	case reflect.Float32:
		most, k.minPoint, k.maxPoint = 1<<24, -36, 7
	case reflect.Float64:
		most, k.minPoint, k.maxPoint = 1<<53, -306, 15
	}
	for _, v := range values {
		if v.kind == numberKind {
			k.values = append(k.values, parseDecimal(v.raw))
		}
	}
	if values != nil && k.values == nil {
		k.values = []decimal{}
	}
	if n.minimum != nil {
		k.minimum = &n.minimum.decimal
		k.low = wholeBound(n.minimum.decimal, math.MinInt64, &k.simple)
	}
	if n.maximum != nil {
		k.maximum = &n.maximum.decimal
		k.high = wholeBound(n.maximum.decimal, math.MaxInt64, &k.simple)
	}
	if n.exclusiveMinimum != nil {
		k.above, k.simple = &n.exclusiveMinimum.decimal, false
	}
	if n.exclusiveMaximum != nil {
		k.below, k.simple = &n.exclusiveMaximum.decimal, false
	}
	k.low, k.high = max(k.low, -most), min(k.high, most)
	if m := n.multipleOf; m != nil {
		whole := decimal{digits: m.digits, point: len(m.digits)}
		mantissa, ok := whole.int64()
		if !ok || len(m.digits) > 18 {
			c.outside = true
			return k
		}
		k.multiple = &multiple{mantissa: mantissa, exponent: m.point - len(m.digits)}
	}
	return k
}

// wholeBound returns a bound as an int64. One beyond int64 does not matter for numbers of 18 digits; one with a
// fraction makes the comparison less simple.
func wholeBound(d decimal, far int64, simple *bool) int64 {
	if v, ok := d.int64(); ok {
		return v
	}
	if d.integer() && d.negative == (far < 0) {
		return far
	}
	*simple = false
	return far
}

func (c *compiler) arrayOf(n *node) *arrayCheck {
	a := &arrayCheck{min: max(n.minItems, 0), max: math.MaxInt, unique: n.uniqueItems}
	if n.maxItems >= 0 {
		a.max = n.maxItems
	}
	for _, p := range n.prefix {
		a.prefix = append(a.prefix, c.check(p))
	}
	a.items = c.check(n.items)
	return a
}
