package pgledger

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/storable"
)

// FinishTx ends, as succeeded with out, the operation whose Commit ctx belongs to, in the caller's transaction: the
// business data and the ledger then say the same, whatever happens to the process. tx is one on the database that the
// ledger is in, with the ledger's schema in its search_path. Commit it soon, for the operation's row is locked until
// then, and return out from Commit as usual.
//
// out is held against the tool's output schema and evidence first; where it does not pass, or where the claim has lost
// its place ([idem.ErrFenced]: its time is over, or an operator has resolved the operation meanwhile), nothing is stored
// and tx has to be rolled back. No evidence is kept either: what is rolled back did not happen.
func FinishTx(ctx context.Context, tx pgx.Tx, out any) error {
	h, ok := idem.HolderFrom(ctx)
	if !ok {
		return errors.New("pgledger: finish: the context is not that of a Commit")
	}
	l, ok := h.Ledger.(*Ledger)
	if !ok {
		return errors.New("pgledger: finish: the operation is in another ledger")
	}
	if !storable.Text(h.Claim.Key.Tenant, h.Claim.Key.Operation) {
		return idem.ErrNotFound
	}
	o, err := h.Check(ctx, out)
	if err != nil {
		return err
	}
	s, err := l.vault.SealOutcome(ctx, h.Claim.Key, o)
	if err != nil {
		return wrap("finish", err)
	}
	b := &pgx.Batch{}
	l.lock(b, h.Claim.Key)
	r, n, err := l.locked(tx.SendBatch(ctx, b), false)
	if err != nil {
		return wrap("finish", err)
	}
	b = &pgx.Batch{}
	if err := l.transit(b, n, r, false, func(n now, r *row) error { return r.FinishSealed(n.time, h.Claim, o, s) }); err != nil {
		return err
	}
	return wrap("finish", tx.SendBatch(ctx, b).Close())
}
