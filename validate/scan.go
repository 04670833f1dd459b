package validate

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// scan is the fast path: one pass over the bytes that does grammar, UTF-8, limits, unique names and the schema
// together, without allocation. It only ever says yes. Where it does not (the document is refused, or holds something
// rare), the slower pass decides and explains, so that a mistake here can cost time but never a wrong refusal; the two
// are tested against each other for the other direction.
type scan struct {
	doc    []byte
	limit  Limits
	digits int // the smaller of NumberDigits and what the fast path reads
	ahead  int // unions under way whose discriminator did not come first
}

// no is the position that stands for "not accepted here".
const no = -1

// maxAhead bounds how many unions within one another may be read twice to find their discriminator, since each doubles
// the work for what lies below it.
const maxAhead = 4

// accepts reports whether doc obeys the limits, the grammar and the schema; false also means "ask the slower pass".
func accepts(c *check, doc []byte, l Limits) bool {
	if len(doc) > l.Bytes || l.StringBytes < maxName {
		return false // declared names are not measured here
	}
	s := scan{doc: doc, limit: l, digits: min(l.NumberDigits, maxFastDigits)}
	i := s.value(c, space(doc, 0), 0)
	return i >= 0 && space(doc, i) == len(doc)
}

// space skips white space from i on.
func space(doc []byte, i int) int {
	for i < len(doc) && bytesOf[doc[i]]&spaceByte != 0 {
		i++
	}
	return i
}

// value reads the value at i, which is in arrays and objects depth deep, and returns where it ends.
func (s *scan) value(c *check, i, depth int) int {
	if i >= len(s.doc) {
		return no
	}
	switch s.doc[i] {
	case '"':
		if c.text != nil {
			return s.text(c.text, i+1)
		}
	case '{':
		switch {
		case c.object != nil:
			return s.object(c.object, i, depth+1)
		case c.union != nil:
			return s.union(c.union, i, depth+1)
		case c.members != nil:
			return s.members(c.members, i, depth+1)
		}
	case '[':
		if c.array != nil {
			return s.array(c.array, i, depth+1)
		}
	case 't':
		if c.yes {
			return s.literal(i, "true")
		}
	case 'f':
		if c.no {
			return s.literal(i, "false")
		}
	case 'n':
		if c.null {
			return s.literal(i, "null")
		}
	default:
		if c.number != nil {
			return s.number(c.number, i)
		}
	}
	return no
}

func (s *scan) literal(i int, word string) int {
	if end := i + len(word); end <= len(s.doc) && string(s.doc[i:end]) == word {
		return end // what follows is looked at by whoever reads on: only white space, a comma or an end is taken
	}
	return no
}

// object reads an object of declared members. The next member is guessed to be the next of the schema, since encoders
// write them so; otherwise it is looked up.
func (s *scan) object(c *objectCheck, i, depth int) int {
	doc := s.doc
	if depth > s.limit.Depth {
		return no
	}
	i = space(doc, i+1)
	var seen [maxProperties / 64]uint64
	count, next := 0, 0
	if i < len(doc) && doc[i] == '}' {
		return c.complete(&seen, 0, i+1)
	}
	for {
		if i >= len(doc) || doc[i] != '"' {
			return no
		}
		i++
		var head uint64
		if i+8 <= len(doc) {
			head = binary.LittleEndian.Uint64(doc[i:])
		} else {
			head = lastBytes(doc, i)
		}
		k := next
		var m *namedCheck
		if k < len(c.members) {
			m = &c.members[k]
		}
		if m != nil && head&m.name.mask == m.name.head && (m.name.size <= 8 || m.name.rest(doc, i)) {
			i += m.name.size
		} else {
			if k, i = s.find(c, i, head); i < 0 {
				return no
			}
			m = &c.members[k]
		}
		word, bit := k>>6&(len(seen)-1), uint64(1)<<(k&63)
		if seen[word]&bit != 0 {
			return no
		}
		seen[word] |= bit
		next = k + 1
		count++
		if i+1 < len(doc) && doc[i] == ':' && doc[i+1] > ' ' {
			i++
		} else if i = colon(doc, i); i < 0 || i >= len(doc) {
			return no
		}
		switch ch := m.check; {
		case doc[i] == '"' && ch.text != nil:
			i = s.text(ch.text, i+1)
		case doc[i] <= '9' && ch.number != nil:
			i = s.number(ch.number, i)
		default:
			i = s.value(ch, i, depth)
		}
		if i < 0 {
			return no
		}
		if i+1 < len(doc) && doc[i] == ',' && doc[i+1] == '"' {
			i++
			continue
		}
		if i = space(doc, i); i >= len(doc) {
			return no
		}
		switch doc[i] {
		case ',':
			i = space(doc, i+1)
		case '}':
			if count > s.limit.Members {
				return no
			}
			if c.simple {
				if seen[0]&c.required[0] != c.required[0] {
					return no
				}
				return i + 1
			}
			return c.complete(&seen, count, i+1)
		default:
			return no
		}
	}
}

// lastBytes returns the bytes from i on as a word, zeros beyond the end.
func lastBytes(doc []byte, i int) (w uint64) {
	for k := len(doc) - 1; k >= i; k-- {
		w = w<<8 | uint64(doc[k])
	}
	return w
}

