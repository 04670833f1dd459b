// Package said tells words from their absence.
package said

import (
	"strings"
	"unicode"
)

// Something reports whether a text has a character that a person can see.
func Something(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}
