package tool

import (
	"context"
	"fmt"

	"github.com/toolcontract/toolcontract/approval"
)

// Decide is the way for every host's console: it checks that the decision is for what is stored, asks the authority,
// refuses the requester unless the requirement allows it, audits, and stores. Refusals are errors for errors.Is:
// approval.ErrNotFound (another tenant's approver too), ErrDigest, ErrSelf, ErrNotAllowed, ErrExpired, ErrDecided,
// ErrConsumed, ErrReason. In shadow it is [ErrNotLive].
func (d *Dispatcher) Decide(ctx context.Context, tenant, proposal string, dec approval.Decision) (approval.Record, error) {
	if d.cfg.Shadow != nil {
		return approval.Record{}, fmt.Errorf("tool: decide: %w: it runs in shadow", ErrNotLive)
	}
	ctx = d.taped(ctx)
	rec, err := d.decidable(ctx, tenant, proposal, dec)
	if err != nil {
		return approval.Record{}, fmt.Errorf("tool: decide: %w", err)
	}
	p, outcome := rec.Proposal, decisionApproved
	if !dec.Approved {
		outcome = decisionRejected
	}
	err = d.must(ctx, event{
		kind: eventDecide, who: dec.By, run: p.Run, tool: p.Tool, proposal: p.ID, outcome: outcome, digest: p.Digest,
		authorizedBy: dec.By.Kind.String() + ":" + dec.By.Subject, policyVersion: p.PolicyVersion,
	})
	if err != nil {
		return approval.Record{}, err
	}
	rec, err = d.cfg.Approvals.Decide(ctx, tenant, proposal, dec)
	if err != nil {
		return approval.Record{}, fmt.Errorf("tool: decide: %w", err)
	}
	count(ctx, d.meter.decisions, attrTool.String(p.Tool), attrDecision.String(outcome))
	return rec, nil
}

func (d *Dispatcher) decidable(ctx context.Context, tenant, proposal string, dec approval.Decision) (approval.Record, error) {
	if d.cfg.Approvals == nil || dec.By.Tenant != tenant {
		return approval.Record{}, approval.ErrNotFound
	}
	rec, err := d.cfg.Approvals.Find(ctx, tenant, proposal)
	if err != nil {
		return approval.Record{}, err
	}
	p := rec.Proposal
	if dec.Digest != p.Digest || d.intact(p) != nil {
		return approval.Record{}, approval.ErrDigest
	}
	if dec.By.Kind != approval.Person && dec.By.Kind != approval.Service {
		return approval.Record{}, approval.ErrNotAllowed
	}
	if dec.By.Is(p.Requester) && !p.Requirement.Self {
		return approval.Record{}, approval.ErrSelf
	}
	return rec, d.cfg.Authority.MayApprove(ctx, dec.By, p)
}
