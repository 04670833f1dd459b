package contracttest

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// writing plays one write: preview, decision, commit.
type writing struct {
	r               *runner
	cat             *catalogue
	preview, commit published
	args            []byte
}

// writings are the writes of a catalogue that a run can both propose and commit.
func (r *runner) writings(cat *catalogue) (out []*writing) {
	for _, p := range cat.tools {
		commit, ok := cat.commitOf(p.Name)
		if !p.isPreview() || !ok {
			continue
		}
		args, err := r.o.arguments(p)
		r.fault(err)
		if err == nil {
			out = append(out, &writing{r, cat, p, commit, args})
		}
	}
	return out
}

// act is one write under way in one fixture.
type act struct {
	w    *writing
	l    *live
	ctx  context.Context //nolint:containedctx // an act lives within one case
	args []byte
	id   string // of the proposal
	rec  approval.Record

	pending bool   // as the preview said
	moot    string // why there is nothing to judge
}

// waits reports whether the proposal waits for somebody; otherwise the case has nothing to judge.
func (a *act) waits() bool {
	if !a.pending {
		a.moot = "the policy asks for no approver of this proposal"
	}
	return a.pending
}

// leaf runs one case of the write.
func (w *writing) leaf(suite, name string, play func(a *act) *Failure) {
	w.r.leaf(join(suite, w.commit.Name, name), func(tb testing.TB) *Failure {
		tb.Helper()
		l, err := w.r.live(tb, w.cat)
		if err != nil {
			tb.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), w.r.o.perCase)
		defer cancel()
		l.f.tell()
		a := &act{w: w, l: l, ctx: ctx, args: slices.Clone(w.args)}
		f := play(a)
		if f == nil && a.moot != "" {
			name := join(suite, w.commit.Name, name)
			w.r.report.NotJudged = append(w.r.report.NotJudged, NotJudgedRow{name, a.moot})
			tb.Logf("%s: not judged: %s", name, a.moot)
		}
		if f != nil && f.Steps == nil {
			f.Steps = l.f.story.told()
		}
		return f
	})
}

// lacks is the failure of a case that the fixture does not give the means for.
func lacks(field string) *Failure {
	return &Failure{Want: "the fixture's " + field, Got: "none: not judged", Hint: "set Fixture." + field + ", or Skip the case with the reason"}
}

func (a *act) failure(s seen, want string) *Failure {
	return Case{Keyword: a.w.commit.manifest.Write.Contract, Raw: a.w.args}.failure(s, want, s.gotten())
}

type proposalView struct {
	ProposalID string `json:"proposal_id"`
	State      string `json:"state"`
}

// propose previews, and reads the proposal as an approver would.
func (a *act) propose() *Failure {
	before := a.l.f.Upstream.all()
	s := a.l.call(a.ctx, a.w.preview.Name, a.args)
	if n := a.l.f.Upstream.all() - before; n > 0 {
		return s.changed(n, Case{Keyword: "effect", Raw: a.args})
	}
	if !s.result.OK {
		f := a.failure(s, "a proposal")
		f.Hint = "the preview refuses the smallest document of its schema: give Examples for it"
		return f
	}
	var v proposalView
	if err := json.Unmarshal(s.result.Data, &v); err != nil || v.ProposalID == "" {
		return a.failure(s, "a proposal with its id")
	}
	a.id, a.pending = v.ProposalID, v.State == "pending"
	return a.look()
}

// look reads the stored proposal.
func (a *act) look() *Failure {
	if a.l.f.Approvals == nil {
		return lacks("Approvals")
	}
	rec, err := a.l.f.Approvals.Find(a.ctx, a.l.f.Authority("").Tenant, a.id)
	if err != nil {
		return &Failure{Want: "the proposal in the store", Got: fmt.Sprintf("an error (%T)", err)}
	}
	a.rec = rec
	return nil
}

