package pgledger_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/pgtest/pgxtest"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/pgledger"
	"github.com/toolcontract/toolcontract/internal/pgtest"
	"github.com/toolcontract/toolcontract/redact"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	s := &server{t: t, dsn: pgtest.Schema(t, pgxtest.Exec), size: 4, cfg: pgledger.Config{Sealer: redact.Plain()}}
	t.Cleanup(s.shut)
	pool := s.pool("")
	_, err := pgledger.Open(t.Context(), pool, s.cfg)
	require.ErrorContains(t, err, "Migrate makes the tables")
	_, err = pgledger.Open(t.Context(), pool, pgledger.Config{})
	require.ErrorContains(t, err, "no sealer")
	var wg sync.WaitGroup
	for range 4 {
		p := s.pool("")
		wg.Go(func() {
			if err := pgledger.Migrate(t.Context(), p); err != nil {
				t.Errorf("one of many at once: %v", err)
			}
		})
	}
	wg.Wait()
	l, err := pgledger.Open(t.Context(), pool, s.cfg)
	require.NoError(t, err)
	l.Shutdown()
	s.exec("INSERT INTO ledger_schema VALUES (99)")
	_, err = pgledger.Open(t.Context(), pool, s.cfg)
	require.ErrorContains(t, err, "version 99")
	require.ErrorContains(t, pgledger.Migrate(t.Context(), pool), "version 99")
	printed, err := pgledger.Schema()
	require.NoError(t, err)
	for _, table := range []string{"agent_command", "command_outbox", "agent_resource", "agent_attempt", "agent_evidence"} {
		require.Contains(t, printed, "CREATE TABLE "+table)
	}
}

// role makes a role that may use the schema and is not the tables' owner.
func (s *server) role(grant string) string {
	s.t.Helper()
	name := fmt.Sprintf("tc_test_%d", rand.Uint64())
	s.exec("CREATE ROLE " + name)
	s.t.Cleanup(func() {
		require.NoError(s.t, pgxtest.Exec(context.WithoutCancel(s.t.Context()), s.dsn, "DROP OWNED BY "+name+"; DROP ROLE "+name))
	})
	s.exec("GRANT SELECT ON test_clock TO " + name + ";" + fmt.Sprintf(grant, name)) // the clock is the tests'
	return name
}

func TestRowSecurity(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	owner, err := s.open()
	require.NoError(t, err)
	bare := s.role(usage)
	app := s.role(usage + "GRANT SELECT ON ledger_schema TO %[1]s; GRANT SELECT, INSERT, UPDATE, DELETE ON agent_command, command_outbox, agent_resource, agent_attempt, agent_evidence TO %[1]s; GRANT SELECT, UPDATE ON ledger_meta TO %[1]s")
	worker := s.role("GRANT toolcontract_worker TO %s")
	foreign := command("op_foreign")
	foreign.Key.Tenant = "globex"
	_, _, err = owner.Admit(t.Context(), foreign, false)
	require.NoError(t, err)

	_, err = s.openOn(s.pool(bare))
	require.ErrorContains(t, err, "toolcontract_worker", "the hint is about the role, not about Migrate")

	plain, err := s.openOn(s.pool(app))
	require.NoError(t, err)
	_, _, err = plain.Admit(t.Context(), command("op_0"), false)
	require.ErrorContains(t, err, "row-level security", "a role that names no tenant writes for none")
	_, err = plain.Find(t.Context(), foreign.Key)
	require.ErrorIs(t, err, idem.ErrNotFound, "and sees none")

	s.cfg.RowSecurity = true
	pool := s.pool(app)
	l, err := s.openOn(pool)
	require.NoError(t, err)
	whole(t, l)
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM agent_command").Scan(&n))
	require.Zero(t, n, "the tenant is set for a transaction and no longer")
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT set_config('toolcontract.tenant', 'acme', true)")
	require.NoError(t, err)
	require.NoError(t, tx.QueryRow(t.Context(), "SELECT count(*) FILTER (WHERE tenant_id = 'globex') FROM agent_command").Scan(&n))
	require.Zero(t, n, "another tenant's rows are not there")
	tag, err := tx.Exec(t.Context(), "UPDATE agent_command SET state = 'denied' WHERE tenant_id = 'globex'")
	require.NoError(t, err)
	require.Zero(t, tag.RowsAffected())
	require.NoError(t, tx.Rollback(t.Context()))

	s.cfg.RowSecurity = false
	all, err := s.openOn(s.pool(worker))
	require.NoError(t, err)
	delivered := make([]idem.Key, 2)
	for i := range delivered {
		d, err := all.Next(t.Context(), []string{foreign.Tool}, time.Minute)
		require.NoError(t, err)
		delivered[i] = d.Key
	}
	require.ElementsMatch(t, []idem.Key{command("op_2").Key, foreign.Key}, delivered, "a worker sees every tenant's")
	_, err = all.Claim(t.Context(), foreign.Key, "w", time.Hour)
	require.NoError(t, err)
	_, err = all.Sweep(t.Context())
	require.NoError(t, err)
	_, err = all.Purge(t.Context(), 0, 0)
	require.NoError(t, err)
	require.NoError(t, all.Restored(t.Context()))
}