// colon reads the colon after a name and the white space around it.
func colon(doc []byte, i int) int {
	if i = space(doc, i); i >= len(doc) || doc[i] != ':' {
		return no
	}
	return space(doc, i+1)
}

// find looks up the member whose name begins at i with the bytes of head, and returns where the name ends, after its
// quote.
func (s *scan) find(c *objectCheck, i int, head uint64) (k, end int) {
	doc := s.doc
	n := quoteIn(head)
	if n == 8 {
		if i+16 <= len(doc) {
			n += quoteIn(binary.LittleEndian.Uint64(doc[i+8:]))
		}
		if n == 8 || n == 16 {
			for i+n < len(doc) && bytesOf[doc[i+n]]&plainByte != 0 {
				n++
			}
		}
	}
	if i+n >= len(doc) {
		return 0, no
	}
	if k := c.lookup(doc, i, n, head); k >= 0 {
		return k, i + n + 1
	}
	return s.findEscaped(c, i)
}

// quoteIn returns the place of the first quote in a word, 8 where there is none.
func quoteIn(w uint64) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	x := w ^ ones*'"'
	return bits.TrailingZeros64((x-ones)&^x&tops) >> 3
}

// findEscaped looks for a name that is spelt with escapes.
func (s *scan) findEscaped(c *objectCheck, i int) (k, end int) {
	var buf [maxName]byte
	name, end := s.unescape(buf[:0], i)
	if end < 0 {
		return 0, no
	}
	for k := range c.members {
		if string(name) == c.members[k].name.text {
			return k, end
		}
	}
	return 0, no
}

// unescape appends the string that begins at i to buf, as far as it has room, and returns where it ends.
func (s *scan) unescape(buf []byte, i int) (text []byte, end int) {
	doc := s.doc
	for i < len(doc) {
		switch c := doc[i]; {
		case c == '"':
			return buf, i + 1
		case c < ' ' || len(buf)+utf8.UTFMax > cap(buf):
			return nil, no
		case c == '\\':
			r, n := unescape(doc[i:])
			if n == 0 {
				return nil, no
			}
			buf = utf8.AppendRune(buf, r)
			i += n
		case c < utf8.RuneSelf:
			buf = append(buf, c)
			i++
		default:
			n := runeLength(doc, i)
			if n == 0 {
				return nil, no
			}
			buf = append(buf, doc[i:i+n]...)
			i += n
		}
	}
	return nil, no
}

func (s *scan) array(c *arrayCheck, i, depth int) int {
	doc := s.doc
	if depth > s.limit.Depth {
		return no
	}
	i = space(doc, i+1)
	if i < len(doc) && doc[i] == ']' {
		if c.min > 0 {
			return no
		}
		return i + 1
	}
	most := min(c.max, s.limit.Items)
	start := i
	for n := 1; ; n++ {
		item := c.items
		if n <= len(c.prefix) {
			item = c.prefix[n-1]
		}
		if n > most || item == nil {
			return no
		}
		if i = s.value(item, i, depth); i < 0 {
			return no
		}
		if i < len(doc) && doc[i] == ',' {
			i = space(doc, i+1)
			continue
		}
		if i = space(doc, i); i >= len(doc) {
			return no
		}
		switch doc[i] {
		case ',':
			i = space(doc, i+1)
		case ']':
			if n < c.min || c.unique && n > 1 && !s.distinct(start, n) {
				return no
			}
			return i + 1
		default:
			return no
		}
	}
}

// union reads a closed discriminated union. Its branch is known at once when the discriminator comes first; otherwise
// the members are skipped to find it, and read again as the branch says.
func (s *scan) union(c *unionCheck, i, depth int) int {
	doc := s.doc
	if depth > s.limit.Depth {
		return no
	}
	j := space(doc, i+1)
	if j >= len(doc) || doc[j] != '"' {
		return no
	}
	if c.discriminator.at(doc, j+1) {
		branch := s.branch(c, j+1+c.discriminator.size)
		if branch == nil {
			return no
		}
		return s.object(branch, i, depth)
	}
	if s.ahead == maxAhead {
		return no
	}
	for {
		// the name is only skipped here: the branch reads it again
		if j = s.text(c.skipped.text, j+1); j < 0 {
			return no
		}
		if j = colon(doc, j); j < 0 {
			return no
		}
		if j = s.value(c.skipped, j, depth); j < 0 {
			return no
		}
		if j = space(doc, j); j >= len(doc) || doc[j] != ',' {
			return no
		}
		if j = space(doc, j+1); j >= len(doc) || doc[j] != '"' {
			return no
		}
		if c.discriminator.at(doc, j+1) {
			break
		}
	}
	branch := s.branch(c, j+1+c.discriminator.size)
	if branch == nil {
		return no
	}
	s.ahead++
	i = s.object(branch, i, depth)
	s.ahead--
	return i
}

// branch returns the branch that the discriminator at i, after its name, stands for.
func (s *scan) branch(c *unionCheck, i int) *objectCheck {
	doc := s.doc
	if i = colon(doc, i); i < 0 || i >= len(doc) || doc[i] != '"' {
		return nil
	}
	for k := range c.kinds {
		if c.kinds[k].at(doc, i+1) {
			return c.branches[k]
		}
	}
	return nil
}
