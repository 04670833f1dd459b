package approvaltest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// Ability is something that a store can do for its tests besides keeping the contract. Abilities are made by [Clock]
// and [Lasting].
type Ability interface{ declare(a *abilities) }

type abilities struct {
	clock   func(t *testing.T, now func() time.Time) approval.Store
	lasting func(t *testing.T) (open func() approval.Store)
}

type ability func(a *abilities)

func (f ability) declare(a *abilities) { f(a) }

// Clock declares that the store can run on a given clock. newStore returns an empty store that reads now, which stands
// still but when a case moves it and may be called from any goroutine.
func Clock(newStore func(t *testing.T, now func() time.Time) approval.Store) Ability {
	return ability(func(a *abilities) { a.clock = newStore })
}

// Lasting declares that the store outlives its process. newStore returns a function that opens one and the same store
// anew, empty at first; the store that it opened before is not used any more, and is to be closed by it.
func Lasting(newStore func(t *testing.T) (open func() approval.Store)) Ability {
	return ability(func(a *abilities) { a.lasting = newStore })
}

// Run checks every rule of the contract as a subtest of its own. newStore returns a fresh, empty store for each; it may
// be called from several goroutines, for the cases run in parallel, and registers what is to be cleaned up with t.
func Run(t *testing.T, newStore func(t *testing.T) approval.Store, declared ...Ability) {
	t.Helper()
	var a abilities
	for _, d := range declared {
		d.declare(&a)
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			p, missing := a.probe(t, r.needs, newStore)
			if missing != "" {
				t.Skip(missing)
			}
			r.check(p)
			for _, fault := range p.faults {
				t.Errorf("%s\nthe rule: %s", fault, r.explanation)
			}
		})
	}
}

// rule is one rule of the contract: what breaks when it is broken, and the check.
type rule struct {
	name, explanation string
	needs             need
	check             func(p *probe)
}

type need uint8

const (
	needsNothing need = iota
	needsClock
	needsLasting
	needsPurger
)

func (a abilities) probe(t *testing.T, n need, newStore func(t *testing.T) approval.Store) (p *probe, missing string) {
	t.Helper()
	p = &probe{ctx: t.Context()}
	switch n {
	case needsClock, needsPurger:
		if a.clock == nil {
			return nil, "the store declares no clock (approvaltest.Clock): exact times are not checked"
		}
		p.clock = &clock{at: start}
		p.store = a.clock(t, p.clock.now)
		if p.purger, _ = p.store.(approval.Purger); n == needsPurger && p.purger == nil {
			return nil, "the store is no approval.Purger: retention is not checked"
		}
	case needsLasting:
		if a.lasting == nil {
			return nil, "the store is not declared lasting (approvaltest.Lasting): a restart is not checked"
		}
		p.open = a.lasting(t)
		p.store = p.open()
	case needsNothing:
		p.store = newStore(t)
	}
	return p, ""
}

func rules() []rule {
	return slices.Concat(createRules(), decideRules(), withdrawRules(), consumeRules(), listRules(), timeRules(), raceRules(), purgeRules(), lastingRules())
}

// probe is a store under one check, which notes what is wrong and goes on.
type probe struct {
	ctx    context.Context //nolint:containedctx // a probe lives within one test
	store  approval.Store
	clock  *clock                // of a store with Clock, otherwise nil
	open   func() approval.Store // of a store that lasts, otherwise nil
	purger approval.Purger       // the store, where it is one
	faults []string
}