const usage = "DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %%I TO %[1]s', current_schema()); END $$;"

// whole runs an operation through everything that a tenant's ledger can do.
func whole(t *testing.T, l idem.Ledger) {
	t.Helper()
	ctx := t.Context()
	c := dispatched(t, l, "op_1")
	_, err := l.Renew(ctx, c, time.Hour)
	require.NoError(t, err)
	_, err = l.Finish(ctx, c, idem.Outcome{State: idem.Unknown})
	require.NoError(t, err)
	open, err := l.ClaimOpen(ctx, c.Key, "w", time.Hour)
	require.NoError(t, err)
	_, err = l.Finish(ctx, idem.Claim{Key: c.Key, Generation: 1, Token: "late"}, idem.Outcome{State: idem.Succeeded, Result: []byte(`"canary-late"`)})
	require.ErrorIs(t, err, idem.ErrFenced)
	sent, err := l.Resend(ctx, open, time.Hour)
	require.NoError(t, err)
	_, err = l.Finish(ctx, sent, idem.Outcome{State: idem.Unknown})
	require.NoError(t, err)
	rs, _, err := l.Unknown(ctx, "acme", idem.Page{})
	require.NoError(t, err)
	require.Len(t, rs, 1)
	require.Len(t, rs[0].Attempts, 2)
	require.Len(t, rs[0].Evidence, 1)
	rs, _, err = l.Open(ctx, "acme", "run_1", idem.Page{})
	require.NoError(t, err)
	require.Len(t, rs, 1)
	seq, holder, err := l.Resource(ctx, "acme", "r-op_1")
	require.NoError(t, err)
	require.Equal(t, int64(1), seq)
	require.Equal(t, "op_1", holder)
	_, err = l.Resolve(ctx, c.Key, idem.Resolution{State: idem.Succeeded, Result: []byte(`"canary-result"`), By: "olga", Reason: "canary-reason", Evidence: "canary-evidence"})
	require.NoError(t, err)
	_, how, err := l.Admit(ctx, command("op_1"), true)
	require.NoError(t, err)
	require.Equal(t, idem.Replayed, how)
	_, _, err = l.Admit(ctx, command("op_2"), true)
	require.NoError(t, err)
	_, _, err = l.Admit(ctx, command("op_3"), false)
	require.NoError(t, err)
	require.NoError(t, l.Later(ctx, idem.Delivery{Key: command("op_3").Key}, time.Hour))
	_, err = l.Close(ctx, command("op_3").Key, idem.Cancelled, "CANCELLED")
	require.NoError(t, err)
}

func TestSealedAtRest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	pool := s.pool("")
	l, err := s.openOn(pool)
	require.NoError(t, err)
	whole(t, l)
	r, err := l.Find(t.Context(), command("op_1").Key)
	require.NoError(t, err)
	require.Equal(t, `"canary-late"`, string(r.Evidence[0].Outcome.Result))
	require.Equal(t, "canary-reason", r.Resolution.Reason)
	for _, table := range []string{"agent_command", "command_outbox", "agent_resource", "agent_attempt", "agent_evidence"} {
		var all string
		// bytea as the characters that it holds
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT coalesce(string_agg(t::text, ''), '') FROM (SELECT * FROM "+table+") t").Scan(&all))
		require.NotContains(t, all, "canary")
		require.NotContains(t, all, fmt.Sprintf("%x", "canary"))
		if table == "agent_command" {
			require.Contains(t, all, "op_1", "the search finds what is not sealed")
		}
	}
}

