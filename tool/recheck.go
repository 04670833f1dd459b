package tool

import (
	"context"
	"errors"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
)

// undecided is an error of the machinery in a check: neither yes nor no.
type undecided struct{ err error }

func (u *undecided) Error() string { return "tool: a check could not be made: " + u.err.Error() }
func (u *undecided) Unwrap() error { return u.err }

// recheck asks again, now, everything that an approval rests on. A definite no is *final, an error of the machinery
// *undecided. operation is the one that the approval may be consumed by.
func (d *Dispatcher) recheck(ctx context.Context, def *definition, rec approval.Record, operation string, requester approval.Principal) (err error) {
	p := rec.Proposal
	ctx, end := d.meter.span(ctx, spanAuthorise, p.Tool, "")
	defer func() { checked(end, err) }()
	if rec.PolicySeen > d.cfg.Policy.Version {
		return &undecided{errOldPolicy}
	}
	if err := standing(rec, operation); err != nil {
		return err
	}
	if err := d.intact(p); err != nil {
		return err
	}
	now, err := d.required(ctx, def, p)
	if err != nil {
		return stopping(err)
	}
	if !p.Covers(now) {
		return no(envelope.ApprovalMismatch)
	}
	for _, dec := range rec.Decisions {
		if !dec.Approved || dec.By.Kind == approval.PolicyDecision {
			continue
		}
		if err := d.cfg.Authority.MayApprove(ctx, dec.By, p); errors.Is(err, approval.ErrNotAllowed) {
			return no(envelope.ApproverNotAuthorized)
		} else if err != nil {
			return &undecided{err}
		}
	}
	return stopping(d.mayRequest(ctx, requester, p))
}

// standing says whether the approval stands: given, not taken back, not over, not used by another operation.
func standing(rec approval.Record, operation string) error {
	switch rec.State {
	case approval.Approved:
	case approval.Consumed:
		if rec.ConsumedBy != operation {
			return no(envelope.ApprovalConsumed)
		}
	case approval.Pending:
		return &final{envelope.New(envelope.ApprovalPending).After(pendingRetry)}
	case approval.Rejected, approval.Withdrawn:
		e := envelope.New(envelope.ApprovalRejected)
		e.Reason = rejection(rec)
		return &final{e}
	case approval.Expired:
		return no(envelope.ApprovalExpired)
	default:
		return &undecided{errStoreState}
	}
	if rec.Left <= 0 {
		return no(envelope.ApprovalExpired)
	}
	return nil
}

// intact says whether the stored proposal is still what was digested.
func (d *Dispatcher) intact(p approval.Proposal) error {
	canonical, err := p.Canonical()
	if err == nil {
		err = d.cfg.Digester.Verify(p.Tenant, canonical, p.Digest)
	}
	if err != nil {
		return &final{envelope.New(envelope.ApprovalMismatch).WithCause(err)}
	}
	return nil
}

// required is what policy and Tighten ask for now; nothing that matches is Deny.
func (d *Dispatcher) required(ctx context.Context, def *definition, p approval.Proposal) (approval.Requirement, error) {
	req, ok := d.cfg.Policy.Evaluate(def.facts(p.Consequence))
	if !ok {
		return approval.Requirement{Level: approval.Deny}, nil
	}
	if d.cfg.Tighten == nil {
		return req, nil
	}
	p.Requirement = req
	more, err := d.cfg.Tighten(ctx, p.Clone())
	if err != nil {
		return approval.Requirement{}, &final{envelope.New(envelope.Unavailable).WithCause(err)}
	}
	return approval.Strictest(req, more), nil
}

// mayRequest asks for the requester's own access.
func (d *Dispatcher) mayRequest(ctx context.Context, who approval.Principal, p approval.Proposal) error {
	err := d.cfg.Authority.MayRequest(ctx, who, p.Tool, p.Target)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, approval.ErrNotAllowed):
		return no(envelope.NotPermitted)
	}
	return &final{envelope.New(envelope.Unavailable).WithCause(err)}
}

// unchanged asks for the target's version now, on behalf of who, for a request.
func (d *Dispatcher) unchanged(ctx context.Context, def *definition, p approval.Proposal, who approval.Principal, request string) error {
	w := def.write
	if w.current == nil {
		return nil
	}
	by := Caller{Principal: who, Run: p.Run, Tool: p.Tool, RequestID: request}
	version, err := guarded(ctx, nil, def.spec.Timeout, func(ctx context.Context) (string, error) { return w.current(ctx, by, p.Target) })
	if err != nil {
		return currentFailure(ctx, w.commit, err)
	}
	if version != p.Target.Version && !(w.unversioned && p.Target.Version == "") {
		return &final{envelope.New(envelope.VersionConflict).At("target.version")}
	}
	return nil
}

// currentFailure: a target that is gone has changed; what could not be asked is undecided.
func currentFailure(ctx context.Context, t *callable, err error) error {
	e := crossing(ctx, t, err)
	switch e.Code {
	case envelope.NotFound:
		return &final{envelope.New(envelope.VersionConflict).At("target").WithCause(err)}
	case envelope.NotPermitted, envelope.UpstreamDenied:
		return &final{e}
	}
	return &undecided{err}
}

var (
	errOldPolicy  = errors.New("tool: a newer policy is in force elsewhere")
	errStoreState = errors.New("tool: the approval store answered with no known state")
)

func oldPolicy() *envelope.Error { return envelope.New(envelope.Unavailable).WithCause(errOldPolicy) }

func no(code envelope.Code) error { return &final{envelope.New(code)} }

// stopping keeps a definite no and makes what is only not available undecided.
func stopping(err error) error {
	if err == nil {
		return nil
	}
	if e := as(err); e.Code == envelope.Unavailable || e.Code == envelope.Internal {
		return &undecided{err}
	}
	return err
}
