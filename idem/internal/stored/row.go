// Package stored is what the durable ledgers have in common: rows as tables have them, with their sealed parts. What is
// sealed stays so while a row is locked, for a sealer may call a key service.
package stored

import (
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// Row is an entry as a table has it. Entry's Body, Result, Failure and Resolution hold what a call brought in, if
// anything, until the row is unsealed.
type Row struct {
	idem.Entry
	Slot   idem.Slot
	Was    idem.Slot // the slot as it was read
	Sealed Sealed
	Reason string // the code that a pending row was closed for
	Ended  bool   // terminal when it was read
	Gone   bool   // a tombstone
}

// Sealed are the parts of a row that hold data; nil parts are not there.
type Sealed struct{ Body, Result, Failure, Word []byte }

// Read completes a row that was scanned: command is the column of [EncodeCommand].
func (r *Row) Read(command []byte) error {
	r.Was, r.Ended = r.Slot, r.State.Terminal()
	if r.Gone {
		return nil
	}
	if r.Reason != "" {
		r.Failure = envelope.New(envelope.Code(r.Reason))
		r.Failure.Effect = envelope.EffectNone
	}
	return decodeCommand(command, &r.Command)
}

// Explain puts the reason that a pending row was closed for into its column: a code is nobody's data.
func (r *Row) Explain() {
	if r.Changed() && !r.Ended && r.State.Terminal() && r.Failure != nil && r.Sealed.Failure == nil {
		r.Reason = string(r.Failure.Code)
	}
}

// FinishSealed is Entry's Finish, with the sealed parts of the outcome.
func (r *Row) FinishSealed(now time.Time, c idem.Claim, o idem.Outcome, s Sealed) error {
	if err := r.Finish(now, c, o, &r.Slot); err != nil {
		return err
	}
	if r.Changed() && r.State.Terminal() {
		r.Sealed.Result, r.Sealed.Failure = s.Result, s.Failure
	}
	return nil
}

// ResolveSealed is Entry's Resolve, with the sealed parts of the resolution.
func (r *Row) ResolveSealed(now time.Time, res idem.Resolution, s Sealed) error {
	if err := r.Resolve(now, res, &r.Slot); err != nil {
		return err
	}
	r.Sealed.Result, r.Sealed.Failure, r.Sealed.Word = s.Result, s.Failure, s.Word
	return nil
}

// DueBy is when Sweep has something to do with the row; zero for never.
func (r *Row) DueBy() time.Time {
	switch r.State {
	case idem.Pending:
		return r.ExpiresAt
	case idem.Dispatching:
		return r.LeaseUntil
	case idem.Running:
		return r.RunningUntil
	case idem.Unknown, idem.Succeeded, idem.Failed, idem.Denied, idem.Expired, idem.Cancelled:
	}
	return time.Time{}
}

// View is what a record is made of, read in one transaction and still sealed.
type View struct {
	*Row
	Now      time.Time
	Attempts []idem.Attempt
	Kept     []Late
}

// Late is an evidence, its result and failure still sealed.
type Late struct {
	idem.Evidence
	Sealed Sealed
}

// Due reports whether the outbox offers the row at the time of the view.
func (v View) Due() bool { return !v.State.Terminal() && !v.DueAt.After(v.Now) }

// Tombstone is the record of a purged row.
func Tombstone(k idem.Key, g *idem.Gone) idem.Record {
	return idem.Record{Command: idem.Command{Key: k}, State: g.State}
}
