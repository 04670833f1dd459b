package pgstore_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/pgtest/pgxtest"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvaltest"
	"github.com/toolcontract/toolcontract/approval/pgstore"
	"github.com/toolcontract/toolcontract/internal/pgtest"
	"github.com/toolcontract/toolcontract/internal/proctest"
	"github.com/toolcontract/toolcontract/redact"
)

func TestMain(m *testing.M) {
	proctest.Main(child)
	os.Exit(m.Run())
}

func sealer() (redact.Sealer, error) {
	return redact.NewSealer(redact.Key{ID: "k1", Secret: bytes.Repeat([]byte{7}, 32)})
}

func connect(t *testing.T, dsn string, change ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	cfg.MaxConns = 6
	for _, c := range change {
		c(cfg)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// database returns a migrated schema of the test's own.
func database(t *testing.T) (dsn string, pool *pgxpool.Pool) {
	t.Helper()
	dsn = pgtest.Schema(t, pgxtest.Exec)
	pool = connect(t, dsn)
	require.NoError(t, pgstore.Migrate(t.Context(), pool))
	return dsn, pool
}

func on(t *testing.T, pool *pgxpool.Pool) *pgstore.Store {
	t.Helper()
	s, err := sealer()
	require.NoError(t, err)
	store, err := pgstore.New(t.Context(), pool, s)
	require.NoError(t, err)
	return store
}

func proposal(id string) approval.Proposal {
	return approval.Proposal{
		ID: id, Tenant: "t1", Run: "run_1", Tool: "commit_address_change_v2", Digest: "digest",
		Requester: approval.Principal{Kind: approval.Service, Tenant: "t1", Subject: "agent"},
		Plan:      []byte(`{"city":"canary-plan"}`), Summary: "canary-summary", PolicyVersion: 1,
		Diffs:       []approval.Diff{{Field: "city", Before: "canary-before", After: "canary-after"}},
		Requirement: approval.Requirement{Level: approval.One, Role: "support"}, Lifetime: time.Minute,
	}
}

func person(subject string) approval.Principal {
	return approval.Principal{Kind: approval.Person, Tenant: "t1", Subject: subject, Roles: []string{"support"}}
}

func yes(subject string) approval.Decision {
	return approval.Decision{Approved: true, By: person(subject), Digest: "digest", Reason: "canary-reason"}
}

// clocked is a store whose database reads a clock of the test's: the function of the schema is replaced.
type clocked struct {
	*pgstore.Store
	pool *pgxpool.Pool
	now  func() time.Time
}

func onClock(t *testing.T, now func() time.Time) *clocked {
	t.Helper()
	_, pool := database(t)
	_, err := pool.Exec(t.Context(), `CREATE TABLE test_clock (ns bigint NOT NULL); INSERT INTO test_clock VALUES (0);
		CREATE OR REPLACE FUNCTION approval_now_ns() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT ns FROM test_clock'`)
	require.NoError(t, err)
	return &clocked{Store: on(t, pool), pool: pool, now: now}
}

func (c *clocked) set(ctx context.Context) error {
	_, err := c.pool.Exec(ctx, `UPDATE test_clock SET ns = $1`, c.now().UnixNano())
	return err
}

func (c *clocked) Create(ctx context.Context, p approval.Proposal) (approval.Record, error) {
	if err := c.set(ctx); err != nil {
		return approval.Record{}, err
	}
	return c.Store.Create(ctx, p)
}

func (c *clocked) Find(ctx context.Context, tenant, id string) (approval.Record, error) {
	if err := c.set(ctx); err != nil {
		return approval.Record{}, err
	}
	return c.Store.Find(ctx, tenant, id)
}

func (c *clocked) Alike(ctx context.Context, tenant string, digests []string) ([]approval.Record, error) {
	if err := c.set(ctx); err != nil {
		return nil, err
	}
	return c.Store.Alike(ctx, tenant, digests)
}

func (c *clocked) Pending(ctx context.Context, tenant string, page approval.Page) ([]approval.Record, string, error) {
	if err := c.set(ctx); err != nil {
		return nil, "", err
	}
	return c.Store.Pending(ctx, tenant, page)
}

func (c *clocked) Decide(ctx context.Context, tenant, id string, d approval.Decision) (approval.Record, error) {
	if err := c.set(ctx); err != nil {
		return approval.Record{}, err
	}
	return c.Store.Decide(ctx, tenant, id, d)
}

func (c *clocked) Withdraw(ctx context.Context, tenant, id, decision string, by approval.Principal) (approval.Record, error) {
	if err := c.set(ctx); err != nil {
		return approval.Record{}, err
	}
	return c.Store.Withdraw(ctx, tenant, id, decision, by)
}

func (c *clocked) Consume(ctx context.Context, tenant, id, digest, operation string) (approval.Record, bool, error) {
	if err := c.set(ctx); err != nil {
		return approval.Record{}, false, err
	}
	return c.Store.Consume(ctx, tenant, id, digest, operation)
}

func (c *clocked) Purge(ctx context.Context, bodies, tombstones time.Duration) (int, error) {
	if err := c.set(ctx); err != nil {
		return 0, err
	}
	return c.Store.Purge(ctx, bodies, tombstones)
}

func TestStore(t *testing.T) {
	t.Parallel()
	approvaltest.Run(t,
		func(t *testing.T) approval.Store {
			t.Helper()
			_, pool := database(t)
			return on(t, pool)
		},
		approvaltest.Clock(func(t *testing.T, now func() time.Time) approval.Store {
			t.Helper()
			return onClock(t, now)
		}),
		approvaltest.Lasting(func(t *testing.T) func() approval.Store {
			t.Helper()
			dsn, _ := database(t)
			return func() approval.Store { return on(t, connect(t, dsn)) }
		}))
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	pool := connect(t, pgtest.Schema(t, pgxtest.Exec))
	_, err := pgstore.New(t.Context(), nil, redact.Plain())
	require.ErrorContains(t, err, "no pool")
	_, err = pgstore.New(t.Context(), pool, nil)
	require.ErrorContains(t, err, "no sealer")
	_, err = pgstore.New(t.Context(), pool, redact.Plain())
	require.ErrorContains(t, err, "Migrate", "nothing is migrated behind the host's back")

	require.NoError(t, pgstore.Migrate(t.Context(), pool))
	_, err = pgstore.New(t.Context(), pool, redact.Plain())
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO approval_schema (version, name) VALUES (99, 'later')`)
	require.NoError(t, err)
	_, err = pgstore.New(t.Context(), pool, redact.Plain())
	require.ErrorContains(t, err, "schema version 99")
	require.ErrorContains(t, pgstore.Migrate(t.Context(), pool), "schema version 99")
	_, err = pool.Exec(t.Context(), `DELETE FROM approval_schema`)
	require.NoError(t, err)
	_, err = pgstore.New(t.Context(), pool, redact.Plain())
	require.ErrorContains(t, err, "Migrate brings it")
}

func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	pool := connect(t, pgtest.Schema(t, pgxtest.Exec))
	steps, err := pgstore.Migrations()
	require.NoError(t, err)
	errs := make(chan error)
	for range 6 {
		go func() { errs <- pgstore.Migrate(t.Context(), pool) }()
	}
	for range 6 {
		require.NoError(t, <-errs)
	}
	var applied int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM approval_schema`).Scan(&applied))
	require.Len(t, steps, applied, "each step once")
	for i, m := range steps {
		require.Equal(t, i+1, m.Version)
		require.NotEmpty(t, m.Name)
		require.Contains(t, m.SQL, "CREATE")
	}
}

