package main

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
)

// teller tells a story and checks it while it is told.
type teller struct {
	ctx    context.Context //nolint:containedctx // a teller lives for one telling
	w      io.Writer
	h      *host
	scenes int
	wrong  int
}

func (t *teller) scene(title string) {
	t.scenes++
	head := fmt.Sprintf("── %d · %s ", t.scenes, title)
	fmt.Fprintf(t.w, "%s%s\n\n", head, strings.Repeat("─", max(0, 100-len([]rune(head)))))
}

// say writes one line of the story.
func (t *teller) say(format string, args ...any) { fmt.Fprintf(t.w, "  "+format+"\n", args...) }

func (t *teller) gap() { fmt.Fprintln(t.w) }

// expect writes what must hold, and whether it does.
func (t *teller) expect(ok bool, format string, args ...any) {
	mark := "✓"
	if !ok {
		mark = "✗"
		t.wrong++
	}
	fmt.Fprintf(t.w, "      "+mark+" "+format+"\n", args...)
}

// must is expect for what needs no word when it holds.
func (t *teller) must(what string, err error) bool {
	if err != nil {
		t.expect(false, "%s: %v", what, err)
	}
	return err == nil
}

// asked is an answer, and whether a handler ran for it.
type asked struct {
	envelope.Result
	ran bool
}

// call asks as the model does, and shows question, answer and whether a handler ran.
func (t *teller) call(name, arguments string) asked {
	before := t.h.entered.count()
	r := t.h.run.Call(t.ctx, envelope.Call{Tool: name, Arguments: jsontext.Value(arguments)})
	a := asked{r, t.h.entered.count() > before}
	t.say("agent  → %s %s", name, arguments)
	t.say("       ← %s", a)
	if a.Error != nil {
		t.say("         “%s”", a.Error.Message)
	}
	return a
}

// String is the answer in a line.
func (a asked) String() string {
	var parts []string
	if e := a.Error; e == nil {
		parts = append(parts, "ok")
		if a.Replayed {
			parts = append(parts, "replayed")
		}
	} else {
		parts = append(parts, string(e.Code))
		if e.Field != "" {
			parts = append(parts, "at "+e.Field)
		}
		if e.Effect != "" {
			parts = append(parts, "effect "+string(e.Effect))
		}
		if e.RetryAfter > 0 {
			parts = append(parts, "ask again in "+e.RetryAfter.String())
		}
	}
	if a.ran {
		parts = append(parts, "a handler ran")
	} else {
		parts = append(parts, "no handler ran")
	}
	return strings.Join(parts, " · ")
}

// refused expects an error of a code and an effect, answered without a handler.
func (t *teller) refused(a asked, code envelope.Code, effect envelope.Effect, why string) {
	ok := a.Error != nil && a.Error.Code == code && a.Error.Effect == effect && !a.ran
	t.expect(ok, "%s, effect %s, no handler: %s", code, effect, why)
}

// unknown expects that a handler ran and that nobody can say what came of it; it returns the operation's id.
func (t *teller) unknown(a asked, why string) string {
	ok := a.Error != nil && a.Error.Code == envelope.OutcomeUnknown && a.Error.Effect == envelope.EffectUnknown && a.ran
	t.expect(ok, "%s, effect %s: %s", envelope.OutcomeUnknown, envelope.EffectUnknown, why)
	if a.Error == nil {
		return ""
	}
	return a.Error.OperationID
}

// proposal is what a preview answers.
type proposal struct {
	ProposalID string          `json:"proposal_id"`
	State      string          `json:"state"`
	Level      string          `json:"level"`
	Summary    string          `json:"summary"`
	Target     approval.Target `json:"target"`
	ExpiresAt  time.Time       `json:"expires_at"`
	Reason     string          `json:"reason"`
}

// operation is what get_operation_v1 answers.
type operation struct {
	OperationID  string         `json:"operation_id"`
	Tool         string         `json:"tool"`
	State        string         `json:"state"`
	Evidence     *tool.Evidence `json:"evidence"`
	RetryAfterMS int64          `json:"retry_after_ms"`
}

func (t *teller) preview(customer, address string) asked {
	return t.call("preview_address_change_v2",
		fmt.Sprintf(`{"customer_id":%q,"destination":{"kind":"saved","address_id":%q}}`, customer, address))
}

// propose asks for a change and returns its proposal.
func (t *teller) propose(customer, address string) (p proposal) {
	p, err := t.preview(customer, address).Decode[proposal]()
	if t.must("the preview", err) {
		t.say("         proposal %s, %s", p.ProposalID, p.State)
	}
	return p
}

// operation asks what became of a write.
func (t *teller) operation(id string) operation {
	op, err := t.call("get_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, id)).Decode[operation]()
	t.must("the operation", err)
	return op
}

func (t *teller) commit(p proposal) asked {
	return t.call("commit_address_change_v2", fmt.Sprintf(`{"proposal_id":%q}`, p.ProposalID))
}

// stored returns the approval record of a proposal, as the host sees it.
func (t *teller) stored(p proposal) approval.Record {
	rec, err := t.h.approvals.Find(t.ctx, tenant, p.ProposalID)
	t.must("the stored proposal", err)
	return rec
}

// decide lets the support lead say yes or no to what was shown.
func (t *teller) decide(p proposal, yes bool, reason string) {
	verb := "approves"
	if !yes {
		verb = "rejects it: " + reason
	}
	by := lead()
	rec, err := t.h.dispatcher.Decide(t.ctx, tenant, p.ProposalID,
		approval.Decision{Approved: yes, By: by, Reason: reason, Digest: t.stored(p).Proposal.Digest})
	t.say("%s %s", by.Subject, verb)
	if t.must("the decision", err) {
		want := approval.Approved
		if !yes {
			want = approval.Rejected
		}
		t.expect(rec.State == want, "the proposal is %s", rec.State)
	}
}

// card shows a stored proposal as a person should see it before deciding.
func (t *teller) card(p proposal) {
	rec := t.stored(p)
	show := redact.Visible
	line := func(format string, args ...any) {
		fmt.Fprintln(t.w, strings.TrimRight("      │ "+fmt.Sprintf(format, args...), " "))
	}
	fmt.Fprintln(t.w, "      ┌"+strings.Repeat("─", 93))
	line("%s", show(rec.Proposal.Summary))
	line("")
	diffs := table{columns: []column{{"field", 0}, {"now", 40}, {"after", 40}}}
	for _, d := range rec.Proposal.Diffs {
		diffs.add(d.Field, orEmpty(show(d.Before)), orEmpty(show(d.After)))
	}
	diffs.write(t.w, "      │ ")
	line("")
	q := rec.Proposal.Requester
	line("asked by  %s (%s) in run %s", q.Subject, q.Kind, rec.Proposal.Run)
	line("target    %s %s, version %s", rec.Proposal.Target.Type, rec.Proposal.Target.ID, rec.Proposal.Target.Version)
	if c := rec.Proposal.Consequence; c.Records != nil {
		line("touches   %d record, %s", *c.Records, c.Environment)
	}
	line("needs     %s approver with the role %s", rec.Proposal.Requirement.Level, rec.Proposal.Requirement.Role)
	line("expires   %s, in %s", rec.Proposal.ExpiresAt.UTC().Format("2006-01-02 15:04:05 UTC"), rec.Left)
	fmt.Fprintln(t.w, "      └"+strings.Repeat("─", 93))
}

func orEmpty(text string) string {
	if text == "" {
		return "(empty)"
	}
	return text
}
