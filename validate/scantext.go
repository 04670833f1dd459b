package validate

import (
	"encoding/binary"
	"math/bits"
)

// Classes of bytes. The table is a constant string, so that nothing can change it.
const (
	plainByte = 1 // stands for itself within a string: ASCII but for controls, quote and backslash
	spaceByte = 2
)

const bytesOf = "" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x02\x00\x00\x02\x00\x00" + // 00: tab, line feed, carriage return
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x03\x01\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" + // 20: space, quote
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" + // 40
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x01\x01\x01" + // 5C: backslash
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" + // 7F stands for itself too (RFC 8259 section 7)
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + // 80
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + // C0
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// text reads the string whose first byte after the quote is at i, and returns the position after its end.
func (s *scan) text(c *textCheck, i int) int {
	doc := s.doc
	switch c.mode {
	case anyText:
	case listedText:
		return s.listed(c, i)
	case segmentText:
		if j := c.pattern.loops.quoted(doc, i); j >= 0 && j-i >= c.min && j-i <= c.max && j-i <= s.limit.StringBytes {
			return j + 1
		} // otherwise it may be spelt with escapes
	case matchedText:
	}
	j := plainEnd(doc, i)
	if j >= len(doc) {
		return no
	}
	if doc[j] != '"' {
		return s.longText(c, i, j)
	}
	if n := j - i; n < c.min || n > c.max || n > s.limit.StringBytes {
		return no
	}
	if c.mode == anyText || c.matches(doc[i:j]) {
		return j + 1
	}
	return no
}

// plainEnd returns where the plain ASCII from i on ends: at a quote, a backslash, a control or a byte of another script.
// Eight bytes are looked at together, so that texts of different lengths cost no mispredicted branch each.
func plainEnd(doc []byte, i int) int {
	for i+8 <= len(doc) {
		if special := notPlain(binary.LittleEndian.Uint64(doc[i:])); special != 0 {
			return i + bits.TrailingZeros64(special)>>3
		}
		i += 8
	}
	for i < len(doc) && bytesOf[doc[i]]&plainByte != 0 {
		i++
	}
	return i
}

// notPlain sets the top bit of the first byte in w that is not plain; higher ones may be set for no reason.
func notPlain(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, escape := w^ones*'"', w^ones*'\\'
	return ((w - ones*' ') | (quote - ones) | (escape - ones) | w) & tops
}

// longText goes on at j with the string from i that has something other than plain ASCII in it.
func (s *scan) longText(c *textCheck, i, j int) int {
	end, runes, escaped := s.runes(i, j)
	if end < 0 || runes < c.min || runes > c.max || end-i > s.limit.StringBytes {
		return no // an escaped string may be longer here than it is: the slower pass counts
	}
	switch {
	case c.mode == anyText:
		return end + 1
	case escaped:
		return s.escapedText(c, i)
	case c.matches(s.doc[i:end]):
		return end + 1
	}
	return no
}

// runes goes on at j with the string from i, and returns where its closing quote is, and its length in code points.
func (s *scan) runes(i, j int) (end, runes int, escaped bool) {
	doc := s.doc
	runes = j - i
	for j < len(doc) {
		c := doc[j]
		switch {
		case bytesOf[c]&plainByte != 0:
			j++
		case c >= 0xE1 && c < 0xED && j+2 < len(doc) && doc[j+1]&0xC0 == 0x80 && doc[j+2]&0xC0 == 0x80:
			j += 3 // most scripts; the edges are runeLength's
		case c >= 0xC2 && c < 0xE0 && j+1 < len(doc) && doc[j+1]&0xC0 == 0x80:
			j += 2
		case c >= 0x80:
			n := runeLength(doc, j)
			if n == 0 {
				return no, 0, false
			}
			j += n
		case c == '"':
			return j, runes, escaped
		case c == '\\':
			r, n := unescape(doc[j:])
			if n == 0 || r == 0 { // U+0000 is for the slower pass to refuse
				return no, 0, false
			}
			j += n
			escaped = true
		default:
			return no, 0, false
		}
		runes++
	}
	return no, 0, false
}

// runeLength returns the length of the code point at i, which is not ASCII; 0 where it is not valid UTF-8
// (RFC 3629 section 4: no overlong form, no surrogate, nothing beyond U+10FFFF).
func runeLength(doc []byte, i int) int {
	rest := doc[i:]
	c := rest[0]
	switch {
	case c < 0xC2:
	case c < 0xE0:
		if len(rest) > 1 && rest[1]&0xC0 == 0x80 {
			return 2
		}
	case c < 0xF0:
		if len(rest) > 2 && rest[1]&0xC0 == 0x80 && rest[2]&0xC0 == 0x80 &&
			(c != 0xE0 || rest[1] >= 0xA0) && (c != 0xED || rest[1] < 0xA0) {
			return 3
		}
	case c < 0xF5:
		if len(rest) > 3 && rest[1]&0xC0 == 0x80 && rest[2]&0xC0 == 0x80 && rest[3]&0xC0 == 0x80 &&
			(c != 0xF0 || rest[1] >= 0x90) && (c != 0xF4 || rest[1] < 0x90) {
			return 4
		}
	}
	return 0
}

// escapedText checks a string with escapes in it, unescaped into a buffer of this frame.
func (s *scan) escapedText(c *textCheck, i int) int {
	var buf [1024]byte
	text, end := s.unescape(buf[:0], i)
	if end < 0 || !c.matches(text) {
		return no
	}
	return end
}

// listed reads one of a list of texts: they are compared before anything is scanned.
func (s *scan) listed(c *textCheck, i int) int {
	doc := s.doc
	for k := range c.values {
		if v := &c.values[k]; v.at(doc, i) {
			if v.size-1 > s.limit.StringBytes {
				return no
			}
			return i + v.size
		}
	}
	var buf [maxName]byte
	text, end := s.unescape(buf[:0], i)
	if end < 0 || len(text) > s.limit.StringBytes {
		return no
	}
	for k := range c.values {
		if c.values[k].text == string(text) {
			return end
		}
	}
	return no
}

func (c *textCheck) matches(text []byte) bool {
	if c.pattern != nil && !c.pattern.match(text) {
		return false
	}
	if c.format == 0 {
		return true
	}
	return c.format.matches(text) && (!c.goTime || goTimeReads(text))
}
