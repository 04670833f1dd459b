package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"time"
	"uuid"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/ids"
)

// call is one call on its way through.
type call struct {
	d    *Dispatcher
	run  *Run
	tool *callable
	by   Caller
	id   string // that the model gave the call

	fields []string        // declared names of the arguments' members, once they are accepted; for the audit
	free   bool            // it was a wait for an approval: not counted
	found  string          // the proposal, of this run and person; empty until it is found
	inner  *envelope.Error // what the library answered, for a middleware to pass on

	slots    slots
	reserved Budget
	atGate   bool            // it has a place among its tool's
	ctx      context.Context //nolint:containedctx // the caller's values, for the budgets' store when the slots are left
}

// leave gives back what the call holds of its run's and its tool's parallel work.
func (c *call) leave() {
	if c.atGate {
		c.d.gates.leave(c.gate())
	}
	c.settle(c.ctx, c.reserved)
}

// gate is the call's place among those of its tool. Calls that only queue a write count apart from its handlers, which a
// worker runs.
func (c *call) gate() gate {
	queues := c.tool.commits() && c.tool.def.write.queued
	return gate{tool: c.tool, tenant: c.by.Principal.Tenant, run: c.by.Run, queues: queues}
}

var callID = regexp.MustCompile(`^[A-Za-z0-9_.:-]{0,64}$`)

// Call answers one call of the model: name and role, budget, limits, parse, schema, the tool itself, output check. It
// never panics, and answers when the call's time is up or ctx ends even if a handler heeds neither. The host's own parts,
// its stores, sinks and middleware, are called within the call and must heed the context that they are given.
func (r *Run) Call(ctx context.Context, c envelope.Call) (result envelope.Result) {
	t, refusal := r.lookUp(c)
	name := ""
	if t != nil {
		name = t.wire
	}
	id := r.d.requestID()
	cl := &call{d: r.d, run: r, tool: t, id: c.ID, by: Caller{Principal: r.state.principal, Run: r.state.id, Tool: name, RequestID: id}}
	defer func() {
		if v := recover(); v != nil { // the host's own parts, where even the report of a panic panics
			result = envelope.Result{Error: cl.broken().Bare()}
		}
		result.Tool, result.RequestID = name, id
	}()
	ctx, end := r.d.meter.start(r.d.taped(ctx), t)
	result = cl.contained(ctx, c, refusal)
	result.Tool, result.RequestID = name, id
	end(result)
	return result
}

// requestID returns a fresh id, of the library's own making where the host's source panics.
func (d *Dispatcher) requestID() (id string) {
	if shielded(func() error { id = d.id("req_"); return nil }) != nil {
		u := uuid.NewV7()
		id = ids.Encode("req_", u[:])
	}
	return id
}

// lookUp finds the tool, by its exact name, among those of the role.
func (r *Run) lookUp(c envelope.Call) (*callable, *envelope.Error) {
	t, known := r.d.tools[c.Tool]
	switch {
	case !known:
		return nil, envelope.New(envelope.UnknownTool)
	case t.def.spec.Retired:
		return t, envelope.New(envelope.UnsupportedVersion)
	case r.role.tools[c.Tool] == nil:
		return t, envelope.New(envelope.NotPermitted)
	case !callID.MatchString(c.ID):
		e := envelope.New(envelope.InvalidArgument)
		e.Rule = "id"
		return t, e
	}
	return t, nil
}

// contained answers INTERNAL where the host's own code, a middleware or a store, panics.
func (c *call) contained(ctx context.Context, in envelope.Call, refusal *envelope.Error) (r envelope.Result) {
	defer func() {
		if v := recover(); v != nil {
			r = c.refuse(c.broken().WithCause(&panicked{value: v, stack: debug.Stack()}))
		}
	}()
	if !c.d.begin() {
		return c.refuse(envelope.New(envelope.Cancelled))
	}
	defer c.d.working.Done()
	return c.budgeted(ctx, in, refusal)
}

