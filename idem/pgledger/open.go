package pgledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
	"github.com/toolcontract/toolcontract/redact"
)

// Config says how the tables are used.
type Config struct {
	// Sealer seals bodies, results, failures and an operator's words. Nil is an error; redact.Plain() is for those who
	// want none. It is never called while a row is locked.
	Sealer redact.Sealer
	// RowSecurity puts the tenant of each call into the setting toolcontract.tenant, for its transaction alone. It is
	// needed where the pool's role is subject to the tables' policies, has the grants of toolcontract_worker and is not in
	// it; such a ledger can admit, claim, finish, find and
	// list, and neither Next, Sweep, Purge nor Restored, which are over all tenants and a worker's. Zero: the pool's
	// role is the tables' owner or toolcontract_worker.
	RowSecurity bool
}

// Ledger is an idem.Ledger in PostgreSQL. It is safe for concurrent use, by any number of processes on any number of
// machines. It is an [idem.Waker], by LISTEN and NOTIFY.
type Ledger struct {
	pool    *pgxpool.Pool
	vault   stored.Vault
	rls     bool
	sql     queries
	channel string
	want    chan struct{} // a NOTIFY is wanted
	stop    context.CancelFunc
	done    sync.WaitGroup
	circles circles
}

var (
	_ idem.Ledger = (*Ledger)(nil)
	_ idem.Waker  = (*Ledger)(nil)
)

// Open makes sure that the tables are those of this version. The pool stays the caller's, and open until after
// Shutdown. A call needs one connection at a time; a Finish that comes too late, and a read that finds a lease over,
// need it twice in a row.
func Open(ctx context.Context, pool *pgxpool.Pool, cfg Config) (*Ledger, error) {
	return open(ctx, pool, cfg, "clock_timestamp()")
}

func open(ctx context.Context, pool *pgxpool.Pool, cfg Config, clock string) (*Ledger, error) {
	if cfg.Sealer == nil {
		return nil, errors.New("pgledger: no sealer: redact.Plain() is one that seals nothing")
	}
	t, err := tables()
	if err != nil {
		return nil, fmt.Errorf("pgledger: open: %w", err)
	}
	have, err := t.Version(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("pgledger: open: %w", err)
	}
	if have != len(t.Scripts) {
		return nil, fmt.Errorf("pgledger: open: the tables are of version %d, this library's of %d: run Migrate", have, len(t.Scripts))
	}
	var schema string
	if err := pool.QueryRow(ctx, "SELECT current_schema()").Scan(&schema); err != nil {
		return nil, fmt.Errorf("pgledger: open: %w", err)
	}
	sum := sha256.Sum256([]byte(schema))
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &Ledger{
		pool: pool, vault: stored.Vault{Sealer: cfg.Sealer}, rls: cfg.RowSecurity, sql: makeQueries(clock),
		channel: "toolcontract_ledger_" + hex.EncodeToString(sum[:8]), want: make(chan struct{}, 1), stop: stop,
	}
	l.done.Go(func() { l.notify(life) })
	return l, nil
}

// Shutdown stops what the ledger does by itself: telling others of new work. Calls after it work, and nobody is told.
func (l *Ledger) Shutdown() {
	l.stop()
	l.done.Wait()
}
