package sqliteledger_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
	"github.com/toolcontract/toolcontract/redact"
)

const (
	childFile = "SQLITELEDGER_TEST_CHILD"
	childName = "SQLITELEDGER_TEST_NAME"
	childRuns = 60
)

// TestMain runs the test binary as a child process that writes operations to a file and prints each when it was answered.
func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		if err := child(context.Background(), path, os.Getenv(childName)); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(ctx context.Context, path, name string) error {
	l, err := sqliteledger.Open(ctx, path, sqliteledger.Config{Sealer: redact.Plain()})
	if err != nil {
		return err
	}
	for i := 0; name == "forever" || i < childRuns; i++ {
		c := command(fmt.Sprintf("op_%s_%d", name, i))
		c.Resource = "shared-by-" + name
		if c.Seq, _, err = l.Resource(ctx, c.Key.Tenant, c.Resource); err != nil {
			return err
		}
		if _, _, err := l.Admit(ctx, c, false); err != nil {
			return fmt.Errorf("admit: %w", err)
		}
		fmt.Println("admitted", c.Key.Operation)
		claim, err := l.Claim(ctx, c.Key, name, time.Minute)
		if err != nil {
			return fmt.Errorf("claim: %w", err)
		}
		fmt.Println("claimed", c.Key.Operation)
		if _, err := l.Finish(ctx, claim, idem.Outcome{State: idem.Succeeded, Result: []byte(`{"done":true}`)}); err != nil {
			return fmt.Errorf("finish: %w", err)
		}
		fmt.Println("finished", c.Key.Operation)
	}
	return l.Shutdown()
}

func start(t *testing.T, path, name string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childFile+"="+path, childName+"="+name)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

// said returns the last that was answered for each operation.
func said(sc *bufio.Scanner, until func(line string) bool) map[string]string {
	last := map[string]string{}
	for sc.Scan() {
		what, op, _ := strings.Cut(sc.Text(), " ")
		last[op] = what
		if until(sc.Text()) {
			break
		}
	}
	return last
}

func never(string) bool { return false }