// broken is INTERNAL. Of a commit the effect is then unknown to this call; the next one is answered from the ledger.
func (c *call) broken() *envelope.Error {
	e := envelope.New(envelope.Internal)
	if c.tool != nil && c.tool.commits() {
		e.Effect = envelope.EffectUnknown
		if c.found != "" {
			e.ProposalID, e.OperationID = c.found, operationKey(c.by.Principal.Tenant, c.found).Operation
		}
	}
	return e
}

// budgeted counts the call, refused or not, and answers it.
func (c *call) budgeted(ctx context.Context, in envelope.Call, refusal *envelope.Error) envelope.Result {
	d, s := c.d, c.run.state
	if s.stopped() {
		return c.refuse(envelope.New(envelope.Cancelled))
	}
	if ctx.Err() != nil {
		return c.refuse(ended(ctx, false))
	}
	rest := s.deadline.Sub(d.cfg.Now())
	if rest < 0 {
		return c.refuse(envelope.New(envelope.BudgetExhausted))
	}
	reserved := Budget{Calls: 1, Parallel: 1}
	ends, err := c.run.reserve(ctx, reserved)
	if refusal == nil && err != nil {
		refusal = budgetFailure(err)
	}
	if err != nil {
		return c.refuse(refusal)
	}
	c.ctx, c.reserved, c.slots.owner = ctx, reserved, c
	c.slots.take()
	defer c.slots.drop()
	if refusal != nil {
		return c.refuse(refusal)
	}
	return c.gated(ctx, in, rest, ends)
}

func budgetFailure(err error) *envelope.Error {
	var e *envelope.Error
	if errors.As(err, &e) {
		return e
	}
	return envelope.New(envelope.Unavailable).WithCause(err)
}

func (c *call) settle(ctx context.Context, reserved Budget) {
	used := Budget{Calls: reserved.Calls}
	if c.free {
		used.Calls = 0
	}
	if _, here := c.d.cfg.Budgets.(*MemoryBudgets); !here { // which asks nobody
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), storeTime)
		defer cancel()
	}
	err := shielded(func() error {
		return c.d.cfg.Budgets.Settle(ctx, c.by.Principal.Tenant, c.by.Run, reserved, used)
	})
	if err != nil {
		c.d.log("budget_not_settled", c.by.RequestID, err)
	}
}

