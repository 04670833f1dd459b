package validate

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// span is a name or an item of the document, a string with its quotes.
type span struct {
	from, to int
	escaped  bool // a string with escapes in it
}

// few is how many names or items are compared one by one; more go through a table.
const few = 16

// many is how many the table holds; more are for the slower pass.
const many = 256

// members reads an object of any names.
func (s *scan) members(c *mapCheck, i, depth int) int {
	doc := s.doc
	if depth > s.limit.Depth {
		return no
	}
	i = space(doc, i+1)
	if i < len(doc) && doc[i] == '}' {
		if c.min > 0 || c.required > 0 {
			return no
		}
		return i + 1
	}
	required := 0
	var names [few]span
	for n := 0; n < few; n++ {
		name, j := s.mapName(c, i)
		if j < 0 {
			return no
		}
		for _, other := range names[:n] {
			if s.same(name, other) {
				return no
			}
		}
		names[n] = name
		next, done := s.mapValue(c, name, j, depth, &required)
		if next < 0 {
			return no
		}
		if done {
			return s.mapEnd(c, n+1, required, next)
		}
		i = next
	}
	return s.manyMembers(c, names[:], i, depth, required)
}

// manyMembers goes on after the first few members.
func (s *scan) manyMembers(c *mapCheck, first []span, i, depth, required int) int {
	var set spanSet
	for _, name := range first {
		set.add(s, name)
	}
	for n := len(first); ; n++ {
		name, j := s.mapName(c, i)
		if j < 0 || n == many || !set.add(s, name) {
			return no
		}
		next, done := s.mapValue(c, name, j, depth, &required)
		if next < 0 {
			return no
		}
		if done {
			return s.mapEnd(c, n+1, required, next)
		}
		i = next
	}
}

func (s *scan) mapEnd(c *mapCheck, n, required, end int) int {
	if required < c.required || n < c.min || n > c.max || n > s.limit.Members {
		return no
	}
	return end
}

// mapName reads a name and its colon.
func (s *scan) mapName(c *mapCheck, i int) (name span, next int) {
	doc := s.doc
	if i >= len(doc) || doc[i] != '"' || c.names != nil && s.text(c.names, i+1) < 0 {
		return name, no
	}
	i++
	j := i
	for j < len(doc) && bytesOf[doc[j]]&plainByte != 0 {
		j++
	}
	if j >= len(doc) {
		return name, no
	}
	escaped := false
	if doc[j] != '"' {
		if j, _, escaped = s.runes(i, j); j < 0 {
			return name, no
		}
	}
	if j-i > s.limit.StringBytes || escaped && j-i > longEscaped {
		return name, no
	}
	return span{i - 1, j + 1, escaped}, colon(doc, j+1)
}

// mapValue reads a value and what follows it: the next member's begin, or the end of the object.
func (s *scan) mapValue(c *mapCheck, name span, i, depth int, required *int) (next int, done bool) {
	doc := s.doc
	values := c.values
	if len(c.patterns) > 0 {
		values = s.matched(c, name, required)
	}
	if values == nil {
		return no, false
	}
	if i = s.value(values, i, depth); i < 0 {
		return no, false
	}
	if i = space(doc, i); i >= len(doc) {
		return no, false
	}
	switch doc[i] {
	case ',':
		return space(doc, i+1), false
	case '}':
		return i + 1, true
	}
	return no, false
}

// matched returns the check of a member of that name; nil where two patterns match, or one and a declared name.
func (s *scan) matched(c *mapCheck, name span, required *int) *check {
	var buf [longEscaped + 8]byte
	text := s.plainText(name, &buf)
	text = text[1 : len(text)-1]
	var found *check
	if d, ok := c.declared[string(text)]; ok {
		if found = d.values; d.required {
			*required++
		}
	}
	for i := range c.patterns {
		if !c.patterns[i].pattern.match(text) {
			continue
		}
		if found != nil {
			return nil
		}
		found = c.patterns[i].values
	}
	if found == nil {
		return c.values
	}
	return found
}

