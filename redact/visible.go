package redact

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns text with every character that a reader would not see, or that changes where others are seen, written
// out as ⟦U+202E⟧, so that what a person approves is what stands there. A byte that is not UTF-8 becomes ⟦0xFF⟧; the
// result is always valid UTF-8.
//
// Written out: control characters (line breaks and tabs too: a line of an approval page is one line), bidirectional
// marks, embeddings, overrides and isolates, zero-width characters, the soft hyphen, line and paragraph separators,
// tag characters, variation selectors, Hangul fillers and all else that Unicode calls a format character, default
// ignorable, or a noncharacter.
//
// Kept, as ordinary text: letters and combining marks of every script, spaces that take up room (no-break, thin,
// ideographic), Arabic number signs, private-use characters; and within emoji the zero-width joiner
// between two pictographs and one variation selector 15 or 16 after a pictograph or a keycap's base, so that 👩‍💻 and ❤️
// stay what they are. Joiners inside words (Persian, Indic scripts), ideographic variation selectors and the tags
// of sub-national flags are written out: there they would be a place to hide.
//
// Visible is idempotent; it does not escape ⟦ itself. It is no escaping for HTML or a terminal.
func Visible(text string) string {
	start := firstHidden(text)
	if start < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	b.WriteString(text[:start])
	for i := start; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟦0x%02X⟧", text[i])
		case hidden(r) && !partOfEmoji(text, i, r, size):
			fmt.Fprintf(&b, "⟦U+%04X⟧", r)
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

func firstHidden(text string) int {
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c <= '~' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || hidden(r) && !partOfEmoji(text, i, r, size) {
			return i
		}
		i += size
	}
	return -1
}

// hidden reports whether r has no shape of its own.
func hidden(r rune) bool {
	if r >= ' ' && r <= '~' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

const (
	joiner        = '\u200d'
	textStyle     = '\ufe0e'
	emojiStyle    = '\ufe0f'
	enclosingKey  = '\u20e3'
	firstSkinTone = '\U0001f3fb'
	lastSkinTone  = '\U0001f3ff'
)

// partOfEmoji reports whether the hidden character r at i shapes an emoji that its neighbours make plain.
func partOfEmoji(text string, i int, r rune, size int) bool {
	before, width := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+size:])
	switch r {
	case textStyle, emojiStyle:
		return pictograph(before) || keycapBase(before) && after == enclosingKey
	case joiner:
		if before == emojiStyle || before >= firstSkinTone && before <= lastSkinTone {
			before, _ = utf8.DecodeLastRuneInString(text[:i-width])
		}
		return pictograph(before) && pictograph(after)
	}
	return false
}

func keycapBase(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// pictograph approximates Unicode's Extended_Pictographic, which the standard library does not have.
func pictograph(r rune) bool {
	switch {
	case r == '©', r == '®', r == '‼', r == '⁉', r == '™', r == 'ℹ', r == '〰', r == '〽', r == '㊗', r == '㊙':
		return true
	case r >= '\u2190' && r <= '\u21ff', r >= '\u2300' && r <= '\u23ff', r >= '\u2460' && r <= '\u24ff',
		r >= '\u25a0' && r <= '\u27bf', r >= '\u2900' && r <= '\u297f', r >= '\u2b00' && r <= '\u2bff':
		return unicode.In(r, unicode.So, unicode.Sm)
	case r >= '\U0001f000' && r <= '\U0001faff':
		return unicode.Is(unicode.So, r)
	}
	return false
}
