package pgledger_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/pgtest/pgxtest"

	"github.com/toolcontract/toolcontract/idem"
)

// scissors cuts a connection at one of its writes, once.
type scissors struct {
	countdown atomic.Int64 // 1: at the next write
	after     atomic.Bool  // the write arrives, and its answer does not
	cut       atomic.Bool  // it has happened
}

func (s *scissors) arm(n int, after bool) {
	s.cut.Store(false)
	s.after.Store(after)
	s.countdown.Store(int64(n))
}

type cutConn struct {
	net.Conn
	s *scissors
}

func (c *cutConn) Write(b []byte) (int, error) {
	if c.s.countdown.Add(-1) != 0 {
		return c.Conn.Write(b)
	}
	c.s.cut.Store(true)
	if !c.s.after.Load() {
		_ = c.Conn.Close()
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Write(b)
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.CloseRead()
	}
	return n, err
}

func (s *server) cut(sc *scissors) *pgxpool.Pool {
	s.t.Helper()
	cfg, err := pgxpool.ParseConfig(s.dsn)
	require.NoError(s.t, err)
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		return &cutConn{c, sc}, err
	}
	cfg.MaxConns, cfg.MinConns = 1, 0
	pool, err := pgxpool.NewWithConfig(s.t.Context(), cfg)
	require.NoError(s.t, err)
	s.all = append(s.all, pool.Close)
	return pool
}

// A connection that dies at any message of a call, before or after it arrived, changes neither the call's answer nor
// what is stored: the commit whose answer was lost is asked for by its token.
//
//nolint:tparallel // one connection is cut at a time
func TestConnectionDiesAnywhere(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	sc := new(scissors)
	l, err := s.openOn(s.cut(sc))
	require.NoError(t, err)
	other, err := s.open()
	require.NoError(t, err)
	ctx := t.Context()
	must := func(err error) { t.Helper(); require.NoError(t, err) }
	doubt := func(c idem.Command) {
		_, err := other.Finish(t.Context(), dispatched(t, other, c.Key.Operation), idem.Outcome{State: idem.Unknown})
		must(err)
	}
	var given idem.Claim // of the preparation, to be used
	for name, c := range map[string]struct {
		prepare func(c idem.Command)
		call    func(c idem.Command) error
		state   idem.State
	}{
		"Admit": {
			func(idem.Command) {},
			func(c idem.Command) error { _, _, err := l.Admit(ctx, c, false); return err },
			idem.Pending,
		},
		"Admit forgotten": {
			func(idem.Command) {},
			func(c idem.Command) error { _, _, err := l.Admit(ctx, c, true); return err },
			idem.Unknown,
		},
		"Claim": {
			func(c idem.Command) { _, _, err := other.Admit(ctx, c, false); must(err) },
			func(c idem.Command) error {
				got, err := l.Claim(ctx, c.Key, "w", time.Hour)
				require.Equal(t, string(c.Body), string(got.Command.Body))
				must(usable(ctx, other, got))
				return err
			},
			idem.Dispatching,
		},
		"ClaimOpen": {
			doubt,
			func(c idem.Command) error {
				got, err := l.ClaimOpen(ctx, c.Key, "w", time.Hour)
				must(usable(ctx, other, got))
				return err
			},
			idem.Unknown,
		},
		"Resend": {
			func(c idem.Command) {
				doubt(c)
				given, err = other.ClaimOpen(ctx, c.Key, "w", time.Hour)
				must(err)
			},
			func(idem.Command) error {
				got, err := l.Resend(ctx, given, time.Hour)
				must(usable(ctx, other, got))
				return err
			},
			idem.Dispatching,
		},
		"Finish": {
			func(c idem.Command) { given = dispatched(t, other, c.Key.Operation) },
			func(idem.Command) error {
				_, err := l.Finish(ctx, given, idem.Outcome{State: idem.Succeeded, Result: []byte(`1`)})
				return err
			},
			idem.Succeeded,
		},
		"NotSent": {
			func(c idem.Command) { given = dispatched(t, other, c.Key.Operation) },
			func(idem.Command) error {
				r, err := l.Finish(ctx, given, idem.Outcome{State: idem.Pending})
				require.Equal(t, int64(2), r.Command.Seq, "once, not twice")
				return err
			},
			idem.Pending,
		},
		"Close": {
			func(c idem.Command) { _, _, err := other.Admit(ctx, c, false); must(err) },
			func(c idem.Command) error { _, err := l.Close(ctx, c.Key, idem.Cancelled, ""); return err },
			idem.Cancelled,
		},
		"Resolve": {
			doubt,
			func(c idem.Command) error {
				_, err := l.Resolve(ctx, c.Key, idem.Resolution{State: idem.Succeeded, By: "olga", Reason: "asked", Evidence: "ticket"})
				return err
			},
			idem.Succeeded,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, after := range []bool{false, true} {
				cuts := 0
				for n := 1; n < 20; n++ {
					cmd := command(name + string(rune('a'+n)) + map[bool]string{false: "-before", true: "-after"}[after])
					c.prepare(cmd)
					sc.arm(n, after)
					require.NoError(t, c.call(cmd), "cut at write %d, after it: %v", n, after)
					if !sc.cut.Load() {
						break // the call has no further write
					}
					cuts++
					require.Equal(t, c.state, stateOf(t, other, cmd.Key), "cut at write %d, after it: %v", n, after)
				}
				sc.arm(0, false)
				require.Positive(t, cuts)
			}
		})
	}
}

