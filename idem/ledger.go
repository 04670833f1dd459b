package idem

import (
	"context"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// Ledger keeps operations. It is safe for concurrent use, by any number of processes where the implementation says so.
// The rules below bind every implementation; package idemtest checks them.
//
// Each method is one transaction: it happened or it did not, and what it returned without an error is durable. Time is
// the ledger's own clock alone, read after its locks are taken. An error that is none of the package's values is the
// machinery's; after it the call may have happened, and repeating it with the same arguments is safe. A cancelled context is such an error. Copies are handed in and out.
//
// Whoever reads a row whose time is over puts it right (T6): a dispatching one past its lease, and a running one past
// its RunFor, become unknown, and their claim is fenced. Every method that takes a Key or a Claim and both lists do so
// first, Finish excepted: a holder whom nobody noticed to be late is still the holder.
//
// A key that was purged answers [Gone] (ErrGone) from every method, one that never was ErrNotFound; also one that cannot
// be, with U+0000 or invalid UTF-8 in it. Lists by such a name are empty, and so is its resource.
//
// Where a sealed part of an operation does not open, the claims and every answer from its record are refused with
// [ErrSealed]; the lists and Find still show it (Record.Sealed), and Close and Resolve end it, so that one row that was
// altered hides no other and can be done away with.
//
// The resource of a command is a row of its own, (sequence, open operation), (0, none) when never seen. Claim and a
// T1b Admit raise the sequence and set the open operation; a terminal state and a NotSent raise it and clear the open
// operation, only where it names this one; closing a pending operation leaves it alone.
type Ledger interface {
	// Admit inserts the command with its outbox row (T1) and answers Admitted and the pending record. A key that is
	// there answers Replayed when terminal, else InProgress, with its record, if RequestHash is the same; ErrConflict if
	// not. Command fields other than the hash are not compared.
	//
	// With consumedBefore the caller has seen that the approval was used: a key without row or tombstone was then
	// forgotten, and is inserted as unknown, never to be sent (T1b). It takes its resource whatever Seq says; ErrBusy
	// while the resource is open for another, and then nothing is inserted.
	//
	// ErrBusy for a new key while rows of a restore wait for an operator. ErrInvalid for a faulty command.
	Admit(ctx context.Context, c Command, consumedBefore bool) (Record, Admission, error)

	// Claim gives the right to send (T4: pending to dispatching), in the order of its guards: ErrState when not pending;
	// past ExpiresIn the operation becomes expired (T3) and the answer is ErrState; ErrSequence when the resource's
	// sequence is not the command's; ErrBusy when the resource is open or a restore waits for an operator; ErrAttempts when all attempts are
	// used (close it as denied); ErrBusy during the back-off after a NotSent (Record.AvailableIn says how long).
	// The outbox offers the row again at the lease's end. A lease of zero or less is ErrInvalid, here and below. Where the
	// body does not open the answer is ErrSealed, and the claim was given back with a back-off of the lease; ClaimOpen and
	// Resend do the same.
	Claim(ctx context.Context, k Key, worker string, lease time.Duration) (Claim, error)

	// Renew makes the claim's lease end lease from now; a Resend's not beyond the provider's window. ErrFenced when the
	// claim is not the row's or its lease is over: an ended lease is never revived. Idle and Command are the given ones.
	Renew(ctx context.Context, c Claim, lease time.Duration) (Claim, error)

	// Finish stores what a claim came to. By the claim's kind:
	//
	//	Claim, Resend   Succeeded, Failed (T5), Running (T5b), Unknown (T6), Pending (T7: NotSent proved)
	//	ClaimOpen       Succeeded, Failed, Running (T8), Cancelled (T12: of a running one only), Unknown or Pending
	//	                (nothing learned: the state stays, the row is released with back-off)
	//
	// Pending of a claim whose operation was ever unknown becomes Unknown: look at the record. Running keeps the end of
	// its time when it was running before. Any other State is ErrState and changes nothing.
	//
	// A claim that is not the row's gets ErrFenced; its outcome is kept as Evidence, also of a terminal operation, once for
	// each state however often it is repeated, unless it is Unknown. The claim that finished last may repeat its Finish and
	// gets the record, as long as it says the same, RetryAfter apart, and nobody has changed the row since. A claim that says
	// something else than before, or after the row was claimed, resolved or put right by another, is late like any other: a
	// handler whose time was over and that has learnt the truth, or a receipt, since.
	Finish(ctx context.Context, c Claim, o Outcome) (Record, error)

	// Close ends a pending operation: Denied (T2), Cancelled (T11), or Expired (T3, only when its time is over). The
	// reason, where not empty, is kept as the record's Failure with effect none. ErrState otherwise, beside the record
	// as it is.
	Close(ctx context.Context, k Key, to State, reason envelope.Code) (Record, error)

	// Next delivers a row that is due, among those of the given tools that are not terminal, and hides it from Next for
	// lease. A row that another call is at work on may be passed over. nil tools: of any tool; an empty list: of none.
	// ErrEmpty when nothing is due.
	//
	// The tenants that have such a row due take turns, and each is delivered what of its own is longest due: one with many
	// rows makes the others wait for one delivery each, not for all of them. Who has none due costs nobody a turn. The
	// turns are a handle's, for each set of tools; handles do not know each other's, and of calls at once on one handle
	// two may serve the same tenant. An implementation may learn of a tenant late, and says how late. Turns are of
	// deliveries: how long the work takes that a delivery leads to is nothing that Next sees.
	Next(ctx context.Context, tools []string, lease time.Duration) (Delivery, error)

	// Later puts a delivered row off: Next offers it again after the given time. It is a hint: nothing happens, without
	// an error, when the row is terminal or gone, held under a live lease, or was delivered again since.
	Later(ctx context.Context, d Delivery, after time.Duration) error

	// ClaimOpen gives the right to ask what became of an unknown or running operation: the state stays. ErrBusy while a
	// live lease stands or the row is of a restore that waits for an operator; ErrState for any other state.
	ClaimOpen(ctx context.Context, k Key, worker string, lease time.Duration) (Claim, error)

	// Resend turns a ClaimOpen of an unknown operation into the right to send the same bytes under the same key again
	// (T9: to dispatching), with a fresh token and a lease that ends with the provider's window. ErrFenced when the claim
	// is not the row's or its lease is over. ErrState, and the ClaimOpen stands, unless the contract is ReplaySafe, the
	// state Unknown, a Claim was made, DedupFor since the last Claim not over, ExpiresIn not over; ErrAttempts when all
	// attempts are used; ErrBusy when a restore waits for an operator.
	Resend(ctx context.Context, c Claim, lease time.Duration) (Claim, error)

	// Open lists a run's operations that are not terminal.
	Open(ctx context.Context, tenant, run string, page Page) ([]Record, string, error)

	// Find returns the operation. Of a purged one the record holds Key and State beside the [Gone] error. Where a sealed
	// part does not open the error is [ErrSealed], beside the record without that part.
	Find(ctx context.Context, k Key) (Record, error)

	// Resource returns the resource's sequence and the operation that is open on it, empty for none.
	Resource(ctx context.Context, tenant, resource string) (seq int64, open string, err error)

	// Unknown lists a tenant's unknown operations: the operator's queue.
	Unknown(ctx context.Context, tenant string, page Page) ([]Record, string, error)

	// Resolve closes an unknown operation on an operator's word (T10), whoever holds it, and fences the holder. ErrState
	// when it is not unknown. ErrBusy for Failed before the command's Settle has passed since the last dispatch claim
	// ended (or since the row became unknown where none was made): a request may still land. ErrInvalid when By, Reason
	// or Evidence is empty, or State is another.
	Resolve(ctx context.Context, k Key, r Resolution) (Record, error)

	// Sweep closes pending rows past their time (T3) and puts rows past theirs right (T6). It may do a part of what
	// there is; zero counts say that nothing was left.
	Sweep(ctx context.Context) (Swept, error)

	// Purge strips rows that have been terminal for bodies or longer down to a tombstone, and deletes those that have
	// been for tombstones or longer, which is at least bodies (ErrInvalid). Rows that are not terminal and resource rows
	// stay. It returns the number of rows touched; it may do a part, and zero says that nothing was left.
	Purge(ctx context.Context, bodies, tombstones time.Duration) (int, error)

	// Restored is an operator's act after a restore from a backup, when every dispatcher and worker has been stopped
	// for longer than the longest lease and Settle. Every row that is not terminal becomes unknown and waits for
	// Resolve, alone; the sequence of every resource, and of one never seen, starts above all that were handed out
	// before (the clock in microseconds). Until the last such row is resolved no new key is admitted and nothing is claimed (ErrBusy).
	Restored(ctx context.Context) error
}

// Waker is what a ledger offers that can tell workers of new work. The channel gets a value, never more than one
// waiting, soon after a row may have become due, until ctx ends; then it is closed. A value may be missed or be sent
// for nothing: polling stays necessary.
type Waker interface {
	Wake(ctx context.Context) (<-chan struct{}, error)
}
