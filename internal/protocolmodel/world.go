package protocolmodel

// clocks is what passes by itself.
func (m *Model) clocks(s *State, p int, step, fault take) {
	o := &s.Ops[p]
	flying := o.Requests[0] == Flying || o.Requests[1] == Flying
	if m.Expires && o.Approval != NoApproval && !o.Facts.Over {
		fault("the proposal's time is over", func(n *State) { n.Ops[p].Facts.Over = true })
	}
	if m.Contract == ReplaySafe && o.Sent > 0 && !o.Facts.WindowOver && !(s.resending(p) && m.has(ResendLease)) {
		step("the ledger's window is over", func(n *State) { n.Ops[p].Facts.WindowOver = true })
	}
	if o.Facts.WindowOver && !o.Facts.Forgotten && !flying {
		step("the provider forgets the key", func(n *State) { n.Ops[p].Facts.Forgotten, n.Ops[p].Known = true, false })
	}
	if m.Contract == NotFoundIsFinal && o.Row == Unknown && !o.Facts.Settled && !flying {
		step("Settle is over", func(n *State) { n.Ops[p].Facts.Settled = true })
	}
	if o.Lease == Live && s.given(o.Holder) {
		step("a lease is over", func(n *State) { n.Ops[p].Lease = Over })
	}
	if o.Row == Dispatching && (o.Lease == Over || !m.has(ReapAfterLease)) {
		step("a reader reaps: unknown (T6)", func(n *State) {
			n.set(m, p, Unknown)
			n.Ops[p].Lease = NoLease
			if m.has(ReapFences) {
				n.Ops[p].Holder = 0
			}
		})
	}
	if o.Row == Pending && o.Facts.Over {
		step("the sweeper comes: expired (T3)", func(n *State) { n.set(m, p, Expired) })
	}
}

// resending reports whether somebody may still send the operation again in time.
func (s *State) resending(p int) bool {
	for _, q := range s.Procs {
		if int(q.Op) == p && q.At == Holds && q.Again && !q.Late {
			return true
		}
	}
	return false
}

// given reports whether a lease may end: its holder is dead, past its own deadline (which is never later), or done.
func (s *State) given(holder uint8) bool {
	if holder == 0 {
		return true
	}
	q := s.Procs[holder-1]
	return q.Late || q.At == Reports
}

// people are approvers, requesters and the operator.
func (m *Model) people(s *State, p int, step, fault take) {
	o := &s.Ops[p]
	if m.Withdraws && o.Approval == Approved {
		fault("an approver withdraws", func(n *State) { n.Ops[p].Approval = Withdrawn })
	}
	if m.Cancels && (o.Row == Pending || o.Row == Dispatching && !m.has(CancelPending)) {
		fault("cancelled (T11)", func(n *State) { n.set(m, p, Cancelled) })
	}
	if m.Operator && (o.Row == Unknown || o.Row == Dispatching && !m.has(ResolveUnknown)) {
		switch {
		case o.Effects > 0:
			step("the operator sees the effect: succeeded (T10)", func(n *State) { n.set(m, p, Succeeded) })
		case !m.has(OperatorWaits), !m.has(ResolveUnknown), !s.mayLand(p):
			step("the operator sees none, and that nothing can land: failed (T10)", func(n *State) { n.set(m, p, Failed) })
		}
	}
	if m.Purges && o.Row != NoRow && (o.Row.terminal() || !m.has(PurgeTerminal)) && o.Facts.Over && !s.flying(p) && !s.at(p) {
		fault("the row is purged, and its tombstone", func(n *State) {
			o := &n.Ops[p]
			o.Row, o.Holder, o.Lease, o.Attempts, o.Doubtful, o.Evidence = NoRow, 0, NoLease, 0, false, Nothing
			o.Facts.Purged, o.Facts.SaidNone = true, false
		})
	}
}

// at reports whether somebody is at work on an operation: a tombstone stays longer than any call.
func (s *State) at(p int) bool {
	for _, q := range s.Procs {
		if q.At != Idle && int(q.Op) == p {
			return true
		}
	}
	return false
}

func (s *State) flying(p int) bool {
	return s.Ops[p].Requests[0] == Flying || s.Ops[p].Requests[1] == Flying
}

// mayLand reports whether a request is under way or somebody in time may send one.
func (s *State) mayLand(p int) bool {
	for _, q := range s.Procs {
		if int(q.Op) == p && q.At == Holds && !q.Late {
			return true
		}
	}
	return s.flying(p)
}

// provider is what happens to requests.
func (m *Model) provider(s *State, p int, step, fault take) {
	o := &s.Ops[p]
	for k, r := range o.Requests {
		if r != Flying {
			continue
		}
		answer := func(n *State, a Request) { n.Ops[p].Requests[k] = a }
		fault("a request dies on the way", func(n *State) { answer(n, Done) })
		if m.Contract == ReplaySafe && o.Known {
			step("the provider knows the key and answers as before", func(n *State) {
				if o.Refused {
					answer(n, SaidNo)
				} else {
					answer(n, SaidYes)
				}
			})
			continue
		}
		step("a request lands: EFFECT", func(n *State) { answer(n, SaidYes); n.effect(m, p) })
		if m.Refuses && o.Effects == 0 {
			step("a request lands and is finally refused", func(n *State) {
				answer(n, SaidNo)
				n.Ops[p].Refused, n.Ops[p].Known = true, m.Contract == ReplaySafe
			})
		}
	}
}

// effect is the change at the provider.
func (s *State) effect(m *Model, p int) {
	o := &s.Ops[p]
	if o.Effects > 0 {
		s.bad(TwoEffects)
	}
	o.Effects++
	o.Known = m.Contract == ReplaySafe
	switch {
	case o.Facts.SaidNone || o.Row.none():
		s.bad(EffectAfterNone)
	case o.Facts.Stale:
		s.bad(StaleEffect)
	case o.Facts.Altered:
		s.bad(AlteredEffect)
	case o.Approval != Consumed:
		s.bad(EffectWithoutApproval)
	}
	for q := range s.Ops {
		if s.Ops[q].Read {
			s.Ops[q].Facts.Moved = true
		}
	}
}

// world is what outsiders do.
func (m *Model) world(s *State, fault take) {
	if m.Revokes && !s.Facts.Revoked {
		fault("access is revoked", func(n *State) { n.Facts.Revoked = true })
	}
	if m.Outsider && !s.Facts.Moved {
		fault("an outsider changes the target", func(n *State) {
			n.Facts.Moved = true
			for p := range n.Ops {
				n.Ops[p].Facts.Moved = n.Ops[p].Facts.Moved || n.Ops[p].Read
			}
		})
	}
	if m.Alters {
		for p := range m.Proposals {
			if o := s.Ops[p]; o.Row != NoRow && !o.Row.terminal() && !o.Facts.Altered && o.Sent == 0 {
				fault("the body in the ledger is altered", func(n *State) { n.Ops[p].Facts.Altered = true })
			}
		}
	}
}
