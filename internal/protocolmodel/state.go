package protocolmodel

// Two proposals, two processes, one resource.
const (
	proposals = 2
	processes = 2
	requests  = 2 // that one operation may have under way: a first one, and one sent again
)

// State is everything. It is comparable: two equal states are one.
type State struct {
	Ops   [proposals]Op
	Procs [processes]Proc
	Seq   uint8 // of the resource
	Open  uint8 // operation + 1 that keeps the resource closed, 0 for none
	Facts Facts
	Bad   Rule // the rule that the last step broke, 0 for none
}

// mark names the operation or process of a number in one byte; 0 is left for none.
func mark(number int) uint8 {
	return uint8(number + 1) //nolint:gosec // there are two
}

// Op is a proposal, the operation that commits it, and what the provider has of it.
type Op struct {
	Approval Approval
	Read     bool  // Preview has read the facts
	Seen     uint8 // the resource's sequence that Preview stored
	Facts    OpFacts

	Row      Row
	Seq      uint8 // the command's
	Holder   uint8 // process + 1 that knows the row's token, 0 for nobody
	Lease    Lease
	Attempts uint8
	Doubtful bool // an earlier claim ended unknown
	Forgot   bool // admitted as forgotten
	Evidence Outcome

	Effects  uint8
	Refused  bool // the provider has refused it finally
	Known    bool // the provider knows the key and gives its first answer again
	Requests [requests]Request
	Sent     uint8 // requests that left
}

// Approval is where the approval stands.
type Approval uint8

// The approvals. None: Preview has not stored the proposal yet.
const (
	NoApproval Approval = iota
	Approved
	Withdrawn
	Consumed
)

// Row is the ledger's state of an operation.
type Row uint8

// The rows. NoRow: not admitted, or purged.
const (
	NoRow Row = iota
	Pending
	Dispatching
	Unknown
	Succeeded
	Failed
	Denied
	Expired
	Cancelled
)

func (r Row) String() string {
	return [...]string{"none", "pending", "dispatching", "unknown", "succeeded", "failed", "denied", "expired", "cancelled"}[r]
}

func (r Row) terminal() bool { return r >= Succeeded }
func (r Row) open() bool     { return r == Dispatching || r == Unknown }
func (r Row) none() bool     { return r >= Failed } // says that there was no effect

// Lease is the claim's, on the ledger's clock.
type Lease uint8

// The leases.
const (
	NoLease Lease = iota
	Live
	Over
)

// Request is one that was sent.
type Request uint8

// The requests.
const (
	NoRequest Request = iota
	Flying            // it may land at any time
	SaidYes           // landed, the answer is under way
	SaidNo            // finally refused, the answer is under way
	Done              // landed or dead, the answer read or lost
)

// Facts are the world's.
type Facts struct {
	Revoked bool // of the requester or an approver
	Moved   bool // an outsider has changed the target
}

// OpFacts are the world's about one proposal.
type OpFacts struct {
	Over       bool // its lifetime: approval and command
	WindowOver bool // the ledger's: nothing is sent again
	Forgotten  bool // the provider's window is over: it does not know the key any more
	Settled    bool // more than Settle since the last dispatch claim ended
	Stale      bool // another operation on the resource began or ended since Preview read the facts
	Moved      bool // the target is not the one that was proposed
	Altered    bool // the body in the ledger
	Purged     bool // the ledger has forgotten it
	SaidNone   bool // somebody could read that it had no effect
}

// Outcome is what a holder has to report, or left as evidence.
type Outcome uint8

// The outcomes.
const (
	Nothing Outcome = iota
	Success
	Refusal
	Lost
	NotSent
)

// Proc is a process at work on one operation.
type Proc struct {
	At      Step
	Op      uint8
	Outcome Outcome
	Request uint8
	Seen    bool // something that forbids it was there when the attempt began
	Used    bool // the approval was consumed when it was loaded
	Late    bool // its own deadline is over
	Again   bool // it sends again (a resend's claim)
	Asking  bool // it holds a claim that may ask, not send
	Early   bool // "not found" was asked before Settle was over
	Overran bool // unknown was stored under its claim, and its handler goes on
	Seq     uint8
}

// Step is where a process stands. Between any two it may die.
type Step uint8

// The steps.
const (
	Idle Step = iota
	PreviewSeq
	Loaded
	Checked
	Admit
	Finds
	Pend
	Admitted
	Bound
	Holds
	Waits
	Reports
	Denies
	Asks
	Weighs
	Rechecks
	Ready
)
