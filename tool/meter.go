package tool

import (
	"context"
	"errors"
	"regexp"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

const scope = "github.com/toolcontract/toolcontract/tool"

// The attributes of spans and counters. None holds a value, a principal, an id or a target.
const (
	attrTool  = attribute.Key("gen_ai.tool.name")
	attrOp    = attribute.Key("gen_ai.operation.name")
	attrClass = attribute.Key("toolcontract.class")
	attrCode  = attribute.Key("toolcontract.code")
	attrState = attribute.Key("toolcontract.state")

	attrVersion  = attribute.Key("toolcontract.version")
	attrField    = attribute.Key("toolcontract.field") // declared, without indexes
	attrDecision = attribute.Key("toolcontract.decision")
	attrRetry    = attribute.Key("toolcontract.retry")
)

// meter makes spans and counts; its zero value does neither. What each counter counts stands in counters.
type meter struct {
	tracer                                                                              trace.Tracer
	calls, refusals, decisions, operations, conflicts, unknown, retries, outputFailures metric.Int64Counter
}

// The values of attrDecision and attrRetry.
const (
	decisionApproved = "approved"
	decisionRejected = "rejected"
	decisionPolicy   = "policy" // nobody needs to approve

	retryRead    = "read"     // as the read's Retry declares
	retryNotSent = "not_sent" // a write of which nothing left
	retryResend  = "resend"   // a write sent again under its provider's contract
)

// counters are the counters by name, each with the attributes of its description and no others.
func (m *meter) counters() []counter {
	return []counter{
		{&m.calls, "toolcontract.calls", "calls answered, by tool, version, class and code"},
		{&m.refusals, "toolcontract.refusals", "calls refused, by tool, code and declared field"},
		{&m.decisions, "toolcontract.decisions", "decisions on proposals, by tool and decision"},
		{&m.operations, "toolcontract.operations", "outcomes of operations, by tool and state"},
		{&m.conflicts, "toolcontract.conflicts", "writes that met another version, key or operation, by tool and code"},
		{&m.unknown, "toolcontract.unknown", "outcomes that nobody could prove, by tool"},
		{&m.retries, "toolcontract.retries", "tries after the first, by tool and retry: read, not_sent, resend"},
		{&m.outputFailures, "toolcontract.output_failures", "answers of handlers that broke their contract, by tool and declared field"},
	}
}

type counter struct {
	into              *metric.Int64Counter
	name, description string
}

func newMeter(c Config) (meter, error) {
	var m meter
	if c.TracerProvider != nil {
		m.tracer = c.TracerProvider.Tracer(scope)
	}
	if c.MeterProvider == nil {
		return m, nil
	}
	meter := c.MeterProvider.Meter(scope)
	for _, n := range m.counters() {
		var err error
		if *n.into, err = meter.Int64Counter(n.name, metric.WithDescription(n.description)); err != nil {
			return m, err
		}
	}
	return m, nil
}

// count adds one.
func count(ctx context.Context, c metric.Int64Counter, attributes ...attribute.KeyValue) {
	if c != nil {
		c.Add(context.WithoutCancel(ctx), 1, metric.WithAttributes(attributes...))
	}
}

// start begins the span of a call; the function ends it and counts.
func (m meter) start(ctx context.Context, t *callable) (context.Context, func(envelope.Result)) {
	if m.tracer == nil && m.calls == nil {
		return ctx, func(envelope.Result) {}
	}
	name, class, version := "", "", 0
	if t != nil {
		name, class, version = t.wire, t.class.String(), t.def.spec.Version
	}
	var span trace.Span
	if m.tracer != nil {
		ctx, span = m.tracer.Start(ctx, "execute_tool "+name, trace.WithAttributes(attrOp.String("execute_tool"), attrTool.String(name), attrClass.String(class)))
	}
	return ctx, func(r envelope.Result) {
		code := "OK"
		if r.Error != nil {
			code = string(r.Error.Code)
		}
		if span != nil {
			if r.Error != nil {
				span.SetStatus(codes.Error, code)
			}
			span.SetAttributes(attrCode.String(code))
			span.End()
		}
		if m.calls == nil {
			return
		}
		count(ctx, m.calls, attrTool.String(name), attrVersion.Int(version), attrClass.String(class), attrCode.String(code))
		if r.Error != nil {
			m.refused(ctx, t, name, r.Error)
		}
	}
}

// refused counts a refusal by its code and declared place, and once more where it is a conflict or a broken answer.
func (m meter) refused(ctx context.Context, t *callable, name string, e *envelope.Error) {
	field := attrField.String(indexes.ReplaceAllString(t.place(e.Field), "[]"))
	count(ctx, m.refusals, attrTool.String(name), attrCode.String(string(e.Code)), field)
	if conflicting(e.Code) {
		count(ctx, m.conflicts, attrTool.String(name), attrCode.String(string(e.Code)))
	}
}

var indexes = regexp.MustCompile(`\[[0-9]+\]`)

func conflicting(code envelope.Code) bool {
	return code == envelope.VersionConflict || code == envelope.IdempotencyConflict || code == envelope.InProgress
}

// operation counts what an operation came to.
func (m meter) operation(ctx context.Context, rec idem.Record) {
	name := attrTool.String(rec.Command.Tool)
	count(ctx, m.operations, name, attrState.String(string(rec.State)))
	switch rec.State {
	case idem.Unknown:
		count(ctx, m.unknown, name)
	case idem.Pending:
		count(ctx, m.retries, name, attrRetry.String(retryNotSent))
	case idem.Denied:
		if f := rec.Failure; f != nil && conflicting(f.Code) {
			count(ctx, m.conflicts, name, attrCode.String(string(f.Code)))
		}
	case idem.Dispatching, idem.Running, idem.Succeeded, idem.Failed, idem.Expired, idem.Cancelled:
	}
}

// broken counts an answer that broke its contract, at a declared place.
func (m meter) broken(ctx context.Context, t *callable, err error) {
	if m.outputFailures == nil {
		return
	}
	field := ""
	if e, ok := errors.AsType[*envelope.Error](err); ok {
		field = indexes.ReplaceAllString(t.place(e.Field), "[]")
	}
	count(ctx, m.outputFailures, attrTool.String(t.wire), attrField.String(field))
}
