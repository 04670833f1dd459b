package contracttest

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// numbers sends numbers at and beyond each bound.
func (g *generator) numbers(p place, at int, s *shape) {
	g.apply(p, at, s, func(*value) []mutation {
		out := append(g.least(p, s), g.most(p, s)...)
		if s.step != nil {
			out = append(out, g.steps(p, s)...)
		}
		exact, _ := new(big.Rat).SetString("9007199254740993") // 2⁵³+1: a double cannot hold it
		if s.integer() && s.inside(exact) {
			out = append(out, mutation{op: "beyond-double", keyword: "valid", value: numberValue(spell(exact))})
		}
		if neg := new(big.Rat).Neg(exact); s.integer() && s.inside(neg) {
			out = append(out, mutation{op: "beyond-double-negative", keyword: "valid", value: numberValue(spell(neg))})
		}
		if zero := ratOf(0); s.inside(zero) {
			out = append(out, mutation{op: "zero", keyword: "valid", value: numberValue("0")})
		}
		return append(out, g.spellings(p)...)
	})
}

// number spells r, with an exponent where it would have too many digits.
func (g *generator) number(r *big.Rat) *value {
	raw := spell(r)
	if digits := len(strings.Trim(raw, "-.")); digits > g.limits.NumberDigits {
		f, _ := r.Float64()
		raw = strconv.FormatFloat(f, 'g', -1, 64)
	}
	return numberValue(raw)
}

func (g *generator) bound(p place, s *shape, op, keyword string, r *big.Rat, ok bool) (out []mutation) {
	if r == nil {
		return nil
	}
	v := g.number(r)
	got := rational(v.raw)
	if got == nil || s.integer() && strings.ContainsAny(v.raw, ".e") || ok != s.inside(got) {
		return nil
	}
	m := mutation{op: keyword + "-" + op, keyword: keyword, value: v}
	if !ok {
		m.want = invalid(keyword, p.field)
		if f, _ := got.Float64(); math.Abs(f) > math.MaxFloat32/2 {
			m.want.Rule = "" // a Go type may end here too
		}
	}
	return append(out, m)
}

func (g *generator) least(p place, s *shape) (out []mutation) {
	if s.lo == nil {
		return nil
	}
	keyword, grain := "minimum", s.grain()
	if s.loOpen {
		keyword = "exclusiveMinimum"
	}
	first, before := ceilTo(s.lo, grain), floorTo(s.lo, grain)
	if s.loOpen && first.Cmp(s.lo) == 0 {
		first = new(big.Rat).Add(first, grain)
	}
	if !s.loOpen && before.Cmp(s.lo) == 0 {
		before = new(big.Rat).Sub(before, grain)
	}
	out = append(out, g.bound(p, s, "exact", keyword, first, true)...)
	out = append(out, g.bound(p, s, "under", keyword, before, false)...)
	if s.step == nil && !s.integer() {
		out = append(out, g.bound(p, s, "under-next-double", keyword, floatBeside(s.lo, false), false)...)
	}
	out = append(out, g.bound(p, s, "under-far", keyword, new(big.Rat).Sub(before, new(big.Rat).Mul(grain, ratOf(1000))), false)...)
	if len(out) > 0 && s.has(keyword) && !hasInvalid(out) {
		g.implied(p, keyword, "what a number can hold")
	}
	g.looser(p, s, "minimum", "exclusiveMinimum", keyword)
	return out
}

func (g *generator) most(p place, s *shape) (out []mutation) {
	if s.hi == nil {
		return nil
	}
	keyword, grain := "maximum", s.grain()
	if s.hiOpen {
		keyword = "exclusiveMaximum"
	}
	last, after := floorTo(s.hi, grain), ceilTo(s.hi, grain)
	if s.hiOpen && last.Cmp(s.hi) == 0 {
		last = new(big.Rat).Sub(last, grain)
	}
	if !s.hiOpen && after.Cmp(s.hi) == 0 {
		after = new(big.Rat).Add(after, grain)
	}
	out = append(out, g.bound(p, s, "exact", keyword, last, true)...)
	out = append(out, g.bound(p, s, "over", keyword, after, false)...)
	if s.step == nil && !s.integer() {
		out = append(out, g.bound(p, s, "over-next-double", keyword, floatBeside(s.hi, true), false)...)
	}
	out = append(out, g.bound(p, s, "over-far", keyword, new(big.Rat).Add(after, new(big.Rat).Mul(grain, ratOf(1000))), false)...)
	if s.integer() {
		for _, edge := range []string{"2147483648", "4294967296", "9223372036854775808", "18446744073709551616"} {
			r := rational(edge)
			out = append(out, g.bound(p, s, "over-"+strconv.Itoa(r.Num().BitLen()-1)+"-bits", keyword, r, false)...)
		}
	}
	g.looser(p, s, "maximum", "exclusiveMaximum", keyword)
	return out
}

