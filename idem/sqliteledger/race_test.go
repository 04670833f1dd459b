package sqliteledger_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/ledgertest"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
	"github.com/toolcontract/toolcontract/redact"
)

func TestEvidenceOfATombstone(t *testing.T) {
	t.Parallel()
	o := newOpener(t)
	ledgertest.EvidenceOfATombstone(t, func(sealer redact.Sealer) idem.Ledger {
		o.cfg.Sealer = sealer
		l, err := o.open()
		require.NoError(t, err)
		return l
	}, command("op_1"), func() {})
}

// A file that another process keeps locked is tried again, twelve times, or until nobody waits any more.
func TestBusyIsTriedAgain(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "x.db")+"?_pragma=busy_timeout(1)&_txlock=immediate")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	_, busy := db.BeginTx(t.Context(), nil)
	require.Error(t, busy)

	calls := 0
	failing := func(times int) func() error {
		calls = 0
		return func() error {
			if calls++; calls <= times {
				return busy
			}
			return nil
		}
	}
	require.NoError(t, sqliteledger.Patiently(t.Context(), failing(11)))
	require.Equal(t, 12, calls)
	require.ErrorIs(t, sqliteledger.Patiently(t.Context(), failing(20)), busy)
	require.Equal(t, 12, calls)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, sqliteledger.Patiently(ctx, failing(20)), busy)
	require.Equal(t, 1, calls)
	calls = 0
	require.ErrorIs(t, sqliteledger.Patiently(t.Context(), func() error { calls++; return idem.ErrState }), idem.ErrState)
	require.Equal(t, 1, calls, "another error is no reason")
}
