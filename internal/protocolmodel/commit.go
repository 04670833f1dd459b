package protocolmodel

// process is every step of process i: preview, commit, the outbox's work, and what resolves an unknown operation.
func (m *Model) process(s *State, i int, step, fault take) {
	q := s.Procs[i]
	p := int(q.Op)
	o := &s.Ops[p]
	if q.At != Idle {
		fault("a process dies", func(n *State) { n.idle(i) })
	}
	if (q.At == Holds || q.At == Waits || q.Asking) && !q.Late {
		step("a holder's own deadline passes", func(n *State) { n.Procs[i].Late = true })
	}
	switch q.At {
	case Idle:
		m.begin(s, i, step)
	case PreviewSeq:
		m.previewed(s, i, step)
	case Loaded:
		m.recheckCommit(s, i, step)
	case Checked:
		moved := m.Versions && o.Facts.Moved || o.Seen != s.Seq && m.has(SeqBeforeAdmit)
		if o.Row == Pending && o.Seq == s.Seq && !(m.Versions && o.Facts.Moved) {
			moved = false // stamped again by a NotSent
		}
		m.refuseOr(moved, i, Admit, step)
	case Finds:
		m.finds(s, i, step)
	case Admit:
		m.admit(s, i, step)
	case Pend:
		no := m.has(RecheckInQueue) && (s.forbidden(p) || m.has(CurrentInQueue) && m.Versions && o.Facts.Moved)
		if no {
			step("goes on: the re-check says no", func(n *State) { n.Procs[i].At, n.Procs[i].Seq = Denies, 1 })
		} else {
			step("goes on: the re-check passes", func(n *State) { n.Procs[i].At = Admitted })
		}
	case Denies:
		m.deny(s, i, step)
	case Admitted:
		if m.has(BindFirst) {
			m.bind(s, i, Bound, step)
		} else {
			m.claim(s, i, Bound, step)
		}
	case Bound:
		if m.has(BindFirst) {
			m.claim(s, i, Holds, step)
		} else {
			m.bind(s, i, Holds, step)
		}
	case Holds:
		m.send(s, i, step)
	case Waits:
		m.wait(s, i, step)
	case Reports:
		m.finish(s, i, step)
	case Asks:
		m.ask(s, i, step)
	case Weighs:
		m.weigh(s, i, step)
	case Rechecks:
		m.recheck(s, i, step)
	case Ready:
		m.resend(s, i, step)
	}
}

// begin is what an idle process may turn to.
func (m *Model) begin(s *State, i int, step take) {
	for p := range m.Proposals {
		o := &s.Ops[p]
		begin := func(label string, q Proc) {
			q.Op, q.Seen = mark(p)-1, s.forbidden(p) || m.Versions && s.Facts.Moved && o.Facts.Moved
			step(label, func(n *State) { n.Procs[i] = q })
		}
		if o.Approval == NoApproval && o.Row == NoRow && !s.busy(p) && (s.Open == 0 || !m.has(PreviewClosed)) {
			if m.has(PreviewOrder) {
				begin("preview: reads the resource row", Proc{At: PreviewSeq, Seq: s.Seq})
			} else {
				step("preview: reads the facts", func(n *State) {
					n.Procs[i] = Proc{At: PreviewSeq, Op: mark(p) - 1}
					n.Ops[p].Read = true
				})
			}
		}
		if o.Approval == Approved || o.Approval == Consumed || o.Approval == Withdrawn && o.Row != NoRow {
			at := Loaded
			if o.Approval == Consumed {
				at = Admit
			}
			begin("commit: loads the approval", Proc{At: at, Used: o.Approval == Consumed})
		}
		if o.Row == Pending {
			begin("worker: takes a pending delivery", Proc{At: Pend})
		}
		if o.Row == Unknown && o.Lease != Live {
			step("resolver: ClaimOpen", func(n *State) {
				n.Procs[i] = Proc{At: Asks, Op: mark(p) - 1, Asking: true, Seen: s.forbidden(p) || m.Versions && o.Facts.Moved}
				n.Ops[p].Holder, n.Ops[p].Lease = mark(i), Live
			})
		}
	}
}

func (s *State) busy(p int) bool {
	for _, q := range s.Procs {
		if q.At == PreviewSeq && int(q.Op) == p {
			return true
		}
	}
	return false
}

func (m *Model) previewed(s *State, i int, step take) {
	q := s.Procs[i]
	p := int(q.Op)
	step("preview: the proposal is stored, and approved", func(n *State) {
		o := &n.Ops[p]
		seen := q.Seq
		if m.has(PreviewOrder) {
			o.Facts.Stale, o.Facts.Moved = false, false // read now
		} else {
			seen = s.Seq
		}
		o.Read, o.Approval, o.Seen = true, Approved, seen
		n.idle(i)
	})
}

func (m *Model) recheckCommit(s *State, i int, step take) {
	p := int(s.Procs[i].Op)
	m.refuseOr(m.has(RecheckAtCommit) && s.forbidden(p), i, Checked, step)
}

// refuseOr goes on, or refuses: at once, or after a look into the ledger.
func (m *Model) refuseOr(no bool, i int, on Step, step take) {
	switch {
	case !no:
		step("commit: nothing against it", func(n *State) { n.Procs[i].At = on })
	case m.has(FindBeforeNo):
		step("commit: something against it, looks for the operation", func(n *State) { n.Procs[i].At = Finds })
	default:
		step("commit: something against it, refused with effect none", func(n *State) { n.refuse(i) })
	}
}

// refuse answers "effect none".
func (s *State) refuse(i int) {
	o := &s.Ops[s.Procs[i].Op]
	if o.Effects > 0 || o.Row.open() || o.Row == Succeeded {
		s.bad(NoneWhileOpen)
	}
	for _, r := range o.Requests {
		if r == Flying {
			s.bad(NoneWhileOpen)
		}
	}
	s.idle(i)
}

