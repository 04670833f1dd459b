package trace

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/claimctx"
	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/tool"
)

// call makes a call and records it, with its exchanges heard or played by the listener.
func (r *Recorder) call(ctx context.Context, run *tool.Run, c envelope.Call, listening *listener) envelope.Result {
	t := &taken{step: step{Step: stepCall, Tool: c.Tool}, raw: slices.Clone(c.Arguments)}
	listening.r, listening.rec, listening.step = r, r.recorded(run.Principal().Tenant, run.ID()), t
	r.note(listening.rec, t)
	result := run.Call(tape.With(ctx, listening), c)
	over := r.cfg.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	t.result(run, result)
	t.done = true
	if listening.rec != nil {
		t.to = listening.rec.noted
	}
	left := leftBy(ctx, t.Code)
	if listening.heard(func(a *asking) bool { return a.over && (left != "" || a.timeUp) }) {
		t.Left = left
	}
	t.took(over)
	return result
}

// leftBy says how the caller had gone when its call was answered; "" where it had not.
func leftBy(ctx context.Context, code envelope.Code) string {
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return leftByDeadline
	case ctx.Err() != nil, code == envelope.Cancelled: // the run was cancelled
		return leftByCancel
	}
	return ""
}

// took notes that the step went on until then, on the recorder's clock.
func (s *step) took(until time.Time) {
	s.TookMS = max(0, (until.Sub(s.At) + time.Millisecond - 1).Milliseconds())
}

// result notes how the call was answered. Only a declared place is kept of a refusal's field.
func (t *taken) result(run *tool.Run, r envelope.Result) {
	t.Verdict = accepted
	t.Answer = slices.Clone(r.Data)
	e := r.Error
	if e == nil {
		return
	}
	t.Verdict, t.Code, t.Effect, t.Operation, t.Proposal, t.Reason = verdictOf(e.Code), e.Code, string(e.Effect), e.OperationID, e.ProposalID, e.Reason
	t.Field = declared(run.Role().Catalog(), t.Tool, e)
}

// declared is the declared place nearest to an error's field; of a call that the boundary refused, a place of the
// arguments. The two that the library itself names stay.
func declared(c *tool.Catalog, wire string, e *envelope.Error) string {
	s, ok := c.Schemas(wire)
	switch {
	case !ok:
		return ""
	case e.Field == "target", e.Field == "target.version":
		return e.Field
	case Boundary(e.Code):
		return s.Input.Declared(e.Field)
	}
	return max(s.Input.Declared(e.Field), s.Output.Declared(e.Field))
}

// listener hears the exchanges of one call, or of one work on an operation, those that go on behind its answer too. In a
// replay it plays those that were recorded.
type listener struct {
	replay *replay
	r      *Recorder
	rec    *recording
	step   *taken
	about  []*asking // under the recorder's lock

	release func(exchange) // waits until a late exchange may be answered
	leave   func()         // ends the call as the caller did; nil: the caller stayed

	mu    sync.Mutex
	left  []exchange // recorded, and not asked for yet
	extra []string
}

// asking is an exchange that has begun.
type asking struct {
	exchange
	ctx      context.Context //nolint:containedctx // for the mark of what is not answered
	answered bool
	over     bool // it failed, and its context was over
	timeUp   bool // that was the library's
	at       int  // in the step's exchanges, counted from one; zero: not yet there
}

// Plays implements tape.Tape.
func (l *listener) Plays() bool { return l.replay != nil }

// Ask implements tape.Tape.
func (l *listener) Ask(ctx context.Context, e tape.Exchange) func(tape.Exchange) {
	a := &asking{exchange: ofTape(e), ctx: ctx}
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	l.about = append(l.about, a)
	if l.step.done && l.step.Step == stepCall { // whoever asks goes on behind the answer
		l.put(a, true)
	}
	return func(e tape.Exchange) { l.answer(a, e) }
}

// answer notes what came of an exchange. Of one that is late, and failed because its time was over, nothing did.
func (l *listener) answer(a *asking, e tape.Exchange) {
	came := ofTape(e)
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	cause := context.Cause(a.ctx)
	over := cause != nil && came.Failure != nil
	a.answered, a.over = true, over
	a.timeUp = over && cause != context.DeadlineExceeded && cause != context.Canceled //nolint:errorlint // these themselves are an adapter's, or the caller's
	if a.Late && over {
		return
	}
	came.Late = a.Late
	if a.exchange = came; a.Late || l.step.Step == stepWork {
		a.since = l.rec.over(l.step)
	}
	if a.at > 0 {
		l.step.Upstream[a.at-1] = a.exchange
	}
}

// put keeps an exchange with the step. The caller holds the recorder's lock.
func (l *listener) put(a *asking, late bool) {
	if a.Late = late; late && (!a.answered || a.over) {
		a.Failure, a.Sent = nil, claimctx.Marked(a.ctx)
	}
	l.step.Upstream = append(l.step.Upstream, a.exchange)
	a.at = len(l.step.Upstream)
}

// heard keeps the exchanges so far with the step, which is over, and reports whether one was late: it was not answered, or
// gave up as the step did. The caller holds the recorder's lock.
func (l *listener) heard(gaveUp func(*asking) bool) (late bool) {
	l.step.Upstream = nil
	for _, a := range l.about {
		l.put(a, !a.answered || gaveUp(a))
		late = late || a.Late
	}
	return late
}

// Play implements tape.Tape.
func (l *listener) Play(ctx context.Context, operation string, asked jsontext.Value, hidden []string) (tape.Exchange, bool) {
	e, ok := l.next(operation, asked, hidden)
	if e.Late {
		if e.Sent {
			envelope.Sent(ctx)
		}
		if l.leave != nil {
			l.leave()
		}
		l.release(e)
	}
	return e.toTape(), ok
}

// next is the first exchange that asks the same and has not been had.
func (l *listener) next(operation string, asked jsontext.Value, hidden []string) (exchange, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, e := range l.left {
		if e.Operation != operation || !l.replay.match.asks(e, asked, hidden) {
			continue
		}
		l.left = append(l.left[:i:i], l.left[i+1:]...)
		e.Answer = l.replay.match.inDocument(e.Answer)
		return e, true
	}
	l.extra = append(l.extra, operation)
	return exchange{}, false
}

// compared are the recorded exchanges that were not made, and those made that were not recorded. What is late may be asked
// for when nobody looks any more.
func (l *listener) compared() (missing, extra []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.left {
		if !e.Late {
			missing = append(missing, e.Operation)
		}
	}
	return missing, slices.Clone(l.extra)
}
