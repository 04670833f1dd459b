// Package idem is the ledger of writes: what was admitted, who may send it now, what provably became of it.
//
// An operation is admitted once under its [Key], claimed before the first byte leaves, and finished with what the
// provider's answer proves. Between the two lies the only moment that nobody can see into, and the ledger never
// pretends to: a claim whose answer was lost ends as [Unknown], keeps its resource closed to every other write, and is
// resolved by evidence or by an operator.
//
//	rec, how, err := ledger.Admit(ctx, cmd, false)           // inserted once, however often it is asked
//	claim, err := ledger.Claim(ctx, cmd.Key, "worker-1", lease) // the barrier: committed before the first byte
//	rec, err = ledger.Finish(ctx, claim, idem.Outcome{State: idem.Succeeded, Result: out})
//
// Guarantees, of every [Ledger]: a key has one request and one operation; at most one claim of an operation can change
// it, the last one given; two operations on one resource are never open together, and a proposal made before another
// operation on its resource began or ended cannot run; a terminal state never changes; a claim that may have sent never
// leads back to [Pending].
//
// Not promised: that a request already under way is stopped when its claim ends. The windows Settle and DedupFor of a
// [Command] are the provider's promises about landing; a request that lands later than they say is outside what any
// ledger can see.
//
// [Memory] keeps everything in the process. Packages sqliteledger and pgledger are durable, package idemtest checks
// them and any other, and [Entry] is the protocol by itself, for those who write one.
package idem
