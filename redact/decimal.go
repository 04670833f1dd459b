package redact

import (
	"bytes"
	"fmt"
	"strconv"
)

// maxExponent bounds the power of ten of a number's first digit: beyond it a reader that expands the number would hang.
const maxExponent = 999_999_999

// decimal is the number (-1)^neg × 0.digits × 10^point, with neither leading nor trailing zeros in digits; zero has
// none.
type decimal struct {
	neg    bool
	digits []byte
	point  int64
}

// parseDecimal reads a number of JSON's grammar exactly.
func parseDecimal(text []byte) (decimal, error) {
	d := decimal{neg: text[0] == '-'}
	if d.neg {
		text = text[1:]
	}
	mantissa, exponent := text, []byte(nil)
	if e := bytes.IndexAny(text, "eE"); e >= 0 {
		mantissa, exponent = text[:e], text[e+1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	digits := whole
	if len(fraction) > 0 {
		digits = append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	}
	significant := bytes.TrimLeft(digits, "0")
	point := int64(len(whole)) - int64(len(digits)-len(significant))
	significant = bytes.TrimRight(significant, "0")
	if len(significant) == 0 {
		return decimal{}, nil // every zero is one number, -0 and 0e9 among them
	}
	shift, err := parseExponent(exponent)
	if err != nil {
		return decimal{}, err
	}
	d.digits, d.point = significant, point+shift
	if n := d.point - 1; n > maxExponent || n < -maxExponent {
		return decimal{}, errExponent()
	}
	return d, nil
}

func parseExponent(text []byte) (int64, error) {
	if len(text) == 0 {
		return 0, nil
	}
	neg := text[0] == '-'
	if neg || text[0] == '+' {
		text = text[1:]
	}
	text = bytes.TrimLeft(text, "0")
	if len(text) > 17 {
		return 0, errExponent()
	}
	var n int64
	for _, c := range text {
		n = n*10 + int64(c-'0')
	}
	if neg {
		n = -n
	}
	return n, nil
}

func errExponent() error {
	return fmt.Errorf("%w: an exponent exceeds ±%d", ErrCanonical, maxExponent)
}

// append spells the number as ECMAScript's Number::toString does (RFC 8785 section 3.2.2.3), whatever the count of
// digits.
func (d decimal) append(b []byte) []byte {
	count := int64(len(d.digits))
	if count == 0 {
		return append(b, '0')
	}
	if d.neg {
		b = append(b, '-')
	}
	switch {
	case count <= d.point && d.point <= 21:
		b = append(b, d.digits...)
		return append(b, zeros[:d.point-count]...)
	case 0 < d.point && d.point <= 21:
		b = append(append(b, d.digits[:d.point]...), '.')
		return append(b, d.digits[d.point:]...)
	case -6 < d.point && d.point <= 0:
		b = append(append(b, "0."...), zeros[:-d.point]...)
		return append(b, d.digits...)
	}
	b = append(b, d.digits[0])
	if count > 1 {
		b = append(append(b, '.'), d.digits[1:]...)
	}
	b = append(b, 'e')
	if d.point > 0 {
		b = append(b, '+')
	}
	return strconv.AppendInt(b, d.point-1, 10)
}

const zeros = "000000000000000000000"
