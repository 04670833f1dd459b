package sqliteledger_test

import (
	"context"
	"database/sql"
	"encoding/json/jsontext"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/ledgertest"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
	"github.com/toolcontract/toolcontract/redact"
)

func command(operation string) idem.Command {
	return idem.Command{
		Key: idem.Key{Tenant: "acme", Operation: operation}, Tool: "commit_x_v1", Run: "run_1", RequestHash: "h", Resource: "r-" + operation,
		Body: jsontext.Value(`{"street":"canary-body"}`), ExpiresIn: 24 * time.Hour,
	}
}

func dispatched(t *testing.T, l *sqliteledger.Ledger, operation string) (context.Context, idem.Claim) {
	t.Helper()
	c := ledgertest.Dispatched(t, l, command(operation))
	return ledgertest.Committing(t.Context(), l, c), c
}

func TestFinishTx(t *testing.T) {
	t.Parallel()
	o := newOpener(t)
	_, err := o.open()
	require.NoError(t, err)
	l := o.all[0]
	_, err = l.DB().ExecContext(t.Context(), "CREATE TABLE address (city TEXT)")
	require.NoError(t, err)
	begin := func(t *testing.T) *sql.Tx {
		t.Helper()
		tx, err := l.DB().BeginTx(t.Context(), nil)
		require.NoError(t, err)
		t.Cleanup(func() { _ = tx.Rollback() })
		_, err = tx.ExecContext(t.Context(), "INSERT INTO address VALUES ('Graz')")
		require.NoError(t, err)
		return tx
	}
	count := func(t *testing.T) (n int) {
		t.Helper()
		require.NoError(t, l.DB().QueryRowContext(t.Context(), "SELECT count(*) FROM address").Scan(&n))
		return n
	}
	state := func(t *testing.T, c idem.Claim) idem.State {
		t.Helper()
		r, err := l.Find(t.Context(), c.Key)
		require.NoError(t, err)
		return r.State
	}

	ctx, c := dispatched(t, l, "op_1")
	tx := begin(t)
	require.NoError(t, sqliteledger.FinishTx(ctx, tx, "Graz"))
	require.NoError(t, tx.Rollback())
	require.Equal(t, idem.Dispatching, state(t, c), "rolled back together")
	require.Zero(t, count(t))

	tx = begin(t)
	require.NoError(t, sqliteledger.FinishTx(ctx, tx, "Graz"))
	require.NoError(t, tx.Commit())
	require.Equal(t, idem.Succeeded, state(t, c))
	require.Equal(t, 1, count(t))
	rec, err := l.Finish(t.Context(), c, idem.Outcome{State: idem.Succeeded, Result: jsontext.Value(`"Graz"`)})
	require.NoError(t, err, "the dispatcher's own Finish finds it done")
	require.Equal(t, `"Graz"`, string(rec.Result))

	ctx, c = dispatched(t, l, "op_2")
	tx = begin(t)
	require.ErrorContains(t, sqliteledger.FinishTx(ctx, tx, 7), "not the tool's output")
	require.NoError(t, tx.Rollback())
	fenced := func(why string) {
		t.Helper()
		tx := begin(t)
		require.ErrorIs(t, sqliteledger.FinishTx(ctx, tx, "Graz"), idem.ErrFenced, why)
		require.NoError(t, tx.Rollback())
	}
	_, err = l.Finish(t.Context(), c, idem.Outcome{State: idem.Unknown})
	require.NoError(t, err)
	fenced("its own claim was stored as unknown")
	_, err = l.ClaimOpen(t.Context(), c.Key, "resolver", time.Hour)
	require.NoError(t, err)
	fenced("another holds the row")
	require.NoError(t, l.Advance(t.Context(), (2*time.Hour).Milliseconds()))
	_, err = l.Resolve(t.Context(), c.Key, idem.Resolution{State: idem.Failed, By: "olga", Reason: "gave up", Evidence: "log"})
	require.NoError(t, err)
	fenced("an operator has said that it failed")
	require.Equal(t, idem.Failed, state(t, c))

	tx = begin(t)
	require.ErrorContains(t, sqliteledger.FinishTx(t.Context(), tx, "Graz"), "not that of a Commit")
	require.ErrorContains(t, sqliteledger.FinishTx(ledgertest.Committing(t.Context(), idem.NewMemory(nil), c), tx, "Graz"), "another ledger")
	require.NoError(t, tx.Rollback())
	require.Equal(t, 1, count(t))
}

// The address book and the ledger are one file: the change and its record are one transaction, and no crash leaves one
// without the other.
func ExampleFinishTx() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	ledger, err := sqliteledger.Open(ctx, filepath.Join(dir, "shop.db"), sqliteledger.Config{Sealer: redact.Plain()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ledger.Shutdown() //nolint:errcheck // the end of the example
	if _, err := ledger.DB().ExecContext(ctx, "CREATE TABLE address (customer TEXT PRIMARY KEY, city TEXT)"); err != nil {
		fmt.Println(err)
		return
	}

	// what a write's Commit does
	commit := func(ctx context.Context, customer, city string) (string, error) {
		tx, err := ledger.DB().BeginTx(ctx, nil)
		if err != nil {
			return "", err
		}
		defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
		if _, err := tx.ExecContext(ctx, "INSERT INTO address VALUES (?, ?)", customer, city); err != nil {
			return "", err
		}
		if err := sqliteledger.FinishTx(ctx, tx, city); err != nil {
			return "", err
		}
		return city, tx.Commit()
	}

	// what the dispatcher does around it
	cmd := command("op_1")
	if _, _, err := ledger.Admit(ctx, cmd, false); err != nil {
		fmt.Println(err)
		return
	}
	claim, err := ledger.Claim(ctx, cmd.Key, "dispatcher", time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	city, err := commit(ledgertest.Committing(ctx, ledger, claim), "c_1", "Graz")
	rec, found := ledger.Find(ctx, cmd.Key)
	fmt.Println(city, err, rec.State, string(rec.Result), found)
	// Output: Graz <nil> succeeded "Graz" <nil>
}
