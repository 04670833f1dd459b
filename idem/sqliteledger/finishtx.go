package sqliteledger

import (
	"context"
	"database/sql"
	"errors"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
)

// FinishTx ends, as succeeded with out, the operation whose Commit ctx belongs to, in the caller's transaction: the
// business data and the ledger then say the same, whatever happens to the process. tx is one on the file that the
// ledger is in, begun on [Ledger.DB]. Commit it, and return out from Commit as usual.
//
// out is held against the tool's output schema and evidence first; where it does not pass, or where the claim has lost
// its place ([idem.ErrFenced]: its time is over, or an operator has resolved the operation meanwhile), nothing is stored
// and tx has to be rolled back. No evidence is kept either: what is rolled back did not happen.
func FinishTx(ctx context.Context, tx *sql.Tx, out any) error {
	h, ok := idem.HolderFrom(ctx)
	if !ok {
		return errors.New("sqliteledger: finish: the context is not that of a Commit")
	}
	l, ok := h.Ledger.(*Ledger)
	if !ok {
		return errors.New("sqliteledger: finish: the operation is in another ledger")
	}
	o, err := h.Check(ctx, out)
	if err != nil {
		return err
	}
	s, err := l.vault.SealOutcome(ctx, h.Claim.Key, o)
	if err != nil {
		return wrap("finish", err)
	}
	return l.finishIn(ctx, l.writing.in(tx), h.Claim, o, s)
}

func (l *Ledger) finishIn(ctx context.Context, q querier, c idem.Claim, o idem.Outcome, s stored.Sealed) error {
	r, err := l.load(ctx, q, c.Key)
	if err != nil {
		return wrap("finish", err)
	}
	if err := r.FinishSealed(r.now, c, o, s); err != nil {
		return err
	}
	return wrap("finish", save(ctx, q, &r.Row))
}
