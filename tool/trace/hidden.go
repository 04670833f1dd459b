package trace

import (
	"cmp"
	"encoding/json/jsontext"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/internal/encoded"
	"github.com/toolcontract/toolcontract/redact"
)

// needle is a value that is looked for in texts.
type needle struct {
	value  string
	folded string
	alone  bool // a short value: only where it stands by itself
}

// needles are what is to be found of the values, the longest first.
func needles(values []string) []needle {
	var out []needle
	for _, v := range values {
		n := utf8.RuneCountInString(v)
		if n < 2 {
			continue
		}
		out = append(out, needle{v, string(foldedView([]byte(v)).Data), n < redact.FragmentRunes})
	}
	slices.SortFunc(out, func(a, b needle) int {
		return cmp.Or(cmp.Compare(len(b.folded), len(a.folded)), cmp.Compare(a.value, b.value))
	})
	return out
}

// foldedView is a text in one case.
func foldedView(text []byte) encoded.Decoding {
	d := encoded.Decoding{Data: make([]byte, 0, len(text)), At: make([]int, 0, len(text))}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		piece := text[i : i+size]
		if r != utf8.RuneError {
			piece = utf8.AppendRune(nil, oneCase(r))
		}
		for _, b := range piece {
			d.Data, d.At = append(d.Data, b), append(d.At, i)
		}
		i += size
	}
	return d
}

// oneCase is the first of the code points that are one letter in different cases.
func oneCase(r rune) rune {
	first := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	return first
}

// piece is a stretch of a text, and what is to stand there.
type piece struct {
	from, to int
	standIn  string
}

// form is a text with some encodings undone.
type form struct {
	data   []byte
	at     []int
	parent *form
	kind   encoding
}

type encoding uint8

const (
	asItIs encoding = iota
	escaped
	percent
	packed // base64, hexadecimal: a byte is two signs of the text, or a part of them
	list   // of byte values
)

// nesting is how many encodings inside each other are undone in a note.
const nesting = 2

