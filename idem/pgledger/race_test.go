package pgledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/ledgertest"
	"github.com/toolcontract/toolcontract/redact"
)

// outside is a transaction of somebody else, who stops in the middle of it.
func (s *server) outside(sql string, args ...any) pgx.Tx {
	s.t.Helper()
	tx, err := s.hands.Begin(s.t.Context())
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(s.t.Context())) })
	_, err = tx.Exec(s.t.Context(), sql, args...)
	require.NoError(s.t, err)
	return tx
}

// behind starts a call and returns when it waits for tx; then the channel closes when the call has returned.
func (s *server) behind(tx pgx.Tx, call func()) <-chan struct{} {
	s.t.Helper()
	var pid int
	require.NoError(s.t, tx.QueryRow(s.t.Context(), "SELECT pg_backend_pid()").Scan(&pid))
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	require.Eventually(s.t, func() bool {
		var n int
		err := s.hands.QueryRow(s.t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))", pid).Scan(&n)
		return err == nil && n > 0
	}, 30*time.Second, 5*time.Millisecond, "the call does not wait for the other transaction")
	return done
}

// A row that is delivered while Later looks at it stays where the delivery put it.
func TestLaterBehindADelivery(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l, err := s.open()
	require.NoError(t, err)
	k := command("op_1").Key
	_, _, err = l.Admit(t.Context(), command("op_1"), false)
	require.NoError(t, err)
	d, err := l.Next(t.Context(), nil, time.Nanosecond)
	require.NoError(t, err)
	tx := s.outside("UPDATE command_outbox SET turn = turn + 1, available_at = available_at + interval '1 hour' WHERE operation_id = $1", k.Operation)
	done := s.behind(tx, func() {
		if err := l.Later(t.Context(), d, 0); err != nil {
			t.Error(err)
		}
	})
	require.NoError(t, tx.Commit(t.Context()))
	<-done
	_, err = l.Next(t.Context(), nil, time.Hour)
	require.ErrorIs(t, err, idem.ErrEmpty, "the delivery was undone")
}

// besideAnother is a ledger with one operation, the command of another on the same resource, and somebody who holds that.
func besideAnother(t *testing.T) (s *server, l idem.Ledger, c idem.Command, tx pgx.Tx) {
	t.Helper()
	s = newServer(t)
	l, err := s.open()
	require.NoError(t, err)
	other, c := command("op_other"), command("op_1")
	c.Resource = other.Resource
	_, _, err = l.Admit(t.Context(), other, false)
	require.NoError(t, err)
	return s, l, c, s.outside("SELECT FROM agent_resource WHERE resource = $1 FOR UPDATE", c.Resource)
}

// An operation that was forgotten takes its resource only if nobody took it while this looked.
func TestForgottenBehindAClaim(t *testing.T) {
	t.Parallel()
	s, l, c, tx := besideAnother(t)
	done := s.behind(tx, func() {
		if _, how, err := l.Admit(t.Context(), c, true); err != idem.ErrBusy { //nolint:errorlint // the value itself
			t.Errorf("%q, %v", how, err)
		}
	})
	_, err := tx.Exec(t.Context(), "UPDATE agent_resource SET seq = seq + 1, open_operation = 'op_other' WHERE resource = $1", c.Resource)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(t.Context()))
	<-done
	_, err = l.Find(t.Context(), c.Key)
	require.ErrorIs(t, err, idem.ErrNotFound)
}

