package pgstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/pgtest/pgxtest"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/pgstore"
	"github.com/toolcontract/toolcontract/internal/pgtest"
	"github.com/toolcontract/toolcontract/redact"
)

// cutter loses the connection at a commit: before the server has it, or after, so that its answer is what is lost.
type cutter struct {
	armed  atomic.Int32 // commits still to be lost
	before bool
	lost   atomic.Int32
	then   func() // what happens before the caller knows; nil: nothing
}

func (c *cutter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: conn, cutter: c}, nil
}

type cutConn struct {
	net.Conn
	cutter *cutter
	cut    atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	if !bytes.Contains(b, []byte("commit\x00")) || c.cutter.armed.Add(-1) < 0 {
		return c.Conn.Write(b)
	}
	c.cutter.lost.Add(1)
	if c.cutter.before {
		err := errors.Join(io.ErrUnexpectedEOF, c.Conn.Close())
		if c.cutter.then != nil {
			c.cutter.then()
		}
		return 0, err
	}
	c.cut.Store(true)
	return c.Conn.Write(b)
}

// Read waits for the answer of a commit that is cut, for then the server has committed, and loses it.
func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.cut.Load() && err == nil {
		return 0, errors.Join(io.ErrUnexpectedEOF, c.Conn.Close())
	}
	return n, err
}

func TestACommitWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"after the server has it": false, "before the server has it": true} {
		for _, plain := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dsn, _ := database(t)
				cut := &cutter{before: before}
				pool := connect(t, pgtest.With(dsn, "sslmode", "disable"), func(c *pgxpool.Config) { c.ConnConfig.DialFunc = cut.dial }) // it reads what is sent
				s := on(t, pool)
				if plain {
					var err error
					s, err = pgstore.New(t.Context(), pool, redact.Plain())
					require.NoError(t, err)
				}
				lose := func(n int32) { cut.armed.Store(n); cut.lost.Store(0) }

				lose(2)
				r, err := s.Create(t.Context(), proposal("p_1"))
				require.NoError(t, err)
				require.Equal(t, approval.Pending, r.State)
				require.Equal(t, 1, r.PolicySeen)
				if before {
					require.EqualValues(t, 2, cut.lost.Load())
				} else {
					require.NotZero(t, cut.lost.Load())
				}
				lose(0)
				found, err := s.Find(t.Context(), "t1", "p_1")
				require.NoError(t, err)
				require.Equal(t, found.Proposal, r.Proposal, "the answer is what is stored")
				_, err = s.Create(t.Context(), proposal("p_1"))
				require.ErrorIs(t, err, approval.ErrExists, "another call's is another's")

				lose(1)
				r, err = s.Decide(t.Context(), "t1", "p_1", yes("a"))
				require.NoError(t, err)
				require.EqualValues(t, 1, cut.lost.Load())
				require.Len(t, r.Decisions, 1)
				lose(1)
				r, bound, err := s.Consume(t.Context(), "t1", "p_1", "digest", "op_1")
				require.NoError(t, err)
				require.EqualValues(t, 1, cut.lost.Load())
				require.True(t, bound)
				require.Equal(t, "op_1", r.ConsumedBy)

				lose(0)
				_, err = s.Create(t.Context(), proposal("p_2"))
				require.NoError(t, err)
				r, err = s.Decide(t.Context(), "t1", "p_2", yes("a"))
				require.NoError(t, err)
				lose(1)
				r, err = s.Withdraw(t.Context(), "t1", "p_2", r.Decisions[0].ID, person("a"))
				require.NoError(t, err)
				require.EqualValues(t, 1, cut.lost.Load())
				require.Equal(t, approval.Withdrawn, r.State)

				lose(100)
				_, err = s.Create(t.Context(), proposal("p_3"))
				if before {
					require.ErrorContains(t, err, "pgstore: create: ", "not for ever")
					require.EqualValues(t, 5, cut.lost.Load())
				}
			})
		}
	}
}

// A commit is lost, and before the second attempt somebody else creates a proposal of this id, alike but for its run.
func TestARivalsProposalIsNotTakenForOnesOwn(t *testing.T) {
	t.Parallel()
	dsn, other := database(t)
	rival := on(t, other)
	theirs := proposal("p_1")
	theirs.Run = "run_2"
	cut := &cutter{before: true, then: func() {
		_, err := rival.Create(t.Context(), theirs)
		require.NoError(t, err)
	}}
	s := on(t, connect(t, pgtest.With(dsn, "sslmode", "disable"), func(c *pgxpool.Config) { c.ConnConfig.DialFunc = cut.dial }))
	cut.armed.Store(1)
	// The first attempt still holds its row when its connection is lost: the rival waits for the server to notice.
	_, err := s.Create(t.Context(), proposal("p_1"))
	require.ErrorIs(t, err, approval.ErrExists)
	require.EqualValues(t, 1, cut.lost.Load())
	r, err := rival.Find(t.Context(), "t1", "p_1")
	require.NoError(t, err)
	require.Equal(t, "run_2", r.Proposal.Run)
}

