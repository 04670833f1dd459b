package approval

import (
	"context"
	"errors"
	"slices"
	"time"
)

// What stores and authorities answer, for errors.Is.
var (
	ErrNotFound   = errors.New("approval: not found")                        // no such proposal, or decision, in this tenant
	ErrExpired    = errors.New("approval: expired")                          // the proposal's time is over
	ErrConsumed   = errors.New("approval: consumed")                         // an operation has used the approval
	ErrDecided    = errors.New("approval: decided")                          // a final decision stands
	ErrDigest     = errors.New("approval: another digest")                   // not what is stored
	ErrSelf       = errors.New("approval: the requester may not decide")     // and the requirement allows no self-approval
	ErrNotAllowed = errors.New("approval: not allowed")                      // the principal may not do this: a definite no
	ErrPending    = errors.New("approval: not decided")                      // approvals are still missing
	ErrReason     = errors.New("approval: a rejection needs a short reason") // none, too long, or not text
	ErrExists     = errors.New("approval: exists")                           // the proposal's id is taken
	ErrCorrupt    = errors.New("approval: the stored record is damaged")     // or was altered: nothing runs from it
	ErrInvalid    = errors.New("approval: invalid")                          // a member that must be set is missing or malformed
)

// State is where a proposal stands at one reading of the store's clock. The zero value is invalid.
type State string

// The states. Rejected, Expired, Withdrawn and Consumed are final.
const (
	Pending   State = "pending"   // approvals are missing
	Approved  State = "approved"  // all that are required are given, and the time is not over
	Rejected  State = "rejected"  // an approver said no
	Expired   State = "expired"   // the time was over before the approval was consumed
	Withdrawn State = "withdrawn" // an approver took an approval back
	Consumed  State = "consumed"  // an operation has used the approval
)

// String returns the state's word.
func (s State) String() string { return string(s) }

// MaxReason is the longest reason of a decision, in code points.
const MaxReason = 500

// Decision is what one approver said. To Decide goes what the approver saw and said; ID may be empty, then the store
// makes one; At is the store's.
type Decision struct {
	ID       string
	Approved bool
	By       Principal // verified by the host; the policy itself where the level is None
	Reason   string    // required for a rejection, at most MaxReason code points; untrusted text of a person
	Digest   string    // of the proposal that was shown
	At       time.Time
}

// Record is a proposal and all that became of it, as of one reading of the store's clock.
type Record struct {
	Proposal   Proposal
	State      State
	Decisions  []Decision    // in the order in which they were made
	ConsumedBy string        // the operation; empty until then
	PolicySeen int           // the highest policy version that this tenant's store has met
	Left       time.Duration // the lifetime's rest at this reading; never negative

	WithdrawnBy             Principal // who took an approval back, without roles; the zero value until then
	WithdrawnAt, ConsumedAt time.Time // the store's; zero until then
}

// Clone returns a copy that shares no memory with r.
func (r Record) Clone() Record {
	r.Proposal = r.Proposal.Clone()
	r.Decisions = slices.Clone(r.Decisions)
	for i := range r.Decisions {
		r.Decisions[i].By = r.Decisions[i].By.clone()
	}
	return r
}

// Page asks for one page of a list. Size zero is DefaultPage, more than MaxPage is MaxPage; Cursor is empty for the
// first page, then what the page before returned.
type Page struct {
	Size   int
	Cursor string
}

// MaxName is the longest id, tenant, run, tool, digest, subject or operation, in bytes.
const MaxName = 512

// The sizes of pages.
const (
	DefaultPage = 50
	MaxPage     = 200
)

// Limit returns the number of records that the page asks for.
func (p Page) Limit() int {
	switch {
	case p.Size <= 0:
		return DefaultPage
	case p.Size > MaxPage:
		return MaxPage
	}
	return p.Size
}

// Store keeps proposals and what was decided about them. All times are those of the store's one clock, exact to the
// nanosecond: a proposal is expired at ExpiresAt and was not one nanosecond before. Every method is atomic and safe for
// concurrent use, by any number of processes where the store is shared; every record that goes in or out is a copy.
// A proposal of another tenant is ErrNotFound. Errors other than the package's own mean that the store's machinery
// failed and nothing is known about the change that was asked for.
//
// The rules themselves are pure functions, [NewRecord], [Record.At], [Record.Decide], [Record.Withdraw] and
// [Record.Consume]: a store reads a record, applies one of them at its clock's present reading, and writes the
// result, all in one transaction. Package approvaltest checks that it does.
type Store interface {
	// Create stores a proposal as Pending, with CreatedAt now and ExpiresAt a Lifetime later. ErrExists when the tenant
	// has a proposal of this id, whatever it says; ErrInvalid as by NewRecord. Proposals that are alike are not joined.
	Create(ctx context.Context, p Proposal) (Record, error)
	// Find returns the proposal as it stands now.
	Find(ctx context.Context, tenant, id string) (Record, error)
	// Alike returns the tenant's proposals that have one of the digests, are not consumed and whose time is not over,
	// rejected and withdrawn ones among them; the newest first, those of one instant by id, downwards.
	Alike(ctx context.Context, tenant string, digests []string) ([]Record, error)
	// Pending returns the proposals that wait for a decision, the oldest first, those of one instant by id, and the
	// cursor of the next page, empty after the last. A malformed cursor is ErrInvalid.
	Pending(ctx context.Context, tenant string, page Page) ([]Record, string, error)
	// Decide adds a decision. The same approver's same verdict for the same digest again changes nothing and returns
	// the record as it stands, whatever its state. See Record.Decide for what is refused.
	Decide(ctx context.Context, tenant, id string, d Decision) (Record, error)
	// Withdraw takes back the approval that the decision gave: final, unless it is consumed already. Again is the same.
	// Whether by may do so is the host's to ask. See Record.Withdraw for what is refused.
	Withdraw(ctx context.Context, tenant, id, decision string, by Principal) (Record, error)
	// Consume binds an approved proposal to the operation, once and for all. True: it is bound to this operation, now
	// or since before; then the digest alone is compared, not the time. See Record.Consume for what is refused.
	Consume(ctx context.Context, tenant, id, digest, operation string) (Record, bool, error)
}
