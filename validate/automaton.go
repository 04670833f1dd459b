package validate

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// automaton matches a pattern one byte after the other: a finite automaton over classes of code points, built when the
// schema is made. It takes time linear in the text whatever the pattern, and no memory.
type automaton struct {
	ascii   [utf8.RuneSelf]uint8 // class of a byte
	bounds  []rune               // where ranges of one class begin
	kinds   []uint8              // their classes
	classes int
	next    []uint32 // [state+class], a state being its number times the classes
	ends    []bool   // of a state's number: the text may end here
}

const (
	deadState  = 0 // nothing can match any more
	wonState   = 1 // it has matched, whatever follows
	startState = 2
	maxStates  = 2048
	maxClasses = 128
	maxProgram = 4096
	maxSum     = 1 << 20 // instructions in all states together, entries of the table: bounds the time to build and the memory
)

// newAutomaton returns nil where the pattern needs too many states.
func newAutomaton(tree *syntax.Regexp) *automaton {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil || len(prog.Inst) > maxProgram {
		return nil
	}
	b := automatonBuilder{prog: prog, states: map[string]uint16{}}
	return b.build()
}

type automatonBuilder struct {
	prog    *syntax.Prog
	states  map[string]uint16
	sets    [][]uint32 // of the states: instructions that wait for a code point, or for the end
	samples []rune     // of each class, one code point
	sum     int
	a       automaton
}

func (b *automatonBuilder) build() *automaton {
	if !b.classify() {
		return nil
	}
	b.sets = [][]uint32{nil, nil}
	b.a.ends = []bool{false, true}
	b.a.next = make([]uint32, 2*b.a.classes)
	if s, ok := b.state(b.closure([]uint32{uint32(b.prog.Start)}, true), true); !ok || s > startState { //nolint:gosec // an index
		return nil
	} else if s != startState {
		return b.constant(s)
	}
	for s := startState; s < len(b.sets); s++ {
		for k := range b.a.classes {
			to, ok := b.step(b.sets[s], b.samples[k])
			if !ok {
				return nil
			}
			b.a.next[s*b.a.classes+k] = uint32(int(to) * b.a.classes) //nolint:gosec // at most maxStates times maxClasses
		}
	}
	return &b.a
}

// constant is an automaton that has decided before the first byte.
func (b *automatonBuilder) constant(s uint16) *automaton {
	b.a.next = append(b.a.next, make([]uint32, b.a.classes)...)
	b.a.ends = append(b.a.ends, s == wonState)
	for k := range b.a.classes {
		b.a.next[startState*b.a.classes+k] = uint32(int(s) * b.a.classes) //nolint:gosec // as below
	}
	return &b.a
}

// classify divides the code points into classes that no instruction tells apart; false where that is too much work.
func (b *automatonBuilder) classify() bool {
	bounds := []rune{0}
	var readers []*syntax.Inst
	for i := range b.prog.Inst {
		in := &b.prog.Inst[i]
		if !reads(in) {
			continue
		}
		readers = append(readers, in)
		if in.Op == syntax.InstRuneAnyNotNL {
			bounds = append(bounds, '\n', '\n'+1)
		}
		for k := 0; k < len(in.Rune); k += 2 {
			last := in.Rune[k]
			if k+1 < len(in.Rune) {
				last = in.Rune[k+1]
			}
			bounds = append(bounds, in.Rune[k], last+1)
		}
		if len(in.Rune) == 1 && syntax.Flags(in.Arg)&syntax.FoldCase != 0 { //nolint:gosec // flags of the parser; this is what [Aa] becomes
			for r := unicode.SimpleFold(in.Rune[0]); r != in.Rune[0]; r = unicode.SimpleFold(r) {
				bounds = append(bounds, r, r+1)
			}
		}
	}
	slices.Sort(bounds)
	b.a.bounds = slices.Compact(bounds)
	if len(b.a.bounds)*len(readers) > maxSum {
		return false
	}
	kinds := map[string]uint8{}
	for _, r := range b.a.bounds {
		marks := make([]byte, len(readers))
		for i, in := range readers {
			if in.MatchRune(r) {
				marks[i] = 1
			}
		}
		kind, ok := kinds[string(marks)]
		if !ok {
			if len(kinds) == maxClasses {
				return false
			}
			kind = uint8(len(kinds)) //nolint:gosec // fewer than maxClasses
			kinds[string(marks)] = kind
			b.samples = append(b.samples, r)
		}
		b.a.kinds = append(b.a.kinds, kind)
	}
	b.a.classes = len(kinds)
	for c := range b.a.ascii {
		b.a.ascii[c] = b.a.class(rune(c))
	}
	return true
}

