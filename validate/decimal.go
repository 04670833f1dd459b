package validate

import (
	"bytes"
	"cmp"
	"math/big"
	"strconv"
)

// decimal is a JSON number, exactly: ±0.d1d2d3… × 10^point, the first and the last digit not zero. Zero has no digits.
// Floating point would take 9007199254740993 for its neighbour and 1e400 for infinity.
type decimal struct {
	negative bool
	digits   string
	point    int
}

// parseDecimal reads a number that the grammar has accepted.
func parseDecimal(raw []byte) decimal {
	var d decimal
	if raw[0] == '-' {
		d.negative = true
		raw = raw[1:]
	}
	exponent := 0
	if i := bytes.IndexAny(raw, "eE"); i >= 0 {
		exponent = writtenExponent(raw[i+1:])
		raw = raw[:i]
	}
	whole, fraction, _ := bytes.Cut(raw, []byte{'.'})
	digits := string(whole) + string(fraction)
	first := 0
	for first < len(digits) && digits[first] == '0' {
		first++
	}
	last := len(digits)
	for last > first && digits[last-1] == '0' {
		last--
	}
	if first == last {
		return decimal{}
	}
	d.digits, d.point = digits[first:last], len(whole)-first+exponent
	return d
}

func writtenExponent(b []byte) int {
	switch b[0] {
	case '-':
		return -saturated(b[1:])
	case '+':
		return saturated(b[1:])
	}
	return saturated(b)
}

func (d decimal) integer() bool { return d.point >= len(d.digits) }

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func (d decimal) compare(e decimal) int {
	if c := cmp.Compare(d.sign(), e.sign()); c != 0 || d.digits == "" {
		return c
	}
	c := cmp.Or(cmp.Compare(d.point, e.point), cmp.Compare(d.digits, e.digits))
	if d.negative {
		return -c
	}
	return c
}

// multipleOf reports whether d is a whole multiple of e (JSON Schema validation 6.2.1). The exponents may be as long
// as the limits allow: powers of ten are taken modulo e, never written out.
func (d decimal) multipleOf(e decimal) bool {
	if d.digits == "" {
		return true
	}
	dm, em := d.mantissa(), e.mantissa()
	shift := (d.point - len(d.digits)) - (e.point - len(e.digits))
	if shift < 0 {
		return false // d's digits do not end in zero, so ten does not divide them
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(shift)), em)
	return new(big.Int).Rem(power.Mul(power, dm), em).Sign() == 0
}

func (d decimal) mantissa() *big.Int {
	m, _ := new(big.Int).SetString(d.digits, 10)
	return m
}

// int64 returns d as an int64, false where it is none.
func (d decimal) int64() (int64, bool) {
	if !d.integer() || d.point > 19 {
		return 0, false
	}
	text := d.digits
	for len(text) < d.point {
		text += "0"
	}
	if d.negative {
		text = "-" + text
	}
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
