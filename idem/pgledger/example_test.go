package pgledger_test

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/idem/pgledger"
)

// addressBook stands in the ledger's database.
type addressBook struct {
	pool *pgxpool.Pool // the one that the ledger was opened on
}

// change is what a write's Commit does; the dispatcher has put the claim into ctx. The change and its record are one
// transaction, and no crash leaves one without the other.
func (b addressBook) change(ctx context.Context, customer, city string) (string, error) {
	tx, err := b.pool.Begin(ctx)
	if err != nil {
		return "", err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // after Commit it does nothing
	if _, err := tx.Exec(ctx, "UPDATE address SET city = $2 WHERE customer = $1", customer, city); err != nil {
		return "", err
	}
	if err := pgledger.FinishTx(ctx, tx, city); err != nil {
		return "", err
	}
	return city, tx.Commit(ctx)
}

// TestExampleCommits runs it where there is a server.
func ExampleFinishTx() {
	var b addressBook
	_ = b.change // of a tool.Write: Commit
}
