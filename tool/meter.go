package tool

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcontract/toolcontract/envelope"
)

const scope = "github.com/toolcontract/toolcontract/tool"

// The attributes of spans and counters. None holds a value, a principal, an id or a target.
const (
	attrTool  = attribute.Key("gen_ai.tool.name")
	attrOp    = attribute.Key("gen_ai.operation.name")
	attrClass = attribute.Key("toolcontract.class")
	attrCode  = attribute.Key("toolcontract.code")
	attrState = attribute.Key("toolcontract.state")
)

// meter makes spans and counts; its zero value does neither.
type meter struct {
	tracer     trace.Tracer
	calls      metric.Int64Counter
	operations metric.Int64Counter
}

func newMeter(c Config) (meter, error) {
	var m meter
	if c.TracerProvider != nil {
		m.tracer = c.TracerProvider.Tracer(scope)
	}
	if c.MeterProvider == nil {
		return m, nil
	}
	var err error
	meter := c.MeterProvider.Meter(scope)
	if m.calls, err = meter.Int64Counter("toolcontract.calls", metric.WithDescription("calls answered, by tool, class and code")); err != nil {
		return m, err
	}
	m.operations, err = meter.Int64Counter("toolcontract.operations", metric.WithDescription("outcomes of operations, by tool and state"))
	return m, err
}

// start begins the span of a call; the function ends it and counts.
func (m meter) start(ctx context.Context, t *callable) (context.Context, func(envelope.Result)) {
	if m.tracer == nil && m.calls == nil {
		return ctx, func(envelope.Result) {}
	}
	name, class := "", ""
	if t != nil {
		name, class = t.wire, t.class.String()
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
		if m.calls != nil {
			m.calls.Add(context.WithoutCancel(ctx), 1, metric.WithAttributes(attrTool.String(name), attrClass.String(class), attrCode.String(code)))
		}
	}
}

// operation counts what an operation came to.
func (m meter) operation(ctx context.Context, tool, state string) {
	if m.operations != nil {
		m.operations.Add(ctx, 1, metric.WithAttributes(attrTool.String(tool), attrState.String(state)))
	}
}