// A key that another call admitted in between is not forgotten, and its resource is as it was.
func TestForgottenBehindAnAdmission(t *testing.T) {
	t.Parallel()
	s, l, c, tx := besideAnother(t)
	done := s.behind(tx, func() {
		r, how, err := l.Admit(t.Context(), c, true)
		if err != nil || how != idem.InProgress || r.State != idem.Pending {
			t.Errorf("%q, %q, %v", how, r.State, err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, _, err := l.Admit(ctx, c, false)
	require.NoError(t, err, "it waits for the other call, which has inserted before it had the resource")
	require.NoError(t, tx.Commit(t.Context()))
	<-done
	seq, open, err := l.Resource(t.Context(), "acme", c.Resource)
	require.NoError(t, err)
	require.Zero(t, seq)
	require.Empty(t, open)
}

// A restore waits for who is at work, and passes over nobody.
func TestRestoredBehindAnAdmission(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.cfg.Sealer = redact.Plain()
	l, err := s.open()
	require.NoError(t, err)
	_, _, err = l.Admit(t.Context(), command("op_1"), false)
	require.NoError(t, err)
	tx := s.outside(`WITH cmd AS (
			INSERT INTO agent_command (tenant_id, operation_id, request_hash, run_id, resource, command, seq, state, created_at, updated_at, expires_at, body)
			SELECT tenant_id, 'op_2', request_hash, run_id, resource, command, seq, state, created_at, updated_at, expires_at, body FROM agent_command RETURNING 1)
		INSERT INTO command_outbox SELECT tenant_id, 'op_2', tool, run_id, available_at, due_by FROM command_outbox, cmd`)
	done := s.behind(tx, func() {
		if err := l.Restored(t.Context()); err != nil {
			t.Error(err)
		}
	})
	require.NoError(t, tx.Commit(t.Context()))
	<-done
	queue, _, err := l.Unknown(t.Context(), "acme", idem.Page{})
	require.NoError(t, err)
	require.Len(t, queue, 2, "one was admitted while the restore went on")
}

// Rows that somebody works on hold up neither Sweep nor Purge.
func TestSweepAndPurgePassOverLockedRows(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l, err := s.open()
	require.NoError(t, err)
	for _, op := range []string{"op_1", "op_2"} {
		dispatched(t, l, op)
	}
	s.advance(2 * time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tx := s.outside("SELECT FROM agent_command WHERE operation_id = 'op_1' FOR UPDATE")
	swept, err := l.Sweep(ctx)
	require.NoError(t, err, "it waits for a row that is locked")
	require.Equal(t, idem.Swept{Unknown: 1}, swept)
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, idem.Unknown, stateOf(t, l, command("op_2").Key))
	for _, op := range []string{"op_1", "op_2"} {
		_, err := l.Resolve(t.Context(), command(op).Key, idem.Resolution{State: idem.Succeeded, By: "olga", Reason: "asked", Evidence: "ticket"})
		require.NoError(t, err)
	}
	for _, ages := range [][2]time.Duration{{0, time.Hour}, {0, 0}} { // to tombstones, and wholly
		tx = s.outside("SELECT FROM agent_command WHERE operation_id = 'op_1' FOR UPDATE")
		n, err := l.Purge(ctx, ages[0], ages[1])
		require.NoError(t, err, "it waits for a row that is locked")
		require.Equal(t, 1, n)
		require.NoError(t, tx.Rollback(t.Context()))
	}
	_, err = l.Find(t.Context(), command("op_2").Key)
	require.ErrorIs(t, err, idem.ErrNotFound)
}

// A row that a mark has passed over is delivered in the end, however much is due behind the mark.
func TestMarkGoesStale(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l, err := s.open()
	require.NoError(t, err)
	tools := []string{"commit_x_v1"}
	for _, op := range []string{"op_1", "op_2", "op_3", "op_4", "op_5", "op_6"} {
		_, _, err := l.Admit(t.Context(), command(op), false)
		require.NoError(t, err)
	}
	next := func() string {
		t.Helper()
		d, err := l.Next(t.Context(), tools, time.Hour)
		require.NoError(t, err)
		return d.Key.Operation
	}
	tx := s.outside("SELECT FROM command_outbox WHERE operation_id = 'op_1' FOR UPDATE")
	require.Equal(t, "op_2", next())
	require.NoError(t, tx.Rollback(t.Context()))
	s.advance(2 * time.Second)
	require.Equal(t, "op_3", next(), "from the mark")
	require.Equal(t, "op_1", next(), "a second later from everywhere")
	require.Equal(t, "op_4", next())
}

func TestEvidenceOfATombstone(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ledgertest.EvidenceOfATombstone(t, func(sealer redact.Sealer) idem.Ledger {
		s.cfg.Sealer = sealer
		l, err := s.open()
		require.NoError(t, err)
		return l
	}, command("op_1"), func() {
		var kept int
		require.NoError(t, s.hands.QueryRow(t.Context(), "SELECT count(*) FROM agent_evidence").Scan(&kept))
		require.Zero(t, kept)
	})
}