// A transaction that the database gives up is tried again; the trigger stands for the rival that a test cannot time.
func TestLostTransactionsAreTriedAgain(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"40001", "40P01", "57P01"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			_, pool := database(t)
			s := on(t, pool)
			_, err := pool.Exec(t.Context(), `CREATE SEQUENCE tries; CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$
				BEGIN IF nextval('tries') < 3 THEN RAISE EXCEPTION 'lost' USING ERRCODE = '`+code+`'; END IF; RETURN NEW; END $$;
				CREATE TRIGGER lose BEFORE INSERT ON approval_decision FOR EACH ROW EXECUTE FUNCTION lose()`)
			require.NoError(t, err)
			_, err = s.Create(t.Context(), proposal("p_1"))
			require.NoError(t, err)
			r, err := s.Decide(t.Context(), "t1", "p_1", yes("a"))
			require.NoError(t, err)
			require.Len(t, r.Decisions, 1)
			var tries int
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT last_value FROM tries`).Scan(&tries))
			require.Equal(t, 3, tries)
		})
	}
}

// Whoever writes to the tables without the key cannot make a record say something else.
func TestTampering(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"a level":              `UPDATE approval_proposal SET level = 'none' WHERE proposal_id = 'p_1'`,
		"a digest":             `UPDATE approval_proposal SET digest = 'other' WHERE proposal_id = 'p_1'`,
		"an expiry":            `UPDATE approval_proposal SET expires_ns = expires_ns + 1000 WHERE proposal_id = 'p_1'`,
		"a subject":            `UPDATE approval_proposal SET requester_subject = 'other' WHERE proposal_id = 'p_1'`,
		"another's body":       `UPDATE approval_proposal SET body = (SELECT body FROM approval_proposal WHERE proposal_id = 'p_2') WHERE proposal_id = 'p_1'`,
		"a body":               `UPDATE approval_proposal SET body = '{}' WHERE proposal_id = 'p_1'`,
		"a verdict":            `UPDATE approval_decision SET approved = NOT approved WHERE proposal_id = 'p_1'`,
		"an approver":          `UPDATE approval_decision SET approver_subject = 'other' WHERE proposal_id = 'p_1'`,
		"an invented decision": `INSERT INTO approval_decision SELECT tenant_id, 'p_1', 1, 'd_x', true, approver_kind, approver_tenant, 'b', decided_ns, body FROM approval_decision WHERE proposal_id = 'p_2'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, pool := database(t)
			s := on(t, pool)
			for _, id := range []string{"p_1", "p_2"} {
				p := proposal(id)
				p.Requirement.Level = approval.Two
				_, err := s.Create(t.Context(), p)
				require.NoError(t, err)
				_, err = s.Decide(t.Context(), "t1", id, yes("a"))
				require.NoError(t, err)
			}
			_, err := pool.Exec(t.Context(), `ALTER TABLE approval_proposal DISABLE TRIGGER USER; ALTER TABLE approval_decision DISABLE TRIGGER USER; `+statement)
			require.NoError(t, err)
			_, err = s.Find(t.Context(), "t1", "p_1")
			require.True(t, errors.Is(err, approval.ErrCorrupt) || errors.Is(err, redact.ErrSealed), "%v", err)
			_, err = s.Decide(t.Context(), "t1", "p_1", yes("c"))
			require.Error(t, err)
			_, err = s.Find(t.Context(), "t1", "p_2")
			require.NoError(t, err, "its neighbour is as it was")
		})
	}
}

// The database itself refuses what no method does.
func TestRowsAreImmutable(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	s := on(t, pool)
	for _, id := range []string{"p_1", "p_2"} {
		_, err := s.Create(t.Context(), proposal(id))
		require.NoError(t, err)
		_, err = s.Decide(t.Context(), "t1", id, yes("a"))
		require.NoError(t, err)
	}
	_, _, err := s.Consume(t.Context(), "t1", "p_1", "digest", "op_1")
	require.NoError(t, err)
	for _, statement := range []string{
		`UPDATE approval_proposal SET level = 'none'`,
		`UPDATE approval_proposal SET expires_ns = expires_ns + 1`,
		`UPDATE approval_proposal SET body = '\x00'`,
		`UPDATE approval_proposal SET body = NULL, digest = 'other'`,
		`UPDATE approval_decision SET approved = false`,
		`UPDATE approval_decision SET body = '\x00'`,
		`UPDATE approval_end SET operation_id = 'op_2'`,
		`UPDATE approval_policy SET version = 0`,
		`INSERT INTO approval_end (tenant_id, proposal_id, operation_id, ended_ns) VALUES ('t1', 'p_1', 'op_2', 1)`,
		`INSERT INTO approval_end (tenant_id, proposal_id, ended_ns) VALUES ('t1', 'p_2', 1)`,
		`INSERT INTO approval_decision SELECT tenant_id, proposal_id, 1, 'd_x', true, 'service', approver_tenant, approver_subject, 1, '\x00' FROM approval_decision WHERE proposal_id = 'p_2'`,
	} {
		_, err := pool.Exec(t.Context(), statement)
		require.Error(t, err, statement)
	}
}

