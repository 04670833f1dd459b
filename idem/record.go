package idem

import (
	"encoding/json/jsontext"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// Record is an operation as a ledger shows it: a copy, owned by whoever asked. Times and durations are the ledger's.
type Record struct {
	Command    Command         // Seq is the resource's after a NotSent (it is re-stamped)
	State      State           //
	Receipt    string          // of the provider, from Running or Succeeded; of an unknown operation without one, the last that came as Evidence
	Result     jsontext.Value  // of Succeeded
	Failure    *envelope.Error // of Failed; of Succeeded whose output was faulty; of Denied, Expired and Cancelled the reason given to Close, if any
	Attempts   []Attempt       // dispatch claims, the oldest first
	Evidence   []Evidence      // late outcomes of fenced claims, the oldest first
	Resolution *Resolution     // of an operator; nil when there was none
	CreatedAt  time.Time       //
	UpdatedAt  time.Time       // of the last change of state or claim
	// Sealed is nil, or the ErrSealed that names the parts which did not open: they are left out, all others are there.
	// Such a record is to be shown, never to be answered from.
	Sealed error
	// AvailableIn is how long to wait before something can change it: the rest of a live lease, the back-off of a
	// pending or unknown operation, the time to the next poll of a running one. Zero: nothing to wait for.
	AvailableIn time.Duration
}

// Attempt is one dispatch claim: Claim or Resend. Its Generation is the claim's.
type Attempt struct {
	Generation         int64
	StartedAt, EndedAt time.Time // EndedAt: zero while the claim stands; the lease's end where nobody finished it
	Outcome            string    // the state that the claim ended in, empty while it stands; Pending: NotSent
	Worker             string
}

// Evidence is what a claim that had lost its place brought in too late. It changed nothing. Generation is that
// claim's: where it is no Attempt's, the claim came from ClaimOpen, and a failure in it is not the provider's word on a
// request but an answer to "what became of it" at an unknown time.
type Evidence struct {
	Generation int64
	At         time.Time
	Outcome    Outcome
}

// Claim is the right to act on one operation until its Lease is over. Deadlines are counted from before the call that
// returned it, on the caller's monotonic clock.
type Claim struct {
	Key        Key
	Generation int64         // every claim of an operation has a higher one than all before
	Token      string        // fresh and not to be guessed; with the generation it is what Finish, Renew and Resend are believed by
	Lease      time.Duration // granted at this call; Resend's may be shorter than asked
	Idle       time.Duration // of ClaimOpen: since the last dispatch claim ended, or since the row became unknown where none was made; zero otherwise
	Command    Command       // as stored, body included
}

// Delivery is a hint from the outbox: look at this operation. It authorises nothing.
type Delivery struct {
	Key     Key
	Tool    string
	State   State // about the time of the delivery
	Attempt int   // dispatch claims made so far
	Turn    int64 // counts the row's deliveries; Later with an older one than the last does nothing, with zero (made by hand) always moves it
}

// Outcome is what a holder reports. What each State may follow is said at [Ledger].Finish.
type Outcome struct {
	State      State           //
	Receipt    string          // the provider's; of Running and Succeeded
	Result     jsontext.Value  // of Succeeded; a JSON value
	Failure    *envelope.Error // of Failed, of Succeeded with a faulty output (then without Result), of Cancelled; kept without its cause
	RetryAfter time.Duration   // of Pending, Unknown and Running: when the outbox offers it again; zero: at once
}

// Resolution is an operator's word on an unknown operation: Succeeded or Failed. By, Reason and Evidence must be said.
type Resolution struct {
	State                State
	Result               jsontext.Value  // of Succeeded; may be nil
	Failure              *envelope.Error // of Failed; may be nil
	By, Reason, Evidence string
}

// Page asks for a part of a list, the oldest first. Size zero is 100; more than 1000 is 1000. Cursor is what the call
// before returned, empty for the first page; one that a ledger did not make is an error.
type Page struct {
	Size   int
	Cursor string
}

// Swept counts what Sweep closed.
type Swept struct{ Expired, Unknown int }
