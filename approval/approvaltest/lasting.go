package approvaltest

import "github.com/toolcontract/toolcontract/approval"

func lastingRules() []rule {
	return []rule{
		{
			name:        "restart/loses nothing",
			explanation: "a process that ends while proposals wait, are approved or consumed loses none of it: the next one finds every record as it was",
			needs:       needsLasting,
			check: func(p *probe) {
				p.create("p_pending")
				p.create("p_half", at(approval.Two))
				p.decide("p_half", yes(person("a")))
				p.approved("p_approved")
				p.create("p_rejected")
				p.decide("p_rejected", no(person("a")))
				p.approved("p_consumed")
				p.consume("p_consumed")
				r := p.approved("p_withdrawn")
				_, err := p.store.Withdraw(p.ctx, tenant, "p_withdrawn", decisionOf(r, "a").ID, person("b"))
				p.ok("Withdraw", err)
				before := map[string]approval.Record{}
				for _, id := range []string{"p_pending", "p_half", "p_approved", "p_rejected", "p_consumed", "p_withdrawn"} {
					before[id] = p.find(id)
				}
				p.store = p.open()
				for id, r := range before {
					p.unchanged("the restart: "+id, r)
				}
			},
		},
		{
			name:        "restart/goes on",
			explanation: "what was begun before a restart is ended after it: the second of two approvals, the operation that asks again, the version of the policy",
			needs:       needsLasting,
			check: func(p *probe) {
				p.create("p_1", at(approval.Two), func(pr *approval.Proposal) { pr.PolicyVersion = 8 })
				p.decide("p_1", yes(person("a")))
				p.store = p.open()
				p.equal("state after the second approval", approval.Approved, p.decide("p_1", yes(person("b"))).State)
				p.consume("p_1")
				p.store = p.open()
				p.equal("consumed by", "op_1", p.consume("p_1").ConsumedBy)
				_, bound, err := p.store.Consume(p.ctx, tenant, "p_1", digest, "op_2")
				p.refused("Consume by another operation", approval.ErrConsumed, err)
				p.equal("bound", false, bound)
				p.equal("policy version", 8, p.create("p_2").PolicySeen)
			},
		},
	}
}
