package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
)

// proposalView is what the model reads of a proposal.
type proposalView struct {
	ProposalID string     `json:"proposal_id" jsonschema:"pattern=^p_[A-Za-z0-9]{4\\,64}$"`
	State      string     `json:"state" jsonschema:"enum=pending,enum=approved,enum=rejected"`
	Level      string     `json:"level" jsonschema:"enum=none,enum=one,enum=two"`
	Summary    string     `json:"summary" jsonschema:"maxLength=1024"`
	Target     targetView `json:"target"`
	ExpiresAt  time.Time  `json:"expires_at"`
	Reason     string     `json:"reason,omitzero" jsonschema:"maxLength=500"`
}

type targetView struct {
	Type    string `json:"type" jsonschema:"maxLength=128" redact:"trusted"`
	ID      string `json:"id" jsonschema:"maxLength=512"`
	Version string `json:"version,omitzero" jsonschema:"maxLength=512"`
}

// The bounds of a draft's texts, in code points, and of its lists.
const (
	maxSummary = 1024
	maxText    = 4096
	maxName    = 512
	maxType    = 128
	maxList    = 256
)

var currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)

func (w Write[In, Plan, Out]) servePreview(ctx context.Context, c *call, args []byte) (reply, error) {
	in, err := c.tool.input.Decode[In](args, w.Spec.Input)
	if err != nil {
		return reply{}, refusedInput(err)
	}
	c.accepted(args)
	if w.Check != nil {
		_, err := guarded(ctx, &c.slots, c.tool.def.spec.Timeout, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, w.Check(ctx, c.by, in)
		})
		if err != nil {
			return reply{}, c.failure(ctx, err)
		}
	}
	return c.propose(ctx, func(ctx context.Context) (draft, error) { return w.draft(ctx, c, in) })
}

// draft is one call of Preview, its plan encoded.
func (w Write[In, Plan, Out]) draft(ctx context.Context, c *call, in In) (draft, error) {
	c.entered(ctx, in)
	d, err := w.Preview(ctx, c.by, in)
	if err != nil {
		return draft{}, c.failure(ctx, err)
	}
	plan, err := c.tool.def.write.plan.Encode(d.Plan, w.Spec.Input)
	if err != nil {
		return draft{}, brokenOutput(err)
	}
	return draft{plan, d.Target, d.Resource, d.Summary, d.Diffs, d.Consequence}, nil
}

// propose resolves the arguments into a draft and answers the proposal of it. The resource row is read between two
// drafts, so that facts which another operation was changing cannot pass for present ones.
func (c *call) propose(ctx context.Context, resolve func(context.Context) (draft, error)) (reply, error) {
	first, err := c.drafted(ctx, resolve)
	if err != nil {
		return reply{}, err
	}
	seq, err := c.freeResource(ctx, first.Resource)
	if err != nil {
		return reply{}, err
	}
	second, err := c.drafted(ctx, resolve)
	if err != nil {
		return reply{}, err
	}
	if second.Resource != first.Resource {
		return reply{}, &final{envelope.New(envelope.VersionConflict).At("target")}
	}
	p, err := c.proposal(ctx, second, seq)
	if err != nil {
		return reply{}, err
	}
	rec, err := c.stored(ctx, p)
	if err != nil {
		return reply{}, err
	}
	return c.view(rec)
}

func (c *call) drafted(ctx context.Context, resolve func(context.Context) (draft, error)) (draft, error) {
	d, err := guarded(ctx, &c.slots, c.tool.def.spec.Timeout, resolve)
	if err != nil {
		return draft{}, c.failure(ctx, err)
	}
	if d.Resource == "" {
		d.Resource = defaultResource(d.Target)
	}
	if err := checkDraft(d, c.tool.def.write.unversioned); err != nil {
		return draft{}, brokenOutput(err)
	}
	return d, nil
}

// defaultResource is the target's type and id, escaped so that no two targets share one.
func defaultResource(t approval.Target) string {
	esc := strings.NewReplacer("%", "%25", "/", "%2F")
	return esc.Replace(t.Type) + "/" + esc.Replace(t.ID)
}

