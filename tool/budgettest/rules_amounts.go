package budgettest

import (
	"errors"
	"math"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

func negative(p *probe) {
	limit := tool.Budget{Calls: 2, Parallel: 2, Tokens: 10}
	p.takes(tool.Budget{Calls: 1, Parallel: 1, Tokens: 5}, limit, "the first call")
	for _, b := range []struct {
		field  string
		amount tool.Budget
	}{
		{"calls", tool.Budget{Calls: -1}},
		{"calls", tool.Budget{Calls: math.MinInt}},
		{"parallel", tool.Budget{Parallel: -1}},
		{"parallel", tool.Budget{Calls: 1, Parallel: math.MinInt}},
		{"elapsed", tool.Budget{Elapsed: -1}},
		{"elapsed", tool.Budget{Elapsed: math.MinInt64}},
		{"tokens", tool.Budget{Tokens: -1}},
		{"tokens", tool.Budget{Calls: 1, Tokens: math.MinInt64}},
	} {
		p.misused("want."+b.field, p.reserve(run, b.amount, limit))
		p.misused("limit."+b.field, p.reserve(run, tool.Budget{}, b.amount))
		p.misused("reserved."+b.field, p.store.Settle(p.ctx, tenant, run, b.amount, tool.Budget{}))
		p.misused("used."+b.field, p.store.Settle(p.ctx, tenant, run, one, b.amount))
	}
	p.takes(tool.Budget{Calls: 1, Parallel: 1, Tokens: 5}, limit, "the second call of two, after misuse")
	p.refuses(tool.Budget{Tokens: 1}, limit, envelope.BudgetExhausted, "a token more than ten, after misuse")
	p.refuses(one, limit, envelope.BudgetExhausted, "the third call of two, after misuse")
}

func (p *probe) misused(place string, err error) {
	e, ok := errors.AsType[*tool.AmountError](err)
	switch {
	case err == nil:
		p.fail("a negative %s: taken", place)
	case !ok || e.Place != place:
		p.fail("a negative %s: refused with %v", place, err)
	}
}

func huge(p *probe) {
	all := tool.Budget{Calls: math.MaxInt, Parallel: math.MaxInt, Elapsed: math.MaxInt64, Tokens: math.MaxInt64}
	p.takes(one, all, "a call of as many as there are")
	p.refuses(tool.Budget{Calls: math.MaxInt}, all, envelope.BudgetExhausted, "as many calls again")
	p.refuses(tool.Budget{Parallel: math.MaxInt}, all, envelope.RateLimited, "as much at once again")
	unlimited := all
	unlimited.Tokens = 0
	for range 2 {
		p.takes(tool.Budget{Tokens: math.MaxInt64}, unlimited, "any number of tokens without a limit")
	}
	p.refuses(tool.Budget{Tokens: 1}, all, envelope.BudgetExhausted, "a token more than there are")
	p.settle(tool.Budget{Tokens: 1}, tool.Budget{})
	p.takes(tool.Budget{Tokens: 1}, all, "the one that was given back")
	p.settle(tool.Budget{}, tool.Budget{Calls: math.MaxInt, Tokens: math.MaxInt64})
	p.refuses(one, all, envelope.BudgetExhausted, "a call, where more was used than reserved")
}

func more(p *probe) {
	limit := tool.Budget{Calls: 2, Parallel: 9, Tokens: 10}
	p.takes(tool.Budget{Calls: 1, Tokens: 5}, limit, "a call and five tokens")
	p.settle(tool.Budget{Calls: math.MaxInt, Tokens: math.MaxInt64}, tool.Budget{})
	p.takes(tool.Budget{Calls: 2, Tokens: 10}, limit, "all there is")
	p.refuses(one, limit, envelope.BudgetExhausted, "a third call of two")
	p.refuses(tool.Budget{Tokens: 1}, limit, envelope.BudgetExhausted, "an eleventh token of ten")
}

func other(p *probe) {
	limit := tool.Budget{Calls: 2, Parallel: 2}
	for range 2 {
		p.takes(one, limit, "a call of two")
	}
	p.settle(tool.Budget{Calls: 2, Parallel: 2}, tool.Budget{})
	p.refuses(tool.Budget{Parallel: 1}, limit, envelope.RateLimited, "more at once, where two small ones are under way")
	p.refuses(tool.Budget{Calls: 1}, limit, envelope.BudgetExhausted, "a third call of two")
}

func rest(p *probe) {
	s, ok := p.store.(tool.ElapsedStore)
	if !ok {
		return
	}
	limit := tool.Budget{Calls: 9, Parallel: 9, Elapsed: time.Hour}
	ask := func(limit tool.Budget) (time.Duration, error) {
		//nolint:forbidigo // the rules run on the machine's clock
		return s.ReserveRest(p.ctx, tenant, run, one, limit, time.Now().Add(time.Hour))
	}
	first, err := ask(limit)
	if err != nil || first > time.Hour || first < time.Hour-time.Minute {
		p.fail("the reservation that starts the time leaves %v of an hour, %v", first, err)
	}
	<-time.After(2 * time.Millisecond)
	second, err := ask(limit)
	if err != nil || second > first-2*time.Millisecond || second < first-time.Minute {
		p.fail("two milliseconds after %v there are %v, %v", first, second, err)
	}
	longer, err := ask(tool.Budget{Calls: 9, Parallel: 9, Elapsed: 2 * time.Hour})
	if err != nil || longer > second+time.Hour || longer < second+time.Hour-time.Minute {
		p.fail("an hour more leaves %v, where there were %v, %v", longer, second, err)
	}
	most, err := ask(tool.Budget{Calls: 9, Parallel: 9, Elapsed: math.MaxInt64})
	if err != nil || most <= longer {
		p.fail("as much as there is leaves %v, %v", most, err)
	}
	_, err = ask(tool.Budget{Calls: 9, Parallel: 9, Elapsed: time.Nanosecond})
	if e, ok := errors.AsType[*envelope.Error](err); !ok || e.Code != envelope.BudgetExhausted {
		p.fail("after a nanosecond: %v, not %s", err, envelope.BudgetExhausted)
	}
	p.refuses(tool.Budget{Calls: 6}, limit, envelope.BudgetExhausted, "six calls more, where four of nine were taken")
	p.takes(tool.Budget{Calls: 5}, limit, "the other five")
}
