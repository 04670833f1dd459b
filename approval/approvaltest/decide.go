package approvaltest

import (
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

func decideRules() []rule {
	return []rule{
		{
			name:        "decide/keeps the decision",
			explanation: "a decision says who, what, why and for which digest; the store adds the time, and an id where none is given",
			check:       keepsDecision,
		},
		{
			name:        "decide/two needs two different approvers",
			explanation: "two approvals of one subject are one, whatever kind and roles it comes with the second time",
			check:       twoApprovers,
		},
		{
			name:        "decide/one rejection is final",
			explanation: "where two must agree, one no is a no, and nothing that comes later makes it a yes",
			check: func(p *probe) {
				p.create("p_1", at(approval.Two))
				p.decide("p_1", yes(person("a")))
				r := p.decide("p_1", no(person("b")))
				p.equal("state", approval.Rejected, r.State)
				p.equal("reason", "the wrong customer", decisionOf(r, "b").Reason)
				_, err := p.store.Decide(p.ctx, tenant, "p_1", yes(person("c")))
				p.refused("Decide after a rejection", approval.ErrDecided, err)
				p.unchanged("Decide after a rejection", r)
			},
		},
		{
			name:        "decide/again changes nothing",
			explanation: "a form that is sent twice decides once: the same verdict of the same approver for the same digest returns the record as it stands",
			check:       decideAgain,
		},
		{
			name:        "decide/one approver has one verdict",
			explanation: "who has approved takes it back by Withdraw, not by a second and other decision",
			check: func(p *probe) {
				p.create("p_1", at(approval.Two))
				r := p.decide("p_1", yes(person("a")))
				_, err := p.store.Decide(p.ctx, tenant, "p_1", no(person("a")))
				p.refused("the other verdict", approval.ErrDecided, err)
				p.unchanged("the other verdict", r)
			},
		},
		{
			name:        "decide/only for the digest that was shown",
			explanation: "a decision for another digest is about something else: ErrDigest, also from an approver who has decided",
			check: func(p *probe) {
				r := p.create("p_1", at(approval.Two))
				other := yes(person("a"))
				for _, d := range []string{"", "hmac-sha256:k1:Zm9w", strings.ToUpper(digest)} {
					other.Digest = d
					_, err := p.store.Decide(p.ctx, tenant, "p_1", other)
					p.refused("Decide", approval.ErrDigest, err)
				}
				p.unchanged("Decide for another digest", r)
				p.decide("p_1", yes(person("a")))
				_, err := p.store.Decide(p.ctx, tenant, "p_1", other)
				p.refused("Decide again, for another digest", approval.ErrDigest, err)
			},
		},
		{
			name:        "decide/not by the requester",
			explanation: "nobody approves what they ask for, in whatever kind they come, unless the requirement says so: ErrSelf",
			check:       notByRequester,
		},
		{
			name:        "decide/a rejection has a short reason",
			explanation: "the requester is told why: a rejection without a reason, or one of more than 500 code points, or that is no text, is ErrReason",
			check:       reasons,
		},
		{
			name:        "decide/the policy decides where nobody is asked, and there alone",
			explanation: "level none is approved by the policy; a person cannot, and the policy cannot where an approver is asked: ErrNotAllowed",
			check:       policyDecides,
		},
		{
			name:        "decide/once it is decided",
			explanation: "a final decision stands: ErrDecided, and ErrConsumed when an operation has used it",
			check: func(p *probe) {
				r := p.approved("p_1")
				for _, d := range []approval.Decision{yes(person("b")), no(person("b"))} {
					_, err := p.store.Decide(p.ctx, tenant, "p_1", d)
					p.refused("Decide what is approved", approval.ErrDecided, err)
				}
				p.unchanged("Decide what is approved", r)
				r = p.consume("p_1")
				_, err := p.store.Decide(p.ctx, tenant, "p_1", no(person("b")))
				p.refused("Decide what is consumed", approval.ErrConsumed, err)
				p.unchanged("Decide what is consumed", r)
			},
		},
		{
			name:        "decide/only by somebody",
			explanation: "a principal without a kind, a tenant or a subject is nobody: ErrInvalid",
			check: func(p *probe) {
				r := p.create("p_1")
				for _, by := range []approval.Principal{{}, {Tenant: tenant, Subject: "a"}, {Kind: approval.Person, Subject: "a"}, {Kind: approval.Person, Tenant: tenant}} {
					_, err := p.store.Decide(p.ctx, tenant, "p_1", yes(by))
					p.refused("Decide", approval.ErrInvalid, err)
				}
				p.unchanged("Decide by nobody", r)
			},
		},
	}
}

func keepsDecision(p *probe) {
	p.create("p_1", at(approval.Two))
	d := yes(person("a"))
	d.ID, d.Reason, d.At = "d_mine", "looks “right”\n\u202e", time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	p.decide("p_1", d)
	r := p.decide("p_1", yes(person("b")))
	p.equal("state", approval.Approved, r.State)
	for what, r := range map[string]approval.Record{"Decide": r, "Find": p.find("p_1")} {
		p.equal(what+": number of decisions", 2, len(r.Decisions))
		got := decisionOf(r, "a")
		p.equal(what+": the caller's time is used", false, got.At.Year() == 1999)
		p.equal(what+": the time is in UTC", time.UTC, got.At.Location())
		p.equal(what+": the decision is not before the proposal", false, got.At.Before(r.Proposal.CreatedAt))
		got.At = d.At
		p.equal(what+": the decision", d, got)
		made := decisionOf(r, "b")
		p.equal(what+": an id is made, of its own", true, made.ID != "" && made.ID != "d_mine")
		if len(r.Decisions) == 2 {
			p.equal(what+": the first decision comes first", "a", r.Decisions[0].By.Subject)
		}
	}
	taken := yes(person("a"))
	taken.ID = "d_mine"
	p.create("p_2", at(approval.Two))
	p.decide("p_2", taken)
	taken.By = person("b")
	_, err := p.store.Decide(p.ctx, tenant, "p_2", taken)
	p.refused("a decision with another's id", approval.ErrInvalid, err)
}

func twoApprovers(p *probe) {
	p.create("p_1", at(approval.Two))
	p.equal("state after one", approval.Pending, p.decide("p_1", yes(person("a"))).State)
	again := yes(approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "a"})
	r, err := p.store.Decide(p.ctx, tenant, "p_1", again)
	p.ok("Decide again as another kind", err)
	p.equal("state after the same approver again", approval.Pending, r.State)
	_, _, err = p.store.Consume(p.ctx, tenant, "p_1", digest, "op_1")
	p.refused("Consume with one approval of two", approval.ErrPending, err)
	p.equal("state after another approver", approval.Approved, p.decide("p_1", yes(person("b"))).State)
}

