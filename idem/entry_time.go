package idem

import (
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// Overdue reports whether Reap would change the entry.
func (e *Entry) Overdue(now time.Time) bool {
	return e.State == Dispatching && !now.Before(e.LeaseUntil) || e.State == Running && !now.Before(e.RunningUntil)
}

// Reap is T6 for an entry whose time is over; it reports whether it was. The end of the claim is its lease's: its
// holder had to stop by then.
func (e *Entry) Reap(now time.Time) bool {
	if !e.Overdue(now) {
		return false
	}
	e.endAttempt(e.LeaseUntil, Unknown)
	e.doubt(now)
	e.RetryAt = time.Time{}
	if e.DueAt.After(now) {
		e.DueAt = now
	}
	return true
}

// Expire is T3 for a pending entry whose time is over; it reports whether it was.
func (e *Entry) Expire(now time.Time) bool {
	if e.State != Pending || now.Before(e.ExpiresAt) {
		return false
	}
	e.shut(now, Expired, envelope.ApprovalExpired)
	return true
}

// Deliver hands the entry out of the outbox and hides it there for lease.
func (e *Entry) Deliver(now time.Time, lease time.Duration) Delivery {
	e.Turn++
	e.DueAt = now.Add(lease)
	e.changed = true
	return Delivery{Key: e.Command.Key, Tool: e.Command.Tool, State: e.State, Attempt: e.Dispatches, Turn: e.Turn}
}

// Later puts a delivered entry off; see [Ledger].Later.
func (e *Entry) Later(now time.Time, d Delivery, after time.Duration) {
	if e.State.Terminal() || e.held(now) || d.Turn != 0 && d.Turn != e.Turn {
		return
	}
	e.DueAt = now.Add(max(0, after))
	e.changed = true
}
