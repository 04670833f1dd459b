package validate

import (
	"encoding/binary"
	"math/bits"
)

// maxFastDigits is what the fast path compares; longer numbers go to the slower pass.
const maxFastDigits = 40

// number reads the number at i. Whole numbers of up to 18 digits are compared as int64, others digit by digit.
func (s *scan) number(c *numberCheck, i int) int {
	doc := s.doc
	start := i
	negative := doc[i] == '-'
	if negative {
		i++
	}
	first := i
	var n int64
	if i+8 <= len(doc) {
		n, i = firstDigits(binary.LittleEndian.Uint64(doc[i:]), i)
	}
	if i == first || i == first+8 {
		for i < len(doc) {
			d := doc[i] - '0'
			if d > 9 {
				break
			}
			n = n*10 + int64(d)
			i++
		}
	}
	count := i - first
	if count == 0 || count > 1 && doc[first] == '0' {
		return no
	}
	if i < len(doc) {
		switch doc[i] {
		case '.', 'e', 'E':
			if c.holds != floatNumber && c.holds != anyNumber {
				return no // a Go integer takes neither
			}
			return s.decimal(c, start)
		}
	}
	if count > 18 || !c.simple {
		return s.decimal(c, start)
	}
	if negative {
		n = -n
	}
	if n < c.low || n > c.high || count > s.digits || negative && n == 0 && c.holds == unsignedNumber {
		return no
	}
	return i
}

// firstDigits reads the digits that the eight bytes of w, which stand at i, begin with.
func firstDigits(w uint64, i int) (n int64, end int) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	v := w ^ ones*'0'
	other := ((v + ones*0x76) | v) & tops // set where a byte is no digit
	count := bits.TrailingZeros64(other) >> 3
	if count == 0 {
		return 0, i
	}
	v <<= 8 * (8 - count) & 63 // the digits to the top, zeros before them
	v = v*10 + v>>8            // pairs, fours, eight: each step adds neighbours
	v = ((v&0x000000FF000000FF)*0x000F424000000064 + (v>>16&0x000000FF000000FF)*0x0000271000000001) >> 32
	return int64(v), i + count
}

// decimal reads any number and compares it exactly.
func (s *scan) decimal(c *numberCheck, i int) int {
	var buf [maxFastDigits]byte
	d, end := s.readDecimal(buf[:0], i)
	if end < 0 {
		return no
	}
	if c.integer && !d.integer() || c.holds == floatNumber && (d.point > c.maxPoint || d.point < c.minPoint) {
		return no // a float's edge is for the slower pass
	}
	if c.holds == unsignedNumber && s.doc[i] == '-' && d.digits == nil {
		return no
	}
	if c.minimum != nil && compareDecimal(d, c.minimum) < 0 || c.maximum != nil && compareDecimal(d, c.maximum) > 0 ||
		c.above != nil && compareDecimal(d, c.above) <= 0 || c.below != nil && compareDecimal(d, c.below) >= 0 {
		return no
	}
	if c.multiple != nil && !d.isMultiple(c.multiple) {
		return no
	}
	if c.values != nil && !d.among(c.values) {
		return no
	}
	return end
}

// fastDecimal is [decimal] over a buffer of the caller's.
type fastDecimal struct {
	negative bool
	digits   []byte
	point    int
}

func (d fastDecimal) integer() bool { return d.point >= len(d.digits) }

// readDecimal reads the grammar of numbers and the digits into buf.
func (s *scan) readDecimal(buf []byte, i int) (d fastDecimal, end int) {
	doc := s.doc
	if doc[i] == '-' {
		d.negative = true
		i++
	}
	first, written := i, 0
	point := 0
	for ; i < len(doc) && digit(doc[i]); i++ {
		if buf, point = push(buf, point, doc[i], true); cap(buf) == len(buf) {
			return d, no
		}
		written++
	}
	if written == 0 || written > 1 && doc[first] == '0' {
		return d, no
	}
	if i < len(doc) && doc[i] == '.' {
		from := i + 1
		for i = from; i < len(doc) && digit(doc[i]); i++ {
			if buf, point = push(buf, point, doc[i], false); cap(buf) == len(buf) {
				return d, no
			}
			written++
		}
		if i == from {
			return d, no
		}
	}
	exponent, size := 0, 0
	if i < len(doc) && (doc[i] == 'e' || doc[i] == 'E') {
		if exponent, size, i = s.exponent(i + 1); i < 0 {
			return d, no
		}
	}
	if written+size > s.digits {
		return d, no
	}
	last := len(buf)
	for last > 0 && buf[last-1] == '0' {
		last--
	}
	if last == 0 {
		return fastDecimal{}, i
	}
	d.digits, d.point = buf[:last], point+exponent
	return d, i
}

// push adds a digit to the significant ones and keeps count of where the point stands.
func push(buf []byte, point int, c byte, whole bool) ([]byte, int) {
	switch {
	case len(buf) == 0 && c == '0':
		if !whole {
			point--
		}
		return buf, point
	case whole:
		point++
	}
	return append(buf, c), point
}

func digit(c byte) bool { return c-'0' <= 9 }

// exponent reads what follows the e; more than four digits are for the slower pass.
func (s *scan) exponent(i int) (value, size, end int) {
	doc := s.doc
	negative := false
	if i < len(doc) && (doc[i] == '+' || doc[i] == '-') {
		negative = doc[i] == '-'
		i++
	}
	for ; i < len(doc) && digit(doc[i]); i++ {
		value = value*10 + int(doc[i]-'0')
		size++
		if size > 4 {
			return 0, 0, no
		}
	}
	if size == 0 || value > s.limit.Exponent {
		return 0, 0, no
	}
	if negative {
		value = -value
	}
	return value, size, i
}

func (d fastDecimal) sign() int {
	switch {
	case len(d.digits) == 0:
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func compareDecimal(d fastDecimal, b *decimal) int {
	ds, bs := d.sign(), b.sign()
	switch {
	case ds < bs:
		return -1
	case ds > bs:
		return 1
	case ds == 0:
		return 0
	}
	c := 0
	switch {
	case d.point < b.point:
		c = -1
	case d.point > b.point:
		c = 1
	case string(d.digits) < b.digits:
		c = -1
	case string(d.digits) > b.digits:
		c = 1
	}
	return c * ds
}

func (d fastDecimal) among(values []decimal) bool {
	for i := range values {
		if compareDecimal(d, &values[i]) == 0 {
			return true
		}
	}
	return false
}

// isMultiple decides where everything fits in 18 digits; other cases are for the slower pass.
func (d fastDecimal) isMultiple(m *multiple) bool {
	if len(d.digits) == 0 {
		return true
	}
	shift := d.point - len(d.digits) - m.exponent
	if shift < 0 || len(d.digits)+shift > 18 {
		return false
	}
	var n int64
	for _, c := range d.digits {
		n = n*10 + int64(c-'0')
	}
	for range shift {
		n *= 10
	}
	return n%m.mantissa == 0
}
