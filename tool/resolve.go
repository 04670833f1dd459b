package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// look asks what became of an unknown or running operation, before it is answered: the provider by its key or receipt,
// then the evidence that is stored. It returns the operation as it then stands.
func (d *Dispatcher) look(ctx context.Context, def *definition, op idem.Record) idem.Record {
	if op.State != idem.Unknown && op.State != idem.Running || !d.begin() {
		return op
	}
	defer d.working.Done()
	before := d.mono()
	claim, err := d.cfg.Ledger.ClaimOpen(ctx, op.Command.Key, d.name, d.cfg.Lease)
	if err != nil {
		return op
	}
	s := dispatch{def: def, claim: claim, leaseEnds: before.Add(claim.Lease), attempt: len(op.Attempts)}
	ctx = context.WithoutCancel(ctx)
	return d.store(ctx, s, d.learn(ctx, s, op))
}

// learn finds out what a claimed open operation came to, without sending it again.
func (d *Dispatcher) learn(ctx context.Context, s dispatch, op idem.Record) idem.Outcome {
	stays := idem.Outcome{State: idem.Unknown, RetryAfter: backOff(s.attempt)}
	cmd, ok := d.reopened(ctx, &s)
	if !ok {
		return stays
	}
	if o := d.status(ctx, s, cmd, op); o.State != idem.Unknown {
		return o
	}
	if o, ok := storedOutcome(op); ok {
		return o
	}
	return stays
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
	p, err := guarded(held, s.def.spec.Timeout, func(ctx context.Context) (product, error) { return w.status(ctx, cmd, op.Receipt) })
	stop()
	if err == nil {
		return d.produced(ctx, s, cmd, p)
	}
	proof, refusal, receipt := envelope.Proven(err)
	switch {
	case proof == envelope.ProofRefused:
		return refused(w.commit, refusal)
	case proof == envelope.ProofRunning && validReceipt(receipt):
		return idem.Outcome{State: idem.Running, Receipt: receipt, RetryAfter: pollEvery}
	case notFound(err) && w.contract == idem.NotFoundIsFinal && s.claim.Idle > w.settle:
		e := envelope.New(envelope.Unavailable)
		e.Effect = envelope.EffectNone
		return idem.Outcome{State: idem.Failed, Failure: e}
	}
	d.log("status_unknown", cmd.By.RequestID, err)
	return unknown
}

// notFound reports whether a provider said that it does not know the key.
func notFound(err error) bool {
	e, ok := errors.AsType[*envelope.Error](err)
	return errors.Is(err, idem.ErrNotFound) || ok && e.Code == envelope.NotFound
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
// and evidence, audited before it happens. A result must fit the output schema of the operation's tool.
func (d *Dispatcher) Resolve(ctx context.Context, k idem.Key, by approval.Principal, r idem.Resolution) (idem.Record, error) {
	op, err := d.cfg.Ledger.Find(ctx, k)
	if err != nil {
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
	d.finished(ctx, rec)
	return rec, nil
}
