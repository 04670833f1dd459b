package sqlitestore_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvaltest"
	"github.com/toolcontract/toolcontract/approval/sqlitestore"
	"github.com/toolcontract/toolcontract/internal/proctest"
	"github.com/toolcontract/toolcontract/redact"
)

func TestMain(m *testing.M) {
	proctest.Main(child)
	os.Exit(m.Run())
}

func sealer(t *testing.T) redact.Sealer {
	t.Helper()
	s, err := redact.NewSealer(redact.Key{ID: "k1", Secret: bytes.Repeat([]byte{7}, 32)})
	require.NoError(t, err)
	return s
}

func open(t *testing.T, path string, opts ...sqlitestore.Option) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), path, sealer(t), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func file(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "approvals.db")
}

func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
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

func TestStore(t *testing.T) {
	t.Parallel()
	approvaltest.Run(t,
		func(t *testing.T) approval.Store {
			t.Helper()
			return open(t, file(t))
		},
		approvaltest.Clock(func(t *testing.T, now func() time.Time) approval.Store {
			t.Helper()
			return open(t, file(t), sqlitestore.WithClock(now))
		}),
		approvaltest.Lasting(func(t *testing.T) func() approval.Store {
			t.Helper()
			path := file(t)
			var last *sqlitestore.Store
			t.Cleanup(func() { require.NoError(t, last.Close()) })
			return func() approval.Store {
				if last != nil {
					require.NoError(t, last.Close())
				}
				var err error
				last, err = sqlitestore.Open(t.Context(), path, sealer(t))
				require.NoError(t, err)
				return last
			}
		}))
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	_, err := sqlitestore.Open(t.Context(), file(t), nil)
	require.ErrorContains(t, err, "no sealer")
	for _, path := range []string{"", ":memory:", "file:x.db"} {
		_, err := sqlitestore.Open(t.Context(), path, redact.Plain())
		require.ErrorContains(t, err, "the path of a file", path)
	}
	_, err = sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "none", "x.db"), redact.Plain())
	require.ErrorIs(t, err, os.ErrNotExist)

	garbage := file(t)
	require.NoError(t, os.WriteFile(garbage, bytes.Repeat([]byte("no database "), 1000), 0o600))
	_, err = sqlitestore.Open(t.Context(), garbage, redact.Plain())
	require.Error(t, err)
}

func TestOpenMakesAFileForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c#d%20é.db")
	s := open(t, path)
	_, err := s.Create(t.Context(), proposal("p_1"))
	require.NoError(t, err)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		require.NoError(t, err, "the very name that was given")
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}

func TestOpenTogether(t *testing.T) {
	t.Parallel()
	path := file(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := sqlitestore.Open(t.Context(), path, redact.Plain())
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// A file that is no WAL file yet, and that another process writes: the change of mode fails at once, whatever the busy
// timeout, and is tried again.
func TestOpenWaitsForAWriter(t *testing.T) {
	t.Parallel()
	path := file(t)
	db := raw(t, path)
	_, err := db.ExecContext(t.Context(), `CREATE TABLE x (a)`)
	require.NoError(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), `INSERT INTO x VALUES (1)`)
	require.NoError(t, err)
	released := make(chan error, 1)
	time.AfterFunc(100*time.Millisecond, func() { released <- tx.Rollback() })
	open(t, path)
	require.NoError(t, <-released)

	tx, err = db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), `INSERT INTO x VALUES (1)`)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = sqlitestore.Open(ctx, path, redact.Plain())
	require.Error(t, err, "not longer than the caller does")
	require.NoError(t, tx.Rollback())
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	steps, err := sqlitestore.Migrations()
	require.NoError(t, err)
	require.NotEmpty(t, steps)
	for i, m := range steps {
		require.Equal(t, i+1, m.Version)
		require.NotEmpty(t, m.Name)
		require.Contains(t, m.SQL, "CREATE")
	}
	path := file(t)
	open(t, path)
	_, err = raw(t, path).ExecContext(t.Context(), `INSERT INTO approval_schema (version, name, applied_ns) VALUES (?, 'later', 0)`, len(steps)+1)
	require.NoError(t, err)
	_, err = sqlitestore.Open(t.Context(), path, redact.Plain())
	require.ErrorContains(t, err, "schema version", "an older program does not touch a newer file")
}

