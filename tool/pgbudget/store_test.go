package pgbudget_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/pgtest/pgxtest"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/pgtest"
	"github.com/toolcontract/toolcontract/internal/proctest"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/budgettest"
	"github.com/toolcontract/toolcontract/tool/pgbudget"
)

func TestMain(m *testing.M) {
	proctest.Main(child)
	os.Exit(m.Run())
}

// database returns a migrated schema of the test's own.
func database(t *testing.T) (string, *pgxpool.Pool) {
	t.Helper()
	dsn := pgtest.Schema(t, pgxtest.Exec)
	cfg, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	cfg.MaxConns = 6
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.NoError(t, pgbudget.Migrate(t.Context(), pool))
	return dsn, pool
}

func open(t *testing.T, pool *pgxpool.Pool, cfg pgbudget.Config) *pgbudget.Store {
	t.Helper()
	s, err := pgbudget.Open(t.Context(), pool, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
	return s
}

func TestStoreKeepsTheRules(t *testing.T) {
	t.Parallel()
	budgettest.Run(t, func(t *testing.T) tool.BudgetStore {
		t.Helper()
		_, pool := database(t)
		return open(t, pool, pgbudget.Config{})
	})
}

var one = tool.Budget{Calls: 1, Parallel: 1}

const lease = time.Minute

// child is another process: "load" takes calls of the run until there are none, "hold" takes two places and stays.
func child(arg string, begin func()) (string, error) {
	what, dsn, _ := strings.Cut(arg, "|")
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	s, err := pgbudget.Open(ctx, pool, pgbudget.Config{Lease: lease})
	if err != nil {
		return "", err
	}
	until := time.Now().Add(time.Hour)
	if what == "hold" {
		for range 2 {
			if err := s.Reserve(ctx, "t1", "run_1", one, tool.Budget{Calls: 9, Parallel: 2}, until); err != nil {
				return "", err
			}
		}
		begin()
		return "", errors.New("this child is killed")
	}
	begin()
	n, tokens, err := spend(ctx, s, until)
	return fmt.Sprintf("%d %d", n, tokens), err
}

var shared = tool.Budget{Calls: 400, Parallel: 6, Tokens: 1000}

// spend takes calls, and three tokens with each, in eight goroutines, until the run's calls are used up.
func spend(ctx context.Context, s *pgbudget.Store, until time.Time) (calls, tokens int, err error) {
	type share struct {
		calls, tokens int
		err           error
	}
	shares := make(chan share)
	for range 8 {
		go func() {
			var own share
			defer func() { shares <- own }()
			for {
				err := s.Reserve(ctx, "t1", "run_1", one, shared, until)
				if e, ok := errors.AsType[*envelope.Error](err); ok {
					if e.Code == envelope.BudgetExhausted {
						return
					}
					continue // too much at once
				}
				if err != nil {
					own.err = err
					return
				}
				own.calls++
				if s.Reserve(ctx, "t1", "run_1", tool.Budget{Tokens: 3}, shared, until) == nil {
					own.tokens += 3
				}
				if own.err = s.Settle(ctx, "t1", "run_1", one, tool.Budget{Calls: 1}); own.err != nil {
					return
				}
			}
		}()
	}
	for range 8 {
		own := <-shares
		calls, tokens, err = calls+own.calls, tokens+own.tokens, errors.Join(err, own.err)
	}
	return calls, tokens, err
}

// Two processes with one run: what they take together is what there was, to the last call.
func TestTwoProcessesShareOneBudget(t *testing.T) {
	t.Parallel()
	dsn, pool := database(t)
	calls, tokens := 0, 0
	for _, line := range proctest.Race(t, "load|"+dsn, "load|"+dsn) {
		a, b, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(a)
		require.NoError(t, err)
		require.Positive(t, n, "each process gets some of it")
		m, err := strconv.Atoi(b)
		require.NoError(t, err)
		calls, tokens = calls+n, tokens+m
	}
	require.Equal(t, shared.Calls, calls)
	require.Equal(t, 999, tokens, "the most that threes make of %d", shared.Tokens)
	var storedCalls, storedTokens, places int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT calls, tokens, (SELECT count(*) FROM budget_place) FROM budget_run`).Scan(&storedCalls, &storedTokens, &places))
	require.Equal(t, []int{400, 999, 0}, []int{storedCalls, storedTokens, places})
}

// A process that is killed holds its places until its lease is over, by the database's clock, and not longer.
func TestTheDeadGiveBack(t *testing.T) {
	t.Parallel()
	dsn, pool := database(t)
	_, err := pool.Exec(t.Context(), `CREATE TABLE test_clock (at timestamptz NOT NULL); INSERT INTO test_clock VALUES (now());
		CREATE OR REPLACE FUNCTION budget_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT at FROM test_clock'`)
	require.NoError(t, err)
	kill := proctest.Ready(t, "hold|"+dsn)
	s := open(t, pool, pgbudget.Config{Lease: lease})
	limit := tool.Budget{Calls: 3, Parallel: 2}
	reserve := func() envelope.Code {
		err := s.Reserve(t.Context(), "t1", "run_1", one, limit, time.Now().Add(time.Hour))
		if err == nil {
			return ""
		}
		e, ok := errors.AsType[*envelope.Error](err)
		require.True(t, ok, "%v", err)
		return e.Code
	}
	require.Equal(t, envelope.RateLimited, reserve(), "both places are another process's")
	kill()
	require.Equal(t, envelope.RateLimited, reserve(), "it is dead, and its lease still lives")
	_, err = pool.Exec(t.Context(), `UPDATE test_clock SET at = at + interval '59 seconds'`)
	require.NoError(t, err)
	require.Equal(t, envelope.RateLimited, reserve(), "a second before the lease is over")
	_, err = pool.Exec(t.Context(), `UPDATE test_clock SET at = at + interval '1 second'`)
	require.NoError(t, err)
	require.Empty(t, reserve(), "its lease is over")
	require.Equal(t, envelope.BudgetExhausted, reserve(), "the calls of the dead stay counted")
}

// A reservation ends with the time that it named, whoever holds it.
func TestAReservationEndsWithItsRun(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	now := time.Now()
	s := open(t, pool, pgbudget.Config{Now: func() time.Time { return now }})
	limit := tool.Budget{Calls: 9, Parallel: 1}
	require.NoError(t, s.Reserve(t.Context(), "t1", "run_1", one, limit, now))
	require.NoError(t, s.Reserve(t.Context(), "t1", "run_1", one, limit, now.Add(time.Hour)), "the first ended at once")
	require.Error(t, s.Reserve(t.Context(), "t1", "run_1", one, limit, now.Add(time.Hour)))
}

func TestWhatALiveProcessHoldsIsRenewed(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	s := open(t, pool, pgbudget.Config{Lease: 30 * time.Millisecond})
	require.NoError(t, s.Reserve(t.Context(), "t1", "run_1", one, tool.Budget{Calls: 9, Parallel: 1}, time.Now().Add(time.Hour)))
	var first time.Time
	const look = `SELECT lease_until FROM budget_holder`
	require.NoError(t, pool.QueryRow(t.Context(), look).Scan(&first))
	require.Eventually(t, func() bool {
		var later time.Time
		return pool.QueryRow(t.Context(), look).Scan(&later) == nil && later.After(first.Add(30*time.Millisecond))
	}, 20*time.Second, time.Millisecond)
}

func TestShutdownGivesBack(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	gone := open(t, pool, pgbudget.Config{})
	limit := tool.Budget{Calls: 9, Parallel: 1}
	until := time.Now().Add(time.Hour)
	require.NoError(t, gone.Reserve(t.Context(), "t1", "run_1", one, limit, until))
	require.NoError(t, gone.Shutdown(t.Context()))
	require.NoError(t, open(t, pool, pgbudget.Config{}).Reserve(t.Context(), "t1", "run_1", one, limit, until))
}

func TestPurgeForgetsWhatIsOver(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	now := time.Now()
	s := open(t, pool, pgbudget.Config{Now: func() time.Time { return now }})
	limit := tool.Budget{Calls: 9, Parallel: 9}
	require.NoError(t, s.Reserve(t.Context(), "t1", "run_over", one, limit, now))
	require.NoError(t, s.Reserve(t.Context(), "t1", "run_live", one, limit, now.Add(time.Hour)))
	n, err := s.Purge(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n, "the run that is over, and its place")
	var runs, places int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM budget_run), (SELECT count(*) FROM budget_place)`).Scan(&runs, &places))
	require.Equal(t, []int{1, 1}, []int{runs, places})
}

// The database's answer is lost after it took the reservation: it is given back, and not counted twice.
func TestALostAnswerIsNotTakenTwice(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	var id string
	limit := tool.Budget{Calls: 9, Parallel: 1}
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT gen_random_uuid()`).Scan(&id))
	const again = `SELECT budget_reserve('t1', 'run_1', $1, gen_random_uuid(), 60000000, 60000000, 1, 1, 0, $2, $3, 0, 0)`
	for range 2 {
		var answer int
		require.NoError(t, pool.QueryRow(t.Context(), again, id, limit.Calls, limit.Parallel).Scan(&answer))
		require.Zero(t, answer, "the same reservation again is the same")
	}
	const settle = `SELECT budget_settle('t1', 'run_1', $1, 1, 0)`
	for _, want := range []bool{true, false} {
		var there bool
		require.NoError(t, pool.QueryRow(t.Context(), settle, id).Scan(&there))
		require.Equal(t, want, there)
	}
	var calls int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT calls FROM budget_run`).Scan(&calls))
	require.Zero(t, calls)
}

func TestADatabaseThatCannotBeAskedIsNoRefusal(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	s := open(t, pool, pgbudget.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Reserve(ctx, "t1", "run_1", one, tool.Budget{Calls: 9, Parallel: 1}, time.Now().Add(time.Hour))
	require.ErrorIs(t, err, context.Canceled)
	_, ok := errors.AsType[*envelope.Error](err)
	require.False(t, ok)
}

// A role in toolcontract_worker needs no grant by hand; any other is told what it lacks.
func TestWorkerRole(t *testing.T) {
	t.Parallel()
	dsn, _ := database(t)
	as := func(role string) *pgxpool.Pool {
		cfg, err := pgxpool.ParseConfig(dsn)
		require.NoError(t, err)
		cfg.ConnConfig.RuntimeParams["role"] = role
		pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		return pool
	}
	s := open(t, as("toolcontract_worker"), pgbudget.Config{})
	limit := tool.Budget{Calls: 1, Parallel: 1}
	for _, tenant := range []string{"t1", "t2"} {
		require.NoError(t, s.Reserve(t.Context(), tenant, "run", one, limit, time.Now().Add(time.Minute)))
		require.Error(t, s.Reserve(t.Context(), tenant, "run", one, limit, time.Now().Add(time.Minute)))
		require.NoError(t, s.Settle(t.Context(), tenant, "run", one, tool.Budget{}))
		require.NoError(t, s.Reserve(t.Context(), tenant, "run", one, limit, time.Now().Add(time.Minute)))
	}
	_, err := s.Purge(t.Context())
	require.NoError(t, err)
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	_, err := pgbudget.Open(t.Context(), nil, pgbudget.Config{})
	require.Error(t, err)
	_, err = pgbudget.Open(t.Context(), pool, pgbudget.Config{Lease: -1})
	require.Error(t, err)
	require.NoError(t, pgbudget.Migrate(t.Context(), pool), "again")
	_, err = pool.Exec(t.Context(), `INSERT INTO budget_schema VALUES (3)`)
	require.NoError(t, err)
	require.ErrorContains(t, pgbudget.Migrate(t.Context(), pool), "later")
	_, err = pgbudget.Open(t.Context(), pool, pgbudget.Config{})
	require.ErrorContains(t, err, "version 3")
	_, err = pool.Exec(t.Context(), `DROP TABLE budget_schema`)
	require.NoError(t, err)
	_, err = pgbudget.Open(t.Context(), pool, pgbudget.Config{})
	require.ErrorContains(t, err, "Migrate makes the tables")
	require.Contains(t, pgbudget.Schema(), "budget_reserve")
}
