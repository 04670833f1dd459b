package approvalweb

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/redact"
)

// segment is a part of a text: either as it is, or a mark that stands for one character which would not be seen.
type segment struct {
	Text, Title string
	Mark, Break bool // Break: the mark stands for a line's end
}

// marks takes a text apart into what is seen and what is not, as [redact.Visible] writes it out. Spaces at either end are
// marked too: on a page they take no room. A text that merely looks like a mark stays text.
func marks(text string) []segment {
	first, last := edges(text)
	return split(text, first, last)
}

// dataMarks is marks for a line of a document, whose outer spaces are its indentation.
func dataMarks(line string) []segment { return split(line, 0, len(line)) }

// split takes a text apart; spaces before first and from last on are marked.
func split(text string, first, last int) []segment {
	visible := redact.Visible(text)
	var out []segment
	plain := func(s string) {
		if n := len(out); n > 0 && !out[n-1].Mark {
			out[n-1].Text += s
			return
		}
		out = append(out, segment{Text: s})
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		raw := text[i : i+size]
		invalid := r == utf8.RuneError && size == 1
		switch {
		case invalid || !strings.HasPrefix(visible, raw):
			end := strings.Index(visible, "⟧") + len("⟧")
			out = append(out, segment{Text: visible[:end], Title: hiddenName(r, invalid), Mark: true, Break: r == '\n'})
			visible = visible[end:]
		case unicode.IsSpace(r) && (i < first || i >= last):
			out = append(out, segment{Text: fmt.Sprintf("⟦U+%04X⟧", r), Title: "space", Mark: true})
			visible = visible[size:]
		default:
			plain(raw)
			visible = visible[size:]
		}
		i += size
	}
	return out
}

// edges returns where the text begins and ends but for its outer spaces.
func edges(text string) (first, last int) {
	inner := strings.TrimLeftFunc(text, unicode.IsSpace)
	first = len(text) - len(inner)
	return first, first + len(strings.TrimRightFunc(inner, unicode.IsSpace))
}

// hides reports whether anything in one of the texts is marked.
func hides(split func(string) []segment, texts ...string) bool {
	return slices.ContainsFunc(texts, func(t string) bool {
		return slices.ContainsFunc(split(t), func(s segment) bool { return s.Mark })
	})
}

func hiddenName(r rune, invalid bool) string {
	if invalid {
		return "a byte that is no text"
	}
	switch r {
	case '\n':
		return "line feed"
	case '\r':
		return "carriage return"
	case '\t':
		return "tab"
	case '\u00ad':
		return "soft hyphen"
	case '\u200b':
		return "zero-width space"
	case '\u200c':
		return "zero-width non-joiner"
	case '\u200d':
		return "zero-width joiner"
	case '\u200e':
		return "left-to-right mark"
	case '\u200f':
		return "right-to-left mark"
	case '\u202a', '\u202b', '\u2066', '\u2067', '\u2068':
		return "start of text in a direction of its own"
	case '\u202c', '\u2069':
		return "end of text in a direction of its own"
	case '\u202d':
		return "left-to-right override"
	case '\u202e':
		return "right-to-left override"
	case '\ufeff':
		return "zero-width no-break space"
	}
	return "a character that is not seen"
}

// oneLine is the text for places that take no marks, such as the window's title.
func oneLine(text string) string { return strings.TrimSpace(redact.Visible(text)) }

// cut shortens a text to at most n characters, and says so with an ellipsis.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	for i := range text {
		if n--; n < 0 {
			return text[:i] + "…"
		}
	}
	return text
}
