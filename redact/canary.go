package redact

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/internal/encoded"
)

// FragmentRunes is the length of the shortest piece of a canary that counts as a trace of it, in code points.
const FragmentRunes = 6

// ErrCanary says that a value is too short to be searched for, or is not UTF-8.
var ErrCanary = errors.New("redact: a canary needs six code points of UTF-8 or more")

// Canary is a value that was planted, or a real secret, whose traces must not stand in a text. [Canary.Search] finds it
// whole and in pieces of [FragmentRunes] code points or more: as it is, escaped as in JSON or Go, percent-encoded, in
// base64 (both alphabets, wherever in the encoded text it begins), in hexadecimal, as a list of byte values as fmt
// prints them, and in up to three of these inside each other.
//
// Plant a value of which no six characters in a row occur by chance, such as "Zq7-canary-Kx9": a piece that is an
// ordinary word is found in ordinary text. A search that finds nothing proves something only beside one that had to
// find something: plant a control.
//
// Not found: a canary in another case, compressed, encrypted, or interleaved with other text.
// A Canary prints as "[redacted]"; immutable and safe for concurrent use. The zero value finds nothing.
type Canary struct{ needle Secret[*needle] }

// Trace says in which form a piece of a canary was found; it does not hold the piece.
type Trace struct {
	Form   string // raw, escaped, percent, base64, hex, decimal; "base64 in escaped" where one is inside the other
	Offset int    // where the piece begins in the text, in bytes, as it is encoded there
	Runes  int    // the length of the piece, in code points
	Whole  bool   // all of the canary
}

// String says what was found and where, as "whole, base64, at byte 12".
func (t Trace) String() string {
	if t.Whole {
		return fmt.Sprintf("whole, %s, at byte %d", t.Form, t.Offset)
	}
	return fmt.Sprintf("%d code points, %s, at byte %d", t.Runes, t.Form, t.Offset)
}

// NewCanary returns the canary with the given value; ErrCanary where it has fewer than [FragmentRunes] code points.
func NewCanary(value string) (Canary, error) {
	if !utf8.ValidString(value) || utf8.RuneCountInString(value) < FragmentRunes {
		return Canary{}, ErrCanary
	}
	return Canary{NewSecret(newNeedle(value))}, nil
}

// Search returns what it found, the longest piece of each way to undo encodings, the longest first; none for a clean
// text. Its time grows with the text and with what in it looks encoded.
func (c Canary) Search(text []byte) []Trace {
	n := c.needle.Reveal()
	if n == nil {
		return nil
	}
	var traces []Trace
	for level := []*view{{data: text}}; len(level) > 0; level = unwrap(level) {
		for _, v := range level {
			offset, runes := n.longest(v.data)
			if runes == 0 {
				continue
			}
			t := Trace{Form: v.form(), Offset: v.origin(offset), Runes: runes, Whole: runes == n.runes}
			if !slices.ContainsFunc(traces, t.seenIn) {
				traces = append(traces, t)
			}
		}
	}
	slices.SortStableFunc(traces, func(a, b Trace) int { return b.Runes - a.Runes })
	return traces
}

// seenIn reports whether seen is the same piece, in a form with fewer encodings: undoing one that is not there changes
// nothing.
func (t Trace) seenIn(seen Trace) bool { return seen.Offset == t.Offset && seen.Runes >= t.Runes }

// needle is a canary's value, with its windows of FragmentRunes code points indexed by their first six bytes.
type needle struct {
	value   []byte
	runes   int
	windows map[uint64][]int // to the offsets in value where a window begins
	maybe   [1024]bool       // by a hash of the same six bytes: the quick no
}

// A window is six code points, so six bytes or more.
const windowKey = 1<<(8*FragmentRunes) - 1

func hashWindow(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 54 }

func newNeedle(value string) *needle {
	n := &needle{
		value: []byte(value), runes: utf8.RuneCountInString(value), windows: map[uint64][]int{},
	}
	starts := make([]int, 0, n.runes)
	for i := range value {
		starts = append(starts, i)
	}
	for _, at := range starts[:n.runes-FragmentRunes+1] {
		var key uint64
		for _, c := range n.value[at : at+FragmentRunes] {
			key = key<<8 | uint64(c)
		}
		n.windows[key] = append(n.windows[key], at)
		n.maybe[hashWindow(key)] = true
	}
	return n
}

// longest returns the longest piece of the value in text, and 0 runes where there is none.
func (n *needle) longest(text []byte) (offset, runes int) {
	var key uint64
	for end, c := range text {
		key = (key<<8 | uint64(c)) & windowKey
		if end+1 < FragmentRunes || !n.maybe[hashWindow(key)] {
			continue
		}
		start := end + 1 - FragmentRunes
		for _, at := range n.windows[key] {
			if r := commonRunes(n.value[at:], text[start:]); r >= FragmentRunes && r > runes {
				offset, runes = start, r
			}
		}
	}
	return offset, runes
}

// commonRunes counts the code points with which both begin.
func commonRunes(value, text []byte) int {
	same := 0
	for same < len(value) && same < len(text) && value[same] == text[same] {
		same++
	}
	for same < len(value) && !utf8.RuneStart(value[same]) {
		same-- // a code point of which only the first bytes agree
	}
	return utf8.RuneCount(value[:same])
}

// view is a text with some encodings undone.
type view struct {
	data   []byte
	forms  []string // what was undone, the outermost first
	at     []int    // for each byte of data, where its encoding begins in the parent's data; nil for the root
	parent *view
}

func (v *view) form() string {
	if len(v.forms) == 0 {
		return "raw"
	}
	inner := slices.Clone(v.forms)
	slices.Reverse(inner)
	return strings.Join(inner, " in ")
}

func (v *view) origin(offset int) int {
	for ; v.parent != nil; v = v.parent {
		offset = v.at[offset]
	}
	return offset
}

// maxNesting is how many encodings inside each other are undone.
const maxNesting = 3

// unwrap returns the views with one more encoding undone than those given.
func unwrap(level []*view) []*view {
	var next []*view
	for _, v := range level {
		if len(v.forms) < maxNesting {
			next = append(next, v.decoded()...)
		}
	}
	return next
}

// decoded returns the view with each encoding undone that it seems to hold.
func (v *view) decoded() []*view {
	var views []*view
	add := func(form string, d encoded.Decoding) {
		if len(d.Data) >= FragmentRunes {
			views = append(views, &view{d.Data, append(slices.Clone(v.forms), form), d.At, v})
		}
	}
	if bytes.IndexByte(v.data, '\\') >= 0 {
		add("escaped", encoded.Unescape(v.data))
	}
	if bytes.IndexByte(v.data, '%') >= 0 {
		add("percent", encoded.Unpercent(v.data, false))
	}
	if bytes.IndexByte(v.data, '+') >= 0 {
		add("percent", encoded.Unpercent(v.data, true))
	}
	for shift := range 4 {
		add("base64", encoded.Unbase64(v.data, shift, FragmentRunes))
	}
	for shift := range 2 {
		add("hex", encoded.Unhex(v.data, shift, FragmentRunes))
	}
	add("hex", encoded.Unlist(v.data, true))
	add("decimal", encoded.Unlist(v.data, false))
	return views
}
