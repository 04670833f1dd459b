package protocolmodel

// set moves a row. Whoever holds it holds it no longer unless it says so.
func (s *State) set(m *Model, p int, to Row) {
	o := &s.Ops[p]
	was := o.Row
	if was.terminal() && was != to {
		s.bad(TerminalChanged)
	}
	o.Row = to
	if to == Unknown {
		o.Doubtful = true
	}
	if !to.terminal() {
		return
	}
	o.Holder, o.Lease = 0, NoLease
	if to.none() {
		o.Facts.SaidNone = true
	}
	if s.Open == mark(p) || !m.has(ClearOwn) {
		s.Open = 0
		if m.has(EndRaises) {
			s.Seq++
		}
	}
	if was.open() {
		s.outdate(p)
	}
}

// outdate marks what was read about the resource before an operation on it began or ended.
func (s *State) outdate(p int) {
	for q := range s.Ops {
		if q != p && s.Ops[q].Read {
			s.Ops[q].Facts.Stale = true
		}
	}
}

// forbidden is what a re-check finds against a proposal now, the target's version apart.
func (s *State) forbidden(p int) bool {
	o := &s.Ops[p]
	return o.Facts.Over || s.Facts.Revoked || o.Approval == Withdrawn
}

// claim is T4.
func (m *Model) claim(s *State, i int, next Step, step take) {
	p := int(s.Procs[i].Op)
	o := &s.Ops[p]
	give := func(n *State) { n.idle(i) }
	switch {
	case o.Row != Pending && (m.has(ClaimPending) || o.Row != Dispatching):
		step("Claim: not pending, answered from the row", give)
	case o.Facts.Over && m.has(ClaimExpiry):
		step("Claim: expired (T3)", func(n *State) { n.set(m, p, Expired); n.idle(i) })
	case o.Seq != s.Seq && m.has(ClaimSeq):
		step("Claim: ErrSequence", func(n *State) {
			n.Procs[i].At = Denies
			if o.Facts.Stale || o.Facts.Purged { // not because of itself
				n.Procs[i].Seq = 1
			}
		})
	case s.Open != 0 && m.has(ClaimOpen):
		step("Claim: ErrBusy, stays pending", give)
	case o.Attempts >= m.MaxAttempts:
		if m.has(LastAttemptEnds) {
			step("Claim: no attempts left", func(n *State) { n.Procs[i].At, n.Procs[i].Seq = Denies, 1 })
		}
	default:
		step("Claim (T4)", func(n *State) {
			n.Open = mark(p)
			if m.has(ClaimRaises) {
				n.Seq++
			}
			n.outdate(p)
			n.dispatch(i, p)
			n.Procs[i].At = next
		})
	}
}

// dispatch gives process i the right to send.
func (s *State) dispatch(i, p int) {
	o, q := &s.Ops[p], &s.Procs[i]
	o.Row, o.Holder, o.Lease = Dispatching, mark(i), Live
	o.Attempts++
	o.Facts.Settled = false
	q.Late, q.Asking = false, false
	if q.Seen || o.Facts.Over {
		s.bad(KnownNo)
	}
	for j, other := range s.Procs {
		if j != i && other.At == Holds && int(other.Op) == p && !other.Late {
			s.bad(TwoHolders)
		}
	}
}

// finish is T5 to T8.
func (m *Model) finish(s *State, i int, step take) {
	q := s.Procs[i]
	p := int(q.Op)
	o := &s.Ops[p]
	mine := o.Holder == mark(i) || !m.has(Fence) && o.Row != NoRow
	if !mine {
		step("Finish: fenced, kept as evidence", func(n *State) { n.keep(i, p); n.idle(i) })
		return
	}
	if o.Row == Unknown && !q.Asking {
		step("Finish: of a claim that was reaped", func(n *State) { n.bad(LostHolder) })
		return
	}
	switch q.Outcome {
	case Success:
		step("Finish: succeeded", func(n *State) { n.set(m, p, Succeeded); n.idle(i) })
	case Refusal:
		step("Finish: failed", func(n *State) { n.set(m, p, Failed); n.idle(i) })
	case NotSent:
		m.notSent(s, i, step)
	case Lost, Nothing:
		step("Finish: unknown (T6)", func(n *State) { n.doubt(m, p); n.idle(i) })
	}
}

// finishTx is T5 in the transaction that has the effect in it: both or neither.
func (m *Model) finishTx(s *State, i int, step take) {
	q := s.Procs[i]
	p := int(q.Op)
	o := &s.Ops[p]
	switch {
	case o.Holder == mark(i) || !m.has(Fence) && o.Row != NoRow:
		step("Finish with the effect, in one transaction: EFFECT, succeeded", func(n *State) { n.effect(m, p); n.set(m, p, Succeeded); n.idle(i) })
	case q.Overran && !m.has(RepeatSame) && o.Row != Unknown:
		step("Finish with the effect: taken for a repetition: EFFECT", func(n *State) { n.effect(m, p); n.idle(i) })
	default:
		step("Finish with the effect: fenced, rolled back", func(n *State) { n.idle(i) })
	}
}

// overrun stores unknown under the claim of a handler whose time is over, and which goes on.
func (m *Model) overrun(s *State, i int, step take) {
	p := int(s.Procs[i].Op)
	if s.Procs[i].Late && s.Ops[p].Holder == mark(i) {
		step("its time is over: unknown is stored (T6), and its handler goes on", func(n *State) {
			n.doubt(m, p)
			n.Procs[i].Overran = true
		})
	}
}

func (s *State) keep(i, p int) {
	o, q := &s.Ops[p], s.Procs[i]
	if o.Row == NoRow || o.Row.terminal() || o.Evidence == Success {
		return
	}
	if q.Outcome == Success || q.Outcome == Refusal && !q.Asking {
		o.Evidence = q.Outcome
	}
}

func (s *State) doubt(m *Model, p int) {
	s.set(m, p, Unknown)
	s.Ops[p].Holder, s.Ops[p].Lease = 0, NoLease
}

func (m *Model) notSent(s *State, i int, step take) {
	p := int(s.Procs[i].Op)
	o := &s.Ops[p]
	if o.Doubtful && m.has(NotSentDoubt) {
		step("Finish: NotSent, but an earlier claim may have sent: unknown", func(n *State) { n.doubt(m, p); n.idle(i) })
		return
	}
	step("Finish: NotSent, pending again (T7)", func(n *State) {
		o := &n.Ops[p]
		o.Row, o.Holder, o.Lease = Pending, 0, NoLease
		if n.Open == mark(p) {
			n.Open = 0
			if m.has(NotSentRaises) {
				n.Seq++
			}
			if m.has(NotSentStamps) {
				o.Seq = n.Seq
			}
		}
		n.outdate(p)
		n.idle(i)
	})
}

// idle ends an attempt. What the process held is held by nobody.
func (s *State) idle(i int) {
	for p := range s.Ops {
		if s.Ops[p].Holder == mark(i) {
			s.Ops[p].Holder = 0
		}
	}
	s.Procs[i] = Proc{}
}
