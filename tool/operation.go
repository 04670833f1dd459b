package tool

import (
	"context"
	"encoding/json/v2"
	"errors"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/validate"
)

// The tools that every catalogue with a write serves.
const (
	getOperation    = "get_operation_v1"
	cancelOperation = "cancel_operation_v1"
)

type operationArguments struct {
	OperationID string `json:"operation_id" jsonschema:"pattern=^op_[0-9a-z]{4\\,64}$"`
}

// operationView is what the model reads of an operation.
type operationView struct {
	OperationID  string    `json:"operation_id" jsonschema:"pattern=^op_[0-9a-z]{4\\,64}$"`
	Tool         string    `json:"tool" jsonschema:"maxLength=64" redact:"trusted"`
	State        string    `json:"state" jsonschema:"enum=queued,enum=running,enum=succeeded,enum=failed,enum=denied,enum=expired,enum=cancelled,enum=unknown"`
	Evidence     *Evidence `json:"evidence,omitzero"`
	RetryAfterMS int64     `json:"retry_after_ms,omitzero" jsonschema:"minimum=0"`
}

type cancelView struct {
	OperationID string `json:"operation_id" jsonschema:"pattern=^op_[0-9a-z]{4\\,64}$"`
	Result      string `json:"result" jsonschema:"enum=stopped,enum=already_finished,enum=not_interruptible"`
}

func operationTools() []*definition {
	get, err := builtIn[operationArguments, operationView](getOperation, readClass, serveGetOperation,
		"Says what became of an operation: queued, running, succeeded, failed, denied, expired, cancelled or unknown. Changes nothing.")
	cancel, err2 := builtIn[operationArguments, cancelView](cancelOperation, Reversible, serveCancelOperation,
		"Asks to stop an operation of this run that has not finished. Says stopped, already_finished or not_interruptible; what was done stays done.")
	if err := errors.Join(err, err2); err != nil {
		panic(err) //nolint:forbidigo // the two types above are fixed; a test builds them
	}
	return []*definition{get, cancel}
}

func builtIn[In, Out any](wire string, class Class, serve func(context.Context, *call, []byte) (reply, error), description string) (*definition, error) {
	f := &faults{subject: wire}
	def := &definition{class: class, spec: Spec{Name: wire[:len(wire)-len("_v1")], Version: 1, Description: description, Timeout: storeTime}}
	t := &callable{wire: wire, class: class, def: def, serve: serve}
	t.input, t.output = schemaOf[In](f, "input"), schemaOf[Out](f, "output")
	if err := f.err(); err != nil {
		return nil, err
	}
	t.places, t.untrusted = []*validate.Schema{t.input, t.output}, t.output.Untrusted()
	def.tools = []*callable{t}
	return def, nil
}

func serveGetOperation(ctx context.Context, c *call, args []byte) (reply, error) {
	op, def, err := c.operation(ctx, args, false)
	if err != nil {
		return reply{}, err
	}
	op = c.d.look(ctx, def, op, &c.slots)
	v := operationView{OperationID: op.Command.Key.Operation, Tool: op.Command.Tool, State: stateWord(op.State)}
	if !terminal(op.State) && op.State != idem.Unknown {
		v.RetryAfterMS = max(op.AvailableIn, busyRetry).Milliseconds()
	}
	if op.State == idem.Succeeded && op.Result != nil && op.Sealed == nil {
		v.Evidence = evidenceOf(op)
	}
	data, err := c.tool.output.Encode(v, c.tool.def.spec.Output)
	if err != nil {
		return reply{}, brokenOutput(err)
	}
	return reply{data: data}, nil
}

func stateWord(s idem.State) string {
	switch s {
	case idem.Pending:
		return "queued"
	case idem.Dispatching, idem.Running:
		return "running"
	case idem.Succeeded, idem.Failed, idem.Denied, idem.Expired, idem.Cancelled, idem.Unknown:
	}
	return string(s)
}

// evidenceOf reads the evidence out of a stored result; an operator's result may have none.
func evidenceOf(op idem.Record) *Evidence {
	var e Evidence
	if json.Unmarshal(op.Result, &e) != nil || e.CommittedAt.IsZero() {
		return nil
	}
	return &e
}

func serveCancelOperation(ctx context.Context, c *call, args []byte) (reply, error) {
	op, def, err := c.operation(ctx, args, true)
	if err != nil {
		return reply{}, err
	}
	err = c.d.must(ctx, event{
		kind: eventCancel, who: c.by.Principal, run: c.by.Run, tool: op.Command.Tool, request: c.by.RequestID,
		operation: op.Command.Key.Operation, proposal: op.Command.Proposal,
	})
	if err != nil {
		return reply{}, c.unavailable(ctx, err)
	}
	v := cancelView{OperationID: op.Command.Key.Operation}
	stopped, err := c.d.cancel(ctx, def, op, &c.slots)
	if err != nil {
		return reply{}, c.unavailable(ctx, err)
	}
	v.Result = string(stopped)
	data, err := c.tool.output.Encode(v, c.tool.def.spec.Output)
	if err != nil {
		return reply{}, brokenOutput(err)
	}
	return reply{data: data}, nil
}

