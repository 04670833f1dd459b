package validate

import (
	"bytes"
	"cmp"
	"math/big"
	"reflect"
	"slices"
	"strings"
)

// valuesOf returns the values that schemas list, nil where they list none.
func valuesOf(list []*node) []*value {
	for _, n := range list {
		for _, sub := range together(n) {
			if values := sub.admitted(); values != nil {
				return values
			}
		}
	}
	return nil
}

// admitted returns the values of enum or const; nil where the schema has neither.
func (n *node) admitted() []*value {
	if n.constant != nil {
		return []*value{n.constant}
	}
	return n.enum
}

// listed compares the values that sub lists one by one, in every spelling that counts.
func (c *containment) listed(sub, sup []*node, values []*value) outcome {
	obeys := func(list []*node, v *value) (violation, bool) {
		for _, n := range list {
			if found := explain(n, v); len(found) > 0 {
				return found[0], false
			}
		}
		return violation{}, true
	}
	for _, v := range values {
		for _, spelt := range spellings(v) {
			if _, ok := obeys(sub, spelt); !ok {
				continue
			}
			broken, ok := obeys(sup, spelt)
			if ok {
				continue
			}
			if others := valuesOf(sup); others != nil && (broken.rule == "enum" || broken.rule == "const") {
				return c.differs(broken.field, "enum", words(values), words(others))
			}
			if broken.rule == "type" {
				return c.differs(broken.field, "type", words(values), c.typeWords(sup)+goWord(sup))
			}
			return c.differs(broken.field, broken.rule, words(values), said(broken.rule, sup...))
		}
	}
	return outcome{floor: settled}
}

// spellings returns a value in the ways of writing its numbers that Go types tell apart: in digits, with a point, zero
// with a sign.
func spellings(v *value) []*value {
	out := []*value{v}
	for _, write := range []func(decimal, []byte) []byte{inDigits, withPoint, signedZero} {
		other := respell(*v, write)
		if !bytes.Equal(other.raw, v.raw) {
			out = append(out, &other)
		}
	}
	return out
}

func respell(v value, write func(decimal, []byte) []byte) value {
	switch v.kind {
	case nullKind, boolKind, stringKind:
	case numberKind:
		v.raw = write(parseDecimal(v.raw), v.raw)
	case arrayKind, objectKind:
		elems := make([]value, len(v.elems))
		raw := []byte{'['}
		for i := range v.elems {
			elems[i] = respell(v.elems[i], write)
			raw = append(raw, elems[i].raw...)
		}
		v.elems, v.raw = elems, raw
	}
	return v
}

func inDigits(d decimal, raw []byte) []byte {
	if !d.integer() || d.point > maxWritten {
		return raw
	}
	text := d.digits + strings.Repeat("0", d.point-len(d.digits))
	if d.negative {
		text = "-" + text
	}
	return []byte(cmp.Or(text, "0"))
}

func withPoint(d decimal, raw []byte) []byte {
	if !d.integer() || d.point > maxWritten {
		return raw
	}
	return append(inDigits(d, raw), ".0"...)
}

func signedZero(d decimal, raw []byte) []byte {
	if d.digits != "" {
		return raw
	}
	return []byte("-0")
}

// maxWritten is how many digits of a whole number are written out.
const maxWritten = 400

// fewValues reports whether values of the types can only be such as q lists.
func fewValues(t types, q *node) bool {
	if t&^(nullType|booleanType) != 0 {
		return false
	}
	var all []*value
	if t.has(nullType) {
		all = append(all, &value{kind: nullKind, raw: []byte("null")})
	}
	if t.has(booleanType) {
		all = append(all, &value{kind: boolKind, raw: []byte("true")}, &value{kind: boolKind, raw: []byte("false")})
	}
	return !slices.ContainsFunc(all, func(v *value) bool { return !oneOfValues(q.admitted(), v) })
}

func (c *containment) numbers(out *outcome, s []*node, t types, q *node) {
	low, high := bounds(s, t)
	if q.minimum != nil && (low == nil || low.at.Cmp(q.minimum.rat()) < 0) {
		out.add(c.differs("", "minimum", boundWord(tightest(s, func(n *node) *bound { return n.minimum }, 1)), boundWord(q.minimum)))
	}
	if q.maximum != nil && (high == nil || high.at.Cmp(q.maximum.rat()) > 0) {
		out.add(c.differs("", "maximum", boundWord(tightest(s, func(n *node) *bound { return n.maximum }, -1)), boundWord(q.maximum)))
	}
	if q.exclusiveMinimum != nil && (low == nil || !beyond(low.at.Cmp(q.exclusiveMinimum.rat()), low.open)) {
		out.add(c.differs("", "exclusiveMinimum", boundWord(tightest(s, func(n *node) *bound { return n.exclusiveMinimum }, 1)), boundWord(q.exclusiveMinimum)))
	}
	if q.exclusiveMaximum != nil && (high == nil || !beyond(-high.at.Cmp(q.exclusiveMaximum.rat()), high.open)) {
		out.add(c.differs("", "exclusiveMaximum", boundWord(tightest(s, func(n *node) *bound { return n.exclusiveMaximum }, -1)), boundWord(q.exclusiveMaximum)))
	}
	if m := q.multipleOf; m != nil && !(t&numberType == 0 && parseDecimal([]byte("1")).multipleOf(m.decimal)) &&
		!slices.ContainsFunc(s, func(n *node) bool { return n.multipleOf != nil && n.multipleOf.multipleOf(m.decimal) }) {
		out.add(c.differs("", "multipleOf", boundWord(tightest(s, func(n *node) *bound { return n.multipleOf }, 1)), boundWord(m)))
	}
	if q.goKind != reflect.Invalid && !slices.ContainsFunc(s, func(n *node) bool { return holdsAll(n.goKind, q.goKind, low, high) }) {
		out.add(c.differs("", "type", c.typeWords(s)+goWord(s), c.typeWords([]*node{q})+goWord([]*node{q})))
	}
}

