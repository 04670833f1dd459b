package pgledger

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// OpenMoved is Open with a clock that Advance moves, for every handle on the schema.
func OpenMoved(ctx context.Context, pool *pgxpool.Pool, cfg Config) (*Ledger, error) {
	return open(ctx, pool, cfg, "(clock_timestamp() + (SELECT ahead FROM test_clock))")
}

// TestClock makes the clock of OpenMoved.
const TestClock = "CREATE TABLE test_clock AS SELECT interval '0' AS ahead"

// Statements are those that have to find a few rows among many, with arguments in SQL.
func Statements() map[string][2]string {
	q := makeQueries("clock_timestamp()")
	return map[string][2]string{
		"lock":             {q.lock, "('acme', 'live_7')"},
		"peek":             {q.peek, "('acme', 'op_7')"},
		"next":             {q.next, "('{t1,t3}', 1000000, '{acme,globex}', '{2026-03-01,-infinity}')"},
		"tenants":          {q.tenants, "('{t1,t3}', 'acme')"},
		"overdue":          {q.overdue, "('acme')"},
		"sweep":            {q.sweep, ""},
		"open":             {q.open, "('acme', '-infinity', '', 'run_3')"},
		"unknown":          {q.unknown, "('acme', '-infinity', '')"},
		"purge tombstones": {q.purge[0], "(3600000000)"},
		"purge rows":       {q.purge[1], "(3600000000)"},
		"purge bodies":     {q.purge[2], "(3600000000)"},
	}
}
