// Package crashpoint names the places at which tests kill the process. Without the build tag crashpoint it does nothing.
package crashpoint

// The places, in the order of a commit.
const (
	BeforeAdmit   = "before-admit"   // nothing is in the ledger
	InAdmit       = "in-admit"       // the admission is written and not committed
	AfterAdmit    = "after-admit"    // admitted, the approval not consumed
	AfterConsume  = "after-consume"  // consumed, not claimed
	AfterClaim    = "after-claim"    // past the barrier, nothing sent
	AfterEffect   = "after-effect"   // the provider has done it, nobody knows
	BeforeFinish  = "before-finish"  // the outcome is known to this process alone
	AfterFinish   = "after-finish"   // stored, not answered
	ResolverHolds = "resolver-holds" // a resolver has claimed an open operation
	BeforeResend  = "before-resend"  // it has learnt nothing and may send again
)