func (m *Model) finds(s *State, i int, step take) {
	o := &s.Ops[s.Procs[i].Op]
	switch {
	case o.Row == NoRow && o.Approval == Consumed:
		step("commit: no operation, but consumed meanwhile: to Admit", func(n *State) { n.Procs[i].At, n.Procs[i].Used = Admit, true })
	case o.Row == NoRow:
		step("commit: no operation: refused with effect none", func(n *State) { n.refuse(i) })
	case o.Row == Pending:
		step("commit: finds it pending, goes on", func(n *State) { n.Procs[i].At = Pend })
	default:
		step("commit: answered from the operation", func(n *State) { n.idle(i) })
	}
}

func (m *Model) admit(s *State, i int, step take) {
	q := s.Procs[i]
	p := int(q.Op)
	o := &s.Ops[p]
	if !m.has(AdmitFirst) && o.Row == NoRow && !q.Used {
		m.bind(s, i, Admit, func(label string, f func(n *State)) {
			step(label, func(n *State) { f(n); n.Procs[i].Used = n.Procs[i].At == Admit })
		})
		return
	}
	switch {
	case o.Row == Pending:
		step("commit: Admit finds it pending, goes on", func(n *State) { n.Procs[i].At = Pend })
	case o.Row != NoRow:
		step("commit: Admit replays", func(n *State) { n.idle(i) })
	case q.Used && m.has(AdmitFirst) && m.has(ForgottenKnown):
		m.admitForgotten(s, i, step)
	default:
		step("commit: Admit (T1)", func(n *State) {
			n.Ops[p].Row, n.Ops[p].Seq = Pending, o.Seen
			n.Procs[i].At = Admitted
		})
	}
}

func (m *Model) admitForgotten(s *State, i int, step take) {
	p := int(s.Procs[i].Op)
	if s.Open != 0 && m.has(ForgottenHolds) {
		step("commit: forgotten, and the resource is busy", func(n *State) { n.idle(i) })
		return
	}
	step("commit: forgotten: unknown (T1b)", func(n *State) {
		if m.has(ForgottenHolds) {
			n.Open = mark(p)
			n.Seq++
			n.outdate(p)
		}
		n.Ops[p].Forgot = true
		n.set(m, p, Unknown)
		n.idle(i)
	})
}

// bind is Consume.
func (m *Model) bind(s *State, i int, next Step, step take) {
	p := int(s.Procs[i].Op)
	o := &s.Ops[p]
	switch {
	case !m.has(BindAtAll):
		step("(no Consume)", func(n *State) { n.Procs[i].At = next })
	case o.Approval == Approved && !o.Facts.Over:
		step("Consume: bound to the operation", func(n *State) { n.Ops[p].Approval = Consumed; n.Procs[i].At = next })
	case o.Approval == Consumed && m.has(BindOnce):
		step("Consume: again by the same operation", func(n *State) { n.Procs[i].At = next })
	default:
		step("Consume: refused", func(n *State) {
			n.Procs[i].At = Denies
			if o.Approval == Withdrawn || o.Facts.Over {
				n.Procs[i].Seq = 1
			}
		})
	}
}

// deny is T2. Seq says that there is a reason.
func (m *Model) deny(s *State, i int, step take) {
	q := s.Procs[i]
	p := int(q.Op)
	row := s.Ops[p].Row
	step("Close: denied where still pending (T2)", func(n *State) {
		if row == Pending || row == Unknown && !m.has(DenyPending) {
			if q.Seq == 0 {
				n.bad(DeniedWithoutReason)
			}
			n.set(m, p, Denied)
		}
		n.idle(i)
	})
}

func (m *Model) send(s *State, i int, step take) {
	q := s.Procs[i]
	p := int(q.Op)
	o := &s.Ops[p]
	report := func(label string, out Outcome) {
		step(label, func(n *State) { n.Procs[i].At, n.Procs[i].Outcome = Reports, out })
	}
	if o.Facts.Altered && m.has(DigestOfBody) {
		report("the body is not what was approved: nothing is sent", NotSent)
		return
	}
	if m.OneBase {
		m.finishTx(s, i, step)
		m.overrun(s, i, step)
		return
	}
	if o.Sent < requests && (!q.Late || !m.has(StopAtDeadline)) {
		step("the first byte leaves", func(n *State) {
			if q.Late || q.Again && o.Facts.Forgotten {
				n.bad(LateByte)
			}
			n.Ops[p].Requests[o.Sent] = Flying
			n.Ops[p].Sent++
			n.Procs[i].At, n.Procs[i].Request = Waits, o.Sent
		})
	}
	if m.CannotDial {
		report("cannot dial: NotSent", NotSent)
	}
	if q.Late {
		report("its time is over, nothing was sent", Lost)
	}
}

func (m *Model) wait(s *State, i int, step take) {
	q := s.Procs[i]
	p := int(q.Op)
	answer := s.Ops[p].Requests[q.Request]
	report := func(label string, out Outcome) {
		step(label, func(n *State) {
			n.Procs[i].At, n.Procs[i].Outcome, n.Procs[i].Request = Reports, out, 0
			if answer != Flying {
				n.Ops[p].Requests[q.Request] = Done
			}
		})
	}
	switch answer {
	case SaidYes:
		report("the answer arrives: done", Success)
	case SaidNo:
		report("the answer arrives: finally refused", Refusal)
	case NoRequest, Flying, Done:
	}
	report("the answer is lost", Lost)
	m.overrun(s, i, step)
	if !m.has(SentMark) {
		report("NotSent after the first byte", NotSent)
	}
}
