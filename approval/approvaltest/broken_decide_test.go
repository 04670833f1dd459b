package approvaltest_test

import (
	"slices"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

func decideDefects() []defect {
	decides := func(hook func(f *faulty, c ctx, r approval.Record, d approval.Decision) approval.Decision) func(now func() time.Time) approval.Store {
		return hooked(func(f *faulty) {
			f.decide = func(c ctx, tenant, id string, d approval.Decision) (approval.Record, error) {
				return f.Store.Decide(c, tenant, id, hook(f, c, f.peek(c, tenant, id), d))
			}
		})
	}
	return []defect{
		{
			rule: "decide/keeps the decision", what: "forgets what an approver remarked",
			store: decides(func(_ *faulty, _ ctx, _ approval.Record, d approval.Decision) approval.Decision {
				if d.Approved {
					d.Reason = ""
				}
				return d
			}),
		},
		{
			rule: "decide/two needs two different approvers", what: "tells apart by kind",
			store: decides(func(_ *faulty, _ ctx, r approval.Record, d approval.Decision) approval.Decision {
				if r.Proposal.Requirement.Level == approval.Two && d.By.Kind == approval.Service {
					d.By.Subject += " (service)"
				}
				return d
			}),
		},
		{
			rule: "decide/one rejection is final", what: "counts approvals alone", also: []string{"pending/what waits for a decision"},
			store: hooked(func(f *faulty) {
				f.decide = func(c ctx, tenant, id string, d approval.Decision) (approval.Record, error) {
					r := f.peek(c, tenant, id)
					fresh := !slices.ContainsFunc(r.Decisions, func(o approval.Decision) bool { return o.By.Is(d.By) })
					if r.Proposal.Requirement.Level == approval.Two && !d.Approved && fresh {
						return r, nil
					}
					return f.Store.Decide(c, tenant, id, d)
				}
			}),
		},
		{
			rule: "decide/again changes nothing", what: "answers a second no with an error",
			store: hooked(func(f *faulty) {
				f.decide = func(c ctx, tenant, id string, d approval.Decision) (approval.Record, error) {
					if r := f.peek(c, tenant, id); r.State == approval.Rejected && !d.Approved {
						return approval.Record{}, approval.ErrDecided
					}
					return f.Store.Decide(c, tenant, id, d)
				}
			}),
		},
		{
			rule: "decide/one approver has one verdict", what: "takes a later no for a withdrawal",
			store: hooked(func(f *faulty) {
				f.decide = func(c ctx, tenant, id string, d approval.Decision) (approval.Record, error) {
					for _, o := range f.peek(c, tenant, id).Decisions {
						if o.By.Is(d.By) && o.Approved && !d.Approved {
							return f.Store.Withdraw(c, tenant, id, o.ID, d.By)
						}
					}
					return f.Store.Decide(c, tenant, id, d)
				}
			}),
		},
		{
			rule: "decide/only for the digest that was shown", what: "does not compare digests",
			store: decides(func(_ *faulty, _ ctx, r approval.Record, d approval.Decision) approval.Decision {
				d.Digest = r.Proposal.Digest
				return d
			}),
		},
		{
			rule: "decide/not by the requester", what: "compares kinds as well",
			store: decides(func(_ *faulty, _ ctx, r approval.Record, d approval.Decision) approval.Decision {
				if d.By.Is(r.Proposal.Requester) && d.By.Kind != r.Proposal.Requester.Kind {
					d.By.Subject += " (other)"
				}
				return d
			}),
		},
		{
			rule: "decide/a rejection has a short reason", what: "finds one itself",
			store: decides(func(_ *faulty, _ ctx, _ approval.Record, d approval.Decision) approval.Decision {
				if !d.Approved && strings.TrimSpace(d.Reason) == "" {
					d.Reason = "no reason given"
				}
				return d
			}),
		},
		{
			rule: "decide/the policy decides where nobody is asked, and there alone", what: "takes a person for the policy",
			store: decides(func(_ *faulty, _ ctx, r approval.Record, d approval.Decision) approval.Decision {
				if r.Proposal.Requirement.Level == approval.None {
					d.By.Kind = approval.PolicyDecision
				}
				return d
			}),
		},
		{
			rule: "decide/once it is decided", what: "does not say that it is consumed",
			store: hooked(func(f *faulty) {
				f.decide = func(c ctx, tenant, id string, d approval.Decision) (approval.Record, error) {
					r, err := f.Store.Decide(c, tenant, id, d)
					if err == approval.ErrConsumed { //nolint:errorlint // Memory's own
						err = approval.ErrDecided
					}
					return r, err
				}
			}),
		},
		{
			rule: "decide/only by somebody", what: "takes everybody for a person",
			store: decides(func(_ *faulty, _ ctx, _ approval.Record, d approval.Decision) approval.Decision {
				if d.By.Kind == 0 && d.By.Subject != "" {
					d.By.Kind = approval.Person
				}
				return d
			}),
		},
	}
}
