package main

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"sync"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// broken is an adapter with one fault. What kills it must match by, the pattern of cases that name the fault.
type broken struct {
	name, suite, by string
	session         func(m *meddler)                        // what is put around a run
	config          func(s *samples.Shop, cfg *tool.Config) // stores, authority, middleware
	fixture         func(f *contracttest.Fixture)
	definitions     func(s *samples.Shop) []tool.Definition // in the place of the reference's
}

// reference is the catalogue that broken adapters are made from.
func reference(s *samples.Shop) []tool.Definition {
	return []tool.Definition{s.Refund(), s.Tag(), samples.Search(), samples.Settings(), samples.Quote(), samples.RequestReview(), samples.OldReview()}
}

// make returns the New of an adapter.
func (b broken) make() (contracttest.New, error) {
	shop := samples.NewShop()
	definitions := b.definitions
	if definitions == nil {
		definitions = reference
	}
	catalog, err := tool.NewCatalog(definitions(shop)...)
	if err != nil {
		return nil, err
	}
	return contracttest.Make(func() (*contracttest.Fixture, error) {
		inner := &captured{}
		f, err := shop.Fixture(catalog, func(cfg *tool.Config) {
			cfg.Middleware = append(cfg.Middleware, inner.middleware)
			if b.config != nil {
				b.config(shop, cfg)
			}
		})
		if err != nil {
			return nil, err
		}
		f.Sinks = f.Probe.Sinks()
		if b.fixture != nil {
			b.fixture(f)
		}
		if b.session != nil {
			f.Session = func(run *tool.Run) contracttest.Session {
				m := &meddler{run: run, f: f, inner: inner, ctx: context.Background()}
				b.session(m)
				return m
			}
		}
		return f, nil
	}), nil
}

// captured is the last answer from behind the output check.
type captured struct {
	mu   sync.Mutex
	last envelope.Result
	is   bool
}

func (c *captured) middleware(next tool.Handler) tool.Handler {
	return func(ctx context.Context, i tool.Invocation) envelope.Result {
		r := next(ctx, i)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last, c.is = r, true
		return r
	}
}

func (c *captured) take() (envelope.Result, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, is := c.last, c.is
	c.is = false
	return r, is
}

// meddler stands between the suites and a run, and does one thing wrong.
type meddler struct {
	run   *tool.Run
	f     *contracttest.Fixture
	inner *captured
	ctx   context.Context //nolint:containedctx // of calls that the meddler makes by itself

	before func(c *envelope.Call)                                   // changes what is sent
	first  func(c envelope.Call)                                    // does something before the boundary
	accept func(c envelope.Call, e *envelope.Error) bool            // takes what the boundary refused
	refuse func(c envelope.Call) *envelope.Error                    // refuses what the boundary would take
	after  func(c envelope.Call, r envelope.Result) envelope.Result // changes the answer
	route  func(ctx context.Context, c envelope.Call) (envelope.Result, bool)
}

// Tools implements contracttest.Session.
func (m *meddler) Tools() []tool.Published { return m.run.Tools() }

// Call implements contracttest.Session.
func (m *meddler) Call(ctx context.Context, c envelope.Call) envelope.Result {
	if m.first != nil {
		m.first(c)
	}
	sent := c
	if m.before != nil {
		sent.Arguments = bytes.Clone(sent.Arguments)
		m.before(&sent)
	}
	if m.refuse != nil {
		if e := m.refuse(sent); e != nil {
			return envelope.Result{Tool: c.Tool, RequestID: "req_x", Error: e}
		}
	}
	if m.route != nil {
		if r, ok := m.route(ctx, sent); ok {
			return r
		}
	}
	r := m.run.Call(ctx, sent)
	if m.accept != nil && r.Error != nil && m.accept(sent, r.Error) {
		m.f.Probe.Enter(c.Tool, sent.Arguments)
		return envelope.Result{OK: true, Tool: r.Tool, RequestID: r.RequestID, Data: jsontext.Value(`{}`)}
	}
	if m.after != nil {
		r = m.after(c, r)
	}
	return r
}