func beyond(order int, open bool) bool { return order > 0 || order == 0 && open }

// bounds returns the tightest bounds of schemas that hold together; whole numbers move them inwards.
func bounds(s []*node, t types) (low, high *limit) {
	for _, n := range s {
		l, h := n.interval()
		if l != nil && (low == nil || beyond(l.at.Cmp(low.at), l.open)) {
			low = l
		}
		if h != nil && (high == nil || beyond(-h.at.Cmp(high.at), h.open)) {
			high = h
		}
	}
	if t.has(numberType) {
		return low, high
	}
	one := big.NewRat(1, 1)
	if low != nil {
		low = &limit{at: low.next(one), sign: 1}
	}
	if high != nil {
		high = &limit{at: high.next(one), sign: -1}
	}
	return low, high
}

func tightest(s []*node, of func(*node) *bound, sign int) (found *bound) {
	for _, n := range s {
		if b := of(n); b != nil && (found == nil || sign*b.compare(found.decimal) > 0) {
			found = b
		}
	}
	return found
}

// holdsAll reports whether every number that a Go number of one kind takes, as it is written, is taken by the other kind.
func holdsAll(from, to reflect.Kind, low, high *limit) bool {
	_, _, fromInteger := integerBounds(from)
	_, _, toInteger := integerBounds(to)
	switch {
	case from == to:
		return true
	case fromInteger && toInteger:
		return unsigned(from) || !unsigned(to) // a signed one takes -0
	case fromInteger:
		whole := big.NewRat(1<<53, 1)
		if to == reflect.Float32 {
			whole = big.NewRat(1<<24, 1)
		}
		return low != nil && high != nil && low.at.Cmp(new(big.Rat).Neg(whole)) >= 0 && high.at.Cmp(whole) <= 0
	}
	return from == reflect.Float32 && to == reflect.Float64
}

func goWord(list []*node) string {
	for _, n := range list {
		for _, sub := range together(n) {
			if sub.goKind != reflect.Invalid {
				return ", as Go's " + sub.goKind.String()
			}
		}
	}
	return ", as JSON Schema has it"
}

func (c *containment) texts(out *outcome, s []*node, q *node) {
	shortest, longest := 0, unset
	for _, n := range s {
		least, most := n.format.lengths()
		shortest = max(shortest, n.minLength, least)
		longest = fewer(fewer(longest, n.maxLength), most)
		if n.pattern != nil {
			shortest = max(shortest, n.pattern.min)
			longest = fewer(longest, n.pattern.max)
		}
	}
	if q.minLength > shortest {
		out.add(c.differs("", "minLength", countWord(most(s, func(n *node) int { return max(n.minLength, 0) })), countWord(q.minLength)))
	}
	if q.maxLength >= 0 && (longest < 0 || longest > q.maxLength) {
		out.add(c.differs("", "maxLength", countWord(fewest(s, func(n *node) int { return n.maxLength })), countWord(q.maxLength)))
	}
	if q.pattern != nil && !slices.ContainsFunc(s, func(n *node) bool { return n.pattern != nil && n.pattern.source == q.pattern.source }) {
		out.add(c.differs("", "pattern", patterns(s), q.pattern.source))
	}
	if q.format != noFormat && !slices.ContainsFunc(s, func(n *node) bool { return n.format == q.format }) {
		out.add(c.differs("", "format", formats(s), q.format.String()))
	} else if q.goTime && !slices.ContainsFunc(s, func(n *node) bool { return n.goTime }) {
		out.add(c.differs("", "format", formats(s), q.format.String()+", as time.Time holds it"))
	}
}

func fewer(a, b int) int {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

func fewest(s []*node, of func(*node) int) int {
	found := unset
	for _, n := range s {
		found = fewer(found, of(n))
	}
	return found
}

func most(s []*node, of func(*node) int) int {
	found := unset
	for _, n := range s {
		found = max(found, of(n))
	}
	return found
}

func patterns(s []*node) string {
	var list []string
	for _, n := range s {
		if n.pattern != nil {
			list = append(list, n.pattern.source)
		}
	}
	return cmp.Or(strings.Join(list, " and "), "none")
}

func formats(s []*node) string {
	var list []string
	for _, n := range s {
		if n.format != noFormat {
			list = append(list, n.format.String())
		}
	}
	return cmp.Or(strings.Join(list, " and "), "none")
}
