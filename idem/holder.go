package idem

import "context"

// Holder is what a write's Commit runs under: its claim, and the check that turns the handler's output into the
// outcome that may be stored. The dispatcher puts it into the handler's context; a ledger that shares the business
// database reads it there, to finish the operation in the business transaction.
type Holder struct {
	Ledger Ledger // that gave the claim
	Claim  Claim
	// Check encodes out and holds it against the tool's output schema and evidence. Its error means that out is not the
	// tool's; then nothing may be stored. The outcome's State is Succeeded.
	Check func(ctx context.Context, out any) (Outcome, error)
}

type holderKey struct{}

// WithHolder returns a context that carries h.
func WithHolder(ctx context.Context, h Holder) context.Context {
	return context.WithValue(ctx, holderKey{}, h)
}

// HolderFrom returns what WithHolder put in; false outside a claim.
func HolderFrom(ctx context.Context) (Holder, bool) {
	h, ok := ctx.Value(holderKey{}).(Holder)
	return h, ok
}
