package budgettest

import (
	"context"
	"fmt"
	"testing"

	"github.com/toolcontract/toolcontract/tool"
)

// Run checks every rule as a subtest of its own. newStore returns a fresh, empty store for each, and registers what is to
// be cleaned up with t; it may be called from several goroutines.
func Run(t *testing.T, newStore func(t *testing.T) tool.BudgetStore) {
	t.Helper()
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			if _, ok := store.(tool.ElapsedStore); r.elapsed && !ok {
				t.Skip("the store is no tool.ElapsedStore")
			}
			for _, fault := range r.on(t.Context(), store) {
				t.Error(fault)
			}
		})
	}
}

// Check returns what is wrong with a store by the rule of that name, without a test: for those who check the rules.
func Check(ctx context.Context, name string, s tool.BudgetStore) []string {
	for _, r := range rules() {
		if r.name == name {
			return r.on(ctx, s)
		}
	}
	return []string{"budgettest: no rule of the name " + name}
}

// Rules returns the names of the rules.
func Rules() []string {
	all := rules()
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.name
	}
	return names
}

type rule struct {
	name, explanation string
	check             func(p *probe)
	elapsed           bool // of a tool.ElapsedStore; any other passes it
}

func (r rule) on(ctx context.Context, s tool.BudgetStore) []string {
	p := &probe{ctx: ctx, store: s}
	r.check(p)
	for i, f := range p.faults {
		p.faults[i] = fmt.Sprintf("%s\nthe rule: %s", f, r.explanation)
	}
	return p.faults
}

func rules() []rule {
	return []rule{
		{name: "calls", explanation: "a run that used its calls up makes no further one", check: calls},
		{name: "whole", explanation: "what does not fit in one respect takes nothing in any", check: whole},
		{name: "back", explanation: "what was reserved and not used can be used again", check: back},
		{name: "once", explanation: "settling more often than reserving gives back no more than there was", check: once},
		{name: "parallel", explanation: "parallel work is bounded, refused for now and not for good, and free again when it ends", check: parallel},
		{name: "tokens", explanation: "tokens are counted up to the limit, and not at all where there is none", check: tokens},
		{name: "elapsed", explanation: "time runs from the run's first reservation", check: elapsed},
		{name: "apart", explanation: "runs and tenants have budgets of their own", check: apart},
		{name: "resumed", explanation: "a run that is resumed has what it left, whatever process resumes it", check: resumed},
		{name: "unknown", explanation: "settling what was never reserved changes nothing and is no error", check: unknown},
		{name: "load", explanation: "many at once take exactly what there is", check: load},
		{name: "crowd", explanation: "many at once are never more than the limit", check: crowd},
		{name: "negative", explanation: "a negative amount is a *tool.AmountError that names its place, and changes nothing", check: negative},
		{name: "huge", explanation: "no sum overflows: what is beyond the largest number is that number, and used up", check: huge},
		{name: "more", explanation: "settling more than was reserved leaves never more than the limit", check: more},
		{name: "other", explanation: "settling other parallel work than was reserved ends none and gives nothing back", check: other},
		{name: "rest", explanation: "the rest of a run's time is told with each reservation, and runs from the first", check: rest, elapsed: true},
	}
}
