package tool

import (
	"context"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/crashpoint"
)

// advance is one attempt to run a pending operation: re-check, consumption, claim, handler, outcome.
type advance struct {
	d         *Dispatcher
	def       *definition
	op        idem.Record
	requester approval.Principal // whose access counts: the run's, or the stored one where nobody is there
	worker    string             // stands in the attempt; empty: the dispatcher's name

	approval approval.Record // empty: not loaded yet
	checked  time.Time       // monotonic; when the re-check last passed. Zero: not yet
	ours     bool            // this call admitted the operation
	slots    *slots          // that the handler holds
	others   bool            // somebody else has the claim
}

// run returns the operation as it stands after the attempt; under way where ctx ended first and the handler goes on.
func (a *advance) run(ctx context.Context) idem.Record {
	if err := a.ready(ctx); err != nil {
		return a.stopped(ctx, err)
	}
	if ctx.Err() != nil { // nothing begins for a caller who is gone
		return a.stopped(ctx, &undecided{context.Cause(ctx)})
	}
	before := a.d.mono()
	claim, err := a.d.cfg.Ledger.Claim(ctx, a.op.Command.Key, a.name(), a.d.cfg.Lease)
	if err != nil {
		return a.unclaimed(ctx, err)
	}
	crashpoint.Hit(crashpoint.AfterClaim)
	return a.d.dispatch(ctx, dispatch{
		def: a.def, claim: claim, proposal: a.approval.Proposal, leaseEnds: before.Add(claim.Lease), attempt: len(a.op.Attempts) + 1, slots: a.slots,
	})
}

func (a *advance) name() string {
	if a.worker == "" {
		return a.d.name
	}
	return a.worker
}

// ready makes everything that stands before the claim. An error is *final, a definite no, or *undecided.
func (a *advance) ready(ctx context.Context) error {
	if err := a.recheck(ctx); err != nil {
		return err
	}
	p := a.approval.Proposal
	_, _, err := a.d.cfg.Approvals.Consume(ctx, p.Tenant, p.ID, p.Digest, a.op.Command.Key.Operation)
	if err != nil {
		return consumeFailure(err)
	}
	crashpoint.Hit(crashpoint.AfterConsume)
	err = a.d.must(ctx, event{
		kind: eventDispatch, who: p.Requester, run: p.Run, tool: p.Tool, operation: a.op.Command.Key.Operation, proposal: p.ID,
		authorizedBy: approvers(a.approval), policyVersion: a.d.cfg.Policy.Version, toolVersion: a.def.spec.Version, digest: p.Digest,
		fields: a.def.planned(p.Plan),
	})
	if err != nil {
		return &undecided{err}
	}
	return a.recheck(ctx)
}

// recheck asks again unless the last answer is still good. Where the operation was there before this call, the target is
// asked for too.
func (a *advance) recheck(ctx context.Context) error {
	if !a.checked.IsZero() && a.d.mono().Sub(a.checked) < recheckGood {
		return nil
	}
	began, cmd := a.d.mono(), a.op.Command
	rec, err := a.d.cfg.Approvals.Find(ctx, cmd.Key.Tenant, cmd.Proposal)
	if err != nil {
		return &undecided{err}
	}
	a.approval = rec
	requester := a.requester
	if requester.Kind == 0 {
		requester = rec.Proposal.Requester
	}
	if err := a.d.recheck(ctx, a.def, rec, cmd.Key.Operation, requester); err != nil {
		return err
	}
	if !a.ours {
		if err := a.d.unchanged(ctx, a.def, rec.Proposal, requester, requestOf(cmd)); err != nil {
			return err
		}
	}
	a.checked = began
	return nil
}

func consumeFailure(err error) error {
	switch {
	case errors.Is(err, approval.ErrConsumed):
		return no(envelope.ApprovalConsumed)
	case errors.Is(err, approval.ErrExpired):
		return no(envelope.ApprovalExpired)
	case errors.Is(err, approval.ErrDecided), errors.Is(err, approval.ErrPending):
		return no(envelope.ApprovalRejected)
	case errors.Is(err, approval.ErrDigest):
		return no(envelope.ApprovalMismatch)
	}
	return &undecided{err}
}

// stopped closes the operation for a definite no; what could not be found out leaves it where it is.
func (a *advance) stopped(ctx context.Context, err error) idem.Record {
	f, ok := decided(err)
	if !ok || f.e.Code == envelope.ApprovalPending {
		a.d.log("operation_waits", "", err)
		return a.op
	}
	return a.d.deny(ctx, a.op, f.e.Code)
}

// unclaimed says what a refused claim means.
func (a *advance) unclaimed(ctx context.Context, err error) idem.Record {
	switch {
	case errors.Is(err, idem.ErrSequence):
		return a.d.deny(ctx, a.op, envelope.VersionConflict)
	case errors.Is(err, idem.ErrAttempts):
		return a.d.deny(ctx, a.op, envelope.Unavailable)
	}
	a.others = true
	return a.d.current(ctx, a.op)
}

// deny closes a pending operation; where it is no longer pending the record says what it became.
func (d *Dispatcher) deny(ctx context.Context, op idem.Record, code envelope.Code) idem.Record {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	to := idem.Denied
	if code == envelope.ApprovalExpired { // an operation lives no longer than its approval: whoever sees it first says so
		to = idem.Expired
	}
	ends(ctx, to, nil, envelope.New(code))
	rec, err := d.cfg.Ledger.Close(ctx, op.Command.Key, to, code)
	if errors.Is(err, idem.ErrState) && to == idem.Expired && rec.State == idem.Pending {
		rec, err = d.cfg.Ledger.Close(ctx, op.Command.Key, idem.Denied, code)
	}
	switch {
	case err == nil:
		d.finished(ctx, rec)
		return rec
	case errors.Is(err, idem.ErrState):
		return d.current(ctx, op)
	}
	d.log("operation_waits", "", err)
	return op
}

// current reads the operation again; where that fails it is told as it was.
func (d *Dispatcher) current(ctx context.Context, op idem.Record) idem.Record {
	rec, err := d.cfg.Ledger.Find(ctx, op.Command.Key)
	if err != nil {
		d.log("operation_not_read", "", err)
		return op
	}
	return rec
}