// Expiry on the database's clock, though this process believes that it is another year.
func TestTheDatabasesClock(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	s := on(t, pool)
	var before, after time.Time
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT clock_timestamp()`).Scan(&before))
	p := proposal("p_1")
	p.Lifetime = time.Nanosecond
	r, err := s.Create(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT clock_timestamp()`).Scan(&after))
	require.False(t, r.Proposal.CreatedAt.Before(before))
	require.False(t, r.Proposal.CreatedAt.After(after))
	require.Equal(t, r.Proposal.CreatedAt.Add(1), r.Proposal.ExpiresAt, "nanoseconds are kept where the clock ticks in microseconds")
	require.Eventually(t, func() bool {
		r, err := s.Find(t.Context(), "t1", "p_1")
		return err == nil && r.State == approval.Expired
	}, 10*time.Second, time.Millisecond)
}

func TestSealedAtRest(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	s := on(t, pool)
	_, err := s.Create(t.Context(), proposal("p_1"))
	require.NoError(t, err)
	_, err = s.Decide(t.Context(), "t1", "p_1", yes("a"))
	require.NoError(t, err)
	for text, found := range map[string]bool{"run_1": true, "canary": false} {
		var n int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM approval_proposal p WHERE position($1 IN p::text) > 0 OR position($2 IN body) > 0)
			+ (SELECT count(*) FROM approval_decision d WHERE position($1 IN d::text) > 0 OR position($2 IN body) > 0)`, text, []byte(text)).Scan(&n))
		require.Equal(t, found, n > 0, text)
	}
	other, err := redact.NewSealer(redact.Key{ID: "k1", Secret: bytes.Repeat([]byte{8}, 32)})
	require.NoError(t, err)
	stranger, err := pgstore.New(t.Context(), pool, other)
	require.NoError(t, err)
	_, err = stranger.Find(t.Context(), "t1", "p_1")
	require.ErrorIs(t, err, redact.ErrSealed)
	require.ErrorContains(t, err, "pgstore: find: ")
}

func TestPurgeInBatches(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := onClock(t, func() time.Time { return now })
	const many = 1103 // more than two transactions' worth
	for i := range many {
		_, err := s.Store.Create(t.Context(), proposal(fmt.Sprintf("p_%d", i)))
		require.NoError(t, err)
	}
	_, err := s.Store.Decide(t.Context(), "t1", "p_7", yes("a"))
	require.NoError(t, err)
	n, err := s.Purge(t.Context(), time.Hour, 1<<62)
	require.NoError(t, err)
	require.Equal(t, many, n)
	var bodies int
	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT (SELECT count(body) FROM approval_proposal) + (SELECT count(body) FROM approval_decision)`).Scan(&bodies))
	require.Zero(t, bodies)
	n, err = s.Purge(t.Context(), time.Hour, 2*time.Hour)
	require.NoError(t, err)
	require.Equal(t, many, n)
	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM approval_proposal) + (SELECT count(*) FROM approval_decision)`).Scan(&bodies))
	require.Zero(t, bodies)
}
