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
			for _, fault := range r.on(t.Context(), newStore(t)) {
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
		{"calls", "a run that used its calls up makes no further one", calls},
		{"whole", "what does not fit in one respect takes nothing in any", whole},
		{"back", "what was reserved and not used can be used again", back},
		{"once", "settling more often than reserving gives back no more than there was", once},
		{"parallel", "parallel work is bounded, refused for now and not for good, and free again when it ends", parallel},
		{"tokens", "tokens are counted up to the limit, and not at all where there is none", tokens},
		{"elapsed", "time runs from the run's first reservation", elapsed},
		{"apart", "runs and tenants have budgets of their own", apart},
		{"resumed", "a run that is resumed has what it left, whatever process resumes it", resumed},
		{"unknown", "settling what was never reserved changes nothing and is no error", unknown},
		{"load", "many at once take exactly what there is", load},
		{"crowd", "many at once are never more than the limit", crowd},
	}
}
