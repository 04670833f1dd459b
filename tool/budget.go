package tool

import (
	"context"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// Budget is what a run may use up. As a run's limit: Calls must be set; zero Parallel is 4; zero Elapsed is up to the
// run's deadline; zero Tokens are not counted.
type Budget struct {
	Calls    int           // calls of tools, refused ones included; a wait for an approval is none
	Parallel int           // calls under way at one moment
	Elapsed  time.Duration // since the run was first started
	Tokens   int64         // of the host's model, told by Run.Spend
}

const defaultParallel = 4

// BudgetStore counts what runs use. It is safe for concurrent use and, where several machines serve one run, shared by
// them.
type BudgetStore interface {
	// Reserve takes want from what is left of limit, all of it or nothing, in one step. What does not fit is an
	// *envelope.Error: BUDGET_EXHAUSTED for calls, time and tokens, RATE_LIMITED for parallel work. Any other error is the
	// machinery's. A reservation for parallel work that is not settled ends at until.
	Reserve(ctx context.Context, tenant, run string, want, limit Budget, until time.Time) error
	// Settle gives back what was reserved and not used. Parallel work is always given back.
	Settle(ctx context.Context, tenant, run string, reserved, used Budget) error
}

// MemoryBudgets is a BudgetStore that counts in this process. Make it with [NewMemoryBudgets].
type MemoryBudgets struct {
	now  func() time.Time
	mu   sync.Mutex
	runs map[runKey]*spent
}

type runKey struct{ tenant, run string }

type spent struct {
	Budget
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
func (m *MemoryBudgets) Reserve(_ context.Context, tenant, run string, want, limit Budget, until time.Time) error {
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.runs[runKey{tenant, run}]
	if s == nil {
		m.forget(now)
		s = &spent{started: now}
		m.runs[runKey{tenant, run}] = s
	}
	if until.After(s.until) {
		s.until = until
	}
	switch {
	case want.Calls > limit.Calls-s.Calls,
		limit.Elapsed > 0 && now.Sub(s.started) >= limit.Elapsed,
		limit.Tokens > 0 && want.Tokens > limit.Tokens-s.Tokens:
		return envelope.New(envelope.BudgetExhausted)
	case want.Parallel > 0 && want.Parallel > limit.Parallel-s.Parallel:
		return envelope.New(envelope.RateLimited).After(busyRetry)
	}
	s.Calls += want.Calls
	s.Parallel += want.Parallel
	s.Tokens += want.Tokens
	return nil
}

// Settle implements BudgetStore.
func (m *MemoryBudgets) Settle(_ context.Context, tenant, run string, reserved, used Budget) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.runs[runKey{tenant, run}]
	if s == nil {
		return nil
	}
	s.Calls = max(s.Calls-(reserved.Calls-used.Calls), 0)
	s.Parallel = max(s.Parallel-reserved.Parallel, 0)
	s.Tokens = max(s.Tokens-(reserved.Tokens-used.Tokens), 0)
	return nil
}

// forget drops the runs that are over and idle.
func (m *MemoryBudgets) forget(now time.Time) {
	for k, s := range m.runs {
		if s.Parallel == 0 && now.After(s.until) {
			delete(m.runs, k)
		}
	}
}
