package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/crashpoint"
)

// look asks what became of an unknown or running operation, before it is answered, without sending anything again. It
// returns the operation as it then stands; where ctx ends first, as it stood, and what is being asked goes on.
func (d *Dispatcher) look(ctx context.Context, def *definition, op idem.Record, held *slots) idem.Record {
	if !askable(def, op) {
		return op
	}
	return apart(ctx, d, held, op, func() idem.Record {
		return d.contained(ctx, op, func(ctx context.Context) idem.Record { return d.reopen(ctx, def, op, d.name, false) })
	})
}

// askable reports whether somebody can be asked what became of the operation.
func askable(def *definition, op idem.Record) bool {
	return !def.write.shadow && (op.State == idem.Unknown || op.State == idem.Running)
}

// resolve is look for a worker: where nothing can be learnt and the provider's contract allows it, the same bytes are
// sent again under the same key.
func (d *Dispatcher) resolve(ctx context.Context, def *definition, op idem.Record, worker string) idem.Record {
	if !askable(def, op) {
		return op
	}
	return d.reopen(ctx, def, op, worker, true)
}

// reopen asks about an operation that is askable.
func (d *Dispatcher) reopen(ctx context.Context, def *definition, op idem.Record, worker string, resend bool) (rec idem.Record) {
	rest := backOff(len(op.Attempts))
	if !resend {
		// Whoever only asks leaves the time alone at which the outbox offers it: a worker may send again then.
		if _, stored := storedOutcome(op); def.write.status == nil && !stored {
			return op
		}
		rest = op.AvailableIn
	}
	before := d.mono()
	claim, err := d.cfg.Ledger.ClaimOpen(ctx, op.Command.Key, worker, d.cfg.Lease)
	if err != nil {
		return op
	}
	crashpoint.Hit(crashpoint.ResolverHolds)
	if resend { // a worker's
		ctx = d.heard(ctx, op)
		defer func() { ends(ctx, rec.State, rec.Result, rec.Failure) }()
	}
	s := dispatch{def: def, claim: claim, leaseEnds: before.Add(claim.Lease), attempt: len(op.Attempts)}
	ctx, end := d.meter.span(context.WithoutCancel(ctx), spanResolve, op.Command.Tool, op.Command.Meta[traceparent])
	defer func() { came(end, rec.State) }()
	stays := idem.Outcome{State: idem.Unknown, RetryAfter: rest}
	cmd, ok := d.reopened(ctx, &s)
	if !ok {
		return d.store(ctx, s, stays)
	}
	if o := d.learn(ctx, s, cmd, op); o.State != idem.Unknown {
		return d.store(ctx, s, o)
	}
	if !resend || def.write.contract != idem.ReplaySafe || op.State != idem.Unknown {
		return d.store(ctx, s, stays)
	}
	held, free := d.place(def, op)
	if !free {
		return d.store(ctx, s, stays)
	}
	defer held.drop()
	again, ok := d.resent(ctx, s)
	if !ok {
		return d.store(ctx, again, stays) // of the two claims, the one that the row has
	}
	again.slots = held
	return d.store(ctx, again, d.handle(ctx, again))
}

// learn finds out what a claimed open operation came to: the provider's word by its key or receipt, then what is stored.
func (d *Dispatcher) learn(ctx context.Context, s dispatch, cmd command, op idem.Record) idem.Outcome {
	if o := d.status(ctx, s, cmd, op); o.State != idem.Unknown {
		return o
	}
	if o, ok := storedOutcome(op); ok {
		return o
	}
	return idem.Outcome{State: idem.Unknown}
}

// resent turns the claim of an unknown operation into one that may send, if everything that the approval rests on still
// stands and the target has not changed. The ledger holds the window, the expiry and the attempts.
func (d *Dispatcher) resent(ctx context.Context, s dispatch) (dispatch, bool) {
	key := s.claim.Key
	rec, err := d.cfg.Approvals.Find(ctx, key.Tenant, s.claim.Command.Proposal)
	if err == nil {
		err = d.recheck(ctx, s.def, rec, key.Operation, rec.Proposal.Requester)
	}
	if err == nil {
		err = d.unchanged(ctx, s.def, rec.Proposal, rec.Proposal.Requester, s.body.RequestID)
	}
	if err == nil {
		err = d.must(ctx, event{
			kind: eventDispatch, who: rec.Proposal.Requester, run: rec.Proposal.Run, tool: rec.Proposal.Tool, operation: key.Operation,
			proposal: rec.Proposal.ID, authorizedBy: approvers(rec), policyVersion: d.cfg.Policy.Version,
			toolVersion: s.def.spec.Version, digest: rec.Proposal.Digest, outcome: "again", fields: s.def.planned(rec.Proposal.Plan),
		})
	}
	before := d.mono()
	var claim idem.Claim
	if err == nil {
		claim, err = d.cfg.Ledger.Resend(ctx, s.claim, d.cfg.Lease)
	}
	var b body
	if err == nil {
		if b, err = readBody(claim.Command.Body); err == nil {
			err = d.verify(b, claim.Command, rec.Proposal)
		}
		s = dispatch{def: s.def, claim: claim, proposal: rec.Proposal, leaseEnds: before.Add(claim.Lease), attempt: s.attempt + 1, body: b}
	}
	crashpoint.Hit(crashpoint.BeforeResend)
	if err != nil {
		d.log("not_sent_again", s.body.RequestID, err)
		return s, false
	}
	count(ctx, d.meter.retries, attrTool.String(s.def.write.wire), attrRetry.String(retryResend))
	return s, true
}