func hasInvalid(list []mutation) bool {
	for _, m := range list {
		if !m.valid() {
			return true
		}
	}
	return false
}

// looser notes that of two bounds on one side the other leaves nothing to refuse.
func (g *generator) looser(p place, s *shape, a, b, tight string) {
	for _, keyword := range []string{a, b} {
		if keyword != tight && s.has(keyword) {
			g.implied(p, keyword, tight)
		}
	}
}

// steps are multiples that a division of doubles misjudges, and numbers half a step off.
func (g *generator) steps(p place, s *shape) (out []mutation) {
	found := 0
	for k := int64(1); k < 400 && found < 3; k++ {
		r := new(big.Rat).Mul(s.step, ratOf(k))
		f, _ := r.Float64()
		d, _ := s.step.Float64()
		if q := f / d; q == math.Trunc(q) || !s.inside(r) {
			continue
		}
		out = append(out, mutation{op: "multipleOf-misjudged-" + strconv.Itoa(found), keyword: "multipleOf", value: g.number(r)})
		found++
	}
	start := s.step
	if s.lo != nil {
		start = ceilTo(new(big.Rat).Add(s.lo, s.step), s.step)
	}
	for i, part := range []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 10), big.NewRat(9, 10)} {
		off := new(big.Rat).Mul(s.step, part)
		if s.integer() {
			off = floorTo(off, ratOf(1))
			if off.Sign() == 0 {
				off = ratOf(1)
			}
		}
		r := new(big.Rat).Add(start, off)
		if isMultiple(r, s.step) || s.lo != nil && r.Cmp(s.lo) < 0 || s.hi != nil && r.Cmp(s.hi) > 0 {
			continue
		}
		out = append(out, mutation{op: "multipleOf-off-" + strconv.Itoa(i), keyword: "multipleOf", value: g.number(r), want: invalid("multipleOf", p.field)})
	}
	if hasInvalid(out) {
		return out
	}
	if s.integer() && isMultiple(ratOf(1), s.step) {
		g.implied(p, "multipleOf", "the type")
		return out
	}
	r, implied := s.betweenSteps()
	if implied {
		g.implied(p, "multipleOf", "the bounds")
	}
	if r != nil {
		out = append(out, mutation{op: "multipleOf-off", keyword: "multipleOf", value: g.number(r), want: invalid("multipleOf", p.field)})
	}
	return out
}

// betweenSteps is a number within the bounds that is no multiple, and whether it is proved that there is none.
func (s *shape) betweenSteps() (r *big.Rat, implied bool) {
	grain := ratOf(1)
	if !s.integer() {
		grain = new(big.Rat).Mul(s.step, big.NewRat(1, 4))
	}
	at, on := s.lo, grain
	if at == nil {
		at, on = s.hi, new(big.Rat).Neg(grain)
	}
	if at == nil {
		at = ratOf(1)
	}
	at = ceilTo(at, grain)
	free := *s
	free.step = nil
	for range 1000 {
		if !isMultiple(at, s.step) && free.inside(at) {
			return at, false
		}
		at = new(big.Rat).Add(at, on)
		if s.integer() && s.lo != nil && s.hi != nil && at.Cmp(s.hi) > 0 {
			return nil, true
		}
	}
	return nil, false
}

// spellings are numbers that cost too much, or are none.
func (g *generator) spellings(p place) (out []mutation) {
	digits := "1" + strings.Repeat("0", g.limits.NumberDigits)
	for _, t := range []struct{ op, raw string }{
		{"exponent-over-limit", "1e" + strconv.Itoa(g.limits.Exponent+1)},
		{"exponent-negative-over-limit", "1e-" + strconv.Itoa(g.limits.Exponent+1)},
		{"exponent-huge", "1e1000000"},
		{"exponent-negative-huge", "-1e-999999"},
		{"digits-over-limit", digits},
		{"exponent-zeros-over-limit", "1e" + strings.Repeat("0", g.limits.NumberDigits) + "1"},
	} {
		out = append(out, mutation{op: "number-" + t.op, keyword: "limits", value: numberValue(t.raw), want: tooLarge(p.field), form: true})
	}
	if g.once["number"] {
		return out
	}
	g.once["number"] = true
	for i, raw := range []string{"NaN", "01", "+1", ".5", "1.", "0x10", "Infinity", "-", "1e", "1_000", "--1", "-01", "1.2.3"} {
		out = append(out, mutation{op: "number-malformed-" + strconv.Itoa(i), keyword: "wire", value: numberValue(raw), want: malformed(), form: true})
	}
	return out
}