func (a *automaton) class(r rune) uint8 {
	k, found := slices.BinarySearch(a.bounds, r)
	if !found {
		k--
	}
	return a.kinds[k]
}

// closure follows what reads no code point. Instructions that wait for the end stay in the set.
func (b *automatonBuilder) closure(from []uint32, begin bool) []uint32 {
	seen := map[uint32]bool{}
	var out []uint32
	var visit func(pc uint32)
	visit = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch in := &b.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			visit(in.Out)
			visit(in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			visit(in.Out)
		case syntax.InstEmptyWidth:
			switch op := emptyOp(in); {
			case op&^syntax.EmptyBeginText == 0:
				if begin {
					visit(in.Out)
				}
			case begin || op&syntax.EmptyBeginText == 0:
				out = append(out, pc)
			}
		case syntax.InstFail:
		case syntax.InstMatch, syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			out = append(out, pc)
		}
	}
	for _, pc := range from {
		visit(pc)
	}
	slices.Sort(out)
	return out
}

// state returns the number of a set, a new one where it has none yet. The set at the beginning of the text has one of its
// own, since there the end may be the beginning too.
func (b *automatonBuilder) state(set []uint32, begin bool) (uint16, bool) {
	if len(set) == 0 {
		return deadState, true
	}
	key := make([]byte, 0, 4*len(set))
	for _, pc := range set {
		if b.prog.Inst[pc].Op == syntax.InstMatch {
			return wonState, true
		}
		key = append(key, byte(pc), byte(pc>>8)) //nolint:gosec // at most maxProgram
	}
	if s, ok := b.states[string(key)]; ok {
		return s, true
	}
	s := len(b.sets)
	b.sum += len(set)
	if s >= maxStates || b.sum > maxSum || s*b.a.classes > maxSum {
		return 0, false
	}
	if !begin {
		b.states[string(key)] = uint16(s)
	}
	b.sets = append(b.sets, set)
	b.a.ends = append(b.a.ends, b.endsIn(set, begin))
	b.a.next = append(b.a.next, make([]uint32, b.a.classes)...)
	return uint16(s), true
}

func emptyOp(in *syntax.Inst) syntax.EmptyOp { return syntax.EmptyOp(in.Arg) } //nolint:gosec // of such an instruction it is one

// endsIn reports whether a match is reached from the set at the end of the text, which is its beginning too when the text
// is empty.
func (b *automatonBuilder) endsIn(set []uint32, begin bool) bool {
	seen := map[uint32]bool{}
	var visit func(pc uint32) bool
	visit = func(pc uint32) bool {
		if seen[pc] {
			return false
		}
		seen[pc] = true
		switch in := &b.prog.Inst[pc]; in.Op { //nolint:exhaustive // the others read a code point, or fail
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			return visit(in.Out) || visit(in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			return visit(in.Out)
		case syntax.InstEmptyWidth:
			return (begin || emptyOp(in)&syntax.EmptyBeginText == 0) && visit(in.Out)
		}
		return false
	}
	return slices.ContainsFunc(set, visit)
}

// step returns the state after a code point. A match may begin anywhere: the start is in every set.
func (b *automatonBuilder) step(set []uint32, r rune) (uint16, bool) {
	to := []uint32{}
	for _, pc := range set {
		if in := &b.prog.Inst[pc]; reads(in) && in.MatchRune(r) {
			to = append(to, in.Out)
		}
	}
	return b.state(b.closure(append(to, uint32(b.prog.Start)), false), false) //nolint:gosec // an index
}

func reads(in *syntax.Inst) bool {
	switch in.Op { //nolint:exhaustive // the others read no code point
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

// matchesAnything reports whether there is a text that matches: every state is reached by one.
func (a *automaton) matchesAnything() bool {
	return slices.Contains(a.ends[startState:], true) || slices.Contains(a.next[startState*a.classes:], uint32(wonState*a.classes)) //nolint:gosec // a small number
}

// match reports whether the pattern matches somewhere in text, which is valid UTF-8.
func (a *automaton) match(text []byte) bool {
	won := a.classes * wonState
	s := a.classes * startState
	for i := 0; i < len(text); {
		c := text[i]
		k := 0
		if c < utf8.RuneSelf {
			k = int(a.ascii[c])
			i++
		} else {
			r, n := utf8.DecodeRune(text[i:])
			k = int(a.class(r))
			i += n
		}
		if s = int(a.next[s+k]); s <= won {
			return s == won
		}
	}
	return a.ends[s/a.classes]
}
