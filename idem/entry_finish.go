package idem

import (
	"encoding/json/v2"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/ids"
)

// Finish is T5 to T8 and T12; see [Ledger].Finish. On ErrFenced the store keeps what Late says.
func (e *Entry) Finish(now time.Time, c Claim, o Outcome, slot *Slot) error {
	if err := o.Validate(); err != nil {
		return err
	}
	said, err := c.said(o)
	if err != nil || said == e.Finished {
		return err
	}
	if !e.holds(c) {
		return ErrFenced
	}
	if !e.takes(o.State) {
		return fmt.Errorf("%w: %s to %s", ErrState, e.State, o.State)
	}
	switch o.State {
	case Succeeded, Failed, Cancelled:
		if o.Receipt != "" {
			e.Receipt = o.Receipt
		}
		o = o.clone()
		e.Result, e.Failure = o.Result, o.Failure
		e.end(now, o.State, slot)
	case Running:
		e.run(now, o)
	case Pending, Unknown:
		e.release(now, o, slot)
	case Dispatching, Denied, Expired: // not taken
	}
	e.Finished = said
	return nil
}

// said is what a Finish is known by when it is repeated: the claim, and what it came to. The token in it is secret and
// no longer stored, so nothing can be learnt from it about a sealed result. When the outbox offers the row is no part.
func (c Claim) said(o Outcome) (string, error) {
	parts := []string{c.Token, strconv.FormatInt(c.Generation, 10), string(o.State), o.Receipt, string(o.Result)}
	if o.Failure != nil {
		b, err := json.Marshal(o.Failure.Bare(), json.Deterministic(true))
		if err != nil {
			return "", invalid("outcome: failure is no text")
		}
		parts = append(parts, string(b))
	}
	return ids.Encode("", ids.Hash(parts...)), nil
}

// lateReceipt is the receipt that came last with an outcome that was too late to count.
func lateReceipt(evidence []Evidence) string {
	for _, e := range slices.Backward(evidence) {
		if e.Outcome.Receipt != "" {
			return e.Outcome.Receipt
		}
	}
	return ""
}

// Late says what is to be kept of an outcome that came too late.
func (e *Entry) Late(now time.Time, c Claim, o Outcome) (Evidence, bool) {
	if o.State == Unknown || c.Generation < 1 || c.Generation > e.Generation {
		return Evidence{}, false
	}
	return Evidence{Generation: c.Generation, At: now, Outcome: o.clone()}, true
}

// takes reports whether the standing claim may end in s.
func (e *Entry) takes(s State) bool {
	switch s {
	case Succeeded, Failed, Running, Pending, Unknown:
		return true
	case Cancelled:
		return e.State == Running
	case Dispatching, Denied, Expired:
	}
	return false
}

func (e *Entry) run(now time.Time, o Outcome) {
	if e.State != Running {
		e.RunningUntil = now.Add(e.Command.runFor())
	}
	if o.Receipt != "" {
		e.Receipt = o.Receipt
	}
	e.leave(now, Running)
	e.again(now, o.RetryAfter)
}

// release ends a claim that proved nothing, or that nothing was sent.
func (e *Entry) release(now time.Time, o Outcome, slot *Slot) {
	switch {
	case e.State != Dispatching:
		e.leave(now, e.State)
	case o.State == Pending && !e.Doubtful:
		e.leave(now, Pending)
		if slot.Open == e.Command.Key.Operation {
			e.free(slot)
			e.Command.Seq = slot.Seq
		}
	default:
		e.doubt(now)
	}
	e.again(now, o.RetryAfter)
}

func (e *Entry) again(now time.Time, after time.Duration) {
	e.RetryAt = now.Add(after)
	e.DueAt = e.RetryAt
}

// Close is T2, T3 and T11; see [Ledger].Close.
func (e *Entry) Close(now time.Time, to State, reason envelope.Code) error {
	if reason != "" && !envelope.ValidCode(reason) {
		return fmt.Errorf("%w: reason", ErrInvalid)
	}
	if e.State != Pending {
		return ErrState
	}
	switch to {
	case Expired:
		if now.Before(e.ExpiresAt) {
			return ErrState
		}
	case Denied, Cancelled:
	case Pending, Dispatching, Running, Succeeded, Failed, Unknown:
		return ErrState
	default:
		return fmt.Errorf("%w: state", ErrInvalid)
	}
	e.shut(now, to, reason)
	return nil
}

// shut closes a pending entry. Its slot is another's or nobody's.
func (e *Entry) shut(now time.Time, to State, reason envelope.Code) {
	if reason != "" {
		e.Failure = envelope.New(reason)
		e.Failure.Effect = envelope.EffectNone
	}
	e.leave(now, to)
	e.RetryAt = time.Time{}
}

// Resolve is T10; see [Ledger].Resolve.
func (e *Entry) Resolve(now time.Time, r Resolution, slot *Slot) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if e.State != Unknown {
		return ErrState
	}
	if r.State == Failed && now.Before(e.IdleSince.Add(e.Command.settle())) {
		return ErrBusy
	}
	e.Resolution = r.clone()
	e.Result, e.Failure = e.Resolution.Result, e.Resolution.Failure
	e.Generation++
	e.Restored = false
	e.end(now, r.State, slot)
	return nil
}

// Restore makes an entry that is not terminal unknown until an operator resolves it; see [Ledger].Restored. The slot's
// sequence is the store's to raise.
func (e *Entry) Restore(now time.Time, slot *Slot) {
	if e.State.Terminal() {
		return
	}
	e.doubt(now)
	e.Restored, e.IdleSince, e.RetryAt, e.DueAt = true, now, time.Time{}, now
	if slot.Open == "" {
		slot.Open = e.Command.Key.Operation
	}
}