// A role that does not own the tables sees one tenant's rows, and the store works under it.
func TestRowLevelSecurity(t *testing.T) {
	t.Parallel()
	dsn, pool := database(t)
	var schema string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT current_schema()`).Scan(&schema))
	role := schema + "_role"
	if _, err := pool.Exec(t.Context(), `CREATE ROLE `+role); err != nil {
		t.Skipf("row-level security is not tested: this user may not create a role (%v)", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		require.NoError(t, pgxtest.Exec(ctx, dsn, `DROP OWNED BY `+role+`; DROP ROLE `+role))
	})
	_, err := pool.Exec(t.Context(), `GRANT USAGE ON SCHEMA `+schema+` TO `+role)
	require.NoError(t, err)
	bound := connect(t, dsn, func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["role"] = role })
	_, err = pgstore.New(t.Context(), bound, redact.Plain())
	require.ErrorContains(t, err, "toolcontract_worker", "the hint is about the role, not about Migrate")
	_, err = pool.Exec(t.Context(), `GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA `+schema+` TO `+role)
	require.NoError(t, err)
	s := on(t, bound)
	for _, tenant := range []string{"t1", "t2"} {
		p := proposal("p_1")
		p.Tenant, p.Requester.Tenant = tenant, tenant
		_, err := s.Create(t.Context(), p)
		require.NoError(t, err)
		d := yes("a")
		_, err = s.Decide(t.Context(), tenant, "p_1", d)
		require.NoError(t, err)
	}
	_, ok, err := s.Consume(t.Context(), "t2", "p_1", "digest", "op_1")
	require.NoError(t, err)
	require.True(t, ok)
	rs, err := s.Alike(t.Context(), "t1", []string{"digest"})
	require.NoError(t, err)
	require.Len(t, rs, 1)

	var all, mine int
	require.NoError(t, bound.QueryRow(t.Context(), `SELECT count(*) FROM approval_proposal`).Scan(&all))
	require.Zero(t, all, "no tenant is set, and none is left over from the store's transactions")
	tx, err := bound.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT set_config('toolcontract.tenant', 't2', true)`)
	require.NoError(t, err)
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT count(*) FROM approval_proposal`).Scan(&all))
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT count(*) FROM approval_proposal WHERE tenant_id = 't2'`).Scan(&mine))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, 1, all)
	require.Equal(t, 1, mine)
}

// A role in toolcontract_worker needs no grant by hand, and sees every tenant's rows.
func TestWorkerRole(t *testing.T) {
	t.Parallel()
	dsn, _ := database(t)
	pool := connect(t, dsn, func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["role"] = "toolcontract_worker" })
	s := on(t, pool)
	for _, tenant := range []string{"t1", "t2"} {
		p := proposal("p_1")
		p.Tenant, p.Requester.Tenant = tenant, tenant
		_, err := s.Create(t.Context(), p)
		require.NoError(t, err)
		_, err = s.Decide(t.Context(), tenant, "p_1", yes("a"))
		require.NoError(t, err)
		_, ok, err := s.Consume(t.Context(), tenant, "p_1", "digest", "op_1")
		require.NoError(t, err)
		require.True(t, ok)
	}
	var all int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM approval_proposal`).Scan(&all))
	require.Equal(t, 2, all)
	_, err := s.Purge(t.Context(), approval.MaxLifetime, approval.MaxLifetime)
	require.NoError(t, err)
}

// The machinery's errors are none of the contract's, and name the operation.
func TestMachineryErrors(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	s := on(t, pool)
	_, err := pool.Exec(t.Context(), `DROP TABLE approval_end`)
	require.NoError(t, err)
	_, err = s.Find(t.Context(), "t1", "p_1")
	require.ErrorContains(t, err, "pgstore: find: ")
	_, _, err = s.Consume(t.Context(), "t1", "p_1", "digest", "op_1")
	require.ErrorContains(t, err, "pgstore: consume: ")
	_, _, err = s.Pending(t.Context(), "t1", approval.Page{})
	require.ErrorContains(t, err, "pgstore: pending: ")
	pool.Close()
	_, err = s.Find(t.Context(), "t1", "p_1")
	require.Error(t, err)
	require.NotErrorIs(t, err, approval.ErrNotFound)
}
