package trace

import (
	"context"
	"encoding/json/jsontext"
	"slices"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/tool"
)

// works hears what workers do.
type works struct{ r *Recorder }

// Begin implements tape.Works.
func (w works) Begin(o tape.Operation) tape.Working {
	rec := w.r.recorded(o.Tenant, o.Run)
	if rec == nil {
		return nil
	}
	t := &taken{step: step{Step: stepWork, Tool: o.Tool, Operation: o.ID, Found: o.State}}
	w.r.note(rec, t)
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	if last := rec.looks[o.ID]; last != nil && last.idle() {
		rec.steps = slices.DeleteFunc(rec.steps, func(t *taken) bool { return t == last })
	}
	rec.looks[o.ID] = t
	return &working{listener{r: w.r, rec: rec, step: t}}
}

// working hears the exchanges of one work on an operation.
type working struct{ listener }

// Runs implements tape.Working.
func (w *working) Runs() {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	w.step.ran = true
}

// Result implements tape.Working.
func (w *working) Result(v jsontext.Value) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	w.step.Answer = slices.Clone(v)
}

// Ends implements tape.Working.
func (w *working) Ends(state, code string) {
	over := w.r.cfg.Now()
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	if !w.step.done { // what is told later has been seen already
		w.step.last = w.rec.over(w.step)
	}
	w.step.State, w.step.Code, w.step.done = state, envelope.Code(code), true
	w.heard(func(*asking) bool { return false })
	w.step.said++
	w.step.took(over)
}

// idle reports whether work asked nothing and changed nothing: it is not kept.
func (t *taken) idle() bool {
	return t.Step == stepWork && t.done && !t.ran && t.State == t.Found && t.Code == "" && len(t.Upstream) == 0
}

// repeats reports whether an outcome is that of work which changed nothing, and is storing it.
func (r *Recorder) repeats(rec *recording, operation string) bool {
	if rec == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	look := rec.looks[operation]
	if look == nil || look.said != 1 || !look.idle() {
		return false
	}
	look.said++
	return true
}

// over is the last step that began after another and has ended; nil where there is none. The caller holds the lock.
func (rec *recording) over(after *taken) *taken {
	if rec == nil {
		return nil
	}
	for _, t := range slices.Backward(rec.steps) {
		switch {
		case t == after:
			return nil
		case !t.open() && t.Step != stepOutcome && t.Step != stepNote:
			return t
		}
	}
	return nil
}

// work lets the dispatcher work an operation again, as a worker did then. n is the step's number.
func (r *replay) work(ctx context.Context, d *tool.Dispatcher, s step, n int) {
	if _, lost := r.lost[s.Operation]; lost {
		return
	}
	out := Replayed{Case: s.Case, Tool: s.Tool, As: Different}
	found := r.operation(ctx, r.match.now(s.Operation))
	switch {
	case found.State == "":
		out.Why = "there is no such operation"
	case string(found.State) != s.Found && found.State == idem.Pending && !r.worked[s.Operation]:
		return // what was done before was not recorded, and so is not made
	case string(found.State) != s.Found:
		out.Why = "the operation was " + s.Found + " when it was recorded, and is " + string(found.State) + " now"
	case found.State == idem.Pending && found.AvailableIn > 0:
		out.Why = "the host's clock does not let the operation go on yet"
	default:
		r.worked[s.Operation] = true
		r.begin(n, s, func(t tape.Tape) error { return d.Replay(ctx, t, found.Command.Key) })
		return
	}
	r.report.Work = append(r.report.Work, out)
}

// compared says how work came out.
func (r *replay) compared(ctx context.Context, u *underWay, err error) Replayed {
	s := u.step
	out := Replayed{Case: s.Case, Tool: s.Tool, As: Same}
	if err != nil {
		out.Why = "it could not be done: " + err.Error()
	}
	now := step{Tool: s.Tool}
	if rec := r.operation(ctx, r.match.now(s.Operation)); rec.State != "" {
		now.State, now.Tool = string(rec.State), rec.Command.Tool
		if rec.Failure != nil {
			now.Code = rec.Failure.Code
		}
		now.Answer = rec.Result
	}
	if came(s) != came(now) && out.Why == "" {
		out.Why = came(s) + " when it was recorded, " + came(now) + " now"
	}
	out.Missing, out.Extra = u.compared()
	migrated := now.Tool != s.Tool // its result has another form, and its end counts
	if old := r.oldAnswer(s, "result"); old != "" && !migrated {
		r.losing(ctx, s, OldVersion)
		out.As, out.Why = OldVersion, old
		return out
	}
	if out.Why == "" && !migrated {
		out.Why = r.answers(s, now, "result")
	}
	switch {
	case out.Why != "", len(out.Missing)+len(out.Extra) > 0:
		out.As = Different
	case migrated:
		out.As, out.Why = Migrated, "as "+now.Tool
	}
	return out
}

// came is what work came to.
func came(s step) string {
	if s.Code == "" {
		return s.State
	}
	return s.State + " with " + string(s.Code)
}

// operation is how the ledger has an operation of the run now; without a state where it has none.
func (r *replay) operation(ctx context.Context, op string) idem.Record {
	if r.player.ledger == nil {
		return idem.Record{}
	}
	rec, err := r.player.ledger.Find(ctx, idem.Key{Tenant: r.run.Principal().Tenant, Operation: op})
	if err != nil {
		return idem.Record{}
	}
	return rec
}
