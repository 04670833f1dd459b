package tool

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/crashpoint"
)

func serveCommit(ctx context.Context, c *call, args []byte) (reply, error) {
	in, err := c.tool.input.Decode[commitArguments](args, c.tool.def.spec.Input)
	if err != nil {
		return reply{}, refusedInput(err)
	}
	c.accepted(args)
	r, err := c.commit(ctx, in.ProposalID)
	if err != nil {
		e := as(err)
		if e.Code == envelope.ApprovalPending {
			c.free = true
		}
		if e.ProposalID == "" && c.found != "" {
			e = e.At(e.Field)
			e.ProposalID = c.found
		}
		err = &final{e}
	}
	return r, err
}

// commit runs the approved plan of a proposal, or answers what became of it.
func (c *call) commit(ctx context.Context, proposal string) (reply, error) {
	started := c.d.mono()
	key := operationKey(c.by.Principal.Tenant, proposal)
	rec, err := c.load(ctx, key, proposal)
	if err != nil {
		return reply{}, err
	}
	if rec.State != approval.Consumed {
		if err := c.admissible(ctx, rec, key); err != nil {
			return c.refusedCommit(ctx, key, rec, err)
		}
	}
	return c.admitted(ctx, key, rec, started)
}

// load returns the proposal's record if this run of this person made it for this tool; anything else is not found.
func (c *call) load(ctx context.Context, key idem.Key, proposal string) (approval.Record, error) {
	rec, err := c.d.cfg.Approvals.Find(ctx, key.Tenant, proposal)
	switch {
	case errors.Is(err, approval.ErrNotFound):
		return rec, &final{envelope.New(envelope.NotFound).At("proposal_id")}
	case err != nil:
		return rec, &final{c.unreached(ctx, key, err)}
	}
	p := rec.Proposal
	if p.Run != c.by.Run || !p.Requester.Is(c.by.Principal) || p.Tool != c.tool.wire {
		return rec, &final{envelope.New(envelope.NotFound).At("proposal_id")}
	}
	c.found = proposal
	return rec, nil
}

// unreached is UNAVAILABLE from a commit that could not ask a store: effect none only where the ledger shows nothing.
func (c *call) unreached(ctx context.Context, key idem.Key, cause error) *envelope.Error {
	e := envelope.New(envelope.Unavailable).WithCause(cause)
	if ctx.Err() != nil {
		e = ended(ctx, false).WithCause(cause)
	}
	e.Effect = envelope.EffectUnknown
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	if _, err := c.d.cfg.Ledger.Find(ctx, key); errors.Is(err, idem.ErrNotFound) {
		e.Effect = envelope.EffectNone
	}
	return e
}

// admissible makes every check that stands before the admission.
func (c *call) admissible(ctx context.Context, rec approval.Record, key idem.Key) error {
	d, p := c.d, rec.Proposal
	if err := d.recheck(ctx, c.tool.def, rec, key.Operation, c.by.Principal); err != nil {
		return err
	}
	if err := d.unchanged(ctx, c.tool.def, p, c.by.Principal, c.by.RequestID); err != nil {
		return err
	}
	seq, open, err := d.cfg.Ledger.Resource(ctx, p.Tenant, p.Resource)
	switch {
	case err != nil:
		return &undecided{err}
	case seq != p.Seq:
		return &final{envelope.New(envelope.VersionConflict).At("target.version")}
	case open != "":
		return &final{inProgress(idem.Record{}, open)}
	}
	return nil
}

// refusedCommit answers a refusal before the admission, once it is sure that there is neither an operation nor a
// consumption; otherwise the operation answers.
func (c *call) refusedCommit(ctx context.Context, key idem.Key, rec approval.Record, refusal error) (reply, error) {
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	found, err := c.d.cfg.Ledger.Find(asking, key)
	switch {
	case err == nil:
		return c.answered(ctx, found)
	case errors.Is(err, idem.ErrGone):
		return reply{}, purgedAnswer(err, rec.Proposal.ID, key.Operation)
	case !errors.Is(err, idem.ErrNotFound):
		return reply{}, &final{withEffect(envelope.New(envelope.Unavailable).WithCause(err), envelope.EffectUnknown)}
	}
	again, err := c.d.cfg.Approvals.Find(asking, key.Tenant, rec.Proposal.ID)
	if err != nil {
		return reply{}, &final{withEffect(envelope.New(envelope.Unavailable).WithCause(err), envelope.EffectUnknown)}
	}
	if again.State == approval.Consumed {
		return c.admitted(ctx, key, again, c.d.mono())
	}
	if u, ok := errors.AsType[*undecided](refusal); ok {
		e := envelope.New(envelope.Unavailable)
		if ctx.Err() != nil {
			e = ended(ctx, false)
		}
		return reply{}, &final{withEffect(e.WithCause(u), envelope.EffectNone)}
	}
	e := as(refusal)
	if e.Code != envelope.InProgress {
		e = withEffect(e, envelope.EffectNone)
	}
	return reply{}, &final{e}
}

