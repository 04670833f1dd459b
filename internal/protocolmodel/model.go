package protocolmodel

// Contract is what the provider promises.
type Contract uint8

// The contracts.
const (
	Promises0       Contract = iota // nothing
	ReplaySafe                      // a known key gets the first answer again, inside its window
	StatusQueryable                 // it can be asked; not found proves nothing
	NotFoundIsFinal                 // not found is final after Settle
)

// Model is a protocol in a world. Fields of the world are what may happen there.
type Model struct {
	Contract Contract
	Without  [2]Guard // left out; NoGuard leaves nothing out

	Proposals   int  // one or two
	Previews    bool // the second proposal is made at any time, else it is there from the beginning
	Versions    bool // targets have versions
	OneBase     bool // the effect is a row in the ledger's database, and nothing is sent
	MaxAttempts uint8

	Expires, Revokes, Withdraws, Outsider, Cancels, Operator, Purges, Alters, Refuses, CannotDial bool
}

func (m *Model) has(g Guard) bool { return m.Without[0] != g && m.Without[1] != g }

// Move is a step and where it leads.
type Move struct {
	Label string
	Next  State
	Fault bool // something that nobody can count on; what must be able to go on goes on without it
}

// start is the state in which the first proposal, and without Previews the second, is approved.
func (m *Model) start() State {
	var s State
	for p := range m.Proposals {
		if p == 0 || !m.Previews {
			s.Ops[p].Approval, s.Ops[p].Read = Approved, true
		}
	}
	return s
}

// moves returns every step out of s, in the memory of into.
func (m *Model) moves(s State, into []Move) []Move {
	all := into[:0]
	do := func(fault bool, label string, f func(n *State)) {
		n := s
		f(&n)
		n.check(m)
		all = append(all, Move{label, n.canonical(), fault})
	}
	step := func(label string, f func(n *State)) { do(false, label, f) }
	fault := func(label string, f func(n *State)) { do(true, label, f) }
	for i := range s.Procs {
		m.process(&s, i, step, fault)
	}
	for p := range m.Proposals {
		m.clocks(&s, p, step, fault)
		m.people(&s, p, step, fault)
		m.provider(&s, p, step, fault)
	}
	m.world(&s, fault)
	return all
}

// take makes a move.
type take func(label string, f func(n *State))

// canonical gives states that differ in what means nothing one form. Processes are alike: their order means nothing.
func (s State) canonical() State {
	for p := range s.Ops {
		o := &s.Ops[p]
		if o.Row == NoRow || o.Row.terminal() {
			o.Holder, o.Lease, o.Attempts, o.Doubtful, o.Evidence = 0, NoLease, 0, false, Nothing
			o.Facts.Settled = false
		}
		if o.Row.terminal() {
			o.Seq = 0
		}
	}
	if s.Procs[1].less(s.Procs[0]) {
		s.Procs[0], s.Procs[1] = s.Procs[1], s.Procs[0]
		for p := range s.Ops {
			if h := s.Ops[p].Holder; h != 0 {
				s.Ops[p].Holder = 3 - h
			}
		}
	}
	return s
}

func (p Proc) less(q Proc) bool { return p.number() < q.number() }

func (p Proc) number() uint64 {
	n := uint64(p.At)<<24 | uint64(p.Op)<<20 | uint64(p.Outcome)<<16 | uint64(p.Request)<<12 | uint64(p.Seq)<<32
	for i, b := range [...]bool{p.Seen, p.Used, p.Late, p.Again, p.Asking, p.Early, p.Overran} {
		if b {
			n |= 1 << i
		}
	}
	return n
}

func (s *State) bad(r Rule) {
	if s.Bad == NoRule {
		s.Bad = r
	}
}

// check holds what is true of a state by itself.
func (s *State) check(m *Model) {
	open := 0
	for p := range m.Proposals {
		o := &s.Ops[p]
		if o.Row.open() {
			open++
			if s.Open != mark(p) {
				s.bad(OpenUnheld)
			}
		}
		if o.Row == Succeeded && o.Effects == 0 {
			s.bad(SuccessWithoutEffect)
		}
		if o.Row.none() && o.Effects > 0 {
			s.bad(EffectAfterNone)
		}
		if o.Approval == Consumed && o.Row == NoRow && !o.Facts.Purged {
			s.bad(ConsumedWithoutOperation)
		}
	}
	if open > 1 {
		s.bad(TwoOpen)
	}
}
