// Package encoded undoes encodings in which a text can hide, leniently, and tells where in it each byte came from.
package encoded

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Decoding is a text with one encoding undone and, for each byte, where in the encoded text it came from.
// The decoders are lenient: whatever might be an encoding is undone, the rest stays or is left out.
type Decoding struct {
	Data []byte
	At   []int
}

func (d *Decoding) add(at int, b ...byte) {
	for _, c := range b {
		d.Data, d.At = append(d.Data, c), append(d.At, at)
	}
}

// border separates two encoded runs, which are not one text.
func (d *Decoding) border(at int) {
	if n := len(d.Data); n > 0 && d.Data[n-1] != 0 {
		d.add(at, 0)
	}
}

// roomFor returns a Decoding that holds n bytes without growing.
func roomFor(n int) Decoding {
	return Decoding{make([]byte, 0, n), make([]int, 0, n)}
}

func (d *Decoding) rune(at int, r rune) { d.add(at, utf8.AppendRune(nil, r)...) }

// Unescape undoes the escapes of JSON, JavaScript and Go: \n, \", \x41, \u0041 with surrogate pairs, \U00000041.
func Unescape(text []byte) Decoding {
	d := roomFor(len(text))
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 == len(text) {
			d.add(i, text[i])
			i++
			continue
		}
		at, kind := i, text[i+1]
		i += 2
		switch kind {
		case 'u':
			r, n := escapedRune(text[i:], 4)
			if utf16.IsSurrogate(r) && i+n+1 < len(text) && text[i+n] == '\\' && text[i+n+1] == 'u' {
				if low, m := escapedRune(text[i+n+2:], 4); utf16.DecodeRune(r, low) != utf8.RuneError {
					r, n = utf16.DecodeRune(r, low), n+2+m
				}
			}
			d.rune(at, r)
			i += n
		case 'U':
			r, n := escapedRune(text[i:], 8)
			d.rune(at, r)
			i += n
		case 'x':
			r, n := escapedRune(text[i:], 2)
			d.add(at, byte(r)) //nolint:gosec // two hexadecimal digits
			i += n
		default:
			d.add(at, escapedByte(kind))
		}
	}
	return d
}

func escapedByte(kind byte) byte {
	switch kind {
	case 'a':
		return '\a'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	}
	return kind
}

// escapedRune reads the given count of hexadecimal digits; where they are not there it reads none.
func escapedRune(text []byte, digits int) (r rune, read int) {
	if len(text) < digits {
		return utf8.RuneError, 0
	}
	n, err := strconv.ParseUint(string(text[:digits]), 16, 31)
	if err != nil {
		return utf8.RuneError, 0
	}
	return rune(n), digits
}

// Unpercent undoes RFC 3986 section 2.1, and with spaces the + of forms.
func Unpercent(text []byte, spaces bool) Decoding {
	d := roomFor(len(text))
	for i := 0; i < len(text); {
		at, c := i, text[i]
		i++
		switch {
		case c == '%' && i+1 < len(text) && hexDigit(text[i]) >= 0 && hexDigit(text[i+1]) >= 0:
			c = byte(hexDigit(text[i])<<4 | hexDigit(text[i+1])) //nolint:gosec // two hexadecimal digits
			i += 2
		case c == '+' && spaces:
			c = ' '
		}
		d.add(at, c)
	}
	return d
}

// Unbase64 undoes RFC 4648 sections 4 and 5 in each run of its letters that could hold that many bytes, from the letter
// shift on.
func Unbase64(text []byte, shift, bytes int) Decoding {
	var d Decoding
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && base64Digit(text[end]) >= 0 {
			end++
		}
		if end-i >= bytes*8/6 {
			var acc, bits int
			for at := i + shift; at < end; at++ {
				acc, bits = acc<<6|base64Digit(text[at]), bits+6
				if bits >= 8 {
					bits -= 8
					d.add(at-1, byte(acc>>bits)) //nolint:gosec // the low eight bits are meant
					acc &= 1<<bits - 1
				}
			}
			d.border(end - 1)
		}
		i = end + 1
	}
	return d
}

func base64Digit(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case c >= '0' && c <= '9':
		return int(c-'0') + 52
	case c == '+', c == '-':
		return 62
	case c == '/', c == '_':
		return 63
	}
	return -1
}

// Unhex undoes pairs of hexadecimal digits in each run of digits that could hold that many bytes, from the digit shift on.
func Unhex(text []byte, shift, bytes int) Decoding {
	var d Decoding
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && hexDigit(text[end]) >= 0 {
			end++
		}
		if end-i >= bytes*2 {
			for at := i + shift; at+1 < end; at += 2 {
				d.add(at, byte(hexDigit(text[at])<<4|hexDigit(text[at+1]))) //nolint:gosec // two hexadecimal digits
			}
			d.border(end - 1)
		}
		i = end + 1
	}
	return d
}

// Unlist undoes lists of byte values with at most two of " ,:" between them: decimal, as fmt prints a []byte and JSON
// an array of numbers, or of two hexadecimal digits, with 0x or without.
func Unlist(text []byte, hexadecimal bool) Decoding {
	var d Decoding
	last := 0 // where the value before ended
	for i := 0; i < len(text); {
		value, end := listed(text, i, hexadecimal)
		if end == i {
			i++
			continue
		}
		if gap := text[last:i]; len(gap) == 0 || len(gap) > 2 || !separators(gap) {
			d.border(i)
		}
		if value >= 0 {
			d.add(i, byte(value)) //nolint:gosec // a byte or less than none
		}
		i, last = end, end
	}
	return d
}

// listed reads the value at i; it is negative where what stands there is no byte, and ends at i where it is not even a
// number.
func listed(text []byte, i int, hexadecimal bool) (value, end int) {
	end = i
	base := 10
	if hexadecimal {
		base = 16
		if end+2 < len(text) && text[end] == '0' && (text[end+1] == 'x' || text[end+1] == 'X') {
			end += 2
		}
	}
	from := end
	for end < len(text) && hexDigit(text[end]) >= 0 && hexDigit(text[end]) < base {
		value = min(value*base+hexDigit(text[end]), 256)
		end++
	}
	if from == end {
		return -1, i
	}
	if value > 255 || hexadecimal && end-from != 2 {
		value = -1
	}
	return value, end
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func separators(text []byte) bool {
	for _, c := range text {
		if c != ' ' && c != ',' && c != ':' {
			return false
		}
	}
	return true
}
