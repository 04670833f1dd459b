package contracttest

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
)

// approvals tries to commit what was not approved: another thing, by another, at another time.
func (r *runner) approvals(cat *catalogue) {
	for _, w := range r.writings(cat) {
		w.leaf("approvals", "rendered-is-executed", (*act).renderedIsExecuted)
		w.leaf("approvals", "replay-after-use", (*act).replayAfterUse)
		w.leaf("approvals", "copies-changed", (*act).copiesChanged)
		w.leaf("approvals", "joined", (*act).joined)
		w.times()
		w.people()
		w.others()
		w.changes()
	}
}

// renderedIsExecuted: what the handler gets is the plan that was stored and shown, to the byte.
func (a *act) renderedIsExecuted() *Failure {
	if f := a.approved(); f != nil {
		return f
	}
	s := a.finish()
	if f := a.done(s, 1); f != nil {
		return f
	}
	for _, e := range s.entries {
		plan, ok := e.In.(jsontext.Value)
		if e.Tool != a.w.commit.Name || !ok {
			continue
		}
		got, err := redact.Canonical(plan)
		if err != nil || !bytes.Equal(got, a.rec.Proposal.Plan) {
			return a.anotherPlan(s, a.rec.Proposal.Plan)
		}
	}
	return nil
}

// anotherPlan is the failure of a commit that ran with another plan than the store shows. Which of the two is at fault
// cannot be seen from here.
func (a *act) anotherPlan(s seen, approved []byte) *Failure {
	f := a.failure(s, "the handler called with the plan that the store shows as approved, byte for byte: "+shown(approved))
	f.Got += ", and the handler got another plan"
	f.Hint = "either the commit runs another plan than the stored one, or the store's Find shows another than it keeps"
	return f
}

func (a *act) replayAfterUse() *Failure {
	if f := a.approved(); f != nil {
		return f
	}
	first := a.finish()
	if f := a.done(first, 1); f != nil {
		return f
	}
	again := a.commitNow()
	if f := a.done(again, 0); f != nil {
		return f
	}
	if !again.result.Replayed || !bytes.Equal(first.result.Data, again.result.Data) {
		return a.failure(again, "the first answer, marked as replayed")
	}
	return nil
}

// copiesChanged: what the agent holds is a copy. Writing into it changes nothing.
func (a *act) copiesChanged() *Failure {
	s := a.l.call(a.ctx, a.w.preview.Name, a.args)
	if !s.result.OK {
		return a.failure(s, "a proposal")
	}
	f := a.propose() // joined: the same proposal, by its id
	if f != nil {
		return f
	}
	before := bytes.Clone(a.rec.Proposal.Plan)
	for _, b := range [][]byte{a.args, s.result.Data} {
		for i := range b {
			b[i] = 'x'
		}
	}
	for _, e := range s.entries {
		if plan, ok := e.In.(jsontext.Value); ok {
			clear(plan)
		}
	}
	if f := a.approve(); f != nil {
		return f
	}
	for i := range a.rec.Proposal.Plan {
		a.rec.Proposal.Plan[i] = 'x' // the approver's copy too
	}
	s = a.finish()
	if f := a.done(s, 1); f != nil {
		return f
	}
	for _, e := range s.entries {
		if plan, ok := e.In.(jsontext.Value); ok && e.Tool == a.w.commit.Name && !bytes.Equal(plan, before) {
			return a.anotherPlan(s, before)
		}
	}
	return nil
}

// joined: the same request again is the same proposal.
func (a *act) joined() *Failure {
	if f := a.propose(); f != nil {
		return f
	}
	first := a.id
	if f := a.propose(); f != nil {
		return f
	}
	if a.id != first {
		return &Failure{Keyword: "approval", Want: "the proposal that waits already", Got: "a second one"}
	}
	return nil
}

