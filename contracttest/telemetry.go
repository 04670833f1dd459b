package contracttest

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	nometric "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	notrace "go.opentelemetry.io/otel/trace/noop"
)

// tracers makes spans whose whole text is kept.
type tracers struct {
	notrace.TracerProvider
	into *buffer
}

func (p tracers) Tracer(name string, _ ...trace.TracerOption) trace.Tracer {
	return tracer{into: p.into, name: name}
}

type tracer struct {
	notrace.Tracer
	into *buffer
	name string
}

func (t tracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	cfg := trace.NewSpanStartConfig(opts...)
	t.into.note(t.name, name, cfg.Attributes())
	s := span{into: t.into}
	return trace.ContextWithSpan(ctx, s), s
}

type span struct {
	notrace.Span
	into *buffer
}

func (s span) SetName(name string)                    { s.into.note(name) }
func (s span) SetStatus(_ codes.Code, text string)    { s.into.note(text) }
func (s span) SetAttributes(kv ...attribute.KeyValue) { s.into.note(kv) }
func (s span) RecordError(err error, opts ...trace.EventOption) {
	s.into.note(err, trace.NewEventConfig(opts...))
}

func (s span) AddEvent(name string, opts ...trace.EventOption) {
	cfg := trace.NewEventConfig(opts...)
	s.into.note(name, cfg.Attributes())
}

// meters makes counters whose names and attributes are kept.
type meters struct {
	nometric.MeterProvider
	into *buffer
}

func (p meters) Meter(name string, _ ...metric.MeterOption) metric.Meter {
	return meter{into: p.into, name: name}
}

type meter struct {
	nometric.Meter
	into *buffer
	name string
}

func (m meter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return counter{into: m.into, name: name}, nil
}

func (m meter) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return histogram{into: m.into, name: name}, nil
}

type counter struct {
	nometric.Int64Counter
	into *buffer
	name string
}

func (c counter) Add(_ context.Context, _ int64, opts ...metric.AddOption) {
	set := metric.NewAddConfig(opts).Attributes()
	c.into.note(c.name, set.ToSlice())
}

type histogram struct {
	nometric.Float64Histogram
	into *buffer
	name string
}

func (h histogram) Record(_ context.Context, _ float64, opts ...metric.RecordOption) {
	set := metric.NewRecordConfig(opts).Attributes()
	h.into.note(h.name, set.ToSlice())
}