// schema is the published input of a tool.
func (m *meddler) schema(wire string) jsontext.Value {
	for _, p := range m.run.Tools() {
		if p.Name == wire {
			return p.Input
		}
	}
	return nil
}

func (m *meddler) output(wire string) jsontext.Value {
	for _, p := range m.run.Tools() {
		if p.Name == wire {
			return p.Output
		}
	}
	return nil
}

// lenient reads a document as a careless adapter does.
func lenient(raw []byte) (any, bool) {
	var v any
	err := json.Unmarshal(raw, &v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return v, err == nil
}

// rewrite changes a document that can be read, and leaves any other alone.
func rewrite(c *envelope.Call, change func(v any) any) {
	v, ok := lenient(c.Arguments)
	if !ok {
		return
	}
	if b, err := json.Marshal(change(v), json.Deterministic(true)); err == nil {
		c.Arguments = b
	}
}

// each changes every value inside, leaves first.
func each(v any, change func(v any) any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = each(e, change)
		}
		return change(v)
	case []any:
		for i, e := range v {
			v[i] = each(e, change)
		}
		return change(v)
	}
	return change(v)
}

// faultyStore changes what a store answers.
type faultyStore struct {
	approval.Store
	find    func(rec approval.Record, err error) (approval.Record, error)
	alike   func() ([]approval.Record, error)
	consume func(rec approval.Record, ok bool, err error) (approval.Record, bool, error)
}

// Find implements approval.Store.
func (s faultyStore) Find(ctx context.Context, tenant, id string) (approval.Record, error) {
	rec, err := s.Store.Find(ctx, tenant, id)
	if s.find == nil {
		return rec, err
	}
	return s.find(rec, err)
}

// Alike implements approval.Store.
func (s faultyStore) Alike(ctx context.Context, tenant string, digests []string) ([]approval.Record, error) {
	if s.alike == nil {
		return s.Store.Alike(ctx, tenant, digests)
	}
	return s.alike()
}

// Consume implements approval.Store.
func (s faultyStore) Consume(ctx context.Context, tenant, id, digest, operation string) (approval.Record, bool, error) {
	rec, ok, err := s.Store.Consume(ctx, tenant, id, digest, operation)
	if s.consume == nil {
		return rec, ok, err
	}
	return s.consume(rec, ok, err)
}

// anybody is an authority that never says no.
type anybody struct{}

// MayApprove implements approval.Authority.
func (anybody) MayApprove(context.Context, approval.Principal, approval.Proposal) error { return nil }

// MayRequest implements approval.Authority.
func (anybody) MayRequest(context.Context, approval.Principal, string, approval.Target) error {
	return nil
}

// MayResolve implements approval.Authority.
func (anybody) MayResolve(context.Context, approval.Principal, string, string) error { return nil }

// faultyLedger changes what a ledger does.
type faultyLedger struct {
	idem.Ledger
	admit    func(ctx context.Context, l idem.Ledger, c idem.Command, before bool) (idem.Record, idem.Admission, error)
	resource func() (int64, string, error)
	finish   func(o idem.Outcome) idem.Outcome
}

// Admit implements idem.Ledger.
func (l faultyLedger) Admit(ctx context.Context, c idem.Command, before bool) (idem.Record, idem.Admission, error) {
	if l.admit == nil {
		return l.Ledger.Admit(ctx, c, before)
	}
	return l.admit(ctx, l.Ledger, c, before)
}

// Resource implements idem.Ledger.
func (l faultyLedger) Resource(ctx context.Context, tenant, resource string) (int64, string, error) {
	if l.resource == nil {
		return l.Ledger.Resource(ctx, tenant, resource)
	}
	return l.resource()
}

// Finish implements idem.Ledger.
func (l faultyLedger) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	if l.finish != nil {
		o = l.finish(o)
	}
	return l.Ledger.Finish(ctx, c, o)
}