// times are commits at the edges of a proposal's life.
func (w *writing) times() {
	at := func(name string, off time.Duration, codes ...envelope.Code) {
		w.leaf("approvals", name, func(a *act) *Failure {
			if a.l.f.Clock == nil {
				return lacks("Clock")
			}
			if f := a.approved(); f != nil {
				return f
			}
			if off < 0 { // the time that really passed counts too, so that the last moment cannot be hit
				off = -a.rec.Proposal.Lifetime / 10
			}
			a.l.f.Clock.Advance(a.rec.Proposal.ExpiresAt.Add(off).Sub(a.l.f.Clock.Now()))
			if len(codes) == 0 {
				return a.done(a.finish(), 1)
			}
			return a.refused(a.commitNow(), codes...)
		})
	}
	at("before-expiry", -time.Nanosecond)
	at("at-expiry", 0, envelope.ApprovalExpired)
	at("after-expiry", time.Nanosecond, envelope.ApprovalExpired)
	at("long-after-expiry", 400*time.Hour, envelope.ApprovalExpired)
	w.leaf("approvals", "undecided", func(a *act) *Failure {
		if f := a.propose(); f != nil || !a.waits() {
			return f
		}
		return a.refused(a.commitNow(), envelope.ApprovalPending)
	})
	w.leaf("approvals", "rejected", func(a *act) *Failure {
		if f := a.propose(); f != nil || !a.waits() {
			return f
		}
		if err := a.decide(a.approver(0), false); err != nil {
			return &Failure{Want: "a rejection taken", Got: "an error"}
		}
		if err := a.decide(a.approver(1), true); err == nil {
			return &Failure{Keyword: "approval", Want: "an error: a rejection is final", Got: "an approval after it"}
		}
		return a.refused(a.commitNow(), envelope.ApprovalRejected)
	})
	w.leaf("approvals", "one-of-two", func(a *act) *Failure {
		if f := a.propose(); f != nil || !a.waits() {
			return f
		}
		if a.rec.Proposal.Requirement.Level != approval.Two {
			a.moot = "the policy asks for one approver"
			return nil
		}
		for range 2 { // one person's two approvals are one
			if err := a.decide(a.approver(0), true); err != nil {
				return &Failure{Want: "the same approval again taken", Got: "an error"}
			}
		}
		return a.refused(a.commitNow(), envelope.ApprovalPending)
	})
}

// people are decisions of those who may not decide.
func (w *writing) people() {
	barred := func(name string, who func(a *act) approval.Principal, errs ...error) {
		w.leaf("approvals", name, func(a *act) *Failure {
			if f := a.propose(); f != nil || !a.waits() {
				return f
			}
			err := a.decide(who(a), true)
			known := false
			for _, e := range errs {
				known = known || errors.Is(err, e)
			}
			if !known {
				return &Failure{Keyword: "authority", Want: "a decision refused", Got: errorText(err)}
			}
			return a.refused(a.commitNow(), envelope.ApprovalPending)
		})
	}
	barred("approver-without-role", func(a *act) approval.Principal {
		p := a.approver(0)
		p.Roles = []string{"zq7-none"}
		return p
	}, approval.ErrNotAllowed)
	barred("self-approval", func(a *act) approval.Principal {
		self := a.approver(0)
		self.Subject, self.Tenant = a.rec.Proposal.Requester.Subject, a.rec.Proposal.Requester.Tenant
		return self
	}, approval.ErrSelf)
	barred("approver-of-another-tenant", func(a *act) approval.Principal {
		p := a.approver(0)
		p.Tenant += "-other"
		return p
	}, approval.ErrNotFound, approval.ErrNotAllowed)
	barred("policy-as-person", func(a *act) approval.Principal {
		return approval.Principal{Kind: approval.PolicyDecision, Tenant: a.rec.Proposal.Tenant, Subject: "policy", Roles: a.approver(0).Roles}
	}, approval.ErrNotAllowed)
	w.leaf("approvals", "another-digest", func(a *act) *Failure {
		if f := a.propose(); f != nil || !a.waits() {
			return f
		}
		a.rec.Proposal.Digest += "x"
		if err := a.decide(a.approver(0), true); !errors.Is(err, approval.ErrDigest) {
			return &Failure{Keyword: "digest", Want: "a decision refused: it is for another proposal than is stored", Got: errorText(err)}
		}
		return a.refused(a.commitNow(), envelope.ApprovalPending)
	})
	w.leaf("approvals", "authority-revoked", func(a *act) *Failure {
		if a.l.f.Revoke == nil {
			return lacks("Revoke")
		}
		if f := a.approved(); f != nil || !a.waits() {
			return f
		}
		a.l.f.Revoke(a.approver(0))
		return a.refused(a.commitNow(), envelope.ApproverNotAuthorized)
	})
	w.leaf("approvals", "requester-revoked", func(a *act) *Failure {
		if a.l.f.Revoke == nil {
			return lacks("Revoke")
		}
		if f := a.approved(); f != nil {
			return f
		}
		a.l.f.Revoke(a.l.f.Authority(""))
		return a.refused(a.commitNow(), envelope.NotPermitted)
	})
}