func checkDraft(d draft, unversioned bool) error {
	var errs []error
	text := func(place, s string, least, most int) {
		if n := utf8.RuneCountInString(s); n < least || n > most || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			errs = append(errs, fmt.Errorf("draft: %s: must be text of %d to %d characters", place, least, most))
		}
	}
	text("target.type", d.Target.Type, 1, maxType)
	text("target.id", d.Target.ID, 1, maxName)
	least := 1
	if unversioned {
		least = 0
	}
	text("target.version", d.Target.Version, least, maxName)
	text("resource", d.Resource, 1, 4*maxName)
	text("summary", d.Summary, 1, maxSummary)
	if len(d.Diffs) > maxList || len(d.Consequence.Recipients) > maxList || len(d.Consequence.Irreversible) > maxList {
		errs = append(errs, fmt.Errorf("draft: a list is longer than %d", maxList))
	}
	for _, diff := range d.Diffs {
		text("diffs.field", diff.Field, 1, maxName)
		text("diffs.before", diff.Before, 0, maxText)
		text("diffs.after", diff.After, 0, maxText)
	}
	text("consequence.environment", d.Consequence.Environment, 0, maxName)
	if c := d.Consequence.Currency; c != "" && !currencyForm.MatchString(c) {
		errs = append(errs, errors.New("draft: consequence.currency: must be an ISO 4217 code"))
	}
	for _, s := range d.Consequence.Recipients {
		text("consequence.recipients", s, 1, maxName)
	}
	for _, s := range d.Consequence.Irreversible {
		text("consequence.irreversible", s, 1, maxText)
	}
	return errors.Join(errs...)
}

// freeResource returns the resource's sequence; an open operation on it refuses the preview.
func (c *call) freeResource(ctx context.Context, resource string) (int64, error) {
	tenant := c.by.Principal.Tenant
	for range 2 { // an operation found over its lease is put right by the reading, and the row read again
		seq, open, err := c.d.cfg.Ledger.Resource(ctx, tenant, resource)
		if err != nil {
			return 0, c.unavailable(ctx, err)
		}
		if open == "" {
			return seq, nil
		}
		rec, err := c.d.cfg.Ledger.Find(ctx, idem.Key{Tenant: tenant, Operation: open})
		if err != nil {
			return 0, c.unavailable(ctx, err)
		}
		switch {
		case rec.State == idem.Unknown:
			e := envelope.New(envelope.OutcomeUnknown)
			e.OperationID, e.Effect = open, envelope.EffectUnknown
			return 0, &final{e}
		case !terminal(rec.State):
			return 0, &final{inProgress(rec, open)}
		}
	}
	return 0, &final{envelope.New(envelope.InProgress).After(busyRetry)}
}

// unavailable is a store's failure before anything was admitted.
func (c *call) unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &final{ended(ctx, false).WithCause(err)}
	}
	return &final{envelope.New(envelope.Unavailable).WithCause(err)}
}

// proposal makes the proposal of a draft: what policy and authority say, and the digest.
func (c *call) proposal(ctx context.Context, dr draft, seq int64) (approval.Proposal, error) {
	d, def := c.d, c.tool.def
	plan, err := redact.Canonical(dr.Plan)
	if err != nil {
		return approval.Proposal{}, brokenOutput(err)
	}
	p := approval.Proposal{
		ID: d.id("p_"), Tenant: c.by.Principal.Tenant, Run: c.by.Run, Tool: def.write.wire, Requester: c.by.Principal, Plan: plan,
		Target: dr.Target, Resource: dr.Resource, Seq: seq, Summary: dr.Summary, Diffs: dr.Diffs, Consequence: dr.Consequence,
		PolicyVersion: d.cfg.Policy.Version,
	}
	if p.Requirement, err = c.granted(ctx, p); err != nil {
		return approval.Proposal{}, err
	}
	p.Lifetime = lifetime(def.write.lifetime, p.Requirement.Lifetime)
	canonical, err := p.Canonical()
	if err != nil {
		return approval.Proposal{}, brokenOutput(err)
	}
	p.Digest = d.cfg.Digester.Sum(p.Tenant, canonical)
	return p, nil
}

// granted asks whether the proposal may be made at all, and returns what it then needs.
func (c *call) granted(ctx context.Context, p approval.Proposal) (req approval.Requirement, err error) {
	ctx, end := c.d.meter.span(ctx, spanAuthorise, p.Tool, "")
	defer func() { checked(end, err) }()
	if err := c.d.mayRequest(ctx, p.Requester, p); err != nil {
		return req, err
	}
	if req, err = c.d.required(ctx, c.tool.def, p); err != nil {
		return req, err
	}
	if req.Level == approval.Deny {
		return req, &final{envelope.New(envelope.NotPermitted)}
	}
	return req, nil
}

