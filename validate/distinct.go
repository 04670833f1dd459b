package validate

import (
	"encoding/binary"
	"hash/maphash"
)

// sums gives values that are equal the same sum, each looked at once: comparing every item with every other takes a
// tenth of a second for lists of long numbers, and again at every level of lists within lists. The seed is new each time,
// so that nobody can send values which share a sum.
type sums struct {
	seed maphash.Seed
	of   map[*value]uint64 // of arrays and objects
}

// distinct reports whether no two of the values are equal.
func (s *sums) distinct(elems []value) bool {
	if len(elems) < 2 {
		return true
	}
	if s.of == nil {
		s.seed, s.of = maphash.MakeSeed(), map[*value]uint64{}
	}
	first := make(map[uint64]int, len(elems))
	for i := range elems {
		sum := s.sum(&elems[i])
		if k, ok := first[sum]; ok && equal(&elems[k], &elems[i]) {
			return false
		}
		first[sum] = i
	}
	return true
}

// sum is the same for equal values, as [equal] has it.
func (s *sums) sum(v *value) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	switch v.kind {
	case nullKind, boolKind:
		h.Write(v.raw)
		return h.Sum64()
	case stringKind:
		h.WriteByte('"')
		h.WriteString(v.text)
		return h.Sum64()
	case numberKind:
		d := parseDecimal(v.raw)
		h.WriteByte(byte('1' + d.sign()))
		writeSum(&h, uint64(d.point)) //nolint:gosec // only mixed
		h.WriteString(d.digits)
		return h.Sum64()
	case arrayKind, objectKind:
	}
	if sum, ok := s.of[v]; ok {
		return sum
	}
	sum := s.inner(v, &h)
	s.of[v] = sum
	return sum
}

// inner is the sum of an array or an object, whose members may stand in any order.
func (s *sums) inner(v *value, h *maphash.Hash) uint64 {
	if v.kind == arrayKind {
		h.WriteByte('[')
		for i := range v.elems {
			writeSum(h, s.sum(&v.elems[i]))
		}
		return h.Sum64()
	}
	total := uint64(len(v.names))
	for i, name := range v.names {
		var m maphash.Hash
		m.SetSeed(s.seed)
		m.WriteByte('{')
		writeSum(&m, s.sum(&v.elems[i]))
		m.WriteString(name)
		total += m.Sum64()
	}
	return total
}

func writeSum(h *maphash.Hash, sum uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], sum)
	h.Write(b[:])
}