func TestSealedAtRest(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := open(t, path)
	_, err := s.Create(t.Context(), proposal("p_1"))
	require.NoError(t, err)
	_, err = s.Decide(t.Context(), "t1", "p_1", yes("a"))
	require.NoError(t, err)
	require.Positive(t, occurrences(t, path, "p_1"), "the search finds what is there")
	require.Zero(t, occurrences(t, path, "canary"))

	other, err := redact.NewSealer(redact.Key{ID: "k1", Secret: bytes.Repeat([]byte{8}, 32)})
	require.NoError(t, err)
	stranger, err := sqlitestore.Open(t.Context(), path, other)
	require.NoError(t, err)
	defer func() { require.NoError(t, stranger.Close()) }()
	_, err = stranger.Find(t.Context(), "t1", "p_1")
	require.ErrorIs(t, err, redact.ErrSealed)
	_, err = stranger.Decide(t.Context(), "t1", "p_1", yes("b"))
	require.ErrorIs(t, err, redact.ErrSealed)
}

// occurrences counts a text in the file and those beside it.
func occurrences(t *testing.T, path, text string) int {
	t.Helper()
	n := 0
	for _, name := range []string{path, path + "-wal"} {
		b, err := os.ReadFile(name)
		if !errors.Is(err, os.ErrNotExist) {
			require.NoError(t, err)
		}
		n += bytes.Count(b, []byte(text))
	}
	return n
}

