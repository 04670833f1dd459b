package sqliteledger_test

import (
	"bytes"
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
	"github.com/toolcontract/toolcontract/redact"
)

// tapped is a sealer that says what it is about to seal.
type tapped struct {
	redact.Sealer
	before func(ctx context.Context, aad []byte)
}

func (s tapped) Seal(ctx context.Context, aad, plain []byte) ([]byte, error) {
	s.before(ctx, aad)
	return s.Sealer.Seal(ctx, aad, plain)
}

// Evidence that comes when its row has just been purged is not kept: the tombstone would hang on it.
func TestEvidenceOfATombstone(t *testing.T) {
	t.Parallel()
	o := newOpener(t)
	var l idem.Ledger
	o.cfg.Sealer = tapped{redact.Plain(), func(ctx context.Context, aad []byte) {
		if bytes.Contains(aad, []byte("evidence/")) {
			n, err := l.Purge(ctx, 0, time.Hour)
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
	}}
	l, err := o.open()
	require.NoError(t, err)
	_, c := dispatched(t, o.all[0], "op_1")
	_, err = l.Finish(t.Context(), c, idem.Outcome{State: idem.Succeeded})
	require.NoError(t, err)
	_, err = l.Finish(t.Context(), c, idem.Outcome{State: idem.Failed, Failure: envelope.New(envelope.Internal)})
	require.ErrorIs(t, err, idem.ErrFenced)
	n, err := l.Purge(t.Context(), 0, 0)
	require.NoError(t, err)
	require.Equal(t, 1, n)
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
