package tool

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcontract/toolcontract/idem"
)

// The spans of a write beside that of the call: execute_tool, as the generative-AI conventions of OpenTelemetry name it.
const (
	spanAuthorise = "authorise" // policy, authority and approval are asked
	spanAdmit     = "admit"     // the ledger takes the operation
	spanDispatch  = "dispatch"  // a claimed operation, from the claim to its stored outcome
	spanExecute   = "execute"   // the handler
	spanResolve   = "resolve"   // an open operation is asked for
)

// traceparent is the key of a command's Meta under which the admission's span stands (W3C Trace Context, section 3.2).
const traceparent = "traceparent"

// span begins a span; end ends it with a word of the library's: a code or a state, "" for fine. link is a traceparent
// that it follows from, or empty.
func (m meter) span(ctx context.Context, name, wire, link string) (_ context.Context, end func(key attribute.Key, word string, fault bool)) {
	if m.tracer == nil {
		return ctx, func(attribute.Key, string, bool) {}
	}
	opts := []trace.SpanStartOption{trace.WithAttributes(attrTool.String(wire))}
	if sc := spanOf(link); sc.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: sc}))
	}
	ctx, s := m.tracer.Start(ctx, name, opts...)                   //nolint:spancheck // whoever began it calls end
	return ctx, func(key attribute.Key, word string, fault bool) { //nolint:spancheck // see above
		if word != "" {
			s.SetAttributes(key.String(word))
		}
		if fault {
			s.SetStatus(codes.Error, word)
		}
		s.End()
	}
}

// parentOf is the traceparent of the span in ctx, empty where there is none. A tracestate is the caller's text, and stays
// behind.
func parentOf(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[traceparent]
}

func spanOf(parent string) trace.SpanContext {
	if parent == "" {
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{traceparent: parent})
	return trace.SpanContextFromContext(ctx)
}

// checked ends the span of a check with its verdict.
func checked(end func(attribute.Key, string, bool), err error) {
	if err == nil {
		end(attrCode, "OK", false)
		return
	}
	word := "UNDECIDED"
	if f, ok := decided(err); ok {
		word = string(f.e.Code)
	}
	end(attrCode, word, true)
}

// came ends the span of an operation's part with the state that it came to.
func came(end func(attribute.Key, string, bool), s idem.State) {
	end(attrState, string(s), s == idem.Unknown || s == idem.Failed || s == idem.Denied)
}