// reopened rebuilds the command of an open operation and checks that it is what was approved.
func (d *Dispatcher) reopened(ctx context.Context, s *dispatch) (command, bool) {
	b, err := readBody(s.claim.Command.Body)
	if err != nil {
		d.log("command_altered", "", err)
		return command{}, false
	}
	rec, err := d.cfg.Approvals.Find(ctx, s.claim.Key.Tenant, s.claim.Command.Proposal)
	if err == nil {
		err = d.verify(b, s.claim.Command, rec.Proposal)
	}
	if err != nil {
		d.log("command_not_verified", b.RequestID, err)
		return command{}, false
	}
	s.body, s.proposal = b, rec.Proposal
	return b.command(s.claim.Command, 0), true
}

// status asks the provider. Only its contract makes "not found" an answer.
func (d *Dispatcher) status(ctx context.Context, s dispatch, cmd command, op idem.Record) idem.Outcome {
	w := s.def.write
	unknown := idem.Outcome{State: idem.Unknown}
	if w.status == nil {
		return unknown
	}
	held, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := d.keep(held, s, cancel)
	p, err := guarded(held, nil, s.def.spec.Timeout, func(ctx context.Context) (product, error) { return w.status(ctx, cmd, op.Receipt) })
	stop()
	if err == nil {
		return d.produced(ctx, s, cmd, p)
	}
	e := examine(err)
	switch {
	case e.proof == envelope.ProofRefused:
		return refused(w.commit, e.refusal)
	case e.proof == envelope.ProofRunning && validReceipt(e.receipt):
		return idem.Outcome{State: idem.Running, Receipt: e.receipt, RetryAfter: pollEvery}
	case e.unknownKey() && w.contract == idem.NotFoundIsFinal && s.claim.Idle > w.settle:
		return idem.Outcome{State: idem.Failed, Failure: withEffect(envelope.New(envelope.Unavailable), envelope.EffectNone)}
	}
	d.log("status_unknown", cmd.By.RequestID, err)
	return unknown
}

// unknownKey reports whether a provider said that it does not know the key.
func (e *examined) unknownKey() bool {
	return e.notFound || e.declared != nil && e.declared.Code == envelope.NotFound
}

// storedOutcome is what a worker that had lost its claim left: a success whose output was checked, or the provider's
// final refusal of the only request that was ever made.
func storedOutcome(op idem.Record) (idem.Outcome, bool) {
	for _, e := range op.Evidence {
		if e.Outcome.State == idem.Succeeded {
			return e.Outcome, true
		}
	}
	if len(op.Attempts) != 1 {
		return idem.Outcome{}, false
	}
	for _, e := range op.Evidence {
		if e.Outcome.State == idem.Failed && e.Generation == op.Attempts[0].Generation {
			return e.Outcome, true
		}
	}
	return idem.Outcome{}, false
}

// Resolve closes an unknown operation on an operator's word: only by a principal whom the authority lets, with a reason
// and evidence, audited before it happens. A result must fit the output schema of the operation's tool; where a success is
// resolved without one, commits answer OUTPUT_INVALID with the effect done. In shadow it is [ErrNotLive].
func (d *Dispatcher) Resolve(ctx context.Context, k idem.Key, by approval.Principal, r idem.Resolution) (idem.Record, error) {
	if d.cfg.Shadow != nil {
		return idem.Record{}, fmt.Errorf("tool: resolve: %w: it runs in shadow", ErrNotLive)
	}
	if d.cfg.Ledger == nil {
		return idem.Record{}, fmt.Errorf("tool: resolve: %w", idem.ErrNotFound)
	}
	ctx = d.taped(ctx)
	op, err := d.cfg.Ledger.Find(ctx, k)
	if err != nil && !errors.Is(err, idem.ErrSealed) { // what cannot be opened can be ended
		return idem.Record{}, fmt.Errorf("tool: resolve: %w", err)
	}
	if err := d.cfg.Authority.MayResolve(ctx, by, k.Tenant, k.Operation); err != nil {
		return idem.Record{}, fmt.Errorf("tool: resolve: %w", err)
	}
	if r.Result != nil {
		def, err := d.writeOf(op.Command.Tool)
		if err != nil {
			return idem.Record{}, err
		}
		if err := def.write.commit.output.Check(r.Result, def.spec.Output); err != nil {
			return idem.Record{}, fmt.Errorf("tool: resolve: result: %w", err)
		}
	}
	r.By = by.Subject
	err = d.must(ctx, event{
		kind: eventResolve, who: by, run: op.Command.Run, tool: op.Command.Tool, operation: k.Operation, proposal: op.Command.Proposal,
		outcome: string(r.State), authorizedBy: by.Kind.String() + ":" + by.Subject,
	})
	if err != nil {
		return idem.Record{}, err
	}
	rec, err := d.cfg.Ledger.Resolve(ctx, k, r)
	if err != nil {
		return idem.Record{}, fmt.Errorf("tool: resolve: %w", err)
	}
	d.resolved(op, by, r)
	d.finished(ctx, rec)
	return rec, nil
}
