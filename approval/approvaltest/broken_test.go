package approvaltest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvaltest"
)

type ctx = context.Context

// faulty is a store that answers through hooks; a nil hook passes the call on.
type faulty struct {
	approval.Store
	now     func() time.Time
	create  func(c ctx, p approval.Proposal) (approval.Record, error)
	find    func(c ctx, tenant, id string) (approval.Record, error)
	alike   func(c ctx, tenant string, digests []string) ([]approval.Record, error)
	pending func(c ctx, tenant string, page approval.Page) ([]approval.Record, string, error)
	decide  func(c ctx, tenant, id string, d approval.Decision) (approval.Record, error)
	back    func(c ctx, tenant, id, decision string, by approval.Principal) (approval.Record, error)
	consume func(c ctx, tenant, id, digest, op string) (approval.Record, bool, error)
	purge   func(c ctx, bodies, tombstones time.Duration) (int, error)
}

func (f *faulty) Purge(c ctx, bodies, tombstones time.Duration) (int, error) {
	if f.purge != nil {
		return f.purge(c, bodies, tombstones)
	}
	return f.memory().Purge(c, bodies, tombstones)
}

// memory is the store without its faults.
func (f *faulty) memory() *approval.Memory {
	m, _ := f.Store.(*approval.Memory)
	return m
}

func (f *faulty) Create(c ctx, p approval.Proposal) (approval.Record, error) {
	if f.create != nil {
		return f.create(c, p)
	}
	return f.Store.Create(c, p)
}

func (f *faulty) Find(c ctx, tenant, id string) (approval.Record, error) {
	if f.find != nil {
		return f.find(c, tenant, id)
	}
	return f.Store.Find(c, tenant, id)
}

func (f *faulty) Alike(c ctx, tenant string, digests []string) ([]approval.Record, error) {
	if f.alike != nil {
		return f.alike(c, tenant, digests)
	}
	return f.Store.Alike(c, tenant, digests)
}

func (f *faulty) Pending(c ctx, tenant string, page approval.Page) ([]approval.Record, string, error) {
	if f.pending != nil {
		return f.pending(c, tenant, page)
	}
	return f.Store.Pending(c, tenant, page)
}

func (f *faulty) Decide(c ctx, tenant, id string, d approval.Decision) (approval.Record, error) {
	if f.decide != nil {
		return f.decide(c, tenant, id, d)
	}
	return f.Store.Decide(c, tenant, id, d)
}

func (f *faulty) Withdraw(c ctx, tenant, id, decision string, by approval.Principal) (approval.Record, error) {
	if f.back != nil {
		return f.back(c, tenant, id, decision, by)
	}
	return f.Store.Withdraw(c, tenant, id, decision, by)
}

func (f *faulty) Consume(c ctx, tenant, id, digest, op string) (approval.Record, bool, error) {
	if f.consume != nil {
		return f.consume(c, tenant, id, digest, op)
	}
	return f.Store.Consume(c, tenant, id, digest, op)
}

// peek is the record as it stands, the zero Record where there is none.
func (f *faulty) peek(c ctx, tenant, id string) approval.Record {
	r, _ := f.Store.Find(c, tenant, id)
	return r
}

func hooked(hook func(f *faulty)) func(now func() time.Time) approval.Store {
	return func(now func() time.Time) approval.Store {
		f := &faulty{Store: approval.NewMemory(now), now: now}
		hook(f)
		return f
	}
}

func policy(tenant string) approval.Principal {
	return approval.Principal{Kind: approval.PolicyDecision, Tenant: tenant, Subject: "policy"}
}

type defect struct {
	rule, what string
	also       []string // what else cannot be kept by a store that does so
	store      func(now func() time.Time) approval.Store
	open       func(now func() time.Time) func() approval.Store // instead of store, for what a restart breaks
}

func defects() []defect {
	return slices.Concat(createDefects(), decideDefects(), consumeDefects(), timeDefects(), raceDefects(), purgeDefects(), restartDefects())
}

// Each defect is found by the rule that it breaks, and by no rule that it keeps.
func TestTheSuiteFailsBrokenStores(t *testing.T) {
	t.Parallel()
	met := map[string]bool{}
	for _, d := range defects() {
		met[d.rule] = true
		t.Run(d.rule+": "+d.what, func(t *testing.T) {
			t.Parallel()
			open := d.open
			if open == nil {
				open = func(now func() time.Time) func() approval.Store {
					s := d.store(now)
					return func() approval.Store { return s }
				}
			}
			broken := approvaltest.Broken(t, open)
			require.Contains(t, broken, d.rule, "the rule must find it")
			for rule, faults := range broken {
				require.Contains(t, append(d.also, d.rule), rule, "%q", faults)
			}
		})
	}
	for _, rule := range approvaltest.Rules() {
		require.True(t, met[rule], "no store breaks %q: nothing shows that its check can fail", rule)
	}
}

// A sloppy store that is not racy anywhere keeps every rule: what the racy ones fail is due to the race.
func TestTheSuitePassesWhatIsNotRacy(t *testing.T) {
	t.Parallel()
	require.Empty(t, approvaltest.Broken(t, func(now func() time.Time) func() approval.Store {
		s := racing(false)(now)
		return func() approval.Store { return s }
	}))
}

func TestTheSuitePassesMemory(t *testing.T) {
	t.Parallel()
	require.Empty(t, approvaltest.Broken(t, func(now func() time.Time) func() approval.Store {
		s := approval.NewMemory(now)
		return func() approval.Store { return s }
	}))
}