func TestPurgeErasesForGood(t *testing.T) {
	t.Parallel()
	path := file(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s, err := sqlitestore.Open(t.Context(), path, redact.Plain(), sqlitestore.WithClock(func() time.Time { return now }))
	require.NoError(t, err)
	const many = 1203 // more than two transactions' worth
	for i := range many {
		_, err := s.Create(t.Context(), proposal(fmt.Sprintf("p_%d", i)))
		require.NoError(t, err)
	}
	_, err = s.Decide(t.Context(), "t1", "p_7", yes("a"))
	require.NoError(t, err)
	require.Positive(t, occurrences(t, path, "canary"))
	now = now.Add(time.Minute + time.Hour)
	n, err := s.Purge(t.Context(), time.Hour, 2*time.Hour)
	require.NoError(t, err)
	require.Equal(t, many, n)
	r, err := s.Find(t.Context(), "t1", "p_7")
	require.NoError(t, err)
	require.Equal(t, approval.Expired, r.State)
	require.Len(t, r.Decisions, 1)
	require.NoError(t, s.Close())
	require.Zero(t, occurrences(t, path, "canary"), "overwritten, not only unlinked")

	now = now.Add(time.Hour)
	s = open(t, path, sqlitestore.WithClock(func() time.Time { return now }))
	n, err = s.Purge(t.Context(), time.Hour, 2*time.Hour)
	require.NoError(t, err)
	require.Equal(t, many, n)
	var left int
	require.NoError(t, raw(t, path).QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM approval_proposal) + (SELECT count(*) FROM approval_decision)`).Scan(&left))
	require.Zero(t, left)
}

// The database itself refuses what no method does.
func TestRowsAreImmutable(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := open(t, path)
	for _, id := range []string{"p_1", "p_2"} {
		_, err := s.Create(t.Context(), proposal(id))
		require.NoError(t, err)
		_, err = s.Decide(t.Context(), "t1", id, yes("a"))
		require.NoError(t, err)
	}
	_, _, err := s.Consume(t.Context(), "t1", "p_1", "digest", "op_1")
	require.NoError(t, err)
	db := raw(t, path)
	for _, statement := range []string{
		`UPDATE approval_proposal SET level = 'none'`,
		`UPDATE approval_proposal SET expires_ns = expires_ns + 1`,
		`UPDATE approval_proposal SET body = x'00'`,
		`UPDATE approval_proposal SET body = NULL, digest = 'other'`,
		`UPDATE approval_decision SET approved = 0`,
		`UPDATE approval_decision SET body = x'00'`,
		`UPDATE approval_end SET operation_id = 'op_2'`,
		`UPDATE approval_policy SET version = 0`,
		`INSERT INTO approval_end (tenant_id, proposal_id, operation_id, ended_ns) VALUES ('t1', 'p_1', 'op_2', 1)`,
		`INSERT INTO approval_end (tenant_id, proposal_id, ended_ns) VALUES ('t1', 'p_2', 1)`,
		`INSERT INTO approval_decision SELECT tenant_id, proposal_id, 1, 'd_x', 1, 'service', approver_tenant, approver_subject, 1, x'00' FROM approval_decision WHERE proposal_id = 'p_2'`,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.Error(t, err, statement)
	}
}

// Whoever writes to the file without the key cannot make a record say something else.
func TestTampering(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"a level":              `UPDATE approval_proposal SET level = 'none' WHERE proposal_id = 'p_1'`,
		"a digest":             `UPDATE approval_proposal SET digest = 'other' WHERE proposal_id = 'p_1'`,
		"an expiry":            `UPDATE approval_proposal SET expires_ns = expires_ns + 1000 WHERE proposal_id = 'p_1'`,
		"a subject":            `UPDATE approval_proposal SET requester_subject = 'other' WHERE proposal_id = 'p_1'`,
		"a run":                `UPDATE approval_proposal SET run_id = 'other' WHERE proposal_id = 'p_1'`,
		"another's body":       `UPDATE approval_proposal SET body = (SELECT body FROM approval_proposal WHERE proposal_id = 'p_2') WHERE proposal_id = 'p_1'`,
		"a body":               `UPDATE approval_proposal SET body = x'7b7d' WHERE proposal_id = 'p_1'`,
		"a verdict":            `UPDATE approval_decision SET approved = 1 - approved WHERE proposal_id = 'p_1'`,
		"an approver":          `UPDATE approval_decision SET approver_subject = 'other' WHERE proposal_id = 'p_1'`,
		"a decision's time":    `UPDATE approval_decision SET decided_ns = 1 WHERE proposal_id = 'p_1'`,
		"an invented decision": `INSERT INTO approval_decision SELECT tenant_id, 'p_1', 1, 'd_x', 1, approver_kind, approver_tenant, 'b', decided_ns, body FROM approval_decision WHERE proposal_id = 'p_2'`,
		"an unknown kind":      `PRAGMA ignore_check_constraints = 1; UPDATE approval_decision SET approver_kind = 'robot' WHERE proposal_id = 'p_1'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t)
			s := open(t, path)
			for _, id := range []string{"p_1", "p_2"} {
				p := proposal(id)
				p.Requirement.Level = approval.Two
				_, err := s.Create(t.Context(), p)
				require.NoError(t, err)
				_, err = s.Decide(t.Context(), "t1", id, yes("a"))
				require.NoError(t, err)
			}
			_, err := raw(t, path).ExecContext(t.Context(), `DROP TRIGGER approval_proposal_immutable; DROP TRIGGER approval_decision_immutable;`+statement)
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

// The machinery's errors are none of the contract's, and name the operation.
func TestMachineryErrors(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := open(t, path)
	_, err := s.Create(t.Context(), proposal("p_1"))
	require.NoError(t, err)
	_, err = raw(t, path).ExecContext(t.Context(), `DROP TABLE approval_end`)
	require.NoError(t, err)
	_, err = s.Find(t.Context(), "t1", "p_1")
	require.ErrorContains(t, err, "sqlitestore: find: ")
	_, _, err = s.Consume(t.Context(), "t1", "p_1", "digest", "op_1")
	require.ErrorContains(t, err, "sqlitestore: consume: ")
	_, _, err = s.Pending(t.Context(), "t1", approval.Page{})
	require.ErrorContains(t, err, "sqlitestore: pending: ")
}