// approver is somebody who may decide; n tells approvers apart.
func (a *act) approver(n int) approval.Principal {
	need := a.rec.Proposal.Requirement
	role := need.Role
	if role == "" {
		role = need.Group
	}
	p := a.l.f.Authority(role)
	for _, name := range []string{need.Role, need.Group} {
		if name != "" && !p.HasRole(name) {
			p.Roles = append(slices.Clip(p.Roles), name)
		}
	}
	if n > 0 {
		p.Subject += fmt.Sprintf("-%d", n+1)
	}
	return p
}

func (a *act) decide(by approval.Principal, approved bool) error {
	d := approval.Decision{Approved: approved, By: by, Digest: a.rec.Proposal.Digest}
	if !approved {
		d.Reason = "the suite says no"
	}
	decide := a.l.f.Decide
	if decide == nil {
		decide = a.l.f.Dispatcher.Decide
	}
	_, err := decide(a.ctx, a.rec.Proposal.Tenant, a.id, d)
	a.l.f.story.add("%s of %s decides, approved %t → %s", by.Subject, by.Tenant, approved, errorText(err))
	return err
}

// approve gives as many approvals as are asked for.
func (a *act) approve() *Failure {
	for n := range a.needed() {
		if err := a.decide(a.approver(n), true); err != nil {
			return &Failure{Want: "a decision of an approver with the role that the policy asks for", Got: fmt.Sprintf("an error (%T)", errors.Unwrap(err)), Hint: "Fixture.Authority must return somebody who may approve"}
		}
	}
	return a.look()
}

// needed is how many approvals the proposal waits for.
func (a *act) needed() int {
	switch {
	case !a.pending || a.rec.State == approval.Consumed:
		return 0
	case a.rec.Proposal.Requirement.Level == approval.Two:
		return 2
	}
	return 1
}

// approved is a proposal with its approvals.
func (a *act) approved() *Failure {
	if f := a.propose(); f != nil {
		return f
	}
	return a.approve()
}

func (a *act) document() []byte { return []byte(`{"proposal_id":"` + a.id + `"}`) }

func (a *act) commitNow() seen { return a.l.call(a.ctx, a.w.commit.Name, a.document()) }

// finish commits until the operation is over: one that a worker sends, or that the provider works on, takes its time.
// Entrances are those of all that time.
func (a *act) finish() seen {
	s := a.commitNow()
	for range 8 {
		if e := s.result.Error; e == nil || e.Code != envelope.InProgress {
			return s
		}
		if a.l.f.Clock != nil {
			a.l.f.Clock.Advance(6 * time.Second)
		}
		if a.w.commit.manifest.Write.Queued {
			a.work()
		}
		before := slices.Concat(s.entries, a.l.f.Probe.Entries())
		s = a.commitNow()
		s.entries = append(before, s.entries...)
	}
	return s
}

// commits are the entrances into the commit's handler.
func (a *act) commits(s seen) (n int) {
	for _, e := range s.entries {
		if e.Tool == a.w.commit.Name {
			n++
		}
	}
	return n
}

func (a *act) operation() string { return idem.OperationID(a.rec.Proposal.Tenant, a.id) }

// refused asks that a commit is refused with one of the codes and nothing is sent.
func (a *act) refused(s seen, codes ...envelope.Code) *Failure {
	if a.commits(s) > 0 {
		return a.failure(s, codeList(codes)+", the handler not called")
	}
	c := Case{Keyword: "approval", Raw: a.document(), Canary: []string{secretInFaults}}
	if f := refusedWith(c, s, codes...); f != nil {
		return f
	}
	if e := s.result.Error; e.Effect != envelope.EffectNone && e.Code != envelope.NotFound {
		return a.failure(s, "effect none")
	}
	return nil
}

// done asks that a commit succeeded, having called the handler so often.
func (a *act) done(s seen, times int) *Failure {
	switch {
	case !s.result.OK:
		return a.failure(s, "the commit's success")
	case a.commits(s) != times:
		return a.failure(s, fmt.Sprintf("the handler called %d times", times))
	}
	return nil
}
