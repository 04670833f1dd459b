package contracttest

import (
	"context"
	"encoding/json/jsontext"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

// Probe sees what reaches the handlers and what the boundary writes. One Probe serves one dispatcher; its methods are
// safe for concurrent use. Make it with [NewProbe].
type Probe struct {
	log, spans, metrics buffer
	audit               auditSink
	cfg                 tool.Config

	mu      sync.Mutex
	entries []Entry
	answer  *envelope.Result
	story   *story
}

// Entry is one entrance into a handler: Handle, Preview or Commit.
type Entry struct {
	Tool string // wire name
	In   any    // the decoded arguments; of a commit the plan as jsontext.Value
}

// NewProbe returns a probe that has seen nothing.
func NewProbe() *Probe { return &Probe{} }

// Wire puts the probe into a configuration, before [tool.NewDispatcher]: Entered, Audit and Logger are told as well as
// they were, TracerProvider and MeterProvider are replaced, and the innermost Middleware is the probe's, through which the
// Output suite hands in answers.
func (p *Probe) Wire(cfg *tool.Config) {
	entered := cfg.Entered
	cfg.Entered = func(ctx context.Context, wire string, in any) {
		p.Enter(wire, in)
		if entered != nil {
			entered(ctx, wire, in)
		}
	}
	p.audit.next = cfg.Audit
	cfg.Audit = &p.audit
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg", LevelKey: "level", EncodeLevel: zapcore.LowercaseLevelEncoder}), &p.log, zapcore.DebugLevel)
	if cfg.Logger == nil {
		cfg.Logger = zap.New(core)
	} else {
		cfg.Logger = cfg.Logger.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core { return zapcore.NewTee(c, core) }))
	}
	cfg.TracerProvider, cfg.MeterProvider = tracers{into: &p.spans}, meters{into: &p.metrics}
	cfg.Middleware = append(slices.Clip(cfg.Middleware), p.middleware)
	p.cfg = *cfg
}

func (p *Probe) wired() bool { return p.cfg.Logger != nil }

// Enter notes an entrance into a handler, for boundaries that do not go through [tool.Config].Entered.
func (p *Probe) Enter(wire string, in any) {
	if plan, ok := in.(jsontext.Value); ok {
		in = plan.Clone()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entries = append(p.entries, Entry{wire, in})
	p.story.add("the handler of %s is called", wire)
}

// Entries returns the entrances since it was last called.
func (p *Probe) Entries() []Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.entries
	p.entries = nil
	return out
}

// Sinks returns the log, the audit, the spans and the metrics.
func (p *Probe) Sinks() Sinks {
	ctx := context.Background()
	return Sinks{
		"log":     {p.log.drain, func(text string) { p.cfg.Logger.Info("control", zap.String("text", text)) }},
		"audit":   {p.audit.drain, func(text string) { _ = p.audit.Record(ctx, audit.Event{Kind: "control", Outcome: text}) }},
		"spans":   {p.spans.drain, func(text string) { _, s := p.cfg.TracerProvider.Tracer("control").Start(ctx, text); s.End() }},
		"metrics": {p.metrics.drain, p.plantMetric},
	}
}

func (p *Probe) plantMetric(text string) {
	c, err := p.cfg.MeterProvider.Meter("control").Int64Counter("control")
	if err == nil {
		c.Add(context.Background(), 1, metric.WithAttributes(attribute.String("text", text)))
	}
}

func (p *Probe) tell(s *story) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.story = s
}

// respond makes the innermost middleware answer the next call in the handler's place; nil ends that.
func (p *Probe) respond(r *envelope.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = r
}

func (p *Probe) middleware(next tool.Handler) tool.Handler {
	return func(ctx context.Context, i tool.Invocation) envelope.Result {
		p.mu.Lock()
		answer := p.answer
		p.mu.Unlock()
		if answer != nil {
			return *answer
		}
		return next(ctx, i)
	}
}