// longEscaped is how long a string with escapes may be that is compared here.
const longEscaped = 256

// plainText returns what a span says: as it is written, or unescaped into buf, between the same quotes.
func (s *scan) plainText(p span, buf *[longEscaped + 8]byte) []byte {
	if !p.escaped {
		return s.doc[p.from:p.to]
	}
	buf[0] = '"'
	text, _ := s.unescape(buf[:1], p.from+1) // it is shorter unescaped, and was read once before
	return append(text, '"')
}

func (s *scan) same(a, b span) bool {
	if !a.escaped && !b.escaped {
		return bytes.Equal(s.doc[a.from:a.to], s.doc[b.from:b.to])
	}
	return s.sameUnescaped(a, b)
}

func (s *scan) sameUnescaped(a, b span) bool {
	var one, two [longEscaped + 8]byte
	return bytes.Equal(s.plainText(a, &one), s.plainText(b, &two))
}

func (s *scan) hash(p span) uint64 {
	if !p.escaped {
		return hash(s.doc[p.from:p.to])
	}
	var buf [longEscaped + 8]byte
	return hash(s.plainText(p, &buf))
}

// spanSet is a set of pieces of one document.
type spanSet struct {
	n     int
	spans [many]span
	table [2 * many]uint16 // index + 1
}

// add reports whether the piece was not there; false too when there is no room.
func (t *spanSet) add(s *scan, p span) bool {
	if t.n == many {
		return false
	}
	for slot := s.hash(p) % uint64(len(t.table)); ; slot = (slot + 1) % uint64(len(t.table)) {
		k := t.table[slot]
		if k == 0 {
			t.spans[t.n] = p
			t.n++
			t.table[slot] = uint16(t.n) //nolint:gosec // at most many
			return true
		}
		if s.same(p, t.spans[k-1]) {
			return false
		}
	}
}

// hash mixes eight bytes at a time. A sender can find texts that share a hash; many of them compare in microseconds.
func hash(text []byte) uint64 {
	h := uint64(len(text)) * 0x9E3779B97F4A7C15
	for len(text) >= 8 {
		h = bits.RotateLeft64(h^binary.LittleEndian.Uint64(text), 25) * 0xD1342543DE82EF95
		text = text[8:]
	}
	for _, c := range text {
		h = (h ^ uint64(c)) * 0x9E3779B97F4A7C15
	}
	return h ^ h>>32
}

// distinct reports whether the n items from i on, which have been read, differ. Only texts and whole numbers are compared
// here.
func (s *scan) distinct(i, n int) bool {
	var items [few]span
	if n > few {
		return s.distinctMany(i, n)
	}
	for k := range n {
		item, next := s.item(i)
		if next < 0 {
			return false
		}
		for _, other := range items[:k] {
			if s.same(item, other) {
				return false
			}
		}
		items[k] = item
		i = next
	}
	return true
}

func (s *scan) distinctMany(i, n int) bool {
	var set spanSet
	for range n {
		item, next := s.item(i)
		if next < 0 || !set.add(s, item) {
			return false
		}
		i = next
	}
	return true
}

// item returns the item at i of an array that has been read, and where the next begins.
func (s *scan) item(i int) (item span, next int) {
	doc := s.doc
	j := i
	escaped := false
	switch c := doc[i]; c {
	case '"':
		for j++; doc[j] != '"'; j++ {
			if doc[j] == '\\' {
				escaped = true
				j++
			}
		}
		j++
		if escaped && j-i > longEscaped {
			return item, no
		}
	case '{', '[':
		return item, no
	default:
		for ; wordByte(doc[j]); j++ {
			if doc[j] == '.' || doc[j] == 'e' && digit(c) || doc[j] == 'e' && c == '-' || doc[j] == 'E' {
				return item, no
			}
		}
		if j == i+2 && doc[i] == '-' && doc[i+1] == '0' {
			return item, no
		}
	}
	item = span{i, j, escaped}
	if j = space(doc, j); doc[j] == ']' {
		return item, j
	}
	return item, space(doc, j+1)
}
