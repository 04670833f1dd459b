package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// tell plays the story. It reports whether everything was as it must be.
func tell(ctx context.Context, w io.Writer) (_ bool, err error) {
	h, err := newHost()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, h.close(ctx)) }()
	return h.story(ctx, w), nil
}

// story plays it all in a host.
func (h *host) story(ctx context.Context, w io.Writer) bool {
	t := &teller{ctx: ctx, w: w, h: h}
	t.cast()
	t.look()
	request := t.badDays()
	t.operators(request)
	t.restart()
	t.otherwise()
	t.upgrade()
	t.traceback()
	if t.wrong > 0 {
		fmt.Fprintln(w, "Not everything is as expected; look for ✗.")
		return false
	}
	fmt.Fprintln(w, "Everything is as expected.")
	return true
}

func (t *teller) cast() {
	t.say("build desk  an agent of the tenant acme; may look at runs, and ask for a restart")
	t.say("j.moreau    a person with the role release_lead; decides in the host's console")
	t.say("jobctl      the build system's command. What it prints is recorded; it runs as a process of its own")
	t.say("clock       stands still at %s until the story moves it\n", t.h.clock.now().Format("2006-01-02 15:04 UTC"))
}

// look asks for a run, and asks again.
func (t *teller) look() {
	t.scene("An answer is good as long as it is fresh")
	once, twice := 1, 2
	if t.h.uncached { // what is recorded is asked
		once, twice = 2, 3
	}
	t.h.tape.play("show", "failed")
	run := t.shown(t.get("run_A7d93mQz41Lp"))
	t.expect(run.State == "failed" && run.Attempt == 3, "jobctl printed several lines and a final line end: one document")
	t.gap()
	t.shown(t.get("run_A7d93mQz41Lp"))
	t.expect(t.h.tape.count("show") == once, "asked again: the answer that was kept, no second process")
	t.gap()
	t.h.clock.advance(6 * time.Minute)
	t.h.tape.play("show", "warning on stderr")
	t.say("Six minutes pass. The cache may keep an answer for an hour; an answer about a run is good for five minutes.")
	t.shown(t.get("run_A7d93mQz41Lp"))
	t.expect(t.h.tape.count("show") == twice, "what has aged is asked for anew, whatever the cache would still keep")
	t.expect(!strings.Contains(t.said(), "builder@ci.example"), "jobctl warned on standard error: nobody reads that for meaning, and it goes nowhere")
	t.gap()
}

// badDays plays what jobctl prints on bad days. It returns the request id of one of them.
func (t *teller) badDays() (request string) {
	t.scene("What jobctl prints on bad days, and what the agent reads")
	for i, row := range []struct {
		name, field string
		code        envelope.Code
	}{
		{"twelve minutes old", "observed_at", envelope.InvalidResponse},
		{"another project's run", "project_id", envelope.InvalidResponse},
		{"orders for the reader", "", envelope.InvalidResponse},
		{"greeting first", "", envelope.InvalidResponse},
		{"in colour", "", envelope.InvalidResponse},
		{"two documents", "", envelope.InvalidResponse},
		{"cut short", "", envelope.InvalidResponse},
		{"nothing at all", "", envelope.InvalidResponse},
		{"exit 1", "", envelope.UpstreamUnavailable},
		{"exit 4", "", envelope.NotFound},
	} {
		t.h.tape.play("show", row.name)
		r := t.ask("get_job_run_v1", query(fmt.Sprintf("run_B%011d", i)))
		if r.Error == nil {
			t.expect(false, "%s was refused", row.name)
			continue
		}
		read := string(r.Error.Code)
		if r.Error.Field != "" {
			read += " at " + r.Error.Field
		}
		t.expect(r.Error.Code == row.code && r.Error.Field == row.field, "%-22s →  %s", row.name, read)
		if row.name == "nothing at all" {
			request = r.RequestID
		}
	}
	t.expect(!strings.Contains(t.said(), "ci.example") && !strings.Contains(t.said(), "Restart all"), "no word of it reached the agent")
	t.gap()
	return request
}

