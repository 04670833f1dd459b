package main

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
)

// teller tells the story and checks it while it is told.
type teller struct {
	ctx     context.Context //nolint:containedctx // a teller lives for one telling
	w       io.Writer
	h       *host
	answers strings.Builder // all that the agent read
	scenes  int
	wrong   int
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

// said is all that the agent read.
func (t *teller) said() string { return t.answers.String() }

func query(run string) string {
	return fmt.Sprintf(`{"project_id":"orchard-build","run_id":%q}`, run)
}

// ask asks as a model does.
func (t *teller) ask(name, arguments string) envelope.Result {
	r := t.h.run.Call(t.ctx, envelope.Call{Tool: name, Arguments: []byte(arguments)})
	text, err := json.Marshal(r)
	t.must("the answer", err)
	t.answers.Write(text)
	return r
}

// call is ask, shown.
func (t *teller) call(name, arguments string) envelope.Result {
	r := t.ask(name, arguments)
	t.say("agent  → %s %s", name, arguments)
	if e := r.Error; e != nil {
		t.say("       ← %s “%s”", strings.Join(told(e), " · "), e.Message)
		return r
	}
	words := []string{"ok"}
	if r.Replayed {
		words = append(words, "replayed")
	}
	t.say("       ← %s", strings.Join(words, " · "))
	return r
}

func told(e *envelope.Error) []string {
	words := []string{string(e.Code)}
	if e.Field != "" {
		words = append(words, "at "+e.Field)
	}
	if e.Effect != "" {
		words = append(words, "effect "+string(e.Effect))
	}
	if e.RetryAfter > 0 {
		words = append(words, "ask again in "+e.RetryAfter.String())
	}
	return words
}

func (t *teller) get(run string) envelope.Result { return t.call("get_job_run_v1", query(run)) }

func (t *teller) shown(r envelope.Result) jobRun {
	run, err := r.Decode[jobRun]()
	if t.must("the run", err) {
		t.say("         %s, attempt %d, observed %s", run.State, run.Attempt, run.ObservedAt.Format(time.RFC3339))
	}
	return run
}

// refused expects an error of a code.
func (t *teller) refused(r envelope.Result, code envelope.Code, why string) {
	t.expect(r.Error != nil && r.Error.Code == code, "%s: %s", code, why)
}

func (t *teller) preview(run string) envelope.Result {
	return t.call("preview_job_restart_v1", query(run))
}

// propose asks for a restart and returns the proposal as the host has it.
func (t *teller) propose(run string) approval.Record {
	view, err := t.preview(run).Decode[struct {
		ProposalID string          `json:"proposal_id"`
		State      string          `json:"state"`
		Level      string          `json:"level"`
		Summary    string          `json:"summary"`
		Target     approval.Target `json:"target"`
		ExpiresAt  time.Time       `json:"expires_at"`
	}]()
	t.must("the preview", err)
	rec, err := t.h.approvals.Find(t.ctx, tenant, view.ProposalID)
	t.must("the proposal", err)
	return rec
}

// card shows a proposal as a person should see it before deciding.
func (t *teller) card(rec approval.Record) {
	line := func(format string, args ...any) { fmt.Fprintf(t.w, "      │ "+format+"\n", args...) }
	fmt.Fprintln(t.w, "      ┌"+strings.Repeat("─", 93))
	line("%s", redact.Visible(rec.Proposal.Summary))
	for _, d := range rec.Proposal.Diffs {
		line("%s  %s → %s", d.Field, redact.Visible(d.Before), redact.Visible(d.After))
	}
	line("asked by %s; needs %s approver with the role %s; expires in %s",
		rec.Proposal.Requester.Subject, rec.Proposal.Requirement.Level, rec.Proposal.Requirement.Role, rec.Left)
	fmt.Fprintln(t.w, "      └"+strings.Repeat("─", 93))
}

func (t *teller) approve(rec approval.Record) {
	by := lead()
	_, err := t.h.dispatcher.Decide(t.ctx, tenant, rec.Proposal.ID, approval.Decision{Approved: true, By: by, Digest: rec.Proposal.Digest})
	if t.must("the decision", err) {
		t.say("%s approves", by.Subject)
	}
}

func (t *teller) commit(rec approval.Record) envelope.Result {
	return t.call("commit_job_restart_v1", fmt.Sprintf(`{"proposal_id":%q}`, rec.Proposal.ID))
}

// operation is what get_operation_v1 answers.
type operation struct {
	OperationID  string         `json:"operation_id"`
	Tool         string         `json:"tool"`
	State        string         `json:"state"`
	Evidence     *tool.Evidence `json:"evidence"`
	RetryAfterMS int64          `json:"retry_after_ms"`
}

// operation asks what became of a write.
func (t *teller) operation(id string) operation {
	op, err := t.call("get_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, id)).Decode[operation]()
	t.must("the operation", err)
	return op
}
