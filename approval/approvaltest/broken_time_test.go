package approvaltest_test

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

func timeDefects() []defect {
	return []defect{
		{
			rule: "time/is the store's", what: "stamps every time that it is asked", also: []string{"consume/binds one operation"},
			store: hooked(func(f *faulty) {
				var stamps sync.Map
				f.consume = func(c ctx, tenant, id, digest, op string) (approval.Record, bool, error) {
					r, ok, err := f.Store.Consume(c, tenant, id, digest, op)
					if err == nil {
						r.ConsumedAt = f.now().UTC().Round(0)
						stamps.Store(id, r.ConsumedAt)
					}
					return r, ok, err
				}
				f.find = func(c ctx, tenant, id string) (approval.Record, error) {
					r, err := f.Store.Find(c, tenant, id)
					if at, ok := stamps.Load(id); ok {
						r.ConsumedAt, _ = at.(time.Time)
					}
					return r, err
				}
			}),
		},
		{
			rule: "time/a decision in the last nanosecond counts", what: "counts in microseconds",
			store: hooked(func(f *faulty) {
				f.decide = func(c ctx, tenant, id string, d approval.Decision) (approval.Record, error) {
					if r := f.peek(c, tenant, id); r.Left > 0 && r.Left < time.Microsecond {
						return approval.Record{}, approval.ErrExpired
					}
					return f.Store.Decide(c, tenant, id, d)
				}
			}),
		},
		{
			rule: "time/expired at the instant, undecided", what: "takes a decision at the instant",
			store: hooked(func(f *faulty) {
				f.decide = func(c ctx, tenant, id string, d approval.Decision) (approval.Record, error) {
					if r := f.peek(c, tenant, id); r.Proposal.ExpiresAt.Equal(f.now()) {
						r, _, err := r.Decide(d, f.now().Add(-1))
						return r, err
					}
					return f.Store.Decide(c, tenant, id, d)
				}
			}),
		},
		{
			rule: "time/expired at the instant, approved", what: "consumes at the instant",
			store: hooked(func(f *faulty) {
				f.consume = func(c ctx, tenant, id, digest, op string) (approval.Record, bool, error) {
					r := f.peek(c, tenant, id)
					if r.Proposal.ExpiresAt.Equal(f.now()) && r.At(f.now().Add(-1)).State == approval.Approved {
						r, _, err := r.Consume(digest, op, f.now().Add(-1))
						return r, err == nil, err
					}
					return f.Store.Consume(c, tenant, id, digest, op)
				}
			}),
		},
		{
			rule: "time/what is final stays so", what: "lets a rejection expire",
			store: hooked(func(f *faulty) {
				f.find = func(c ctx, tenant, id string) (approval.Record, error) {
					r, err := f.Store.Find(c, tenant, id)
					if r.State == approval.Rejected && r.Left == 0 {
						r.State = approval.Expired
					}
					return r, err
				}
			}),
		},
		{
			rule: "time/the rest of the lifetime", what: "goes below zero",
			store: hooked(func(f *faulty) {
				f.find = func(c ctx, tenant, id string) (approval.Record, error) {
					r, err := f.Store.Find(c, tenant, id)
					r.Left = r.Proposal.ExpiresAt.Sub(f.now())
					return r, err
				}
			}),
		},
		{
			rule: "time/the order of lists", what: "sorts by microseconds", also: []string{"pending/pages lose nothing"},
			store: hooked(func(f *faulty) {
				f.pending = func(c ctx, tenant string, page approval.Page) ([]approval.Record, string, error) {
					rs, next, err := f.Store.Pending(c, tenant, page)
					slices.SortFunc(rs, func(a, b approval.Record) int {
						x, y := a.Proposal, b.Proposal
						if n := x.CreatedAt.Truncate(time.Microsecond).Compare(y.CreatedAt.Truncate(time.Microsecond)); n != 0 {
							return n
						}
						return strings.Compare(x.ID, y.ID)
					})
					return rs, next, err
				}
			}),
		},
	}
}

func raceDefects() []defect {
	const lost = "reads and writes without a transaction"
	return []defect{
		{rule: "race/one operation consumes", what: lost, also: []string{"race/withdraw against consume"}, store: racing(false, "consume")},
		{rule: "race/one approver decides", what: lost, also: decideRaces(), store: racing(false, "decide")},
		{rule: "race/two approvers decide", what: lost, also: decideRaces(), store: racing(false, "decide")},
		{rule: "race/approve against reject", what: lost, also: decideRaces(), store: racing(false, "decide")},
		{rule: "race/one form sent many times", what: "takes its own repetition for a rival", also: decideRaces(), store: racing(true, "decide")},
		{rule: "race/one proposal is created", what: lost, store: racing(false, "create")},
		{rule: "race/the highest version is kept", what: lost, store: racing(false, "policy")},
		{rule: "race/withdraw against consume", what: lost, also: []string{"race/one operation consumes"}, store: racing(false, "withdraw", "consume")},
	}
}

// decideRaces are the rules that a store may break whose decisions overwrite each other: which, the scheduler says.
func decideRaces() []string {
	return []string{"race/one approver decides", "race/two approvers decide", "race/approve against reject", "race/one form sent many times"}
}

func restartDefects() []defect {
	return []defect{
		{
			rule: "restart/loses nothing", what: "keeps it in memory", also: []string{"restart/goes on"},
			open: func(now func() time.Time) func() approval.Store {
				return func() approval.Store { return approval.NewMemory(now) }
			},
		},
		{
			rule: "restart/goes on", what: "forgets the policy's version",
			open: func(now func() time.Time) func() approval.Store {
				kept := approval.NewMemory(now)
				opened := 0
				return func() approval.Store {
					opened++
					if opened == 1 {
						return kept
					}
					f := &faulty{Store: kept, now: now}
					f.create = func(c ctx, p approval.Proposal) (approval.Record, error) {
						r, err := kept.Create(c, p)
						r.PolicySeen = p.PolicyVersion
						return r, err
					}
					return f
				}
			},
		},
	}
}
