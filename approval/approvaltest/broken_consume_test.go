package approvaltest_test

import (
	"slices"
	"strings"

	"github.com/toolcontract/toolcontract/approval"
)

func consumeDefects() []defect {
	return []defect{
		{
			rule: "withdraw/until it is consumed", what: "only when all approvals are given",
			store: hooked(func(f *faulty) {
				f.back = func(c ctx, tenant, id, decision string, by approval.Principal) (approval.Record, error) {
					if f.peek(c, tenant, id).State == approval.Pending {
						return approval.Record{}, approval.ErrPending
					}
					return f.Store.Withdraw(c, tenant, id, decision, by)
				}
			}),
		},
		{
			rule: "withdraw/not afterwards", what: "says yes and does nothing", also: []string{"race/withdraw against consume"},
			store: hooked(func(f *faulty) {
				f.back = func(c ctx, tenant, id, decision string, by approval.Principal) (approval.Record, error) {
					if r := f.peek(c, tenant, id); r.State == approval.Consumed {
						return r, nil
					}
					return f.Store.Withdraw(c, tenant, id, decision, by)
				}
			}),
		},
		{
			rule: "withdraw/only an approval that is there", what: "does not look which one", also: []string{"names/are only names"},
			store: hooked(func(f *faulty) {
				f.back = func(c ctx, tenant, id, decision string, by approval.Principal) (approval.Record, error) {
					if r := f.peek(c, tenant, id); len(r.Decisions) > 0 {
						decision = r.Decisions[0].ID
					}
					return f.Store.Withdraw(c, tenant, id, decision, by)
				}
			}),
		},
		{
			rule: "consume/binds one operation", what: "lets a second operation in",
			also: []string{"race/one operation consumes", "time/what is final stays so", "restart/goes on", "purge/a tombstone answers"},
			store: hooked(func(f *faulty) {
				f.consume = func(c ctx, tenant, id, digest, op string) (approval.Record, bool, error) {
					if r := f.peek(c, tenant, id); r.State == approval.Consumed && r.Proposal.Digest == digest {
						return r, true, nil
					}
					return f.Store.Consume(c, tenant, id, digest, op)
				}
			}),
		},
		{
			rule: "consume/binds one operation", what: "takes an operation without a name",
			store: hooked(func(f *faulty) {
				f.consume = func(c ctx, tenant, id, digest, op string) (approval.Record, bool, error) {
					if op == "" {
						op = "op_1"
					}
					return f.Store.Consume(c, tenant, id, digest, op)
				}
			}),
		},
		{
			rule: "consume/only what is approved", what: "takes silence for consent",
			store: hooked(func(f *faulty) {
				f.consume = func(c ctx, tenant, id, digest, op string) (approval.Record, bool, error) {
					r := f.peek(c, tenant, id)
					if r.State == approval.Pending && r.Proposal.Requirement.Level == approval.One {
						by := approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "robot"}
						_, _ = f.Store.Decide(c, tenant, id, approval.Decision{Approved: true, By: by, Digest: digest})
					}
					return f.Store.Consume(c, tenant, id, digest, op)
				}
			}),
		},
		{
			rule: "consume/only for the digest that was approved", what: "does not compare digests",
			store: hooked(func(f *faulty) {
				f.consume = func(c ctx, tenant, id, _, op string) (approval.Record, bool, error) {
					return f.Store.Consume(c, tenant, id, f.peek(c, tenant, id).Proposal.Digest, op)
				}
			}),
		},
		{
			rule: "alike/what is not consumed", what: "forgets rejections",
			store: hooked(func(f *faulty) {
				f.alike = func(c ctx, tenant string, digests []string) ([]approval.Record, error) {
					rs, err := f.Store.Alike(c, tenant, digests)
					return slices.DeleteFunc(rs, func(r approval.Record) bool { return r.State == approval.Rejected }), err
				}
			}),
		},
		{
			rule: "pending/what waits for a decision", what: "drops what one of two has approved",
			store: hooked(func(f *faulty) {
				f.pending = func(c ctx, tenant string, page approval.Page) ([]approval.Record, string, error) {
					rs, next, err := f.Store.Pending(c, tenant, page)
					return slices.DeleteFunc(rs, func(r approval.Record) bool { return len(r.Decisions) > 0 }), next, err
				}
			}),
		},
		{
			rule: "pending/pages lose nothing", what: "counts from the beginning",
			store: hooked(func(f *faulty) {
				f.pending = func(c ctx, tenant string, page approval.Page) ([]approval.Record, string, error) {
					rs, _, err := f.Store.Pending(c, tenant, approval.Page{Size: approval.MaxPage})
					if strings.Trim(page.Cursor, "+") != "" {
						return nil, "", approval.ErrInvalid
					}
					rs = rs[min(len(page.Cursor), len(rs)):]
					if len(rs) <= page.Limit() {
						return rs, "", err
					}
					return rs[:page.Limit()], page.Cursor + strings.Repeat("+", page.Limit()), err
				}
			}),
		},
	}
}