// cancel stops an operation as far as that is possible now.
func (d *Dispatcher) cancel(ctx context.Context, def *definition, op idem.Record, held *slots) (Stopped, error) {
	if op.State == idem.Pending {
		rec, err := d.cfg.Ledger.Close(ctx, op.Command.Key, idem.Cancelled, envelope.Cancelled)
		switch {
		case err == nil:
			d.finished(ctx, rec)
			return StoppedNow, nil
		case !errors.Is(err, idem.ErrState):
			return "", err
		}
		op = d.current(ctx, op)
	}
	switch {
	case terminal(op.State):
		return AlreadyFinished, nil
	case op.State == idem.Running && def.write.cancel != nil:
		asked := apart(ctx, d, held, answer[Stopped]{err: errStillAsking}, func() answer[Stopped] {
			return contained(ctx, func(ctx context.Context) (Stopped, error) { return d.interrupt(ctx, def, op) })
		})
		return asked.value, asked.err
	}
	return NotInterruptible, nil
}

// interrupt asks the provider to stop a running operation.
func (d *Dispatcher) interrupt(ctx context.Context, def *definition, op idem.Record) (Stopped, error) {
	before := d.mono()
	claim, err := d.cfg.Ledger.ClaimOpen(ctx, op.Command.Key, d.name, d.cfg.Lease)
	if err != nil {
		return NotInterruptible, nil // somebody else is asking about it right now
	}
	s := dispatch{def: def, claim: claim, leaseEnds: before.Add(claim.Lease), attempt: len(op.Attempts)}
	ctx = context.WithoutCancel(ctx)
	stays := idem.Outcome{State: idem.Unknown, RetryAfter: pollEvery}
	cmd, ok := d.reopened(ctx, &s)
	if !ok {
		d.store(ctx, s, stays)
		return NotInterruptible, nil
	}
	held, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	stop := d.keep(held, s, lost)
	stopped, err := guarded(held, nil, def.spec.Timeout, func(ctx context.Context) (Stopped, error) { return def.write.cancel(ctx, cmd, op.Receipt) })
	stop()
	switch {
	case err == nil && stopped == StoppedNow:
		return cancelledAs(d.store(ctx, s, idem.Outcome{State: idem.Cancelled}))
	case err == nil && stopped == AlreadyFinished:
		d.store(ctx, s, d.learn(ctx, s, cmd, op))
		return AlreadyFinished, nil
	case err != nil:
		d.log("cancel_failed", cmd.By.RequestID, err)
	}
	d.store(ctx, s, stays)
	return NotInterruptible, nil
}

// cancelledAs answers what is stored of an operation that the provider says it stopped.
func cancelledAs(op idem.Record) (Stopped, error) {
	switch {
	case op.State == idem.Cancelled:
		return StoppedNow, nil
	case terminal(op.State):
		return AlreadyFinished, nil
	}
	return "", errCancelNotStored
}

var errStillAsking = errors.New("tool: the provider is still being asked to stop the operation")

var errCancelNotStored = errors.New("tool: the operation was stopped, and that could not be stored")

// operation finds the operation that the arguments name, if it is this tenant's and this subject's, and with ofRun this
// run's. Anything else is not found.
func (c *call) operation(ctx context.Context, args []byte, ofRun bool) (idem.Record, *definition, error) {
	nothing := &final{envelope.New(envelope.NotFound).At("operation_id")}
	in, err := c.tool.input.Decode[operationArguments](args, c.tool.def.spec.Input)
	if err != nil {
		return idem.Record{}, nil, refusedInput(err)
	}
	c.accepted(args)
	op, err := c.d.cfg.Ledger.Find(ctx, idem.Key{Tenant: c.by.Principal.Tenant, Operation: in.OperationID})
	switch {
	case errors.Is(err, idem.ErrNotFound), errors.Is(err, idem.ErrGone):
		return op, nil, nothing
	case err != nil && !errors.Is(err, idem.ErrSealed): // of what cannot be opened the state is known
		return op, nil, c.unavailable(ctx, err)
	}
	def, err := c.d.writeOf(op.Command.Tool)
	if err != nil {
		return op, nil, nothing
	}
	requester, err := c.d.requester(ctx, op)
	if err != nil {
		return op, nil, c.unavailable(ctx, err)
	}
	if !requester.Is(c.by.Principal) || ofRun && op.Command.Run != c.by.Run {
		return op, nil, nothing
	}
	return op, def, nil
}

// requester says whose operation it is: by the stored command, or by the proposal.
func (d *Dispatcher) requester(ctx context.Context, op idem.Record) (approval.Principal, error) {
	if b, err := readBody(op.Command.Body); err == nil {
		return b.Requester, nil
	}
	rec, err := d.cfg.Approvals.Find(ctx, op.Command.Key.Tenant, op.Command.Proposal)
	if errors.Is(err, approval.ErrNotFound) {
		return approval.Principal{}, nil
	}
	return rec.Proposal.Requester, err
}
