package protocolmodel

// What a process does that holds the claim of an unknown operation: it asks the provider by key, then weighs what is
// stored, then, where the contract allows it, sends the same bytes again under the same key.

func (m *Model) weigh(s *State, i int, step take) {
	q := s.Procs[i]
	o := &s.Ops[q.Op]
	switch {
	case q.Early && o.Facts.Settled && !m.has(SettleAtAsking):
		step("Settle is over by now: final", reporting(i, Refusal))
	case o.Evidence == Success, o.Evidence == Refusal:
		step("stored evidence", reporting(i, o.Evidence))
	case m.Contract == ReplaySafe && o.Attempts < m.MaxAttempts && !o.Forgot:
		step("nothing is known: considers to send again", func(n *State) { n.Procs[i].At = Rechecks })
	default:
		step("stays unknown, released", releasing(i))
	}
}

func (m *Model) recheck(s *State, i int, step take) {
	p := int(s.Procs[i].Op)
	if m.has(ResendRecheck) && s.forbidden(p) || m.has(ResendCurrent) && m.Versions && s.Ops[p].Facts.Moved {
		step("the re-check says no: stays unknown", releasing(i))
		return
	}
	step("the re-check passes", func(n *State) { n.Procs[i].At = Ready })
}

// resend is T9.
func (m *Model) resend(s *State, i int, step take) {
	p := int(s.Procs[i].Op)
	o := &s.Ops[p]
	mine := o.Holder == mark(i) && o.Row == Unknown || !m.has(ResendUnknown) && o.Row != NoRow && !o.Row.terminal()
	if !mine || o.Facts.WindowOver && m.has(ResendWindow) || o.Facts.Over && m.has(ResendExpiry) {
		step("Resend: refused", releasing(i))
		return
	}
	step("Resend (T9)", func(n *State) {
		n.dispatch(i, p)
		n.Procs[i].At, n.Procs[i].Again = Holds, true
	})
}

// ask is the provider's status by key.
func (m *Model) ask(s *State, i int, step take) {
	o := &s.Ops[s.Procs[i].Op]
	final := m.Contract == NotFoundIsFinal && (o.Facts.Settled || !m.has(SettleBefore))
	switch {
	case m.Contract != StatusQueryable && m.Contract != NotFoundIsFinal:
		step("no status to ask for", func(n *State) { n.Procs[i].At = Weighs })
	case o.Effects > 0:
		step("status: done", reporting(i, Success))
	case o.Refused:
		step("status: finally refused", reporting(i, Refusal))
	case final:
		step("status: not found, and Settle is over", reporting(i, Refusal))
	default:
		step("status: not found, which proves nothing", func(n *State) {
			n.Procs[i].At, n.Procs[i].Early = Weighs, m.Contract == NotFoundIsFinal && !m.has(SettleAtAsking)
		})
	}
}

func reporting(i int, out Outcome) func(n *State) {
	return func(n *State) { n.Procs[i].At, n.Procs[i].Outcome = Reports, out }
}

// releasing gives a claim back: the row stays as it is.
func releasing(i int) func(n *State) {
	return func(n *State) {
		if o := &n.Ops[n.Procs[i].Op]; o.Holder == mark(i) {
			o.Holder, o.Lease = 0, NoLease
		}
		n.idle(i)
	}
}
