package protocolmodel

import (
	"hash/maphash"
	"slices"
)

// Result is what an exploration found.
type Result struct {
	States, Moves int
	Whole         bool     // every reachable state was seen
	Broken        Rule     // NoRule: none
	Trace         []string // a shortest way to where Broken broke
}

// Explore visits every reachable state of the model, in the order of their distance, up to limit states, and stops at the
// first that breaks a rule. With alive it also asks of every state whether things can come to rest without luck: that no
// operation is left which nobody, and no operator, can end.
func (m *Model) Explore(limit int, alive bool) Result {
	x := exploration{m: m, slots: make([]uint64, 1<<12), seed: maphash.MakeSeed()}
	x.add(m.start(), -1)
	var steps []Move
	for at := 0; at < len(x.states); at++ {
		if len(x.states) > limit {
			return x.result(NoRule, -1, false)
		}
		x.first = append(x.first, int32(len(x.edges))) //nolint:gosec // bounded by the limit
		steps = m.moves(x.states[at], steps)
		for _, mv := range steps {
			to := x.add(mv.Next, int32(at))
			x.moves++
			if mv.Next.Bad != NoRule {
				return x.result(mv.Next.Bad, to, false)
			}
			if alive && !mv.Fault {
				x.edges = append(x.edges, to)
			}
		}
	}
	if stuck := x.stuck(m); alive && stuck >= 0 {
		return x.result(Stuck, stuck, true)
	}
	return x.result(NoRule, -1, true)
}

type exploration struct {
	m      *Model
	seed   maphash.Seed
	slots  []uint64 // half of a hash and state + 1, at the hash or the next free place
	states []State
	parent []int32
	first  []int32 // of a state's edges
	edges  []int32
	moves  int
}

// add returns the number of a state, a new one where it was not seen before. States are compared whole.
func (x *exploration) add(s State, from int32) int32 {
	h := maphash.Comparable(x.seed, s)
	place := h & x.mask()
	for ; x.slots[place] != 0; place = (place + 1) & x.mask() {
		if at := uint32(x.slots[place]) - 1; x.slots[place]>>32 == h>>32 && x.states[at] == s { //nolint:gosec // the low half is a number of a state
			return int32(at) //nolint:gosec // as above
		}
	}
	x.states, x.parent = append(x.states, s), append(x.parent, from)
	x.slots[place] = h>>32<<32 | uint64(len(x.states))
	if 2*len(x.states) > len(x.slots) {
		x.grow()
	}
	return int32(len(x.states) - 1) //nolint:gosec // bounded by the limit
}

func (x *exploration) mask() uint64 {
	return uint64(len(x.slots) - 1) //nolint:gosec // there are some
}

func (x *exploration) grow() {
	x.slots = make([]uint64, 2*len(x.slots))
	for i, s := range x.states {
		h := maphash.Comparable(x.seed, s)
		place := h & x.mask()
		for x.slots[place] != 0 {
			place = (place + 1) & x.mask()
		}
		x.slots[place] = h>>32<<32 | uint64(i+1)
	}
}

// stuck returns the first state from which none is reachable that is at rest, -1 for none.
func (x *exploration) stuck(m *Model) int32 {
	into := x.reversed()
	fine := make([]bool, len(x.states))
	var todo []int32
	for i, s := range x.states {
		if m.rest(s) {
			fine[i] = true
			todo = append(todo, int32(i))
		}
	}
	for len(todo) > 0 {
		last := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, from := range into(last) {
			if !fine[from] {
				fine[from] = true
				todo = append(todo, from)
			}
		}
	}
	return int32(slices.Index(fine, false)) //nolint:gosec // as above
}

// reversed returns, for each state, those that lead to it.
func (x *exploration) reversed() func(to int32) []int32 {
	first := make([]int32, len(x.states)+1)
	for _, to := range x.edges {
		first[to+1]++
	}
	for i := range x.states {
		first[i+1] += first[i]
	}
	from, next := make([]int32, len(x.edges)), slices.Clone(first)
	x.first = append(x.first, int32(len(x.edges))) //nolint:gosec // as above
	for at := range x.states {
		for _, to := range x.edges[x.first[at]:x.first[at+1]] {
			from[next[to]] = int32(at)
			next[to]++
		}
	}
	return func(to int32) []int32 { return from[first[to]:first[to+1]] }
}

// rest reports whether nothing is left to do: every operation has ended, and every approval that could still run has.
func (m *Model) rest(s State) bool {
	if s.Open != 0 {
		return false
	}
	for p := range m.Proposals {
		o := &s.Ops[p]
		switch {
		case o.Row.terminal(), o.Approval == NoApproval:
		case o.Row != NoRow:
			return false
		case o.Approval == Approved && !s.forbidden(p) && o.Seen == s.Seq && !(m.Versions && o.Facts.Moved):
			return false // it can run
		}
	}
	return true
}

func (x *exploration) result(r Rule, at int32, whole bool) Result {
	res := Result{States: len(x.states), Moves: x.moves, Whole: whole, Broken: r}
	for ; at > 0; at = x.parent[at] {
		res.Trace = append(res.Trace, x.label(x.parent[at], at))
	}
	slices.Reverse(res.Trace)
	return res
}

// label is the step that led from one state to the next.
func (x *exploration) label(from, to int32) string {
	for _, mv := range x.m.moves(x.states[from], nil) {
		if mv.Next == x.states[to] {
			return mv.Label
		}
	}
	return "?"
}