func TestTwoProcessesNeverBusy(t *testing.T) {
	t.Parallel()
	o := newOpener(t)
	o.cfg.Sealer = redact.Plain() // as the children's
	var mu sync.Mutex
	all := map[string]string{}
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		cmd, sc := start(t, o.path, name)
		wg.Go(func() {
			got := said(sc, never)
			mu.Lock()
			defer mu.Unlock()
			for op, what := range got {
				all[op] = what
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	wg.Wait()
	require.Len(t, all, 2*childRuns, "every call was answered: %v", all)
	_, err := o.open()
	require.NoError(t, err)
	for op, what := range all {
		require.Equal(t, "finished", what)
		r, err := o.all[0].Find(t.Context(), command(op).Key)
		require.NoError(t, err)
		require.Equal(t, idem.Succeeded, r.State)
	}
}

func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	o := newOpener(t)
	o.cfg.Sealer = redact.Plain() // as the children's
	all := map[string]string{}
	for round := range 5 {
		o.shut()
		name := fmt.Sprint("r", round)
		cmd, sc := start(t, o.path, name)
		lines := 0
		got := said(sc, func(string) bool { lines++; return lines > 20+7*round })
		require.NoError(t, cmd.Process.Kill())
		for op, what := range said(sc, never) { // what it had still printed
			got[op] = what
		}
		_ = cmd.Wait() // killed
		for op, what := range got {
			all[op] = what
		}
		_, err := o.open()
		require.NoError(t, err)
		sound(t, o.all[len(o.all)-1], all)
	}
	require.Greater(t, len(all), 30)
}

// sound checks the file and that it holds everything that was answered.
func sound(t *testing.T, l *sqliteledger.Ledger, all map[string]string) {
	t.Helper()
	rank := map[string]int{"admitted": 1, "claimed": 2, "finished": 3}
	reached := map[idem.State]int{idem.Pending: 1, idem.Dispatching: 2, idem.Succeeded: 3}
	for op, what := range all {
		r, err := l.Find(t.Context(), command(op).Key)
		require.NoError(t, err)
		require.GreaterOrEqual(t, reached[r.State], rank[what], "%s was %s, and is %s", op, what, r.State)
	}
	for _, q := range []struct{ sql, want, why string }{
		{"PRAGMA integrity_check", "ok", "the file is whole"},
		{"SELECT count(*) FROM agent_command c LEFT JOIN command_outbox o USING (tenant_id, operation_id) WHERE (c.ended_at IS NULL) <> (o.tool IS NOT NULL)", "0", "a row is in the outbox until it is terminal"},
		{"SELECT count(*) FROM agent_command c JOIN agent_resource r USING (tenant_id, resource) WHERE c.state = 'dispatching' AND r.open_operation <> c.operation_id", "0", "an open operation holds its resource"},
		{"SELECT count(*) FROM agent_resource r JOIN agent_command c ON c.operation_id = r.open_operation WHERE c.state <> 'dispatching'", "0", "a resource is held by an open operation"},
	} {
		var got string
		require.NoError(t, l.DB().QueryRowContext(t.Context(), q.sql).Scan(&got))
		require.Equal(t, q.want, got, q.why)
	}
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	o := newOpener(t)
	_, err := o.open()
	require.NoError(t, err)
	l := o.all[0]
	ctx, big := t.Context(), command("op_big")
	_, claim := dispatched(t, l, "op_1")
	pages, err := l.Limit(ctx, 1) // no further page
	require.NoError(t, err)
	big.Body = []byte(`"` + strings.Repeat("x", 100_000) + `"`)
	_, _, err = l.Admit(ctx, big, false)
	require.ErrorContains(t, err, "full")
	_, err = l.Find(ctx, big.Key)
	require.ErrorIs(t, err, idem.ErrNotFound, "nothing of it is there")
	_, err = l.Finish(ctx, claim, idem.Outcome{State: idem.Succeeded, Result: big.Body})
	require.ErrorContains(t, err, "full")
	r, err := l.Find(ctx, claim.Key)
	require.NoError(t, err)
	require.Equal(t, idem.Dispatching, r.State, "the claim stands")

	_, err = l.Limit(ctx, pages+1000)
	require.NoError(t, err)
	r, err = l.Finish(ctx, claim, idem.Outcome{State: idem.Succeeded, Result: big.Body})
	require.NoError(t, err, "the same call, when there is space again")
	require.Equal(t, idem.Succeeded, r.State)
	_, how, err := l.Admit(ctx, big, false)
	require.NoError(t, err)
	require.Equal(t, idem.Admitted, how)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	o := newOpener(t)
	_, err := sqliteledger.Open(t.Context(), o.path, sqliteledger.Config{})
	require.ErrorContains(t, err, "no sealer")
	for _, path := range []string{"", ":memory:"} {
		_, err = sqliteledger.Open(t.Context(), path, o.cfg)
		require.ErrorContains(t, err, "needs a file")
	}
	_, err = sqliteledger.Open(t.Context(), t.TempDir()+"/none/ledger.db", o.cfg)
	require.ErrorIs(t, err, os.ErrNotExist)

	_, err = o.open()
	require.NoError(t, err)
	info, err := os.Stat(o.path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, o.all[0].Version(t.Context(), 99))
	o.shut()
	_, err = sqliteledger.Open(t.Context(), o.path, o.cfg)
	require.ErrorContains(t, err, "version 99")
	require.Contains(t, sqliteledger.Schema(), "CREATE TABLE agent_command")
}

func TestPragmasAreReadBack(t *testing.T) {
	t.Parallel()
	o := newOpener(t)
	_, err := o.open()
	require.NoError(t, err)
	for pragma, dsn := range map[string]string{
		"synchronous":  "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)",
		"foreign_keys": "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)",
		"busy_timeout": "?_pragma=busy_timeout(1)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(FULL)",
		"journal_mode": "?_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_pragma=synchronous(FULL)",
	} {
		path := "file:" + t.TempDir() + "/x.db"
		db, err := sql.Open("sqlite", path+dsn)
		require.NoError(t, err)
		require.ErrorContains(t, sqliteledger.ReadBack(t.Context(), db), pragma)
		require.NoError(t, db.Close())
	}
	require.NoError(t, sqliteledger.ReadBack(t.Context(), o.all[0].DB()))
}

func TestSealedAtRest(t *testing.T) {
	t.Parallel()
	o := newOpener(t)
	_, err := o.open()
	require.NoError(t, err)
	l := o.all[0]
	_, one := dispatched(t, l, "op_1")
	_, err = l.Finish(t.Context(), one, idem.Outcome{State: idem.Succeeded, Result: []byte(`"canary-result"`)})
	require.NoError(t, err)
	_, err = l.Finish(t.Context(), idem.Claim{Key: one.Key, Generation: 1, Token: "late"}, idem.Outcome{State: idem.Succeeded, Result: []byte(`"canary-late"`)})
	require.ErrorIs(t, err, idem.ErrFenced)
	_, two := dispatched(t, l, "op_2")
	_, err = l.Finish(t.Context(), two, idem.Outcome{State: idem.Unknown})
	require.NoError(t, err)
	_, err = l.Resolve(t.Context(), two.Key, idem.Resolution{State: idem.Succeeded, By: "olga", Reason: "canary-reason", Evidence: "canary-evidence"})
	require.NoError(t, err)
	r, err := l.Find(t.Context(), one.Key)
	require.NoError(t, err)
	require.Equal(t, `"canary-late"`, string(r.Evidence[0].Outcome.Result))
	o.shut()
	b, err := os.ReadFile(o.path)
	require.NoError(t, err)
	require.Contains(t, string(b), "op_1", "the search finds what is not sealed")
	require.NotContains(t, string(b), "canary")
}

func TestWhatDoesNotOpenIsNotClaimed(t *testing.T) {
	t.Parallel()
	o := newOpener(t)
	_, err := o.open()
	require.NoError(t, err)
	l := o.all[0]
	c := command("op_1")
	_, _, err = l.Admit(t.Context(), c, false)
	require.NoError(t, err)
	_, err = l.DB().ExecContext(t.Context(), "UPDATE agent_command SET body = CAST(body || x'00' AS BLOB)")
	require.NoError(t, err)
	_, err = l.Claim(t.Context(), c.Key, "w", time.Hour)
	require.ErrorIs(t, err, redact.ErrSealed)
	var state string
	require.NoError(t, l.DB().QueryRowContext(t.Context(), "SELECT state FROM agent_command").Scan(&state))
	require.Equal(t, "pending", state, "nobody can send it, and it is not unknown")
}
