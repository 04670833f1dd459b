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
	switch v.kind {
	case nullKind, boolKind:
		return maphash.Bytes(s.seed, v.raw)
	case stringKind:
		return maphash.String(s.seed, v.text)
	case numberKind:
		return maphash.Comparable(s.seed, parseDecimal(v.raw))
	case arrayKind, objectKind:
	}
	if sum, ok := s.of[v]; ok {
		return sum
	}
	sum := s.inner(v)
	s.of[v] = sum
	return sum
}

// inner is the sum of an array or an object, whose members may stand in any order.
func (s *sums) inner(v *value) uint64 {
	if v.kind == arrayKind {
		list := make([]byte, 0, 8*len(v.elems))
		for i := range v.elems {
			list = binary.LittleEndian.AppendUint64(list, s.sum(&v.elems[i]))
		}
		return maphash.Bytes(s.seed, list)
	}
	total := uint64(len(v.names))
	for i, name := range v.names {
		total += maphash.Comparable(s.seed, memberSum{name, s.sum(&v.elems[i])})
	}
	return total
}

type memberSum struct {
	name string
	sum  uint64
}
