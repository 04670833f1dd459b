// Package ids makes and spells the library's opaque identifiers: a prefix and lower-case Crockford base32.
package ids

import (
	"crypto/sha256"
	"encoding/binary"
)

// Hash returns the SHA-256 of the parts, each led by its length in eight bytes: no two lists of parts are alike.
func Hash(parts ...string) []byte {
	h := sha256.New()
	for _, part := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		_, _ = h.Write(n[:])
		_, _ = h.Write([]byte(part))
	}
	return h.Sum(nil)
}

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
