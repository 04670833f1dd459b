package budgettest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// probe is a store under one check, which notes what is wrong and goes on.
type probe struct {
	ctx    context.Context //nolint:containedctx // a probe lives within one test
	store  tool.BudgetStore
	faults []string
}

func (p *probe) fail(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

const (
	tenant = "t1"
	run    = "run_1"
)

var one = tool.Budget{Calls: 1, Parallel: 1} //nolint:gochecknoglobals // what every call reserves

func (p *probe) reserve(run string, want, limit tool.Budget) error {
	//nolint:forbidigo // the rules run on the machine's clock
	return p.store.Reserve(p.ctx, tenant, run, want, limit, time.Now().Add(time.Hour))
}

func (p *probe) takes(want, limit tool.Budget, what string) {
	if err := p.reserve(run, want, limit); err != nil {
		p.fail("%s: refused: %v", what, err)
	}
}

func (p *probe) refuses(want, limit tool.Budget, code envelope.Code, what string) {
	err := p.reserve(run, want, limit)
	e, ok := errors.AsType[*envelope.Error](err)
	switch {
	case err == nil:
		p.fail("%s: taken", what)
	case !ok || e.Code != code:
		p.fail("%s: refused with %v, not %s", what, err, code)
	case code == envelope.RateLimited && e.RetryAfter <= 0:
		p.fail("%s: %s does not say when to ask again", what, code)
	}
}

func (p *probe) settle(reserved, used tool.Budget) {
	if err := p.store.Settle(p.ctx, tenant, run, reserved, used); err != nil {
		p.fail("settle: %v", err)
	}
}

func calls(p *probe) {
	limit := tool.Budget{Calls: 2, Parallel: 9}
	for range 2 {
		p.takes(one, limit, "a call of two")
		p.settle(one, tool.Budget{Calls: 1})
	}
	p.refuses(one, limit, envelope.BudgetExhausted, "the third call of two")
}

func whole(p *probe) {
	limit := tool.Budget{Calls: 1, Parallel: 1, Tokens: 10}
	p.refuses(tool.Budget{Calls: 1, Parallel: 1, Tokens: 11}, limit, envelope.BudgetExhausted, "too many tokens")
	p.refuses(tool.Budget{Calls: 1, Parallel: 2}, limit, envelope.RateLimited, "too much at once")
	p.takes(tool.Budget{Calls: 1, Parallel: 1, Tokens: 10}, limit, "all of it, after refusals")
}

func back(p *probe) {
	limit := tool.Budget{Calls: 1, Parallel: 1, Tokens: 10}
	all := tool.Budget{Calls: 1, Parallel: 1, Tokens: 10}
	p.takes(all, limit, "the only call")
	p.settle(all, tool.Budget{Tokens: 4})
	p.takes(tool.Budget{Calls: 1, Parallel: 1, Tokens: 6}, limit, "the same again")
	p.settle(tool.Budget{Calls: 1, Parallel: 1, Tokens: 6}, tool.Budget{Calls: 1, Tokens: 6})
	p.refuses(tool.Budget{Tokens: 1}, limit, envelope.BudgetExhausted, "a token over what was used")
}

func once(p *probe) {
	limit := tool.Budget{Calls: 3, Parallel: 2}
	p.takes(one, limit, "the first call")
	p.takes(one, limit, "the second call")
	for range 2 {
		p.settle(one, tool.Budget{})
	}
	p.settle(one, tool.Budget{})
	for range 2 {
		p.takes(one, limit, "as much as is free")
	}
	p.refuses(one, limit, envelope.RateLimited, "a third at once of two")
}

func parallel(p *probe) {
	limit := tool.Budget{Calls: 9, Parallel: 2}
	p.takes(one, limit, "one of two at once")
	p.takes(one, limit, "two of two at once")
	p.refuses(one, limit, envelope.RateLimited, "three of two at once")
	p.settle(one, tool.Budget{Calls: 1})
	p.takes(one, limit, "when one has ended")
}

func tokens(p *probe) {
	limit := tool.Budget{Calls: 1, Parallel: 1, Tokens: 10}
	p.takes(tool.Budget{Tokens: 7}, limit, "seven of ten")
	p.refuses(tool.Budget{Tokens: 4}, limit, envelope.BudgetExhausted, "four more of ten")
	p.takes(tool.Budget{Tokens: 3}, limit, "three more of ten")
	p.takes(tool.Budget{Tokens: 1 << 40}, tool.Budget{Calls: 1, Parallel: 1}, "any number without a limit")
}

func elapsed(p *probe) {
	limit := tool.Budget{Calls: 9, Parallel: 9, Elapsed: time.Nanosecond}
	p.takes(one, limit, "the reservation that starts the time")
	p.takes(one, tool.Budget{Calls: 9, Parallel: 9, Elapsed: time.Hour}, "within the hour")
	p.refuses(one, limit, envelope.BudgetExhausted, "after a nanosecond")
}

func apart(p *probe) {
	limit := tool.Budget{Calls: 1, Parallel: 1}
	p.takes(one, limit, "the only call of a run")
	if err := p.reserve("run_2", one, limit); err != nil {
		p.fail("the only call of another run: %v", err)
	}
	//nolint:forbidigo // the rules run on the machine's clock
	if err := p.store.Reserve(p.ctx, "t2", run, one, limit, time.Now().Add(time.Hour)); err != nil {
		p.fail("the only call of another tenant's run of the same id: %v", err)
	}
}

func resumed(p *probe) {
	p.takes(one, tool.Budget{Calls: 5, Parallel: 1}, "a call of five")
	p.settle(one, tool.Budget{Calls: 1})
	p.refuses(one, tool.Budget{Calls: 1, Parallel: 1}, envelope.BudgetExhausted, "a call of one, where one was used")
	p.takes(one, tool.Budget{Calls: 2, Parallel: 1}, "the second call of two")
}

func unknown(p *probe) {
	limit := tool.Budget{Calls: 1, Parallel: 1}
	p.settle(one, tool.Budget{})
	p.takes(one, limit, "the only call")
	p.refuses(one, limit, envelope.BudgetExhausted, "a second call of one")
}

// workers ask at once in the rules of many.
const workers = 16

func load(p *probe) {
	const most = 60
	var took atomic.Int64
	p.together(func() error {
		for {
			err := p.reserve(run, one, tool.Budget{Calls: most, Parallel: 2 * workers})
			if e, ok := errors.AsType[*envelope.Error](err); ok && e.Code == envelope.BudgetExhausted {
				return nil
			}
			if err != nil {
				return err
			}
			took.Add(1)
			if err := p.store.Settle(p.ctx, tenant, run, one, tool.Budget{Calls: 1}); err != nil {
				return err
			}
		}
	})
	if n := took.Load(); n != most {
		p.fail("%d calls of %d were taken", n, most)
	}
}

func crowd(p *probe) {
	const most = 3
	var now, highest atomic.Int64
	p.together(func() error {
		for range 10 {
			err := p.reserve(run, one, tool.Budget{Calls: 1 << 20, Parallel: most})
			if e, ok := errors.AsType[*envelope.Error](err); ok && e.Code == envelope.RateLimited {
				continue
			}
			if err != nil {
				return err
			}
			n := now.Add(1)
			for h := highest.Load(); n > h; h = highest.Load() {
				if highest.CompareAndSwap(h, n) {
					break
				}
			}
			now.Add(-1)
			if err := p.store.Settle(p.ctx, tenant, run, one, tool.Budget{Calls: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	if h := highest.Load(); h > most {
		p.fail("%d at once, of %d", h, most)
	}
	for range most {
		p.takes(one, tool.Budget{Calls: 1 << 20, Parallel: most}, "as many as may, when all have ended")
	}
	p.refuses(one, tool.Budget{Calls: 1 << 20, Parallel: most}, envelope.RateLimited, "one more than may")
}

// together runs f in every worker.
func (p *probe) together(f func() error) {
	var working sync.WaitGroup
	errs := make([]error, workers)
	begin := make(chan struct{})
	for i := range workers {
		working.Go(func() {
			<-begin
			errs[i] = f()
		})
	}
	close(begin)
	working.Wait()
	if err := errors.Join(errs...); err != nil {
		p.fail("%v", err)
	}
}
