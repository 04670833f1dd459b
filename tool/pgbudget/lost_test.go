package pgbudget_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/pgbudget"
)

// The network's moods.
const (
	whole  int32 = iota
	deaf         // what is asked arrives, and no answer does
	broken       // nothing arrives
)

var errNetwork = errors.New("the network is down")

// line is a connection through that network; while it is not whole no other is made.
type line struct {
	net.Conn
	mood *atomic.Int32
}

func (l line) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if err == nil && l.mood.Load() == deaf { // the server has answered
		return 0, errNetwork
	}
	return n, err
}

func (l line) Write(b []byte) (int, error) {
	if l.mood.Load() == broken {
		_ = l.Close()
		return 0, errNetwork
	}
	return l.Conn.Write(b)
}

// overLine opens a store on one connection, whose statements are prepared already.
func overLine(t *testing.T, dsn string) (*pgbudget.Store, *atomic.Int32) {
	t.Helper()
	mood := new(atomic.Int32)
	cfg, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	cfg.MaxConns = 1
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if mood.Load() != whole {
			return nil, errNetwork
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return line{conn, mood}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s := open(t, pool, pgbudget.Config{Lease: 3 * time.Second})
	warm := tool.Budget{Calls: 9, Parallel: 9}
	require.NoError(t, s.Reserve(t.Context(), "t1", "run_0", one, warm, time.Now().Add(time.Hour)))
	require.NoError(t, s.Settle(t.Context(), "t1", "run_0", one, one))
	return s, mood
}

// counted is what the database has of the run.
func counted(t *testing.T, pool *pgxpool.Pool) (calls, places int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT calls, (SELECT count(*) FROM budget_place WHERE run_id = 'run_1') FROM budget_run WHERE run_id = 'run_1'`).Scan(&calls, &places))
	return calls, places
}

func becomes(t *testing.T, pool *pgxpool.Pool, calls, places int) {
	t.Helper()
	require.Eventually(t, func() bool { c, p := counted(t, pool); return c == calls && p == places }, 20*time.Second, 20*time.Millisecond)
}

// A reservation whose answer was lost, and that no other try could ask for: it counts until it is given back, whole.
func TestAReservationInDoubtCountsUntilItIsGivenBack(t *testing.T) {
	t.Parallel()
	dsn, pool := database(t)
	s, mood := overLine(t, dsn)
	limit, until := tool.Budget{Calls: 9, Parallel: 1, Tokens: 9}, time.Now().Add(time.Hour)
	mood.Store(deaf)
	err := s.Reserve(t.Context(), "t1", "run_1", tool.Budget{Calls: 1, Parallel: 1, Tokens: 5}, limit, until)
	require.Error(t, err)
	_, refused := errors.AsType[*envelope.Error](err)
	require.False(t, refused, "nobody knows: %v", err)
	calls, places := counted(t, pool)
	require.Equal(t, []int{1, 1}, []int{calls, places}, "it was taken")
	var e *envelope.Error
	require.ErrorAs(t, open(t, pool, pgbudget.Config{}).Reserve(t.Context(), "t1", "run_1", one, limit, until), &e)
	require.Equal(t, envelope.RateLimited, e.Code, "and is not free")
	mood.Store(whole)
	becomes(t, pool, 0, 0)
	require.NoError(t, s.Reserve(t.Context(), "t1", "run_1", tool.Budget{Calls: 1, Parallel: 1, Tokens: 9}, limit, until), "all of it can be used")
}

// A Settle that did not arrive, or whose answer did not, is made good, once.
func TestASettleThatFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]int32{"not arrived": broken, "not answered": deaf} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn, pool := database(t)
			s, mood := overLine(t, dsn)
			limit, until := tool.Budget{Calls: 9, Parallel: 2}, time.Now().Add(time.Hour)
			for range 2 {
				require.NoError(t, s.Reserve(t.Context(), "t1", "run_1", one, limit, until))
			}
			mood.Store(how)
			require.Error(t, s.Settle(t.Context(), "t1", "run_1", one, tool.Budget{}))
			mood.Store(whole)
			becomes(t, pool, 1, 1)
			require.NoError(t, s.Shutdown(t.Context()), "which tries what is left again")
			calls, places := counted(t, pool)
			require.Equal(t, []int{1, 0}, []int{calls, places}, "one call was given back, not two")
		})
	}
}

// A run is known as long as the latest end lies ahead that any of its reservations named, a refused one too: till then no
// purge makes its budget new.
func TestNoPurgeBeforeARunsEnd(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]tool.Budget{"taken": one, "refused": {Calls: 9}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, pool := database(t)
			now := time.Now()
			s := open(t, pool, pgbudget.Config{Now: func() time.Time { return now }})
			limit := tool.Budget{Calls: 2, Parallel: 9}
			require.NoError(t, s.Reserve(t.Context(), "t1", "run_1", one, limit, now))
			require.NoError(t, s.Settle(t.Context(), "t1", "run_1", one, one))
			err := s.Reserve(t.Context(), "t1", "run_1", later, limit, now.Add(time.Hour))
			require.Equal(t, name == "refused", err != nil)
			require.NoError(t, s.Settle(t.Context(), "t1", "run_1", one, one))
			_ = s.Reserve(t.Context(), "t1", "run_1", tool.Budget{}, limit, now) // an earlier end does not bring it nearer
			_, err = s.Purge(t.Context())
			require.NoError(t, err)
			require.Error(t, s.Reserve(t.Context(), "t1", "run_1", tool.Budget{Calls: 2}, limit, now.Add(time.Hour)), "one was used")
		})
	}
}

// Over a run's end the id begins a new budget.
func TestARunIDAfterThePurgeIsANewBudget(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	now := time.Now()
	s := open(t, pool, pgbudget.Config{Now: func() time.Time { return now }})
	limit := tool.Budget{Calls: 1, Parallel: 9}
	require.NoError(t, s.Reserve(t.Context(), "t1", "run_1", tool.Budget{Calls: 1}, limit, now))
	require.Error(t, s.Reserve(t.Context(), "t1", "run_1", tool.Budget{Calls: 1}, limit, now))
	n, err := s.Purge(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.NoError(t, s.Reserve(t.Context(), "t1", "run_1", tool.Budget{Calls: 1}, limit, now.Add(time.Hour)))
}

// Tables of the first version serve processes of the first version beside those of this one.
func TestTheFunctionsOfTheFirstVersionStay(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	s := open(t, pool, pgbudget.Config{})
	require.NoError(t, s.Reserve(t.Context(), "t1", "run_1", one, tool.Budget{Calls: 2, Parallel: 2}, time.Now().Add(time.Hour)))
	const first = `SELECT budget_reserve('t1', 'run_1', gen_random_uuid(), gen_random_uuid(), 60000000, 60000000, 1, 1, 0, 2, 2, 0, 0)`
	for _, want := range []int{0, 1} {
		var answer int
		require.NoError(t, pool.QueryRow(t.Context(), first).Scan(&answer))
		require.Equal(t, want, answer)
	}
}