// admitted takes the operation into the ledger and runs it, or answers what became of it.
func (c *call) admitted(ctx context.Context, key idem.Key, rec approval.Record, started time.Time) (reply, error) {
	d, consumed := c.d, rec.State == approval.Consumed
	var err error
	if !consumed { // what was consumed is admitted already: nothing starts
		err = d.must(ctx, c.admission(key, rec))
	}
	if err != nil {
		return reply{}, &final{c.unreached(ctx, key, err)}
	}
	cmd, err := c.commandOf(key, rec, started)
	if err != nil {
		return reply{}, &final{c.unreached(ctx, key, err)}
	}
	crashpoint.Hit(crashpoint.BeforeAdmit)
	op, how, err := c.admit(ctx, cmd, consumed)
	switch {
	case errors.Is(err, idem.ErrGone):
		return reply{}, purgedAnswer(err, rec.Proposal.ID, key.Operation)
	case errors.Is(err, idem.ErrConflict):
		return reply{}, &final{withEffect(envelope.New(envelope.IdempotencyConflict), envelope.EffectUnknown)}
	case errors.Is(err, idem.ErrBusy):
		return reply{}, &final{inProgress(idem.Record{}, key.Operation)}
	case err != nil:
		return reply{}, &final{c.unreached(ctx, key, err)}
	case how != idem.Admitted:
		return c.answered(ctx, op)
	case op.State == idem.Unknown: // the ledger had forgotten it: what it did cannot be proved
		return operationAnswer(op, true)
	}
	crashpoint.Hit(crashpoint.AfterAdmit)
	d.operationBegan()
	if c.tool.def.write.queued {
		return operationAnswer(op, false)
	}
	return c.proceed(ctx, &advance{d: d, def: c.tool.def, op: op, approval: rec, checked: started, ours: true})
}

// admit takes the operation into the ledger. Its span stands in the command, so that whoever dispatches it can link to it.
func (c *call) admit(ctx context.Context, cmd idem.Command, consumed bool) (op idem.Record, how idem.Admission, err error) {
	ctx, end := c.d.meter.span(ctx, spanAdmit, cmd.Tool, "")
	defer func() { end(attrState, string(how), err != nil) }()
	if parent := parentOf(ctx); parent != "" {
		cmd.Meta[traceparent] = parent
	}
	return c.d.cfg.Ledger.Admit(ctx, cmd, consumed)
}

func (c *call) admission(key idem.Key, rec approval.Record) event {
	return event{
		kind: eventAdmit, who: c.by.Principal, run: c.by.Run, tool: c.tool.wire, request: c.by.RequestID, operation: key.Operation,
		proposal: rec.Proposal.ID, authorizedBy: approvers(rec), policyVersion: rec.Proposal.PolicyVersion,
		toolVersion: c.tool.def.spec.Version, digest: rec.Proposal.Digest, fields: c.tool.def.planned(rec.Proposal.Plan),
	}
}

// answered answers a commit from an operation that was there before: what is pending goes on, what is unknown or running
// is asked for, what is over is replayed.
func (c *call) answered(ctx context.Context, op idem.Record) (reply, error) {
	op = c.d.look(ctx, c.tool.def, op, &c.slots)
	if op.State != idem.Pending || op.AvailableIn > 0 || c.tool.def.write.queued {
		return operationAnswer(op, true)
	}
	return c.proceed(ctx, &advance{d: c.d, def: c.tool.def, op: op})
}

// proceed runs a pending operation and answers what it came to, or that it goes on where the call's time is up.
func (c *call) proceed(ctx context.Context, a *advance) (reply, error) {
	a.requester, a.slots = c.by.Principal, &c.slots
	return operationAnswer(a.run(ctx), false)
}

// offerAfter is when the outbox first offers an operation that its own commit is about to run: if that one died.
const offerAfter = 10 * time.Second

// commandOf is what is admitted.
func (c *call) commandOf(key idem.Key, rec approval.Record, started time.Time) (idem.Command, error) {
	p, w := rec.Proposal, c.tool.def.write
	body, err := bodyOf(p, c.by.RequestID, rec.Decisions)
	if err != nil {
		return idem.Command{}, err
	}
	rest := min(rec.Left, c.run.state.deadline.Sub(c.d.cfg.Now())) - c.d.mono().Sub(started)
	offered := offerAfter
	if w.queued {
		offered = 0
	}
	return idem.Command{
		AvailableIn: offered, Key: key, Tool: w.wire, Proposal: p.ID, Run: p.Run, RequestHash: p.Digest, Resource: p.Resource, Seq: p.Seq, Body: body,
		Contract: w.contract, ProviderKey: providerKey(key), Attempts: w.attempts, ExpiresIn: max(rest, 0), DedupFor: w.dedupFor,
		RunFor: w.runFor, Settle: w.settle, Meta: meta(c.tool.def, rec),
	}, nil
}

// providerKey is the idempotency key that the provider sees: a function of the operation, so that an operation which the
// ledger has forgotten can still be asked for.
func providerKey(k idem.Key) string { return strings.TrimPrefix(k.Operation, "op_") }

func approvers(rec approval.Record) string {
	var names []string
	for _, d := range rec.Decisions {
		if d.Approved {
			names = append(names, d.By.Kind.String()+":"+d.By.Subject)
		}
	}
	return strings.Join(names, ",")
}