// undone are the forms of a text with one more encoding undone.
func (f *form) undone() (out []*form) {
	add := func(kind encoding, d encoded.Decoding) {
		if len(d.Data) > 1 {
			out = append(out, &form{d.Data, d.At, f, kind})
		}
	}
	if strings.Contains(string(f.data), `\`) {
		add(escaped, encoded.Unescape(f.data))
	}
	if strings.Contains(string(f.data), "%") {
		add(percent, encoded.Unpercent(f.data, false))
	}
	if strings.Contains(string(f.data), "+") {
		add(percent, encoded.Unpercent(f.data, true))
	}
	for shift := range 4 {
		add(packed, encoded.Unbase64(f.data, shift, 2))
	}
	for shift := range 2 {
		add(packed, encoded.Unhex(f.data, shift, 2))
	}
	add(list, encoded.Unlist(f.data, true))
	add(list, encoded.Unlist(f.data, false))
	return out
}

// origin is where in the root a stretch comes from.
func (f *form) origin(from, to int) (int, int) {
	for ; f.parent != nil; f = f.parent {
		last := f.at[to-1]
		end := len(f.parent.data)
		switch f.kind {
		case packed:
			end = min(last+2, end)
		case list:
			for end = last; end < len(f.parent.data) && digitOrX(f.parent.data[end]); {
				end++
			}
		case asItIs, escaped, percent:
			if to < len(f.at) {
				end = f.at[to]
			}
		}
		from, to = f.at[from], end
	}
	return from, to
}

func digitOrX(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || c == 'x' || c == 'X'
}

// spelt is a stand-in in the outermost encoding of a form.
func (f *form) spelt(standIn string) string {
	outer := asItIs
	for ; f.parent != nil; f = f.parent {
		outer = f.kind
	}
	switch outer {
	case escaped:
		if q, err := jsontext.AppendQuote(nil, standIn); err == nil {
			return string(q[1 : len(q)-1])
		}
	case percent:
		return url.QueryEscape(standIn)
	case asItIs, packed, list:
	}
	return standIn
}

// hider replaces hidden values in a text, in whatever form they stand there.
type hider struct {
	needles []needle
	numbers map[string]string // the digits of hidden numbers, to their stand-ins
	of      func(value string) string
}

// in replaces what is hidden in a text; with deep, in encodings too.
func (h hider) in(text string, deep bool) string {
	root := &form{data: []byte(text)}
	var found []piece
	for level, depth := []*form{root}, 0; len(level) > 0; depth++ {
		var next []*form
		for _, f := range level {
			found = append(found, h.found(f)...)
			if deep && depth < nesting {
				next = append(next, f.undone()...)
			}
		}
		level = next
	}
	return replacedIn(text, found)
}

// found are the stretches of the root whose meaning in the form is hidden.
func (h hider) found(f *form) (out []piece) {
	view := foldedView(f.data)
	for _, n := range h.needles {
		for from := 0; ; {
			i := strings.Index(string(view.Data[from:]), n.folded)
			if i < 0 {
				break
			}
			start := from + i
			end := start + len(n.folded)
			from = start + 1
			if n.alone && !alone(view.Data, start, end) {
				continue
			}
			stop := len(f.data)
			if end < len(view.At) {
				stop = view.At[end]
			}
			a, b := f.origin(view.At[start], stop)
			out = append(out, piece{a, b, f.spelt(h.of(n.value))})
		}
	}
	return append(out, h.foundNumbers(f)...)
}

// alone reports whether no letter or digit makes one word of a stretch and its neighbour.
func alone(text []byte, start, end int) bool {
	before, _ := utf8.DecodeLastRune(text[:start])
	first, _ := utf8.DecodeRune(text[start:])
	last, _ := utf8.DecodeLastRune(text[:end])
	after, _ := utf8.DecodeRune(text[end:])
	return !(joins(before) && joins(first)) && !(joins(last) && joins(after))
}

// joins reports whether a letter or digit makes one word with its neighbour: not where words are written without spaces.
func joins(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) && r != utf8.RuneError
}

// numerals are numbers as people write them: grouped by threes, with a fraction.
var numerals = regexp.MustCompile(`[0-9]{1,3}(?:(?:[ ,.'’]|\x{a0}|\x{202f})[0-9]{3})+(?:[.,][0-9]+)?|[0-9]+(?:[.,][0-9]+)?`)

var digitRuns = regexp.MustCompile(`[0-9]+`)

// fewDigits is how many digits a number has that is many things where it was packed.
const fewDigits = 3

func (h hider) foundNumbers(f *form) (out []piece) {
	if len(h.numbers) == 0 {
		return nil
	}
	add := func(from, to int) bool {
		digits := significant(string(f.data[from:to]))
		standIn, ok := h.numbers[digits]
		if ok && (len(digits) > fewDigits || f.parent == nil && alone(f.data, from, to)) {
			a, b := f.origin(from, to)
			out = append(out, piece{a, b, standIn})
			return true
		}
		return false
	}
	for _, m := range numerals.FindAllIndex(f.data, -1) {
		if add(m[0], m[1]) {
			continue
		}
		for _, run := range digitRuns.FindAllIndex(f.data[m[0]:m[1]], -1) {
			add(m[0]+run[0], m[0]+run[1])
		}
	}
	return out
}

// significant are the digits of a number, without what only writes it: separators, zeros before it and behind a fraction.
func significant(number string) string {
	if i := strings.LastIndexAny(number, ".,"); i >= 0 && len(number)-i-1 != 3 {
		number = strings.TrimRight(number, "0")
	}
	digits := strings.TrimLeft(strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number), "0")
	return max(digits, "0")
}

// replacedIn puts stand-ins into a text, of those that overlap the longest of the first.
func replacedIn(text string, found []piece) string {
	slices.SortFunc(found, func(a, b piece) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var out strings.Builder
	at := 0
	for _, p := range found {
		switch {
		case p.from >= at:
			out.WriteString(text[at:p.from])
			out.WriteString(p.standIn)
		case p.to <= at:
			continue // it is gone
		}
		at = p.to // what overlaps goes too
	}
	out.WriteString(text[at:])
	return out.String()
}
