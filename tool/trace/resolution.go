package trace

import (
	"context"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/tool"
)

// Resolved hears an operator.
func (w works) Resolved(o tape.Operation, by approval.Principal, r idem.Resolution) {
	s := step{
		Step: stepResolve, Tool: o.Tool, Operation: o.ID, By: &by, State: string(r.State), Answer: r.Result, Reason: r.Reason, Evidence: r.Evidence,
	}
	if r.Failure != nil {
		s.Code, s.Field = r.Failure.Code, r.Failure.Field
	}
	w.r.note(w.r.recorded(o.Tenant, o.Run), &taken{step: s})
}

// resolve lets the recorded operator end an operation again.
func (r *replay) resolve(ctx context.Context, d *tool.Dispatcher, s step) {
	if _, lost := r.lost[s.Operation]; lost {
		return
	}
	word := idem.Resolution{State: idem.State(s.State), Reason: s.Reason, Evidence: s.Evidence}
	if s.Answer != nil {
		word.Result = r.match.inDocument(s.Answer)
	}
	if s.Code != "" {
		word.Failure = envelope.New(s.Code).At(s.Field)
	}
	key := idem.Key{Tenant: r.run.Principal().Tenant, Operation: r.match.now(s.Operation)}
	if _, err := d.Resolve(ctx, key, *s.By, word); err != nil {
		r.report.differ("an operator's resolution is refused now: %v", err)
	}
}