// lifetime is the smallest that is set, the default when none is.
func lifetime(ds ...time.Duration) time.Duration {
	least := time.Duration(0)
	for _, d := range ds {
		if d > 0 && (least == 0 || d < least) {
			least = d
		}
	}
	if least == 0 {
		return defaultLifetime
	}
	return least
}

// stored returns the record that answers the proposal: one that is alike and still waits, a rejection that still stands,
// or a new one.
func (c *call) stored(ctx context.Context, p approval.Proposal) (approval.Record, error) {
	if rec, ok, err := c.alike(ctx, p); err != nil || ok {
		return rec, err
	}
	err := c.d.must(ctx, event{
		kind: eventPropose, who: c.by.Principal, run: c.by.Run, tool: p.Tool, request: c.by.RequestID, proposal: p.ID,
		policyVersion: p.PolicyVersion, toolVersion: c.tool.def.spec.Version, digest: p.Digest, fields: c.fields,
	})
	if err != nil {
		return approval.Record{}, c.unavailable(ctx, err)
	}
	rec, err := c.d.cfg.Approvals.Create(ctx, p)
	if err != nil {
		return approval.Record{}, c.unavailable(ctx, err)
	}
	if rec.PolicySeen > c.d.cfg.Policy.Version {
		return approval.Record{}, &final{oldPolicy()}
	}
	if p.Requirement.Level != approval.None {
		return rec, nil
	}
	rec, err = c.d.cfg.Approvals.Decide(ctx, p.Tenant, p.ID, approval.Decision{Approved: true, By: policyPrincipal(p.Tenant), Digest: p.Digest})
	if err != nil {
		return approval.Record{}, c.unavailable(ctx, err)
	}
	count(ctx, c.d.meter.decisions, attrTool.String(p.Tool), attrDecision.String(decisionPolicy))
	return rec, nil
}

// policyPrincipal is the approver of what nobody needs to approve.
func policyPrincipal(tenant string) approval.Principal {
	return approval.Principal{Kind: approval.PolicyDecision, Tenant: tenant, Subject: "policy"}
}

// alike looks for the same proposal under every key.
func (c *call) alike(ctx context.Context, p approval.Proposal) (approval.Record, bool, error) {
	canonical, err := p.Canonical()
	if err != nil {
		return approval.Record{}, false, brokenOutput(err)
	}
	records, err := c.d.cfg.Approvals.Alike(ctx, p.Tenant, c.d.cfg.Digester.Sums(p.Tenant, canonical))
	if err != nil {
		return approval.Record{}, false, c.unavailable(ctx, err)
	}
	for _, rec := range records {
		switch rec.State {
		case approval.Rejected, approval.Withdrawn:
			return rec, true, nil
		case approval.Pending, approval.Approved:
			_, err := c.d.cfg.Ledger.Find(ctx, operationKey(p.Tenant, rec.Proposal.ID))
			if errors.Is(err, idem.ErrNotFound) {
				return rec, true, nil
			}
			if err != nil && !errors.Is(err, idem.ErrGone) {
				return approval.Record{}, false, c.unavailable(ctx, err)
			}
		case approval.Expired, approval.Consumed:
		}
	}
	return approval.Record{}, false, nil
}

func operationKey(tenant, proposal string) idem.Key {
	return idem.Key{Tenant: tenant, Operation: idem.OperationID(tenant, proposal)}
}

func (c *call) view(rec approval.Record) (reply, error) {
	p := rec.Proposal
	v := proposalView{
		ProposalID: p.ID, State: string(rec.State), Level: p.Requirement.Level.String(), Summary: p.Summary,
		Target: targetView(p.Target), ExpiresAt: p.ExpiresAt,
	}
	if rec.State == approval.Withdrawn {
		v.State = string(approval.Rejected)
	}
	if v.State == string(approval.Rejected) {
		v.Reason = rejection(rec)
	}
	data, err := c.tool.output.Encode(v, c.tool.def.spec.Output)
	if err != nil {
		return reply{}, brokenOutput(err)
	}
	return reply{data: data}, nil
}

// rejection is the reason that a person gave for a no.
func rejection(rec approval.Record) string {
	for _, d := range rec.Decisions {
		if !d.Approved {
			return d.Reason
		}
	}
	return ""
}
