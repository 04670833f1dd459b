package approvaltest_test

import (
	"context"
	"encoding/json/jsontext"
	"strings"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

func createDefects() []defect {
	return []defect{
		{
			rule: "create/keeps everything", what: "respells the plan",
			store: hooked(func(f *faulty) {
				f.create = func(c ctx, p approval.Proposal) (approval.Record, error) {
					p = p.Clone()
					_ = p.Plan.Compact()
					return f.Store.Create(c, p)
				}
			}),
		},
		{
			rule: "create/keeps everything", what: "says zero for what was not said",
			store: hooked(func(f *faulty) {
				f.create = func(c ctx, p approval.Proposal) (approval.Record, error) {
					if p.Consequence.AmountMinor == nil {
						p.Consequence.AmountMinor = new(int64)
					}
					return f.Store.Create(c, p)
				}
			}),
		},
		{
			rule: "create/begins pending", what: "approves where nobody is asked", also: []string{"decide/the policy decides where nobody is asked, and there alone"},
			store: hooked(func(f *faulty) {
				f.create = func(c ctx, p approval.Proposal) (approval.Record, error) {
					r, err := f.Store.Create(c, p)
					if err != nil || p.Requirement.Level != approval.None {
						return r, err
					}
					return f.Store.Decide(c, p.Tenant, p.ID, approval.Decision{Approved: true, By: policy(p.Tenant), Digest: p.Digest})
				}
			}),
		},
		{
			rule: "create/makes the times", what: "takes the caller's",
			store: hooked(func(f *faulty) {
				var given sync.Map
				show := func(r approval.Record, err error) (approval.Record, error) {
					if at, ok := given.Load(r.Proposal.ID); ok {
						r.Proposal.CreatedAt, _ = at.(time.Time)
					}
					return r, err
				}
				f.create = func(c ctx, p approval.Proposal) (approval.Record, error) {
					if !p.CreatedAt.IsZero() {
						given.Store(p.ID, p.CreatedAt)
					}
					return show(f.Store.Create(c, p))
				}
				f.find = func(c ctx, tenant, id string) (approval.Record, error) { return show(f.Store.Find(c, tenant, id)) }
			}),
		},
		{
			rule: "create/refuses what is incomplete", what: "gives an hour where no lifetime is said",
			store: hooked(func(f *faulty) {
				f.create = func(c ctx, p approval.Proposal) (approval.Record, error) {
					if p.Lifetime == 0 {
						p.Lifetime = time.Hour
					}
					return f.Store.Create(c, p)
				}
			}),
		},
		{
			rule: "create/an id is taken once", what: "returns the first to the second", also: []string{"race/one proposal is created", "purge/a tombstone answers"},
			store: hooked(func(f *faulty) {
				f.create = func(c ctx, p approval.Proposal) (approval.Record, error) {
					if r, err := f.Store.Find(c, p.Tenant, p.ID); err == nil {
						return r, nil
					}
					return f.Store.Create(c, p)
				}
			}),
		},
		{
			rule: "create/joins nothing", what: "decides on all that are alike",
			also: []string{"pending/what waits for a decision", "pending/pages lose nothing", "alike/what is not consumed", "time/a decision in the last nanosecond counts", "restart/loses nothing", "withdraw/until it is consumed", "names/are only names"},
			store: hooked(func(f *faulty) {
				f.decide = func(c ctx, tenant, id string, d approval.Decision) (approval.Record, error) {
					r, err := f.Store.Decide(c, tenant, id, d)
					others, _ := f.Store.Alike(c, tenant, []string{d.Digest})
					for _, o := range others {
						_, _ = f.Store.Decide(c, tenant, o.Proposal.ID, d)
					}
					return r, err
				}
			}),
		},
		{
			rule: "tenants/see nothing of each other", what: "shows everybody's to the one without a name",
			store: hooked(func(f *faulty) {
				f.find = func(c ctx, tenant, id string) (approval.Record, error) {
					if tenant == "" {
						tenant = "t1"
					}
					return f.Store.Find(c, tenant, id)
				}
			}),
		},
		{
			rule: "tenants/may use one id", what: "decides for a neighbour too",
			store: hooked(func(f *faulty) {
				f.decide = func(c ctx, tenant, id string, d approval.Decision) (approval.Record, error) {
					r, err := f.Store.Decide(c, tenant, id, d)
					if err == nil {
						_, _ = f.Store.Decide(c, "t2", id, d)
					}
					return r, err
				}
			}),
		},
		{
			rule: "names/are only names", what: "trims ids",
			store: hooked(func(f *faulty) {
				f.create = func(c ctx, p approval.Proposal) (approval.Record, error) {
					p.ID = strings.TrimSpace(p.ID)
					return f.Store.Create(c, p)
				}
			}),
		},
		{
			rule: "policy/the highest version is remembered", what: "tells the proposal's own", also: []string{"race/the highest version is kept"},
			store: hooked(func(f *faulty) {
				f.find = func(c ctx, tenant, id string) (approval.Record, error) {
					r, err := f.Store.Find(c, tenant, id)
					r.PolicySeen = r.Proposal.PolicyVersion
					return r, err
				}
			}),
		},
		{
			rule: "copies/nothing is shared", what: "hands out the plan that it keeps", also: []string{"purge/erases what is over"},
			store: hooked(func(f *faulty) {
				var kept sync.Map
				f.find = func(c ctx, tenant, id string) (approval.Record, error) {
					r, err := f.Store.Find(c, tenant, id)
					if err != nil {
						return r, err
					}
					plan, _ := kept.LoadOrStore(tenant+id, r.Proposal.Plan)
					r.Proposal.Plan, _ = plan.(jsontext.Value)
					return r, nil
				}
			}),
		},
		{
			rule: "context/a cancelled call changes nothing", what: "does not look at the context of a consumption",
			store: hooked(func(f *faulty) {
				f.consume = func(c ctx, tenant, id, digest, op string) (approval.Record, bool, error) {
					return f.Store.Consume(context.WithoutCancel(c), tenant, id, digest, op)
				}
			}),
		},
	}
}
