package pgledger_test

import (
	"context"
	"encoding/json/jsontext"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/ledgertest"
	"github.com/toolcontract/toolcontract/idem/pgledger"
)

func command(operation string) idem.Command {
	return idem.Command{
		Key: idem.Key{Tenant: "acme", Operation: operation}, Tool: "commit_x_v1", Run: "run_1", RequestHash: "h", Resource: "r-" + operation,
		Body: jsontext.Value(`{"street":"canary-body"}`), ExpiresIn: 24 * time.Hour, Contract: idem.ReplaySafe, DedupFor: 12 * time.Hour,
		Meta: map[string]string{"policy": "3"},
	}
}

func dispatched(t *testing.T, l idem.Ledger, operation string) idem.Claim {
	t.Helper()
	return ledgertest.Dispatched(t, l, command(operation))
}

func stateOf(t *testing.T, l idem.Ledger, k idem.Key) idem.State {
	t.Helper()
	r, err := l.Find(t.Context(), k)
	require.NoError(t, err)
	return r.State
}

func TestFinishTx(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.exec("CREATE TABLE address (city text)")
	pool := s.pool("")
	l, err := s.openOn(pool)
	require.NoError(t, err)
	begin := func(t *testing.T) pgx.Tx {
		t.Helper()
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
		_, err = tx.Exec(t.Context(), "INSERT INTO address VALUES ('Graz')")
		require.NoError(t, err)
		return tx
	}
	count := func(t *testing.T) (n int) {
		t.Helper()
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM address").Scan(&n))
		return n
	}

	c := dispatched(t, l, "op_1")
	ctx := ledgertest.Committing(t.Context(), l, c)
	tx := begin(t)
	require.NoError(t, pgledger.FinishTx(ctx, tx, "Graz"))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, idem.Dispatching, stateOf(t, l, c.Key), "rolled back together")
	require.Zero(t, count(t))

	tx = begin(t)
	require.NoError(t, pgledger.FinishTx(ctx, tx, "Graz"))
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, idem.Succeeded, stateOf(t, l, c.Key))
	require.Equal(t, 1, count(t))
	rec, err := l.Finish(t.Context(), c, idem.Outcome{State: idem.Succeeded, Result: jsontext.Value(`"Graz"`)})
	require.NoError(t, err, "the dispatcher's own Finish finds it done")
	require.Equal(t, `"Graz"`, string(rec.Result))

	c = dispatched(t, l, "op_2")
	tx = begin(t)
	require.ErrorContains(t, pgledger.FinishTx(ledgertest.Committing(t.Context(), l, c), tx, 7), "not the tool's output")
	require.NoError(t, tx.Rollback(t.Context()))
	fenced := func(why string) {
		t.Helper()
		tx := begin(t)
		require.ErrorIs(t, pgledger.FinishTx(ledgertest.Committing(t.Context(), l, c), tx, "Graz"), idem.ErrFenced, why)
		require.NoError(t, tx.Rollback(t.Context()))
	}
	_, err = l.Finish(t.Context(), c, idem.Outcome{State: idem.Unknown})
	require.NoError(t, err)
	fenced("its own claim was stored as unknown")
	_, err = l.ClaimOpen(t.Context(), c.Key, "resolver", time.Hour)
	require.NoError(t, err)
	fenced("another holds the row")
	s.advance(2 * time.Hour)
	_, err = l.Resolve(t.Context(), c.Key, idem.Resolution{State: idem.Failed, By: "olga", Reason: "gave up", Evidence: "log"})
	require.NoError(t, err)
	fenced("an operator has said that it failed")
	require.Equal(t, idem.Failed, stateOf(t, l, c.Key))

	tx = begin(t)
	require.ErrorContains(t, pgledger.FinishTx(t.Context(), tx, "Graz"), "not that of a Commit")
	require.ErrorContains(t, pgledger.FinishTx(ledgertest.Committing(t.Context(), idem.NewMemory(nil), c), tx, "Graz"), "another ledger")
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, 1, count(t))
}

func TestExampleCommits(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.exec("CREATE TABLE address (customer text, city text)")
	s.exec("INSERT INTO address VALUES ('c_1', 'Linz')")
	pool := s.pool("")
	l, err := s.openOn(pool)
	require.NoError(t, err)
	c := dispatched(t, l, "op_1")
	city, err := addressBook{pool}.change(ledgertest.Committing(t.Context(), l, c), "c_1", "Graz")
	require.NoError(t, err)
	require.Equal(t, "Graz", city)
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT city FROM address").Scan(&city))
	require.Equal(t, "Graz", city)
	require.Equal(t, idem.Succeeded, stateOf(t, l, c.Key))
}
