package contracttest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// automaton is the deterministic machine of the texts that match all of some patterns, states made as they are met. As in
// JSON Schema a pattern that is not anchored matches anywhere in the text.
type automaton struct {
	progs   []*syntax.Prog
	classes []runeClass
	edges   []rune // the characters on both sides of each border that a pattern draws
	states  []autoState
	byKey   map[string]int
	needed  int // so many patterns must match, and not all of the others, if there are others
}

type autoState struct {
	begin  bool // nothing was read
	sets   []threads
	next   []int // by class; 0: not made yet, otherwise state + 1
	accept bool
}

// threads are the instructions of one program that wait for a character, or for the end of the text.
type threads struct {
	matched bool
	pcs     []uint32
	passed  []bool // instructions that read nothing and were followed: they can lead back to themselves
}

// runeClass is a set of characters that no pattern tells apart, with some of them to write.
type runeClass struct{ members []rune }

// maxStates bounds the machine; a pattern that needs more needs a Witness.
const maxStates = 4000

var (
	errPatternSize  = errors.New("contracttest: the pattern needs too large an automaton; give a Witness")
	errPatternWords = errors.New(`contracttest: \b and line anchors are not followed; give a Witness`)
	errNoText       = errors.New("contracttest: no text of this length matches")
)

func newAutomaton(patterns ...string) (*automaton, error) { return newDifference(patterns, nil) }

// newDifference is the machine of the texts that match all of in and not all of out.
func newDifference(in, out []string) (*automaton, error) {
	a := &automaton{byKey: map[string]int{}, needed: len(in)}
	for _, p := range slices.Concat(in, out) {
		tree, err := syntax.Parse(p, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("contracttest: pattern: %w", err)
		}
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil {
			return nil, fmt.Errorf("contracttest: pattern: %w", err)
		}
		for _, inst := range prog.Inst {
			if inst.Op == syntax.InstEmptyWidth && empties(inst)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
				return nil, errPatternWords
			}
		}
		a.progs = append(a.progs, prog)
	}
	a.classify()
	first := autoState{begin: true, sets: make([]threads, len(a.progs))}
	for i, prog := range a.progs {
		first.sets[i].enter(prog, start(prog), true, false)
	}
	a.add(first)
	return a, nil
}

func empties(inst syntax.Inst) syntax.EmptyOp {
	return syntax.EmptyOp(inst.Arg & 0xff)
}

func start(prog *syntax.Prog) uint32 {
	return uint32(prog.Start) //nolint:gosec // an index of an instruction
}

// enter follows what reads no character.
func (t *threads) enter(prog *syntax.Prog, pc uint32, begin, end bool) {
	if t.matched || slices.Contains(t.pcs, pc) {
		return
	}
	inst := prog.Inst[pc]
	if !reads(&inst) {
		if t.passed == nil {
			t.passed = make([]bool, len(prog.Inst))
		}
		if t.passed[pc] {
			return
		}
		t.passed[pc] = true
	}
	switch inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		t.enter(prog, inst.Out, begin, end)
		t.enter(prog, inst.Arg, begin, end)
	case syntax.InstCapture, syntax.InstNop:
		t.enter(prog, inst.Out, begin, end)
	case syntax.InstEmptyWidth:
		op := empties(inst)
		switch {
		case op&syntax.EmptyBeginText != 0 && !begin:
		case op&syntax.EmptyEndText != 0 && !end:
			t.pcs = append(t.pcs, pc)
		default:
			t.enter(prog, inst.Out, begin, end)
		}
	case syntax.InstMatch:
		t.matched, t.pcs = true, nil
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		t.pcs = append(t.pcs, pc)
	case syntax.InstFail:
	}
}

func (a *automaton) add(s autoState) int {
	var key []byte
	if s.begin {
		key = append(key, 'b')
	}
	s.accept = true
	others := a.needed < len(s.sets)
	for i := range s.sets {
		t := &s.sets[i]
		t.passed = nil
		slices.Sort(t.pcs)
		key = binary.AppendUvarint(key, uint64(len(t.pcs)))
		if t.matched {
			key = append(key, 'm')
		}
		for _, pc := range t.pcs {
			key = binary.AppendUvarint(key, uint64(pc))
		}
		matches := t.matched || t.endsHere(a.progs[i], s.begin)
		if i < a.needed {
			s.accept = s.accept && matches
		} else {
			others = others && matches
		}
	}
	s.accept = s.accept && !others
	if id, ok := a.byKey[string(key)]; ok {
		return id
	}
	s.next = make([]int, len(a.classes))
	a.states = append(a.states, s)
	a.byKey[string(key)] = len(a.states) - 1
	return len(a.states) - 1
}

func (t *threads) endsHere(prog *syntax.Prog, begin bool) bool {
	var end threads
	for _, pc := range t.pcs {
		if prog.Inst[pc].Op == syntax.InstEmptyWidth {
			end.enter(prog, prog.Inst[pc].Out, begin, true)
		}
	}
	return end.matched
}

// step reads one character of a class.
func (a *automaton) step(state, class int) int {
	if n := a.states[state].next[class]; n > 0 {
		return n - 1
	}
	r := a.classes[class].members[0]
	next := autoState{sets: make([]threads, len(a.progs))}
	for i, prog := range a.progs {
		from, to := a.states[state].sets[i], &next.sets[i]
		if from.matched {
			to.matched = true
			continue
		}
		for _, pc := range from.pcs {
			if inst := &prog.Inst[pc]; inst.Op != syntax.InstEmptyWidth && inst.MatchRune(r) {
				to.enter(prog, inst.Out, false, false)
			}
		}
		to.enter(prog, start(prog), false, false)
	}
	id := a.add(next)
	a.states[state].next[class] = id + 1
	return id
}

