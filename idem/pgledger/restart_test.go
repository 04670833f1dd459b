package pgledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/pgledger"
	"github.com/toolcontract/toolcontract/redact"
)

// cluster is a PostgreSQL server of the test's own, which can be stopped and started.
type cluster struct {
	bin, dir string
	as       *syscall.Credential
}

// newCluster skips where the programs of a server are not there; where CI is set that fails.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	require.NoError(t, err)
	if path, err := exec.LookPath("initdb"); err == nil {
		bins = append(bins, path)
	}
	if len(bins) == 0 {
		const why = "no initdb to make a server with: install postgresql (Debian: apt-get install postgresql)"
		if os.Getenv("CI") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	dir, err := os.MkdirTemp("/tmp", "pg") //nolint:usetesting // the path of a socket is short, and a folder of the server's user
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	c := &cluster{bin: filepath.Dir(bins[len(bins)-1]), dir: dir}
	if os.Getuid() == 0 { // a server refuses to run as root
		u, err := user.Lookup("postgres")
		require.NoError(t, err)
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		require.NoError(t, err)
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		require.NoError(t, err)
		c.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		require.NoError(t, os.Chown(dir, int(uid), int(gid)))
	}
	c.run(t, "initdb", "-D", dir+"/data", "-U", "test", "-A", "trust", "--no-sync")
	t.Cleanup(func() { _ = c.command("pg_ctl", "-D", dir+"/data", "-m", "immediate", "stop").Run() })
	c.start(t)
	return c
}

func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	return cmd
}

func (c *cluster) run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := os.Create(filepath.Join(c.dir, "out")) // the server keeps what it was given
	require.NoError(t, err)
	defer out.Close() //nolint:errcheck // read below by name
	cmd := c.command(name, args...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		require.NoError(t, err, "%s: %s", name, said)
	}
}

func (c *cluster) start(t *testing.T) {
	t.Helper()
	c.run(t, "pg_ctl", "-D", c.dir+"/data", "-w", "-l", c.dir+"/log", "-o", "-c listen_addresses='' -k "+c.dir, "start")
}

func (c *cluster) stop(t *testing.T, mode string) {
	t.Helper()
	c.run(t, "pg_ctl", "-D", c.dir+"/data", "-w", "-m", mode, "stop")
}

// The server is stopped and started under load. A call waits for it a while, or fails; one that is repeated gets the
// answer it would have got, but for a Claim that was committed when the server went: nobody has it, and its lease ends.
// Nothing that was answered is lost, and nothing is claimed twice.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	cfg, err := pgxpool.ParseConfig("host=" + c.dir + " user=test dbname=postgres")
	require.NoError(t, err)
	cfg.MaxConns = 4
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.NoError(t, pgledger.Migrate(t.Context(), pool))
	l, err := pgledger.Open(t.Context(), pool, pgledger.Config{Sealer: redact.Plain()})
	require.NoError(t, err)
	t.Cleanup(l.Shutdown)

	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	finished, failures := map[string]bool{}, 0
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				op := fmt.Sprintf("op_%d_%d", w, i)
				n, err := carry(context.WithoutCancel(ctx), l, op)
				mu.Lock()
				failures += n
				finished[op] = err == nil
				mu.Unlock()
				if err != nil && (n == 0 || !errors.Is(err, idem.ErrState)) {
					t.Errorf("%s: %v", op, err)
				}
			}
		})
	}
	for _, mode := range []string{"fast", "immediate", "fast"} {
		waitFor(t, &mu, finished)
		c.stop(t, mode)
		c.start(t)
	}
	waitFor(t, &mu, finished)
	stop()
	wg.Wait()
	t.Logf("%d operations, %d calls failed", len(finished), failures)
	for op, ok := range finished {
		r, err := l.Find(t.Context(), command(op).Key)
		require.NoError(t, err)
		require.Equal(t, map[bool]idem.State{true: idem.Succeeded, false: idem.Dispatching}[ok], r.State)
		require.Len(t, r.Attempts, 1, "claimed once")
	}
}

// carry runs an operation to its end, repeating calls that fail for want of a server. It returns how many did.
func carry(ctx context.Context, l idem.Ledger, op string) (failures int, err error) {
	c := command(op)
	again := func(f func() error) error {
		for {
			err := f()
			if err == nil || !strings.HasPrefix(err.Error(), "idem: postgres:") || failures > 1000 {
				return err
			}
			failures++
		}
	}
	if err := again(func() error { _, _, err := l.Admit(ctx, c, false); return err }); err != nil {
		return failures, err
	}
	var claim idem.Claim
	if err := again(func() (err error) { claim, err = l.Claim(ctx, c.Key, "w", time.Hour); return err }); err != nil {
		return failures, err
	}
	return failures, again(func() error {
		_, err := l.Finish(ctx, claim, idem.Outcome{State: idem.Succeeded, Result: []byte(`1`)})
		return err
	})
}

// waitFor waits until some more operations have finished.
func waitFor(t *testing.T, mu *sync.Mutex, finished map[string]bool) {
	t.Helper()
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(finished)
	}
	from := count()
	require.Eventually(t, func() bool { return count() > from+40 }, time.Minute, 5*time.Millisecond)
}
