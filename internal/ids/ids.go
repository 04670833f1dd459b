// Package ids spells the library's opaque identifiers: a prefix and lower-case Crockford base32.
package ids

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// Encode returns prefix followed by b in lower-case Crockford base32, the high bits first, without padding.
func Encode(prefix string, b []byte) string {
	out := make([]byte, 0, len(prefix)+(len(b)*8+4)/5)
	out = append(out, prefix...)
	var acc uint32
	bits := 0
	for _, c := range b {
		acc = acc<<8 | uint32(c)
		bits += 8
		for bits >= 5 {
			bits -= 5
			out = append(out, alphabet[acc>>bits&31])
		}
	}
	if bits > 0 {
		out = append(out, alphabet[acc<<(5-bits)&31])
	}
	return string(out)
}
