package tool

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// MemoryBudgets is a BudgetStore that counts in this process. Make it with [NewMemoryBudgets].
type MemoryBudgets struct {
	now  func() time.Time
	mu   sync.Mutex
	runs map[runKey]*spent
}

var _ ElapsedStore = (*MemoryBudgets)(nil)

type runKey struct{ tenant, run string }

// spent is what a run has used. Of its Budget only the counts are.
type spent struct {
	Budget
	places         map[int]int // reservations that are not settled, by their parallel work
	started, until time.Time
}

// NewMemoryBudgets returns a store without runs; a nil clock is time.Now. Dispatchers of one process that serve the same
// runs share one.
func NewMemoryBudgets(now func() time.Time) *MemoryBudgets {
	if now == nil {
		now = time.Now //nolint:forbidigo // the documented default
	}
	return &MemoryBudgets{now: now, runs: map[runKey]*spent{}}
}

// Reserve implements BudgetStore.
func (m *MemoryBudgets) Reserve(ctx context.Context, tenant, run string, want, limit Budget, until time.Time) error {
	_, err := m.ReserveRest(ctx, tenant, run, want, limit, until)
	return err
}

// ReserveRest implements ElapsedStore.
func (m *MemoryBudgets) ReserveRest(_ context.Context, tenant, run string, want, limit Budget, until time.Time) (time.Duration, error) {
	if err := CheckReserve(want, limit); err != nil {
		return 0, err
	}
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.runs[runKey{tenant, run}]
	if s == nil {
		m.forget(now)
		s = &spent{started: now, places: map[int]int{}}
		m.runs[runKey{tenant, run}] = s
	}
	if until.After(s.until) {
		s.until = until
	}
	rest := limit.Elapsed - max(now.Sub(s.started), 0)
	switch {
	case want.Calls > limit.Calls-s.Calls,
		limit.Elapsed > 0 && rest <= 0,
		limit.Tokens > 0 && want.Tokens > limit.Tokens-s.Tokens:
		return 0, envelope.New(envelope.BudgetExhausted)
	case want.Parallel > 0 && want.Parallel > limit.Parallel-s.Parallel:
		return 0, envelope.New(envelope.RateLimited).After(busyRetry)
	}
	s.Calls += want.Calls // within the limit, as the parallel work is
	if want.Parallel > 0 {
		s.Parallel += want.Parallel
		s.places[want.Parallel]++
	}
	s.Tokens = changed(s.Tokens, 0, want.Tokens, math.MaxInt64)
	return rest, nil
}

// Settle implements BudgetStore.
func (m *MemoryBudgets) Settle(_ context.Context, tenant, run string, reserved, used Budget) error {
	if err := CheckSettle(reserved, used); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.runs[runKey{tenant, run}]
	if s == nil {
		return nil
	}
	if p := reserved.Parallel; p > 0 {
		if s.places[p] == 0 {
			return nil
		}
		if s.places[p]--; s.places[p] == 0 {
			delete(s.places, p)
		}
		s.Parallel -= p
	}
	s.Calls = changed(s.Calls, reserved.Calls, used.Calls, math.MaxInt)
	s.Tokens = changed(s.Tokens, reserved.Tokens, used.Tokens, math.MaxInt64)
	return nil
}

// changed is n less what is given back and with what was used, from zero to the most. None of the numbers is negative.
func changed[N int | int64](n, back, used, most N) N {
	more := used - back
	if more > most-n {
		return most
	}
	return max(n+more, 0)
}

// forget drops the runs that are over and idle.
func (m *MemoryBudgets) forget(now time.Time) {
	for k, s := range m.runs {
		if s.Parallel == 0 && now.After(s.until) {
			delete(m.runs, k)
		}
	}
}
