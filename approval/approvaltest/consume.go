package approvaltest

import "github.com/toolcontract/toolcontract/approval"

func withdrawRules() []rule {
	return []rule{
		{
			name:        "withdraw/until it is consumed",
			explanation: "an approver may change their mind until the approval is used: the proposal is withdrawn, for good, whether or not another approval was missing",
			check:       withdraws,
		},
		{
			name:        "withdraw/not afterwards",
			explanation: "what an operation has used cannot be taken back: ErrConsumed",
			check: func(p *probe) {
				r := p.approved("p_1")
				id := decisionOf(r, "a").ID
				r = p.consume("p_1")
				_, err := p.store.Withdraw(p.ctx, tenant, "p_1", id, person("a"))
				p.refused("Withdraw what is consumed", approval.ErrConsumed, err)
				p.unchanged("Withdraw what is consumed", r)
			},
		},
		{
			name:        "withdraw/only an approval that is there",
			explanation: "a decision that is not there is ErrNotFound, a rejection is final (ErrDecided), and nobody withdraws nothing (ErrInvalid)",
			check: func(p *probe) {
				r := p.approved("p_1")
				_, err := p.store.Withdraw(p.ctx, tenant, "p_1", "d_none", person("a"))
				p.refused("another decision", approval.ErrNotFound, err)
				_, err = p.store.Withdraw(p.ctx, tenant, "p_1", decisionOf(r, "a").ID, approval.Principal{})
				p.refused("nobody", approval.ErrInvalid, err)
				p.unchanged("Withdraw that is refused", r)
				p.create("p_2")
				r = p.decide("p_2", no(person("a")))
				_, err = p.store.Withdraw(p.ctx, tenant, "p_2", decisionOf(r, "a").ID, person("a"))
				p.refused("a rejection", approval.ErrDecided, err)
				p.unchanged("Withdraw a rejection", r)
			},
		},
	}
}

func withdraws(p *probe) {
	p.create("p_two", at(approval.Two))
	for id, r := range map[string]approval.Record{"p_one": p.approved("p_one"), "p_two": p.decide("p_two", yes(person("a")))} {
		decision := decisionOf(r, "a").ID
		r, err := p.store.Withdraw(p.ctx, tenant, id, decision, person("b"))
		p.ok("Withdraw", err)
		p.equal("state", approval.Withdrawn, r.State)
		p.equal("who withdrew", approval.Principal{Kind: approval.Person, Tenant: tenant, Subject: "b"}, r.WithdrawnBy)
		p.equal("the time is set", false, r.WithdrawnAt.IsZero())
		p.equal("state found", approval.Withdrawn, p.find(id).State)

		again, err := p.store.Withdraw(p.ctx, tenant, id, decision, person("c"))
		p.ok("Withdraw again", err)
		p.equal("Withdraw again: who withdrew", "b", again.WithdrawnBy.Subject)
		_, err = p.store.Decide(p.ctx, tenant, id, yes(person("d")))
		p.refused("Decide what is withdrawn", approval.ErrDecided, err)
		_, bound, err := p.store.Consume(p.ctx, tenant, id, digest, "op_1")
		p.refused("Consume what is withdrawn", approval.ErrDecided, err)
		p.equal("Consume what is withdrawn: bound", false, bound)
		p.unchanged("calls on what is withdrawn", r)
	}
}

func consumeRules() []rule {
	return []rule{
		{
			name:        "consume/binds one operation",
			explanation: "an approval is used once: by one operation, as often as that asks, and by no other (ErrConsumed)",
			check:       bindsOne,
		},
		{
			name:        "consume/only what is approved",
			explanation: "without the approvals that are required nothing runs: ErrPending, and ErrDecided after a rejection",
			check: func(p *probe) {
				pending := p.create("p_1")
				_, bound, err := p.store.Consume(p.ctx, tenant, "p_1", digest, "op_1")
				p.refused("Consume what nobody has decided", approval.ErrPending, err)
				p.equal("bound", false, bound)
				p.unchanged("Consume what nobody has decided", pending)
				r := p.decide("p_1", no(person("a")))
				_, bound, err = p.store.Consume(p.ctx, tenant, "p_1", digest, "op_1")
				p.refused("Consume what is rejected", approval.ErrDecided, err)
				p.equal("bound", false, bound)
				p.unchanged("Consume what is rejected", r)
			},
		},
		{
			name:        "consume/only for the digest that was approved",
			explanation: "what runs is what was approved: another digest is ErrDigest, also from the operation that has consumed it",
			check: func(p *probe) {
				r := p.approved("p_1")
				for _, d := range []string{"", "hmac-sha256:k1:Zm9w"} {
					_, bound, err := p.store.Consume(p.ctx, tenant, "p_1", d, "op_1")
					p.refused("Consume for another digest", approval.ErrDigest, err)
					p.equal("bound", false, bound)
				}
				p.unchanged("Consume for another digest", r)
				p.consume("p_1")
				_, bound, err := p.store.Consume(p.ctx, tenant, "p_1", "hmac-sha256:k1:Zm9w", "op_1")
				p.refused("Consume again, for another digest", approval.ErrDigest, err)
				p.equal("bound", false, bound)
			},
		},
	}
}

func bindsOne(p *probe) {
	p.approved("p_1")
	_, bound, err := p.store.Consume(p.ctx, tenant, "p_1", digest, "")
	p.refused("Consume by no operation", approval.ErrInvalid, err)
	p.equal("Consume by no operation: bound", false, bound)
	r := p.consume("p_1")
	p.equal("state", approval.Consumed, r.State)
	p.equal("consumed by", "op_1", r.ConsumedBy)
	p.equal("the time is set", false, r.ConsumedAt.IsZero())
	p.equal("consumed by, again", "op_1", p.consume("p_1").ConsumedBy)
	_, bound, err = p.store.Consume(p.ctx, tenant, "p_1", digest, "op_2")
	p.refused("Consume by another operation", approval.ErrConsumed, err)
	p.equal("Consume by another operation: bound", false, bound)
	p.unchanged("Consume by another operation", r)
}