// gated takes a place among the tool's parallel calls, bounds the call's time and lets the run's end reach it.
func (c *call) gated(ctx context.Context, in envelope.Call, rest time.Duration, runEnds time.Time) envelope.Result {
	if c.atGate = c.d.gates.enter(c.gate()); !c.atGate {
		return c.refuse(envelope.New(envelope.RateLimited).After(busyRetry))
	}
	limit, cause := c.limit(rest), error(timeIsUpError{})
	if !runEnds.IsZero() {
		if left := runEnds.Sub(c.d.mono()); left <= 0 {
			return c.refuse(envelope.New(envelope.BudgetExhausted))
		} else if left <= limit {
			limit, cause = left, runTimeIsUpError{}
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, cause)
	defer cancel()
	if !c.run.state.enter(c, cancel) {
		return c.refuse(envelope.New(envelope.Cancelled))
	}
	defer c.run.state.leave(c)
	inv := Invocation{Caller: c.by, Call: in, Class: c.tool.class.String()}
	if len(c.d.cfg.Middleware) == 0 {
		return c.answer(ctx, inv)
	}
	return c.checked(c.d.handler(context.WithValue(ctx, callKey{}, c), inv))
}

// limit is the call's time: the run's rest, the dispatcher's cap and, for a read that is tried once, the tool's own time.
// Every handler of a write, and every try of a read, is bounded by the tool's time within it.
func (c *call) limit(rest time.Duration) time.Duration {
	if limit := c.d.cfg.Deadline; limit > 0 {
		rest = min(rest, limit)
	}
	if c.tool.triedOnce() {
		rest = min(rest, c.tool.def.spec.Timeout)
	}
	return rest
}

func (t *callable) triedOnce() bool { return t.class == readClass && t.def.retry.Attempts < 2 }

type callKey struct{}

// wrapped is the middleware around answer.
func (d *Dispatcher) wrapped() (Handler, error) {
	h := Handler(func(ctx context.Context, i Invocation) envelope.Result {
		c, ok := ctx.Value(callKey{}).(*call)
		if !ok { // a middleware that drops its context drops the call
			return envelope.Result{Error: envelope.New(envelope.Internal)}
		}
		return c.answer(ctx, i)
	})
	for i := len(d.cfg.Middleware) - 1; i >= 0; i-- {
		if h = d.cfg.Middleware[i](h); h == nil {
			return nil, fmt.Errorf("tool: config: middleware[%d]: returns no handler", i)
		}
	}
	return h, nil
}

// answer runs the tool. Of the invocation only the arguments count.
func (c *call) answer(ctx context.Context, i Invocation) envelope.Result {
	r, err := c.tool.serve(ctx, c, i.Call.Arguments)
	if err != nil {
		return c.refuse(as(err))
	}
	c.d.record(ctx, c, nil)
	return envelope.Result{OK: true, Data: r.data, Replayed: r.replayed, Untrusted: c.untrusted()}
}

func (c *call) untrusted() []string { return c.tool.untrusted }

// refuse reports an error to those who may know its cause, and answers without it.
func (c *call) refuse(e *envelope.Error) envelope.Result {
	if c.tool != nil && c.tool.def.write != nil && e.Effect == "" && e.Code != envelope.InProgress {
		e = withEffect(e, envelope.EffectNone)
	}
	c.d.record(c.d.ctx, c, e)
	c.inner = e.Bare()
	r := envelope.Result{Error: c.inner}
	if e.Reason != "" {
		r.Untrusted = []string{"error.reason"}
	}
	return r
}

func withEffect(e *envelope.Error, effect envelope.Effect) *envelope.Error {
	e = e.At(e.Field)
	e.Effect = effect
	return e
}

// checked holds what a middleware returned to the tool's contract. The library's own refusal passes as it was; of any other
// only the code, the declared field and the retry time do, as of a handler's.
func (c *call) checked(r envelope.Result) envelope.Result {
	switch {
	case r.OK && r.Error == nil:
		if err := c.tool.output.Check(r.Data, c.tool.def.spec.Output); err != nil {
			return c.refuse(c.brokenAnswer(err))
		}
		return envelope.Result{OK: true, Data: r.Data, Replayed: r.Replayed, Untrusted: c.untrusted()}
	case r.OK || r.Error == nil:
		return c.refuse(c.brokenAnswer(r.Err()))
	case r.Error == c.inner:
		return envelope.Result{Error: c.inner, Untrusted: r.Untrusted}
	}
	return c.refuse(middlewareRefusal(c.tool, r.Error))
}

// middlewareRefusal is what may cross of a refusal that a middleware made: the library's codes, or the tool's.
func middlewareRefusal(t *callable, e *envelope.Error) *envelope.Error {
	d, ok := envelope.Declared(e.Code)
	if own, declared := t.def.failures[e.Code]; declared {
		d, ok = own, true
	}
	if !ok {
		return envelope.New(envelope.Internal)
	}
	return t.worded(d, e)
}

// brokenAnswer is OUTPUT_INVALID; of a commit the effect is done, for only a success has an output.
func (c *call) brokenAnswer(err error) *envelope.Error {
	e := as(brokenOutput(err))
	if c.tool.commits() {
		e.Effect = envelope.EffectDone
	}
	return e
}

// entered tells the tests' hook.
func (c *call) entered(ctx context.Context, in any) {
	if c.d.cfg.Entered != nil {
		c.d.cfg.Entered(ctx, c.tool.wire, in)
	}
}

// once is one handler of a call within the tool's time.
func (c *call) once(ctx context.Context, f func(context.Context) (reply, error)) (reply, error) {
	r, err := guarded(ctx, &c.slots, c.tool.def.spec.Timeout, f)
	return r, c.failure(ctx, err)
}