// watched is a sealer that looks, while it works, whether anything is locked.
type watched struct {
	redact.Sealer
	look func(ctx context.Context)
}

func (w watched) Seal(ctx context.Context, aad, plain []byte) ([]byte, error) {
	w.look(ctx)
	return w.Sealer.Seal(ctx, aad, plain)
}

func (w watched) Open(ctx context.Context, aad, sealed []byte) ([]byte, error) {
	w.look(ctx)
	return w.Sealer.Open(ctx, aad, sealed)
}

func TestNothingIsLockedDuringACall(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	outside := s.pool("")
	looks := 0
	s.cfg.Sealer = watched{s.cfg.Sealer, func(ctx context.Context) {
		looks++
		tx, err := outside.Begin(ctx)
		require.NoError(t, err)
		_, err = tx.Exec(ctx, "SELECT FROM agent_command FOR UPDATE NOWAIT")
		require.NoError(t, err, "a row is locked while the key service is called")
		_, err = tx.Exec(ctx, "SELECT FROM agent_resource FOR UPDATE NOWAIT")
		require.NoError(t, err, "a resource is locked while the key service is called")
		require.NoError(t, tx.Rollback(ctx))
	}}
	l, err := s.open()
	require.NoError(t, err)
	whole(t, l)
	require.Greater(t, looks, 10)
}

func TestNextPassesOverLockedRows(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	pool := s.pool("")
	l, err := s.openOn(pool)
	require.NoError(t, err)
	for _, op := range []string{"op_1", "op_2"} {
		_, _, err := l.Admit(t.Context(), command(op), false)
		require.NoError(t, err)
	}
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM command_outbox WHERE operation_id = 'op_1' FOR UPDATE")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	d, err := l.Next(ctx, []string{"commit_x_v1"}, time.Hour)
	require.NoError(t, err)
	require.Equal(t, "op_2", d.Key.Operation)
	_, err = l.Next(ctx, []string{"commit_x_v1"}, time.Hour)
	require.ErrorIs(t, err, idem.ErrEmpty)
	require.NoError(t, tx.Rollback(t.Context()))
	d, err = l.Next(t.Context(), []string{"commit_x_v1"}, time.Hour)
	require.NoError(t, err)
	require.Equal(t, "op_1", d.Key.Operation, "a mark does not hide what was locked")
}

func TestWakeCrossesProcesses(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	here, err := s.open()
	require.NoError(t, err)
	there, err := s.openOn(s.pool(""))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	woken, err := there.Wake(ctx)
	require.NoError(t, err)
	hear := func(why string) {
		t.Helper()
		select {
		case _, ok := <-woken:
			require.True(t, ok)
		case <-time.After(20 * time.Second):
			require.Fail(t, why)
		}
	}
	_, _, err = here.Admit(t.Context(), command("op_1"), false)
	require.NoError(t, err)
	hear("another process's admission")
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN ' || (SELECT 'toolcontract_ledger_' || left(encode(sha256(convert_to(current_schema(), 'UTF8')), 'hex'), 16))")
	hear("what was told while nobody listened is told when somebody does again")
	claim, err := here.Claim(t.Context(), command("op_1").Key, "w", time.Hour)
	require.NoError(t, err)
	_, err = here.Finish(t.Context(), claim, idem.Outcome{State: idem.Unknown})
	require.NoError(t, err)
	hear("an operation became unknown, and there is something to ask")
	cancel()
	for range woken { // until it is closed
	}
}

// A claim is a heap-only update: no index grows with it.
func TestClaimsTouchNoIndex(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	pool := s.pool("")
	l, err := s.openOn(pool)
	require.NoError(t, err)
	const rows = 50
	for i := range rows {
		c := dispatched(t, l, fmt.Sprint("op_", i))
		_, err := l.Renew(t.Context(), c, time.Hour)
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return updates(t, pool, "n_tup_upd") >= 2*rows }, 30*time.Second, 100*time.Millisecond)
	require.GreaterOrEqual(t, updates(t, pool, "n_tup_hot_upd"), int64(2*rows*8/10))
}

func updates(t *testing.T, pool *pgxpool.Pool, column string) (n int64) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT "+column+" FROM pg_stat_user_tables WHERE relid = 'agent_command'::regclass").Scan(&n))
	return n
}