func decideAgain(p *probe) {
	for id, d := range map[string]approval.Decision{"p_yes": yes(person("a")), "p_no": no(person("a"))} {
		p.create(id)
		r := p.decide(id, d)
		again := d
		again.ID = "d_again"
		got, err := p.store.Decide(p.ctx, tenant, id, again)
		p.ok("Decide again", err)
		p.equal("Decide again: state", r.State, got.State)
		p.equal("Decide again: number of decisions", 1, len(got.Decisions))
		p.unchanged("Decide again", r)
	}
	r := p.consume("p_yes")
	got, err := p.store.Decide(p.ctx, tenant, "p_yes", yes(person("a")))
	p.ok("Decide again what is consumed", err)
	p.equal("Decide again what is consumed: state", approval.Consumed, got.State)
	p.unchanged("Decide again what is consumed", r)
}

func notByRequester(p *probe) {
	r := p.create("p_1")
	requester := r.Proposal.Requester
	for _, kind := range []approval.Kind{approval.Service, approval.Person} {
		requester.Kind = kind
		_, err := p.store.Decide(p.ctx, tenant, "p_1", yes(requester))
		p.refused("Decide by the requester", approval.ErrSelf, err)
	}
	p.unchanged("Decide by the requester", r)
	p.create("p_2", func(pr *approval.Proposal) { pr.Requirement.Self = true })
	p.equal("state where self is allowed", approval.Approved, p.decide("p_2", yes(requester)).State)
}

func reasons(p *probe) {
	r := p.create("p_1")
	d := no(person("a"))
	for what, reason := range map[string]string{
		"no reason": "", "white space": " \t\n", "501 code points": strings.Repeat("ö", approval.MaxReason+1), "no text": "a\xffb", "U+0000": "a\x00b",
	} {
		d.Reason = reason
		_, err := p.store.Decide(p.ctx, tenant, "p_1", d)
		p.refused("Decide with "+what, approval.ErrReason, err)
	}
	p.unchanged("rejections without a good reason", r)
	d.Reason = strings.Repeat("ö", approval.MaxReason)
	r = p.decide("p_1", d)
	p.equal("state", approval.Rejected, r.State)
	p.equal("the reason comes back", d.Reason, decisionOf(p.find("p_1"), "a").Reason)
}

func policyDecides(p *probe) {
	policy := approval.Principal{Kind: approval.PolicyDecision, Tenant: tenant, Subject: "policy"}
	none := p.create("p_none", at(approval.None))
	_, err := p.store.Decide(p.ctx, tenant, "p_none", yes(person("a")))
	p.refused("a person where nobody is asked", approval.ErrNotAllowed, err)
	_, _, err = p.store.Consume(p.ctx, tenant, "p_none", digest, "op_1")
	p.refused("Consume before the policy has decided", approval.ErrPending, err)
	p.unchanged("a person where nobody is asked", none)
	p.equal("state", approval.Approved, p.decide("p_none", yes(policy)).State)
	p.equal("the policy's decision is told from a person's", approval.PolicyDecision, decisionOf(p.find("p_none"), "policy").By.Kind)

	for id, l := range map[string]approval.Level{"p_one": approval.One, "p_two": approval.Two} {
		r := p.create(id, at(l))
		_, err = p.store.Decide(p.ctx, tenant, id, yes(policy))
		p.refused("the policy where an approver is asked", approval.ErrNotAllowed, err)
		p.unchanged("the policy where an approver is asked", r)
	}
}
