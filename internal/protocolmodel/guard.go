package protocolmodel

// Guard is something that the protocol demands, and that a [Model] can leave out.
type Guard uint8

// The guards.
const (
	NoGuard Guard = iota

	// before the ledger
	RecheckAtCommit // a commit looks at expiry and access before it admits
	FindBeforeNo    // a refusal is answered after the ledger showed no operation and the approval no use
	SeqBeforeAdmit  // a commit compares the resource's sequence before it admits
	AdmitFirst      // Admit comes before Consume
	BindFirst       // Consume comes before Claim
	BindAtAll       // Consume is done
	BindOnce        // Consume is idempotent for its operation, and for no other
	PreviewOrder    // Preview reads the facts after the resource row
	PreviewClosed   // Preview refuses while an operation is open on the resource
	ForgottenKnown  // an operation of a consumed approval that the ledger does not know is unknown (T1b)
	ForgottenHolds  // and it takes its resource

	// T4
	ClaimPending    // only a pending operation is claimed
	ClaimExpiry     // not after its expiry
	ClaimSeq        // not with another sequence than the resource's
	ClaimOpen       // not while another operation is open
	ClaimRaises     // a claim raises the sequence
	RecheckInQueue  // whoever goes on with a pending operation re-checks
	CurrentInQueue  // and asks for the target's version
	DigestOfBody    // what runs is what was approved, byte for byte
	LastAttemptEnds // a pending operation without attempts left is closed

	// the end of a claim
	Fence          // Finish is believed by generation and token
	RepeatSame     // and is a repetition only where it says the same of a row that nobody changed since
	ReapFences     // whoever reaps takes the row from its holder
	ReapAfterLease // and not before the lease is over
	StopAtDeadline // a holder sends nothing after its own deadline
	SentMark       // NotSent after the first byte is unknown
	NotSentDoubt   // NotSent after an earlier claim ended unknown is unknown
	NotSentRaises  // NotSent raises the sequence
	NotSentStamps  // and gives it to its own command
	EndRaises      // an end raises the sequence
	ClearOwn       // an end frees the resource only where it is this operation's

	// closing
	DenyPending    // only a pending operation is denied (T2)
	CancelPending  // only a pending operation is cancelled (T11)
	ResolveUnknown // only an unknown operation is resolved by the operator (T10)
	OperatorWaits  // and as failed only when nothing can land any more
	PurgeTerminal  // only terminal rows are purged

	// an unknown operation
	SettleBefore   // "not found" is final only after Settle
	SettleAtAsking // counted to the claim under which it was asked
	ResendUnknown  // only an unknown operation is sent again (T9), by its holder
	ResendRecheck  // after a re-check
	ResendCurrent  // against the same version of the target
	ResendExpiry   // before its expiry
	ResendWindow   // inside the provider's window
	ResendLease    // and its lease ends with the window

	guards
)

func (g Guard) String() string {
	return [guards]string{
		"", "recheck at commit", "find before no", "seq before admit", "admit first", "bind first", "bind at all", "bind once", "preview order",
		"preview closed", "forgotten known", "forgotten holds", "claim pending", "claim expiry", "claim seq", "claim open", "claim raises",
		"recheck in queue", "current in queue", "digest of body", "last attempt ends", "fence", "repeat same", "reap fences", "reap after lease",
		"stop at deadline", "sent mark", "not-sent doubt", "not-sent raises", "not-sent stamps", "end raises", "clear own", "deny pending",
		"cancel pending", "resolve unknown", "operator waits", "purge terminal", "settle before", "settle at asking", "resend unknown",
		"resend recheck", "resend current", "resend expiry", "resend window", "resend lease",
	}[g]
}

// Guards returns all.
func Guards() []Guard {
	var all []Guard
	for g := NoGuard + 1; g < guards; g++ {
		all = append(all, g)
	}
	return all
}

// Rule is what must never happen.
type Rule uint8

// The rules.
const (
	NoRule Rule = iota
	TwoEffects
	TwoOpen
	OpenUnheld
	StaleEffect
	KnownNo
	EffectAfterNone
	NoneWhileOpen
	SuccessWithoutEffect
	TerminalChanged
	ConsumedWithoutOperation
	EffectWithoutApproval
	LateByte
	AlteredEffect
	DeniedWithoutReason
	TwoHolders
	LostHolder
	Stuck
)

func (r Rule) String() string {
	return [...]string{
		"none", "a second effect of one approval", "two operations open on one resource", "an open operation does not hold its resource",
		"an effect of a proposal made before another operation on its resource began or ended",
		"a claim that may send, although what forbids it was there when the attempt began",
		"an effect of an operation that ended as without one", "a refusal with effect none while the operation is open or done",
		"success without an effect", "a terminal state changed", "a consumed approval without an operation, and nothing was purged",
		"an effect without a consumed approval", "a first byte after the holder's time", "an effect of altered bytes", "denied without a reason",
		"two processes that may send one operation at once",
		"an unknown operation ended by a holder who had lost it", "a state from which nothing leads to rest",
	}[r]
}
