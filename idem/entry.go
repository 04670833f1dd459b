package idem

import (
	"maps"
	"slices"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// Entry is the row of one operation, and with its methods the protocol itself: pure, without input or output, for those
// who write a ledger. A method checks the guards of its transition and changes the entry and the slot, or does neither.
//
// A store runs each in one transaction: lock entry and slot, read its clock, Reap, call the method, write back what
// changed, and commit, whether or not the method returned an error (an expired command is closed by the Claim that is
// refused). Changed says whether there is anything to write. Entries are not safe for concurrent use.
type Entry struct {
	Command    Command // Seq is re-stamped by a NotSent
	State      State
	Generation int64  // of the last claim, or higher
	Token      string // of the claim that holds the entry; empty: nobody
	Finished   string // what the last Finish is known by while nobody has changed the entry since: claim and outcome, hashed
	Worker     string // that holds the entry, or held it last
	Attempt    Attempt
	Dispatches int   // claims that could send: Claim and Resend
	Turn       int64 // deliveries

	Doubtful  bool // was unknown once: bytes may have left, it never becomes pending again
	Forgotten bool // inserted as unknown, because its approval was consumed before: never resent
	Restored  bool // became unknown by a restore and waits for an operator

	CreatedAt, UpdatedAt time.Time
	ExpiresAt            time.Time
	DueAt                time.Time // the outbox's: when Next offers it; without meaning once terminal
	LeaseUntil           time.Time // of the present or the last claim
	RetryAt              time.Time // the end of a back-off, or the next poll
	SentAt               time.Time // of the last Claim: the provider's window counts from it; zero: none was made
	IdleSince            time.Time // when the last dispatch claim ended, or the row became unknown without one
	RunningUntil         time.Time

	Receipt    string
	Result     []byte
	Failure    *envelope.Error
	Resolution *Resolution

	changed bool
}

// Slot is the row of a resource: its sequence, and the operation that is open on it. The zero value is the slot of a
// resource never seen, where the ledger was never restored.
type Slot struct {
	Seq  int64
	Open string // empty: none
}

// NewEntry admits a command (T1). A forgotten one is inserted as unknown and takes the slot (T1b): ErrBusy while that is
// open. ErrInvalid for a faulty command.
func NewEntry(now time.Time, c Command, forgotten bool, slot *Slot) (Entry, error) {
	if err := c.Validate(); err != nil {
		return Entry{}, err
	}
	e := Entry{
		Command: c.clone(), State: Pending, CreatedAt: now, ExpiresAt: now.Add(c.ExpiresIn), DueAt: now.Add(c.AvailableIn),
	}
	e.touch(now)
	if !forgotten {
		return e, nil
	}
	if slot.Open != "" {
		return Entry{}, ErrBusy
	}
	slot.Seq, slot.Open = slot.Seq+1, c.Key.Operation
	e.State, e.Doubtful, e.Forgotten, e.IdleSince, e.DueAt = Unknown, true, true, now, now
	return e, nil
}

// Changed reports whether a method changed the entry since it was made or Saved.
func (e *Entry) Changed() bool { return e.changed }

// Saved tells the entry that it was written.
func (e *Entry) Saved() { e.changed = false }

// Record shows the entry as of now, with the attempts and the evidence that are kept beside it; they become the record's.
func (e *Entry) Record(now time.Time, attempts []Attempt, evidence []Evidence) Record {
	r := Record{
		Command: e.Command.clone(), State: e.State, Receipt: e.Receipt, Result: slices.Clone(e.Result),
		Failure: cloneFailure(e.Failure), Attempts: attempts, Evidence: evidence, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
		AvailableIn: e.availableIn(now),
	}
	if r.Receipt == "" && e.State == Unknown {
		r.Receipt = lateReceipt(evidence)
	}
	if e.Resolution != nil {
		r.Resolution = e.Resolution.clone()
	}
	return r
}

// held reports whether a claim with a live lease stands.
func (e *Entry) held(now time.Time) bool { return e.Token != "" && now.Before(e.LeaseUntil) }

func (e *Entry) availableIn(now time.Time) time.Duration {
	switch {
	case e.State.Terminal():
		return 0
	case e.held(now):
		return e.LeaseUntil.Sub(now)
	}
	return max(0, e.RetryAt.Sub(now))
}

// touch marks a change, after which a Finish from before it is no repetition any more.
func (e *Entry) touch(now time.Time) { e.UpdatedAt, e.Finished, e.changed = now, "", true }

// end makes the entry terminal and frees the slot where it names this operation.
func (e *Entry) end(now time.Time, to State, slot *Slot) {
	e.leave(now, to)
	e.RetryAt = time.Time{}
	e.free(slot)
}

func (e *Entry) free(slot *Slot) {
	if slot.Open == e.Command.Key.Operation {
		slot.Seq, slot.Open = slot.Seq+1, ""
	}
}

// leave ends the claim that stands, if any, and sets the state.
func (e *Entry) leave(now time.Time, to State) {
	e.endAttempt(now, to)
	e.State, e.Token = to, ""
	e.touch(now)
}

func (e *Entry) endAttempt(at time.Time, to State) {
	if e.State == Dispatching && e.Attempt.EndedAt.IsZero() {
		e.Attempt.EndedAt, e.Attempt.Outcome = at, string(to)
		e.IdleSince = at
	}
}

// doubt makes the entry unknown and fences whoever holds it.
func (e *Entry) doubt(now time.Time) {
	e.leave(now, Unknown)
	e.Generation++
	e.Doubtful = true
}

func (c Command) clone() Command {
	c.Body, c.Meta = slices.Clone(c.Body), maps.Clone(c.Meta)
	return c
}

func (r *Resolution) clone() *Resolution {
	c := *r
	c.Result, c.Failure = slices.Clone(r.Result), cloneFailure(r.Failure)
	return &c
}

func cloneFailure(f *envelope.Error) *envelope.Error {
	if f == nil {
		return nil
	}
	c := f.Bare()
	c.Violations = slices.Clone(f.Violations)
	return c
}

func (o Outcome) clone() Outcome {
	o.Result, o.Failure = slices.Clone(o.Result), cloneFailure(o.Failure)
	return o
}
