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
