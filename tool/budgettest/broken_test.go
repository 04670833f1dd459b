package budgettest_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/budgettest"
)

// broken breaks one rule of a store that keeps them all.
type broken struct {
	tool.BudgetStore
	reserve func(s tool.BudgetStore, tenant, run string, want, limit tool.Budget, until time.Time) error
	settle  func(s tool.BudgetStore, run string, reserved, used tool.Budget) error
}

func (b broken) Reserve(ctx context.Context, tenant, run string, want, limit tool.Budget, until time.Time) error {
	if b.reserve == nil {
		return b.BudgetStore.Reserve(ctx, tenant, run, want, limit, until)
	}
	return b.reserve(b.BudgetStore, tenant, run, want, limit, until)
}

func (b broken) Settle(ctx context.Context, tenant, run string, reserved, used tool.Budget) error {
	if b.settle == nil {
		return b.BudgetStore.Settle(ctx, tenant, run, reserved, used)
	}
	return b.settle(b.BudgetStore, run, reserved, used)
}

const huge = 1 << 40

// sloppy reads what is left and writes what it made of it, in two steps, and gives back whatever it is told. The first
// readers wait until there are as many as meet, so that they are sure to see the same remainder.
type sloppy struct {
	mu              sync.Mutex
	calls, parallel int
	meet            int
	met             chan struct{}
}

func newSloppy(meet int) *sloppy { return &sloppy{meet: meet, met: make(chan struct{})} }

func (s *sloppy) Reserve(_ context.Context, _, _ string, want, limit tool.Budget, _ time.Time) error {
	s.mu.Lock()
	calls, parallel := s.calls, s.parallel
	if s.meet--; s.meet == 0 {
		close(s.met)
	}
	s.mu.Unlock()
	<-s.met
	switch {
	case calls+want.Calls > limit.Calls:
		return envelope.New(envelope.BudgetExhausted)
	case parallel+want.Parallel > limit.Parallel:
		return envelope.New(envelope.RateLimited).After(time.Second)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.parallel = calls+want.Calls, parallel+want.Parallel
	return nil
}

func (s *sloppy) Settle(_ context.Context, _, _ string, reserved, used tool.Budget) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls -= reserved.Calls - used.Calls
	s.parallel -= reserved.Parallel
	return nil
}

// untimely tells another rest than there is.
type untimely struct {
	tool.ElapsedStore
	wrong func(rest time.Duration, limit tool.Budget, err error) (time.Duration, error)
}

func (u untimely) ReserveRest(ctx context.Context, tenant, run string, want, limit tool.Budget, until time.Time) (time.Duration, error) {
	rest, err := u.ElapsedStore.ReserveRest(ctx, tenant, run, want, limit, until)
	return u.wrong(rest, limit, err)
}

var wrongRests = map[string]func(rest time.Duration, limit tool.Budget, err error) (time.Duration, error){
	"the whole, each time": func(_ time.Duration, limit tool.Budget, err error) (time.Duration, error) { return limit.Elapsed, err },
	"none":                 func(_ time.Duration, _ tool.Budget, err error) (time.Duration, error) { return 0, err },
	"of the first limit": func(rest time.Duration, _ tool.Budget, err error) (time.Duration, error) {
		return min(rest, time.Hour), err
	},
	"taken when it is over": func(rest time.Duration, _ tool.Budget, _ error) (time.Duration, error) {
		return rest, nil
	},
}

// TestEachRuleFindsItsFault: a suite that a broken store passes checks nothing.
func TestEachRuleFindsItsFault(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	reserving := func(change func(want, limit *tool.Budget)) broken {
		return broken{reserve: func(s tool.BudgetStore, tenant, run string, want, limit tool.Budget, until time.Time) error {
			change(&want, &limit)
			return s.Reserve(ctx, tenant, run, want, limit, until)
		}}
	}
	subjects := map[string]broken{
		"calls": reserving(func(_, limit *tool.Budget) { limit.Calls++ }),
		"whole": {reserve: func(s tool.BudgetStore, tenant, run string, want, limit tool.Budget, until time.Time) error {
			err := s.Reserve(ctx, tenant, run, want, limit, until)
			if err != nil { // the calls are counted all the same
				_ = s.Reserve(ctx, tenant, run, tool.Budget{Calls: want.Calls}, tool.Budget{Calls: huge, Parallel: huge}, until)
			}
			return err
		}},
		"back": {settle: func(s tool.BudgetStore, run string, reserved, _ tool.Budget) error {
			return s.Settle(ctx, "t1", run, reserved, tool.Budget{Calls: reserved.Calls, Tokens: reserved.Tokens})
		}},
		"once":     {BudgetStore: newSloppy(1)},
		"parallel": {settle: func(tool.BudgetStore, string, tool.Budget, tool.Budget) error { return nil }},
		"tokens":   reserving(func(want, _ *tool.Budget) { want.Tokens = 0 }),
		"elapsed":  reserving(func(_, limit *tool.Budget) { limit.Elapsed = 0 }),
		"apart": {reserve: func(s tool.BudgetStore, _, _ string, want, limit tool.Budget, until time.Time) error {
			return s.Reserve(ctx, "t1", "run_1", want, limit, until)
		}},
		"resumed": reserving(func(want, _ *tool.Budget) { want.Calls = 0 }),
		"unknown": {settle: func(s tool.BudgetStore, run string, reserved, _ tool.Budget) error {
			_ = s.Reserve(ctx, "t1", run, tool.Budget{Calls: 1}, tool.Budget{Calls: huge, Parallel: 1}, time.Now().Add(time.Hour))
			return s.Settle(ctx, "t1", run, tool.Budget{Parallel: reserved.Parallel}, tool.Budget{})
		}},
		"load":  {BudgetStore: newSloppy(2)},
		"crowd": reserving(func(_, limit *tool.Budget) { limit.Parallel++ }),
		"negative": reserving(func(want, limit *tool.Budget) {
			for _, b := range []*tool.Budget{want, limit} {
				b.Calls, b.Parallel, b.Elapsed, b.Tokens = max(b.Calls, 0), max(b.Parallel, 0), max(b.Elapsed, 0), max(b.Tokens, 0)
			}
		}),
		"huge":  {BudgetStore: newSloppy(1)},
		"more":  {BudgetStore: newSloppy(1)},
		"other": {BudgetStore: newSloppy(1)},
		"rest":  {}, // see below
	}
	for _, name := range budgettest.Rules() {
		require.Empty(t, budgettest.Check(ctx, name, tool.NewMemoryBudgets(nil)), "the reference keeps the rule %s", name)
		b, ok := subjects[name]
		require.True(t, ok, "the rule %s has no broken subject", name)
		if b.BudgetStore == nil {
			b.BudgetStore = tool.NewMemoryBudgets(nil)
		}
		if name == "rest" {
			for fault, rest := range wrongRests {
				require.NotEmpty(t, budgettest.Check(ctx, name, untimely{tool.NewMemoryBudgets(nil), rest}), fault)
			}
			require.Empty(t, budgettest.Check(ctx, name, b), "what does not tell it is not judged")
			continue
		}
		require.NotEmpty(t, budgettest.Check(ctx, name, b), "a store that breaks the rule %s passes it", name)
	}
	require.NotEmpty(t, budgettest.Check(ctx, "no such rule", tool.NewMemoryBudgets(nil)))
}
