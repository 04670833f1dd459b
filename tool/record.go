package tool

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact/audit"
)

const (
	storeTime     = 10 * time.Second    // for a store's answer after the caller has gone
	quarantineFor = 30 * 24 * time.Hour // how long operators can look at a cause
)

// event is what the audit gets of one decision: places, codes and identities, no values.
type event struct {
	kind                       string
	who                        approval.Principal
	run, tool, request         string
	operation, proposal        string
	code                       envelope.Code
	field                      string
	outcome, authorizedBy      string
	policyVersion, toolVersion int
	digest                     string
	fields                     []string // declared names of what was accepted
}

// The kinds of audit events.
const (
	eventCall      = "call"       // a read was answered, or any call refused
	eventPropose   = "propose"    // a proposal is about to be stored
	eventDecide    = "decide"     // a decision is about to be stored
	eventAdmit     = "admit"      // an operation is about to be admitted
	eventDispatch  = "dispatch"   // an operation is about to be sent
	eventFinish    = "finish"     // an operation came to something
	eventCancel    = "cancel"     // an operation is about to be cancelled
	eventResolve   = "resolve"    // an operator is about to close an unknown operation
	eventRunCancel = "run_cancel" // a run was stopped
)

// must records an event before the thing happens; an error means that it must not happen.
func (d *Dispatcher) must(ctx context.Context, e event) error {
	if d.cfg.Audit == nil {
		return nil
	}
	out := audit.Event{
		At: d.cfg.Now(), Kind: e.kind, Tenant: e.who.Tenant, Subject: e.who.Subject, Run: e.run, Tool: e.tool, RequestID: e.request,
		Operation: e.operation, Proposal: e.proposal, Code: e.code, Field: e.field, Fields: e.fields, Outcome: e.outcome, AuthorizedBy: e.authorizedBy,
	}
	if e.digest != "" {
		out.Digests = map[string]string{"proposal": e.digest}
	}
	if e.policyVersion > 0 {
		out.PolicyVersion = strconv.Itoa(e.policyVersion)
	}
	if e.toolVersion > 0 {
		out.AdapterVersion = strconv.Itoa(e.toolVersion)
	}
	if err := shielded(func() error { return d.cfg.Audit.Record(ctx, out) }); err != nil {
		return fmt.Errorf("tool: audit: %w", err)
	}
	return nil
}

// note records an event after the fact; what cannot be recorded is logged.
func (d *Dispatcher) note(ctx context.Context, e event) {
	if err := d.must(ctx, e); err != nil {
		d.log("audit_lost", e.request, err)
	}
}

// accepted notes which members the arguments have, for the audit.
func (c *call) accepted(args []byte) {
	if c.d.cfg.Audit != nil {
		c.fields = c.tool.input.Members(args)
	}
}

// planned are the members of a plan, for the audit.
func (d *definition) planned(plan []byte) []string { return d.write.plan.Members(plan) }

// record reports how a call was answered: to the audit and, for a refusal, to log and quarantine.
func (d *Dispatcher) record(ctx context.Context, c *call, e *envelope.Error) {
	ev := event{kind: eventCall, who: c.by.Principal, run: c.by.Run, tool: c.by.Tool, request: c.by.RequestID, outcome: "ok", fields: c.fields}
	if c.tool != nil {
		ev.toolVersion = c.tool.def.spec.Version
	}
	if e != nil {
		ev.code, ev.field, ev.outcome = e.Code, c.tool.place(e.Field), "refused"
		ev.operation, ev.proposal = e.OperationID, e.ProposalID
		d.refusal(ctx, c, e, ev.field)
	}
	if d.cfg.Audit != nil {
		d.note(context.WithoutCancel(ctx), ev)
	}
}

func (d *Dispatcher) refusal(ctx context.Context, c *call, e *envelope.Error, field string) {
	cause := e.Unwrap()
	_ = shielded(func() error { // a log that panics is nobody's to tell
		d.cfg.Logger.Info("call_refused", zap.String("request_id", c.by.RequestID), zap.String("tool", c.by.Tool),
			zap.String("code", string(e.Code)), zap.String("field", field), zap.String("cause_type", goType(cause)))
		return nil
	})
	if cause != nil {
		d.quarantine(ctx, c.tool, c.by, e, nil)
	}
}

// quarantine keeps a cause, and the document that broke a contract, for the operators.
func (d *Dispatcher) quarantine(ctx context.Context, t *callable, by Caller, e *envelope.Error, raw []byte) {
	if d.cfg.Quarantine == nil {
		return
	}
	cause := e.Unwrap()
	if p, ok := errors.AsType[*panicked](cause); ok && raw == nil {
		raw = p.detail()
	}
	broken, isBroken := errors.AsType[*envelope.Error](cause)
	if x, ok := cause.(*examined); ok { //nolint:errorlint // itself, not in its chain
		cause = x.cause
	}
	item := audit.Item{
		RequestID: by.RequestID, Tenant: by.Principal.Tenant, Tool: by.Tool, Rule: string(e.Code), Source: "handler", Raw: raw, Cause: cause,
		For: quarantineFor,
	}
	if isBroken {
		item.Path, item.Rule = broken.Field, broken.Rule
	}
	if t != nil {
		item.Owner, item.AdapterVersion = t.def.spec.Owner, strconv.Itoa(t.def.spec.Version)
	}
	if err := shielded(func() error { return d.cfg.Quarantine.Keep(context.WithoutCancel(ctx), item) }); err != nil {
		d.log("quarantine_lost", by.RequestID, err)
	}
}

// log says that something of the machinery failed: what, for which request, and the error's type. Its text may hold values.
func (d *Dispatcher) log(what, request string, err error) {
	_ = shielded(func() error { // a log that panics is nobody's to tell
		d.cfg.Logger.Warn(what, zap.String("request_id", request), zap.String("cause_type", goType(err)))
		return nil
	})
}

// place is the declared place nearest to a field: names that the schemas do not declare are the sender's text, and stand
// in the answer to that sender alone.
func (t *callable) place(field string) string {
	if t == nil || field == "" {
		return ""
	}
	if t.def.write != nil && (field == "target" || field == "target.version") {
		return field
	}
	best := ""
	for _, s := range t.places {
		if p := s.Declared(field); len(p) > len(best) {
			best = p
		}
	}
	return best
}
