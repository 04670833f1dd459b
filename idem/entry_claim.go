package idem

import "time"

// Claim is T4, and T3 for a command whose time is over; its refusals and their order are [Ledger].Claim's. token is
// fresh; waiting says that rows of a restore wait for an operator.
func (e *Entry) Claim(now time.Time, slot *Slot, waiting bool, token, worker string, lease time.Duration) (Claim, error) {
	if err := checkLease(token, worker, lease); err != nil {
		return Claim{}, err
	}
	if e.State != Pending || e.Expire(now) {
		return Claim{}, ErrState
	}
	switch {
	case slot.Seq != e.Command.Seq:
		return Claim{}, ErrSequence
	case slot.Open != "", waiting:
		return Claim{}, ErrBusy
	case e.Dispatches >= e.Command.attempts():
		return Claim{}, ErrAttempts
	case now.Before(e.RetryAt):
		return Claim{}, ErrBusy
	}
	slot.Seq, slot.Open = slot.Seq+1, e.Command.Key.Operation
	e.SentAt = now
	return e.dispatch(now, token, worker, lease), nil
}

// ClaimOpen gives an unknown or running entry to one who asks what became of it; see [Ledger].ClaimOpen.
func (e *Entry) ClaimOpen(now time.Time, token, worker string, lease time.Duration) (Claim, error) {
	if err := checkLease(token, worker, lease); err != nil {
		return Claim{}, err
	}
	switch {
	case e.held(now), e.Restored && !e.State.Terminal():
		return Claim{}, ErrBusy
	case e.State != Unknown && e.State != Running:
		return Claim{}, ErrState
	}
	c := e.hold(now, token, worker, lease)
	c.Idle = max(0, now.Sub(e.IdleSince))
	return c, nil
}

// Resend is T9; see [Ledger].Resend. c is what ClaimOpen returned.
func (e *Entry) Resend(now time.Time, c Claim, waiting bool, token string, lease time.Duration) (Claim, error) {
	if err := checkLease(token, e.Worker, lease); err != nil {
		return Claim{}, err
	}
	if !e.holds(c) || !e.held(now) {
		return Claim{}, ErrFenced
	}
	window := e.window(now)
	switch {
	case e.State != Unknown, e.Command.Contract != ReplaySafe, e.Forgotten, e.SentAt.IsZero(), window <= 0, !now.Before(e.ExpiresAt):
		return Claim{}, ErrState
	case waiting:
		return Claim{}, ErrBusy
	case e.Dispatches >= e.Command.attempts():
		return Claim{}, ErrAttempts
	}
	return e.dispatch(now, token, e.Worker, min(lease, window)), nil
}

// Renew moves the end of a live lease; see [Ledger].Renew.
func (e *Entry) Renew(now time.Time, c Claim, lease time.Duration) (Claim, error) {
	if lease <= 0 {
		return Claim{}, invalid("lease")
	}
	if !e.holds(c) || !e.held(now) {
		return Claim{}, ErrFenced
	}
	if e.State == Dispatching && e.Doubtful { // a Resend's: held says that the window is not over
		lease = min(lease, e.window(now))
	}
	e.lease(now, lease)
	c.Lease = lease
	return c, nil
}

func (e *Entry) holds(c Claim) bool {
	return e.Token != "" && c.Token == e.Token && c.Generation == e.Generation && c.Key == e.Command.Key
}

// window is what is left of the time in which the provider knows the key.
func (e *Entry) window(now time.Time) time.Duration {
	return e.SentAt.Add(e.Command.DedupFor).Sub(now)
}

func (e *Entry) dispatch(now time.Time, token, worker string, lease time.Duration) Claim {
	c := e.hold(now, token, worker, lease)
	e.State = Dispatching
	e.Dispatches++
	e.Attempt = Attempt{Generation: e.Generation, StartedAt: now, Worker: worker}
	return c
}

func (e *Entry) hold(now time.Time, token, worker string, lease time.Duration) Claim {
	e.Generation++
	e.Token, e.Worker = token, worker
	e.lease(now, lease)
	return Claim{Key: e.Command.Key, Generation: e.Generation, Token: token, Lease: lease, Command: e.Command.clone()}
}

func (e *Entry) lease(now time.Time, lease time.Duration) {
	e.LeaseUntil = now.Add(lease)
	e.DueAt = e.LeaseUntil
	e.touch(now)
}
