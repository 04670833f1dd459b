package pgbudget

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
	"uuid"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// Config says how a Store works. The zero Config is a good one.
type Config struct {
	// Lease is how long the parallel work of a process that died still counts; it is renewed while the process lives.
	// Zero: 30 seconds.
	Lease time.Duration
	// Now is the clock on which the until of Reserve was made, the dispatcher's. Nil: time.Now.
	Now func() time.Time
}

// Store is a tool.BudgetStore in PostgreSQL. Make it with [Open]; safe for concurrent use, by any number of processes.
type Store struct {
	pool   *pgxpool.Pool
	cfg    Config
	holder uuid.UUID
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu     sync.Mutex
	places map[placeKey][]uuid.UUID // held by this process; those of one run and size are alike
	lost   []place                  // that may have been taken although the call failed
}

var _ tool.ElapsedStore = (*Store)(nil)

type placeKey struct {
	tenant, run string
	parallel    int
}

type place struct {
	placeKey
	id          uuid.UUID
	calls, toks int64 // to be given back with it
}

const (
	defaultLease = 30 * time.Second
	busyRetry    = 250 * time.Millisecond // asked for when parallel work is used up
)

// Open makes sure that the tables are those of this version, and begins to renew the lease of what this process holds.
// The pool stays the caller's, and open until after Shutdown.
func Open(ctx context.Context, pool *pgxpool.Pool, cfg Config) (*Store, error) {
	switch {
	case pool == nil:
		return nil, errors.New("pgbudget: no pool")
	case cfg.Lease < 0:
		return nil, errors.New("pgbudget: lease: must not be negative")
	case cfg.Lease == 0:
		cfg.Lease = defaultLease
	}
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the documented default
	}
	t := tables()
	have, err := t.Version(ctx, pool)
	switch {
	case err != nil:
		return nil, fmt.Errorf("pgbudget: open: %w", err)
	case have != len(t.Scripts):
		return nil, fmt.Errorf("pgbudget: open: the tables are of version %d, this library's of %d: run Migrate", have, len(t.Scripts))
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &Store{pool: pool, cfg: cfg, holder: uuid.NewV7(), stop: stop, places: map[placeKey][]uuid.UUID{}}
	s.done.Go(func() { s.keep(life) })
	return s, nil
}

// The answers of budget_take.
const (
	taken   = 0
	usedUp  = 1
	tooMuch = 2
)

const reserve = `SELECT answer, rest FROM budget_take($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

// Reserve implements tool.BudgetStore. An error that is no *envelope.Error means that the database could not be asked;
// what it may have taken is given back when it can.
func (s *Store) Reserve(ctx context.Context, tenant, run string, want, limit tool.Budget, until time.Time) error {
	_, err := s.ReserveRest(ctx, tenant, run, want, limit, until)
	return err
}

// ReserveRest implements tool.ElapsedStore: the rest is measured on the database's clock, in the statement that reserves.
func (s *Store) ReserveRest(ctx context.Context, tenant, run string, want, limit tool.Budget, until time.Time) (time.Duration, error) {
	if err := tool.CheckReserve(want, limit); err != nil {
		return 0, err
	}
	p := place{placeKey{tenant, run, want.Parallel}, uuid.NewV7(), int64(want.Calls), want.Tokens}
	rest := max(until.Sub(s.cfg.Now()), 0)
	args := []any{
		tenant, run, p.id, s.holder, micro(s.cfg.Lease), micro(rest), int64(want.Calls), int64(want.Parallel), want.Tokens,
		int64(limit.Calls), int64(limit.Parallel), limit.Tokens, micro(limit.Elapsed),
	}
	var answer int
	var left int64
	doubtful := false // a try of which the answer was lost: it may have been taken, whatever came after
	err := retry(ctx, want.Parallel > 0, func() error {
		err := s.pool.QueryRow(ctx, reserve, args...).Scan(&answer, &left)
		doubtful = doubtful || err != nil && !unsent(err)
		return err
	})
	if err != nil {
		if want.Parallel > 0 && doubtful {
			s.doubt(p)
		}
		return 0, fmt.Errorf("pgbudget: reserve: %w", err)
	}
	switch answer {
	case taken:
		s.hold(p)
		return span(left), nil
	case usedUp:
		return 0, envelope.New(envelope.BudgetExhausted)
	case tooMuch:
		return 0, envelope.New(envelope.RateLimited).After(busyRetry)
	}
	return 0, fmt.Errorf("pgbudget: reserve: the database answered %d", answer)
}

// micro rounds up, so that a limit never becomes none.
func micro(d time.Duration) int64 {
	n := int64(d / time.Microsecond)
	if d%time.Microsecond > 0 {
		n++
	}
	return n
}

// span is the longest duration where there is none as long.
func span(us int64) time.Duration {
	if us > math.MaxInt64/int64(time.Microsecond) {
		return math.MaxInt64
	}
	return time.Duration(us) * time.Microsecond
}

const settle = `SELECT budget_settle($1, $2, $3, $4, $5)`

// Settle implements tool.BudgetStore. What this process did not reserve, or has settled already, gives nothing back.
func (s *Store) Settle(ctx context.Context, tenant, run string, reserved, used tool.Budget) error {
	if err := tool.CheckSettle(reserved, used); err != nil {
		return err
	}
	p := place{placeKey: placeKey{tenant, run, reserved.Parallel}, calls: int64(reserved.Calls - used.Calls), toks: reserved.Tokens - used.Tokens}
	if reserved.Parallel == 0 {
		if p.calls == 0 && p.toks == 0 {
			return nil
		}
		return s.settle(ctx, p, nil)
	}
	var held bool
	if p.id, held = s.release(p.placeKey); !held {
		return nil
	}
	if err := s.settle(ctx, p, &p.id); err != nil {
		s.doubt(p) // given back by and by
		return err
	}
	return nil
}

func (s *Store) settle(ctx context.Context, p place, id *uuid.UUID) error {
	var there bool
	err := retry(ctx, id != nil, func() error { return s.pool.QueryRow(ctx, settle, p.tenant, p.run, id, p.calls, p.toks).Scan(&there) })
	if err != nil {
		return fmt.Errorf("pgbudget: settle: %w", err)
	}
	return nil
}

func (s *Store) hold(p place) {
	if p.parallel == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places[p.placeKey] = append(s.places[p.placeKey], p.id)
}

// release takes one of the places of a run and a size; which one does not matter.
func (s *Store) release(k placeKey) (id uuid.UUID, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := s.places[k]
	if len(ids) == 0 {
		return id, false
	}
	id = ids[len(ids)-1]
	if s.places[k] = ids[:len(ids)-1]; len(ids) == 1 {
		delete(s.places, k)
	}
	return id, true
}

func (s *Store) doubt(p place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = append(s.lost, p)
}
