package trace

import (
	"context"
	"encoding/json/jsontext"
	"slices"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/tool"
)

// call makes a call and records it, with its exchanges heard or played by the listener.
func (r *Recorder) call(ctx context.Context, run *tool.Run, c envelope.Call, listening *listener) envelope.Result {
	t := &taken{step: step{Step: stepCall, Tool: c.Tool}, raw: slices.Clone(c.Arguments)}
	r.note(r.recorded(run.Principal().Tenant, run.ID()), t)
	result := run.Call(tape.With(ctx, listening), c)
	over := r.cfg.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	t.result(run, result)
	t.Upstream, t.done = listening.heard(), true
	t.took(over)
	return result
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

// listener hears the exchanges of one call, or of one work on an operation, those that come after its answer too, up to
// the moment it is asked. In a replay it plays those that were recorded.
type listener struct {
	replay *replay

	mu    sync.Mutex
	about []exchange
	left  []exchange // recorded, and not asked for yet
	extra []string
}

// Plays implements tape.Tape.
func (l *listener) Plays() bool { return l.replay != nil }

// Keep implements tape.Tape.
func (l *listener) Keep(e tape.Exchange) { l.keep(ofTape(e)) }

func (l *listener) keep(e exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.about = append(l.about, e)
}

// Play implements tape.Tape.
func (l *listener) Play(operation string, asked jsontext.Value, hidden []string) (tape.Exchange, bool) {
	e, ok := l.next(operation, asked, hidden)
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

// compared are the recorded exchanges that were not made, and those made that were not recorded.
func (l *listener) compared() (missing, extra []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.left {
		missing = append(missing, e.Operation)
	}
	return missing, slices.Clone(l.extra)
}

func (l *listener) heard() []exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.about)
}
