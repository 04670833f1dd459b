package trace

import (
	"cmp"
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

// replay is one playing of a trace.
type replay struct {
	player  *Player
	run     *tool.Run
	catalog *tool.Catalog
	report  *Report
	match   *matcher
	lost    map[string]absent // ids that calls would have made which were not made again
	worked  map[string]bool   // operations whose work was made again, by their recorded ids
	late    map[string]bool   // operations whose call was answered before its exchanges were, by their recorded ids
	pace    *pace
	n       int // of the step that is being made
	// underWay is the work that is being made again beside the calls.
	underWay []*underWay
}

// absent is a call that was not made again, and why.
type absent struct {
	call string
	as   As // OldVersion or LeftOut
}

// call makes a recorded call again.
func (r *replay) call(ctx context.Context, s step) error {
	raw, err := s.raw()
	if err != nil {
		return fmt.Errorf("trace: play: %s: %w", s.Case, err)
	}
	raw = r.match.inDocument(raw)
	c := envelope.Call{Tool: s.Tool, Arguments: raw}
	if s.LeftOut {
		r.passOver(ctx, s, LeftOut, "the arguments were not saved")
		return nil
	}
	if on, ok := r.restsOn(raw); ok {
		r.passOver(ctx, s, on.as, "it rests on "+on.call)
		return nil
	}
	old := r.old(s, raw)
	if old == "" {
		r.report.add(r.again(ctx, s, c))
		return nil
	}
	if migrate := r.player.cfg.Migrate[s.Tool]; migrate != nil && s.Verdict == accepted {
		c, err := migrate(c)
		if err == nil {
			r.report.add(r.migrated(ctx, s, c))
			return nil
		}
		old += "; and the migration does not take it"
	}
	r.passOver(ctx, s, OldVersion, old)
	return nil
}

// passOver does not make a call, nor what rests on it.
func (r *replay) passOver(ctx context.Context, s step, as As, why string) {
	r.losing(ctx, s, as)
	r.report.add(Replayed{Case: s.Case, Tool: s.Tool, As: as, Why: why})
}

// old says why a call is of a version that is no longer served as it was, "" where it is.
func (r *replay) old(s step, raw []byte) string {
	schemas, ok := r.catalog.Schemas(s.Tool)
	switch {
	case s.Code == envelope.UnknownTool, s.Code == envelope.UnsupportedVersion:
		return ""
	case !ok:
		return "the tool is not in the catalogue"
	case schemas.Retired:
		return "the version is retired"
	case s.Verdict == refused:
		return ""
	}
	if e, ok := errors.AsType[*envelope.Error](schemas.Input.Check(raw, schemas.InputLimits)); ok && r.looked(s) {
		return fmt.Sprintf("the arguments are refused now: %s at %q", e.Code, schemas.Input.Declared(e.Field))
	}
	return r.oldAnswer(s, "answer")
}

// oldAnswer says why an answer, or a result that was stored, is of a version that is no longer served as it was, "" where
// it is.
func (r *replay) oldAnswer(s step, what string) string {
	schemas, ok := r.catalog.Schemas(s.Tool)
	if !ok || s.Answer == nil {
		return ""
	}
	if e, ok := errors.AsType[*envelope.Error](schemas.Output.Check(s.Answer, schemas.OutputLimits)); ok {
		return fmt.Sprintf("the %s is no longer of the contract: %s at %q", what, e.Code, broken(schemas.Output, e, s.Hidden))
	}
	return ""
}

// broken is the place where a recorded document is not of the present schema. A member that is not declared any more is one
// that the recorded schema declared, and has its name, unless it stands among the keys of a map: these were the sender's.
func broken(now *validate.Schema, e *envelope.Error, hidden []string) string {
	at := now.Declared(e.Field)
	name := strings.TrimPrefix(strings.TrimPrefix(e.Field, at), ".")
	if e.Code != envelope.UnknownField || name == "" || strings.ContainsAny(name, ".[{") {
		return at
	}
	for _, path := range hidden {
		if path == "*" || path == plain(at)+"{}" {
			return at
		}
	}
	return envelope.Member(at, name)
}

// looked reports whether the recorded boundary had read the arguments.
func (r *replay) looked(s step) bool {
	switch s.Code {
	case envelope.NotPermitted, envelope.BudgetExhausted, envelope.Cancelled, envelope.RateLimited:
		return false
	}
	return true
}

// restsOn finds the call that would have made an id in the arguments: one that is refused now before one that was left out.
func (r *replay) restsOn(raw []byte) (on absent, ok bool) {
	for id, of := range r.lost {
		if strings.Contains(string(raw), id) && (!ok || cmp.Or(cmp.Compare(of.as, on.as), cmp.Compare(of.call, on.call)) < 0) {
			on, ok = of, true
		}
	}
	return on, ok
}

// losing notes the ids that a call which is not made again had made. What an earlier one made, and is over, is not lost.
func (r *replay) losing(ctx context.Context, s step, as As) {
	of := absent{s.Case, as}
	lose := func(id string) {
		if id == "" || r.stands(ctx, id) {
			return
		}
		if r.lost[id] = of; kindOf(id) == "p" {
			r.lost[r.match.operationOf(id)] = of
		}
	}
	_, _ = rewrite(s.Answer, listed(nil), func(l leaf) jsontext.Value { // an answer is a document
		if id := text(l.value); idForm.MatchString(id) {
			lose(id)
		}
		return l.value
	})
	lose(s.Operation)
	lose(s.Proposal)
}

// stands reports whether a call that was made again made an operation, or the operation of a proposal, which nothing
// changes any more.
func (r *replay) stands(ctx context.Context, id string) bool {
	if kindOf(id) == "p" {
		id = r.match.operationOf(id)
	}
	return r.operation(ctx, r.match.now(id)).State.Terminal()
}

// made makes a call with the step's exchanges in the place of the other systems.
func (r *replay) made(ctx context.Context, s step, c envelope.Call) (now step, missing, extra []string) {
	at := r.n
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	l := r.playing(s)
	l.release = func(e exchange) { r.pace.await(at + 1 + e.After) }
	switch s.Left {
	case leftByDeadline:
		l.leave = func() { leave(context.DeadlineExceeded) }
	case leftByCancel:
		l.leave = func() { leave(context.Canceled) }
	}
	if slices.ContainsFunc(s.Upstream, func(e exchange) bool { return e.Late }) {
		r.late[s.Operation] = true
	}
	result := r.player.recorder.call(ctx, r.run, c, l)
	t := &taken{step: step{Tool: c.Tool}}
	t.result(r.run, result)
	missing, extra = l.compared()
	return t.step, missing, extra
}

// playing is a listener that plays the exchanges of a step.
func (r *replay) playing(s step) *listener {
	return &listener{replay: r, left: slices.Clone(s.Upstream)}
}

// again compares a call that is made as it was.
func (r *replay) again(ctx context.Context, s step, c envelope.Call) Replayed {
	now, missing, extra := r.made(ctx, s, c)
	out := Replayed{Case: s.Case, Tool: s.Tool, As: Same, Missing: missing, Extra: extra}
	out.Why = r.difference(s, now)
	if out.Why != "" || len(missing)+len(extra) > 0 {
		out.As = Different
	}
	return out
}

// migrated compares a call that is made in another form: its end counts, and its exchanges.
func (r *replay) migrated(ctx context.Context, s step, c envelope.Call) Replayed {
	now, missing, extra := r.made(ctx, s, c)
	out := Replayed{Case: s.Case, Tool: s.Tool, As: Migrated, Why: "as " + c.Tool, Missing: missing, Extra: extra}
	if s.Answer != nil && now.Answer != nil {
		r.match.documents(s.Answer, now.Answer, listed(nil))
	}
	if s.Code != now.Code || s.Effect != now.Effect || len(missing)+len(extra) > 0 {
		out.As, out.Why = Different, out.Why+": "+ending(s)+" when it was recorded, "+ending(now)+" now"
	}
	return out
}

// difference says in which way an answer is not as it was, "" where it is.
func (r *replay) difference(s, now step) string {
	r.match.bind(s.Proposal, now.Proposal)
	r.match.bind(s.Operation, now.Operation)
	if s.Code != now.Code || s.Effect != now.Effect || s.Field != now.Field {
		return ending(s) + " when it was recorded, " + ending(now) + " now"
	}
	return r.answers(s, now, "answer")
}

// answers says where an answer, or a result that was stored, differs, "" where it does not, or was not recorded.
func (r *replay) answers(s, now step, what string) string {
	if s.Answer == nil {
		return ""
	}
	hidden := s.Hidden
	if schemas, ok := r.catalog.Schemas(s.Tool); ok {
		hidden = append(append([]string(nil), hidden...), schemas.Output.Hidden()...)
	}
	if at, same := r.match.documents(s.Answer, now.Answer, listed(hidden)); !same {
		return fmt.Sprintf("the %s differs at %q", what, at)
	}
	return ""
}

func ending(s step) string {
	if s.Code == "" {
		return "ok"
	}
	out := string(s.Code)
	if s.Field != "" {
		out += " at " + s.Field
	}
	if s.Effect != "" {
		out += ", effect " + s.Effect
	}
	return out
}