// operators opens what was refused.
func (t *teller) operators(request string) {
	t.scene("What the operators can see")
	item, err := t.h.quarantine.Open(t.ctx, "i.brandt", request)
	t.must("the quarantine", err)
	stderr := ""
	for _, kept := range append(item.Before, item) {
		if kept.Source == "jobctl.show" {
			first, _, _ := strings.Cut(string(kept.Raw), "\n")
			t.say("%-11s rule %s: %q", kept.Source, kept.Rule, first)
			if kept.Rule == "stderr" {
				stderr = string(kept.Raw)
			}
		}
	}
	t.expect(strings.Contains(stderr, "no matching run"), "standard error, by the request id that the agent was given")
	t.gap()
}

// restart is the ordinary way.
func (t *teller) restart() {
	t.scene("A restart, from the question to the proof")
	t.h.tape.play("show", "failed")
	t.h.tape.play("restart", "restarted")
	p := t.propose("run_C7d93mQz41Lp")
	t.card(p)
	t.refused(t.commit(p), envelope.ApprovalPending, "nobody has decided")
	t.approve(p)
	r := t.commit(p)
	if out, err := r.Decode[jobRestarted](); t.must("the commit", err) {
		t.say("         attempt %s → %s, accepted %s", out.PreviousVersion, out.NewVersion, out.CommittedAt.Format(time.RFC3339))
		t.expect(out.NewVersion == "4" && out.RunID == "run_C7d93mQz41Lp", "bound to the project, the run, the key and the attempt that were approved")
	}
	t.commit(p)
	t.expect(t.h.tape.count("restart") == 1, "committed again: the stored answer; jobctl restart ran once")
	t.gap()
}

// otherwise has somebody restart the run between the last look and the command.
func (t *teller) otherwise() {
	t.scene("Somebody was faster")
	p := t.propose("run_D7d93mQz41Lp")
	t.approve(p)
	t.h.tape.play("restart", "exit 5")
	t.say("The run is restarted at the console a moment before jobctl gets there. It ends with 5: another attempt than the one named.")
	t.refused(t.commit(p), envelope.VersionConflict, "declared as jobctl's final no, so nothing was done, and it can be said")
	t.gap()
}

// upgrade has the command missing for a while.
func (t *teller) upgrade() {
	t.scene("Nothing was sent, and it can be proved")
	p := t.propose("run_E7d93mQz41Lp")
	t.approve(p)
	t.h.tape.play("restart", missing)
	before := t.h.tape.count("restart")
	t.say("jobctl is being upgraded: there is no program to run.")
	t.refused(t.commit(p), envelope.InProgress, "no process began: the operation waits, and is not lost")
	t.expect(t.h.tape.count("restart") == before, "nothing ran")
	t.h.clock.advance(2 * time.Second)
	t.h.tape.play("restart", "restarted")
	t.say("Two seconds later it is there again.")
	r := t.commit(p)
	t.expect(r.OK && t.h.tape.count("restart") == before+1, "the same commit goes on, under the same key: one restart")
	t.gap()
}

// traceback has jobctl break while it prints.
func (t *teller) traceback() {
	t.scene("The answer is no answer, and the proof is found")
	p := t.propose("run_F7d93mQz41Lp")
	t.approve(p)
	t.h.tape.play("restart", "restarted, and a traceback")
	t.h.tape.play("lookup", "exit 4")
	before := t.h.tape.count("restart")
	r := t.commit(p)
	t.refused(r, envelope.OutcomeUnknown, "jobctl began and printed half a document: it may have restarted the run")
	if r.Error == nil {
		return
	}
	t.refused(t.preview("run_F7d93mQz41Lp"), envelope.OutcomeUnknown, "no second restart while the first is unknown")
	op := t.operation(r.Error.OperationID)
	t.expect(op.State == "unknown", "jobctl lookup does not know the key yet: that proves nothing, the outcome stays %s", op.State)
	t.h.clock.advance(time.Minute)
	t.h.tape.play("lookup", "restarted")
	op = t.operation(r.Error.OperationID)
	t.expect(op.State == "succeeded" && op.Evidence != nil && op.Evidence.NewVersion == "4", "a minute later it does: %s, by jobctl's own word", op.State)
	t.expect(t.h.tape.count("restart") == before+1, "jobctl restart ran once")
	t.gap()
}