func errorText(err error) string {
	if err == nil {
		return "taken"
	}
	return "another error"
}

// others are commits by runs, people and tools that did not propose.
func (w *writing) others() {
	elsewhere := func(name string, change func(p *approval.Principal, run *string)) {
		w.leaf("approvals", name, func(a *act) *Failure {
			if f := a.approved(); f != nil {
				return f
			}
			by, run := a.l.f.Authority(""), "run-1"
			change(&by, &run)
			s, err := a.l.f.start(by, run, w.cat.names()...)
			if err != nil {
				return &Failure{Want: "another run", Got: errorText(err)}
			}
			other := &live{a.l.f, s}
			return a.refused(other.call(a.ctx, w.commit.Name, a.document()), envelope.NotFound)
		})
	}
	elsewhere("another-run", func(_ *approval.Principal, run *string) { *run = "run-2" })
	elsewhere("another-subject", func(p *approval.Principal, run *string) { p.Subject += "-other"; *run = "run-2" })
	elsewhere("another-tenant", func(p *approval.Principal, _ *string) { p.Tenant += "-other" })
	for _, other := range w.cat.tools {
		if !other.isCommit() || other.Name == w.commit.Name {
			continue
		}
		w.leaf("approvals", join("another-tool", other.Name), func(a *act) *Failure {
			if f := a.approved(); f != nil {
				return f
			}
			s := a.l.call(a.ctx, other.Name, a.document())
			if len(s.entries) > 0 {
				return a.failure(s, "NOT_FOUND, no handler called")
			}
			return refusedWith(Case{Keyword: "approval", Raw: a.document()}, s, envelope.NotFound)
		})
	}
	w.leaf("approvals", "another-proposal", func(a *act) *Failure {
		if f := a.approved(); f != nil {
			return f
		}
		last := a.id[len(a.id)-1]
		other := byte('a')
		if last == other {
			other = 'b'
		}
		a.id = a.id[:len(a.id)-1] + string(other)
		return a.refused(a.commitNow(), envelope.NotFound)
	})
}

// changes are commits that carry more than the id, and commits after the target has changed.
func (w *writing) changes() {
	for _, t := range []struct{ name, member, field string }{
		{"argument-beside-the-id", `"amount_minor":1`, "amount_minor"},
		{"plan-beside-the-id", `"plan":{}`, "plan"},
		{"key-beside-the-id", `"idempotency_key":"k"`, "idempotency_key"},
		{"approved-beside-the-id", `"approved":true`, "approved"},
		{"tenant-beside-the-id", `"tenant":"t"`, "tenant"},
	} {
		w.leaf("approvals", t.name, func(a *act) *Failure {
			if f := a.approved(); f != nil {
				return f
			}
			s := a.l.call(a.ctx, w.commit.Name, []byte(`{"proposal_id":"`+a.id+`",`+t.member+`}`))
			if f := a.refused(s, envelope.UnknownField); f != nil {
				return f
			}
			return a.done(a.finish(), 1) // and the approval is not used up by it
		})
	}
	w.leaf("approvals", "stale-version", func(a *act) *Failure {
		if w.commit.manifest.Write.Unversioned {
			a.moot = "the target has no version"
			return nil
		}
		if a.l.f.Touch == nil {
			return lacks("Touch")
		}
		if f := a.approved(); f != nil {
			return f
		}
		if err := a.l.f.Touch(a.ctx, a.rec.Proposal.Target); err != nil {
			return &Failure{Want: "the target touched", Got: "an error"}
		}
		return a.refused(a.commitNow(), envelope.VersionConflict)
	})
	w.leaf("approvals", "second-proposal-after-the-first-ran", func(a *act) *Failure {
		if f := a.approved(); f != nil {
			return f
		}
		second, f := a.beside("run-2")
		if f != nil {
			return f
		}
		if f := a.done(a.finish(), 1); f != nil {
			return f
		}
		return second.refused(second.commitNow(), envelope.VersionConflict)
	})
}

// beside makes a second approved proposal for the same thing, from another run.
func (a *act) beside(run string) (*act, *Failure) {
	s, err := a.l.f.start(a.l.f.Authority(""), run, a.w.cat.names()...)
	if err != nil {
		return nil, &Failure{Want: "another run", Got: errorText(err)}
	}
	second := &act{w: a.w, l: &live{a.l.f, s}, ctx: a.ctx, args: bytes.Clone(a.w.args)}
	return second, second.approved()
}
