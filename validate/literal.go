package validate

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// literal is a text that a document is compared with, its closing quote included, eight bytes at a time.
type literal struct {
	head, mask, last uint64
	size             int    // with the quote
	text             string // without it
	quoted           string
}

func newLiteral(text string) literal {
	l := literal{text: text, quoted: text + `"`, size: len(text) + 1}
	var b [8]byte
	copy(b[:], l.quoted)
	l.head = binary.LittleEndian.Uint64(b[:])
	l.mask = math.MaxUint64
	if l.size < 8 {
		l.mask = 1<<(8*l.size) - 1
	} else {
		l.last = binary.LittleEndian.Uint64([]byte(l.quoted[l.size-8:]))
	}
	return l
}

// at reports whether the text and a quote stand at i.
func (l *literal) at(doc []byte, i int) bool {
	if i+8 <= len(doc) {
		if binary.LittleEndian.Uint64(doc[i:])&l.mask != l.head {
			return false
		}
		if l.size <= 8 {
			return true
		}
	}
	return l.rest(doc, i)
}

func (l *literal) rest(doc []byte, i int) bool {
	end := i + l.size
	if end > len(doc) {
		return false
	}
	if l.size > 8 && l.size <= 16 {
		return binary.LittleEndian.Uint64(doc[end-8:]) == l.last && binary.LittleEndian.Uint64(doc[i:]) == l.head
	}
	return string(doc[i:end]) == l.quoted
}

// lookup returns the index of the member whose name is the n bytes at i, or -1.
func (c *objectCheck) lookup(doc []byte, i, n int, head uint64) int {
	if len(c.table) == 0 {
		return -1
	}
	k := c.table[c.slot(nameWord(doc, i, n, head))]
	if k == 0 || !c.members[k-1].name.at(doc, i) {
		return -1
	}
	return int(k - 1)
}

func (c *objectCheck) slot(w uint64) uint64 { return w * c.seed >> (c.shift & 63) }

// nameWord folds a name's first bytes, which head holds, its last ones and its length into one word.
func nameWord(doc []byte, i, n int, head uint64) uint64 {
	if n >= 8 {
		return head ^ bits.RotateLeft64(binary.LittleEndian.Uint64(doc[i+n-8:]), 29) + uint64(n)
	}
	return head&(1<<(8*n)-1) + uint64(n) //nolint:gosec // a length
}

// index makes the perfect hash; names whose words collide whatever the seed leave the table empty and false.
func (c *objectCheck) index() bool {
	words := make([]uint64, len(c.members))
	for i := range c.members {
		name := []byte(c.members[i].name.quoted)
		words[i] = nameWord(name, 0, len(name)-1, lastBytes(name[:min(8, len(name))], 0))
	}
	for size := 2; size <= 1<<14; size *= 2 {
		if size < 2*len(words) {
			continue
		}
		c.shift = uint8(64 - bits.TrailingZeros(uint(size))) //nolint:gosec // at most 63
		c.seed = 0x9E3779B97F4A7C15
		for range 64 {
			if c.fill(words, size) {
				return true
			}
			c.seed = c.seed*0xD1342543DE82EF95 + 2 | 1
		}
	}
	c.table = nil
	return false
}

func (c *objectCheck) fill(words []uint64, size int) bool {
	c.table = make([]uint16, size)
	for i, w := range words {
		slot := &c.table[c.slot(w)]
		if *slot != 0 {
			return false
		}
		*slot = uint16(i + 1)
	}
	return true
}