// matches runs a text through the machine; characters that no class lists are looked up by the programs themselves.
func (a *automaton) matches(text string) bool {
	sets := slices.Clone(a.states[0].sets)
	begin := true
	for _, r := range text {
		for i, prog := range a.progs {
			var to threads
			if sets[i].matched {
				continue
			}
			for _, pc := range sets[i].pcs {
				if inst := &prog.Inst[pc]; inst.Op != syntax.InstEmptyWidth && inst.MatchRune(r) {
					to.enter(prog, inst.Out, false, false)
				}
			}
			to.enter(prog, start(prog), false, false)
			sets[i] = to
		}
		begin = false
	}
	for i, prog := range a.progs {
		if !sets[i].matched && !sets[i].endsHere(prog, begin) {
			return false
		}
	}
	return true
}

// classify cuts the characters where any instruction tells two neighbours apart, and puts together what all treat alike.
func (a *automaton) classify() {
	cuts := []rune{1, ' ', '0', '9' + 1, 'A', 'Z' + 1, 'a', 'z' + 1, 0x7f, 0xa0, 0x2028, 0x202a, 0xd800, 0xe000, 0xfffe, 0x10000, unicode.MaxRune + 1, '\n', '\n' + 1, '\r', '\r' + 1}
	for _, prog := range a.progs {
		for i := range prog.Inst {
			drawn := instCuts(&prog.Inst[i])
			cuts = append(cuts, drawn...)
			a.edge(drawn)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	at := map[string]int{}
	for i := range len(cuts) - 1 {
		lo, hi := cuts[i], cuts[i+1]-1
		if lo < 1 || lo >= 0xd800 && lo < 0xe000 || lo > unicode.MaxRune {
			continue
		}
		key := a.signature(lo)
		id, ok := at[key]
		if !ok {
			id = len(a.classes)
			at[key] = id
			a.classes = append(a.classes, runeClass{})
		}
		a.classes[id].fill(lo, hi)
	}
	for i := range a.classes {
		a.classes[i].order()
	}
}

// maxEdges bounds the borders that are tried: classes of whole scripts draw hundreds.
const maxEdges = 48

func (a *automaton) edge(cuts []rune) {
	for _, c := range cuts {
		for _, r := range []rune{c - 1, c} {
			if len(a.edges) < maxEdges && r > 0 && r <= unicode.MaxRune && utf8.ValidRune(r) && !slices.Contains(a.edges, r) {
				a.edges = append(a.edges, r)
			}
		}
	}
}

func (a *automaton) signature(r rune) string {
	var b []byte
	for _, prog := range a.progs {
		for i := range prog.Inst {
			if !reads(&prog.Inst[i]) {
				continue
			}
			if prog.Inst[i].MatchRune(r) {
				b = append(b, '1')
			} else {
				b = append(b, '0')
			}
		}
	}
	return string(b)
}

// reads reports whether an instruction reads a character.
func reads(inst *syntax.Inst) bool {
	return inst.Op == syntax.InstRune || inst.Op == syntax.InstRune1 || inst.Op == syntax.InstRuneAny || inst.Op == syntax.InstRuneAnyNotNL
}

func instCuts(inst *syntax.Inst) (cuts []rune) {
	if !reads(inst) {
		return nil
	}
	if len(inst.Rune) == 1 {
		r := inst.Rune[0]
		cuts = append(cuts, r, r+1)
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			cuts = append(cuts, f, f+1)
		}
		return cuts
	}
	for i := 0; i+1 < len(inst.Rune); i += 2 {
		cuts = append(cuts, inst.Rune[i], inst.Rune[i+1]+1)
	}
	return cuts
}

// classMembers bounds how many characters of an interval are written; the borders are among them.
const classMembers = 64

func (c *runeClass) fill(lo, hi rune) {
	if len(c.members) > 4*classMembers {
		return
	}
	for r := lo; r <= hi && r < lo+classMembers; r++ {
		c.members = append(c.members, r)
	}
	if hi >= lo+classMembers {
		c.members = append(c.members, hi)
	}
}

// order puts letters and digits first, in the order of the canary alphabet, then what prints.
func (c *runeClass) order() {
	rank := func(r rune) int {
		for i, a := range alnum {
			if a == r {
				return i
			}
		}
		switch {
		case r > ' ' && r < 0x7f:
			return 100
		case unicode.IsLetter(r):
			return 200
		case unicode.IsPrint(r):
			return 300
		}
		return 400
	}
	slices.SortStableFunc(c.members, func(x, y rune) int { return rank(x) - rank(y) })
}

// pick returns a member that varies with i, of the best kind that the class has.
func (c runeClass) pick(i int) rune {
	n := 0
	for n < len(c.members) && c.members[n] < utf8.RuneSelf && (c.members[n] >= '0' && c.members[n] <= '9' || c.members[n] >= 'A' && c.members[n] <= 'Z' || c.members[n] >= 'a' && c.members[n] <= 'z') {
		n++
	}
	if n == 0 {
		return c.members[0]
	}
	return c.members[scatter(i, 12345)%n]
}
