package tool

import (
	"context"
	"errors"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// call is one call on its way through.
type call struct {
	d    *Dispatcher
	run  *Run
	tool *callable
	by   Caller
	free bool // it was a wait for an approval: not counted
}

var callID = regexp.MustCompile(`^[A-Za-z0-9_.:-]{0,64}$`)

// Call answers one call of the model: name and role, budget, limits, parse, schema, the tool itself, output check. It
// never panics, never returns without an answer, and answers when the call's time is up or ctx ends.
func (r *Run) Call(ctx context.Context, c envelope.Call) envelope.Result {
	d := r.d
	id := d.id("req_")
	t, refusal := r.lookUp(c)
	name := ""
	if t != nil {
		name = t.wire
	}
	cl := &call{d: d, run: r, tool: t, by: Caller{Principal: r.state.principal, Run: r.state.id, Tool: name, RequestID: id}}
	ctx, end := d.meter.start(ctx, t)
	result := cl.contained(ctx, c, refusal)
	result.Tool, result.RequestID = name, id
	end(result)
	return result
}

// lookUp finds the tool, by its exact name, among those of the role.
func (r *Run) lookUp(c envelope.Call) (*callable, *envelope.Error) {
	t, known := r.d.catalog.tools[c.Tool]
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

// contained answers INTERNAL where the host's own code, a middleware or a store, panics. Of a commit the effect is then
// unknown to this call; the next one is answered from the ledger.
func (c *call) contained(ctx context.Context, in envelope.Call, refusal *envelope.Error) (r envelope.Result) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		e := envelope.New(envelope.Internal).WithCause(&panicked{value: v, stack: debug.Stack()})
		if c.tool != nil && c.tool.commits() {
			e.Effect = envelope.EffectUnknown
		}
		r = c.refuse(e)
	}()
	return c.budgeted(ctx, in, refusal)
}

// budgeted counts the call, refused or not, and answers it.
func (c *call) budgeted(ctx context.Context, in envelope.Call, refusal *envelope.Error) envelope.Result {
	d, s := c.d, c.run.state
	reserved := Budget{Calls: 1, Parallel: 1}
	if s.stopped() {
		return c.refuse(envelope.New(envelope.Cancelled))
	}
	rest := s.deadline.Sub(d.cfg.Now())
	if rest < 0 {
		return c.refuse(envelope.New(envelope.BudgetExhausted))
	}
	err := d.cfg.Budgets.Reserve(ctx, s.principal.Tenant, s.id, reserved, c.run.limit, s.deadline)
	if refusal == nil && err != nil {
		refusal = budgetFailure(err)
	}
	if err == nil {
		defer c.settle(ctx, reserved)
	}
	if refusal != nil {
		return c.refuse(refusal)
	}
	return c.gated(ctx, in, rest)
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
	ctx = context.WithoutCancel(ctx)
	if _, here := c.d.cfg.Budgets.(*memoryBudgets); !here {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, storeTime)
		defer cancel()
	}
	if err := c.d.cfg.Budgets.Settle(ctx, c.by.Principal.Tenant, c.by.Run, reserved, used); err != nil {
		c.d.log("budget_not_settled", c.by.RequestID, err)
	}
}

// gated takes a place among the tool's parallel calls, bounds the call's time and lets the run's end reach it.
func (c *call) gated(ctx context.Context, in envelope.Call, rest time.Duration) envelope.Result {
	leave, ok := c.d.gates.enter(c.tool, c.by.Principal.Tenant, c.by.Run)
	if !ok {
		return c.refuse(envelope.New(envelope.RateLimited).After(busyRetry))
	}
	defer leave()
	ctx, cancel := context.WithTimeoutCause(ctx, c.limit(rest), timeIsUpError{})
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
func (d *Dispatcher) wrapped() Handler {
	h := Handler(func(ctx context.Context, i Invocation) envelope.Result {
		c, ok := ctx.Value(callKey{}).(*call)
		if !ok { // a middleware that drops its context drops the call
			return envelope.Result{Error: envelope.New(envelope.Internal)}
		}
		return c.answer(ctx, i)
	})
	for i := len(d.cfg.Middleware) - 1; i >= 0; i-- {
		h = d.cfg.Middleware[i](h)
	}
	return h
}

// answer runs the tool. Of the invocation only the arguments count.
func (c *call) answer(ctx context.Context, i Invocation) envelope.Result {
	serve := c.tool.serve
	if s := c.d.cfg.Shadow; s != nil && c.tool.def.write != nil {
		serve = s.serve(i)
	}
	r, err := serve(ctx, c, i.Call.Arguments)
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
	return envelope.Result{Error: e.Bare()}
}

func withEffect(e *envelope.Error, effect envelope.Effect) *envelope.Error {
	e = e.At(e.Field)
	e.Effect = effect
	return e
}

// checked holds what a middleware returned to the tool's contract.
func (c *call) checked(r envelope.Result) envelope.Result {
	if r.OK && r.Error == nil {
		if err := c.tool.output.Check(r.Data, c.tool.def.spec.Output); err != nil {
			return c.refuse(c.brokenAnswer(err))
		}
		return envelope.Result{OK: true, Data: r.Data, Replayed: r.Replayed, Untrusted: c.untrusted()}
	}
	if r.OK || r.Error == nil {
		return c.refuse(c.brokenAnswer(r.Err()))
	}
	if _, ours := envelope.Declared(r.Error.Code); !ours {
		if _, declared := c.tool.def.failures[r.Error.Code]; !declared {
			return c.refuse(envelope.New(envelope.Internal))
		}
	}
	return envelope.Result{Error: r.Error.Bare()}
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
	r, err := guarded(ctx, c.tool.def.spec.Timeout, f)
	return r, c.failure(ctx, err)
}
