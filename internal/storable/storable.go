// Package storable says which texts every store can hold.
package storable

import (
	"strings"
	"unicode/utf8"
)

// Text reports whether all of ss are valid UTF-8 without U+0000. PostgreSQL refuses any other; a key with one was never
// stored anywhere.
func Text(ss ...string) bool {
	for _, s := range ss {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return false
		}
	}
	return true
}