// usable reports whether a claim that a call returned is the row's.
func usable(ctx context.Context, l idem.Ledger, c idem.Claim) error {
	_, err := l.Renew(ctx, c, time.Hour)
	return err
}

func TestPoolExhausted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.size = 1
	pool := s.pool("")
	l, err := s.openOn(pool)
	require.NoError(t, err)
	c := dispatched(t, l, "op_1")
	held, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = l.Finish(ctx, c, idem.Outcome{State: idem.Succeeded})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, _, err = l.Admit(ctx, command("op_2"), false)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	held.Release()
	require.Equal(t, idem.Dispatching, stateOf(t, l, c.Key))
	_, err = l.Finish(t.Context(), c, idem.Outcome{State: idem.Succeeded})
	require.NoError(t, err, "the same call, when there is a connection again")
}

// A pool that was closed does not open again: nothing is waited for.
func TestPoolClosed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	pool := s.pool("")
	l, err := s.openOn(pool)
	require.NoError(t, err)
	l.Shutdown()
	pool.Close()
	began := time.Now()
	_, err = l.Find(t.Context(), command("op_1").Key)
	require.ErrorContains(t, err, "closed pool")
	_, _, err = l.Admit(t.Context(), command("op_1"), false)
	require.ErrorContains(t, err, "closed pool")
	require.Less(t, time.Since(began), 2*time.Second, "it waited for a pool that does not come back")
}

// Connections are ended by the server all the time; nobody notices.
func TestConnectionsAreTerminated(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l, err := s.open()
	require.NoError(t, err)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = pgxtest.Exec(context.Background(), s.dsn, "SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a WHERE pid <> pg_backend_pid() AND query LIKE '%agent_command%' AND datname = current_database() AND EXISTS (SELECT FROM pg_locks k JOIN pg_class c ON c.oid = k.relation WHERE k.pid = a.pid AND c.relnamespace = current_schema()::regnamespace)")
			}
		}
	}()
	for i := range 60 {
		c := command("op_" + string(rune('A'+i)))
		_, _, err := l.Admit(t.Context(), c, false)
		require.NoError(t, err)
		claim, err := l.Claim(t.Context(), c.Key, "w", time.Hour)
		require.NoError(t, err)
		_, err = l.Finish(t.Context(), claim, idem.Outcome{State: idem.Succeeded, Result: []byte(`1`)})
		require.NoError(t, err)
	}
	close(stop)
	<-stopped
	for i := range 60 {
		require.Equal(t, idem.Succeeded, stateOf(t, l, command("op_"+string(rune('A'+i))).Key))
	}
}
