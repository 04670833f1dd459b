package tooltest

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

const (
	tenant      = "t1"
	previewTool = "preview_limit_change_v2"
	commitTool  = "commit_limit_change_v2"
	lease       = 30 * time.Second
	patience    = 20 * time.Second // of the wall clock, for what a worker does by itself
)

// play is one interleaving being played.
type play struct {
	t         *testing.T
	stores    Stores
	approvals *approvals
	ledger    *ledger
	provider  *provider
	authority *authority
	write     tool.Write[change, change, changed]
	config    tool.Config
	wall      func() time.Time
	seen      sync.Map // what looks has seen
}

func newPlay(t *testing.T, s Stores) *play {
	t.Helper()
	p := &play{
		t: t, stores: s, approvals: &approvals{Store: s.Approvals}, ledger: &ledger{Ledger: s.Ledger}, provider: newProvider(),
		authority: &authority{}, wall: time.Now, //nolint:forbidigo // a function value
	}
	p.write = p.provider.write()
	p.config = tool.Config{
		Policy:    approval.Everything(approval.Requirement{Level: approval.One, Role: "lead"}),
		Approvals: p.approvals, Authority: p.authority, Ledger: p.ledger, Digester: p.digester("k1"), Audit: &audit.Recorder{},
		Lease: lease,
	}
	return p
}

func (p *play) digester(ids ...string) *redact.Digester {
	p.t.Helper()
	keys := make([]redact.Key, 0, len(ids))
	for _, id := range ids {
		keys = append(keys, redact.Key{ID: id, Secret: bytes.Repeat([]byte(id), 16)})
	}
	d, err := redact.NewDigester(keys...)
	p.ok(err, "digester")
	return d
}

func (p *play) ok(err error, what string) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

func (p *play) that(ok bool, format string, args ...any) {
	p.t.Helper()
	if !ok {
		p.t.Fatalf(format, args...)
	}
}

func (p *play) effects(want int) {
	p.t.Helper()
	p.that(p.provider.count() == want, "%d effects at the provider, want %d", p.provider.count(), want)
}

func (p *play) advance(d time.Duration) { p.stores.Advance(d) }

// session is one run on one dispatcher.
type session struct {
	p   *play
	d   *tool.Dispatcher
	run *tool.Run
}

// process starts a dispatcher, as another process would, and the run on it.
func (p *play) process() *session {
	p.t.Helper()
	return p.processOf(p.write)
}

func (p *play) processOf(def tool.Definition) *session {
	p.t.Helper()
	c, err := tool.NewCatalog(def)
	p.ok(err, "catalogue")
	d, err := tool.NewDispatcher(c, p.config)
	p.ok(err, "dispatcher")
	p.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.t.Context()), time.Second)
		defer cancel()
		_ = d.Close(ctx) // what still waits for a broken ledger is stopped
	})
	return p.session(d, c)
}

func (p *play) session(d *tool.Dispatcher, c *tool.Catalog) *session {
	p.t.Helper()
	var names []string
	for _, name := range []string{previewTool, commitTool, "preview_limit_change_v3", "commit_limit_change_v3"} {
		if _, err := c.Role("probe", name); err == nil {
			names = append(names, name)
		}
	}
	role, err := c.Role("support", names...)
	p.ok(err, "role")
	now := p.wall
	if p.config.Now != nil {
		now = p.config.Now
	}
	run, err := d.Start(tool.RunConfig{
		ID: "run1", Principal: approval.Principal{Kind: approval.Person, Tenant: tenant, Subject: "ada"}, Role: role,
		Budget: tool.Budget{Calls: 1 << 20, Parallel: 64}, Deadline: now().Add(24 * time.Hour),
	})
	p.ok(err, "run")
	return &session{p, d, run}
}

func (s *session) call(name, args string) envelope.Result {
	return s.run.Call(s.p.t.Context(), envelope.Call{Tool: name, Arguments: jsontext.Value(args)})
}

func (s *session) preview(limit int) string {
	s.p.t.Helper()
	return s.propose(previewTool, fmt.Sprintf(`{"limit":%d}`, limit))
}

func (s *session) propose(name, args string) string {
	s.p.t.Helper()
	r := s.call(name, args)
	s.p.ok(r.Err(), "preview")
	var v struct {
		ProposalID string `json:"proposal_id"`
	}
	s.p.ok(json.Unmarshal(r.Data, &v), "proposal")
	return v.ProposalID
}

func (s *session) approve(id string) {
	s.p.t.Helper()
	rec := s.p.proposal(id)
	lead := approval.Principal{Kind: approval.Person, Tenant: tenant, Subject: "grace", Roles: []string{"lead"}}
	_, err := s.d.Decide(s.p.t.Context(), tenant, id, approval.Decision{Approved: true, By: lead, Digest: rec.Proposal.Digest})
	s.p.ok(err, "approve")
}

func (s *session) approved(limit int) string {
	s.p.t.Helper()
	id := s.preview(limit)
	s.approve(id)
	return id
}

func (s *session) commit(id string) envelope.Result {
	return s.call(commitTool, fmt.Sprintf(`{"proposal_id":%q}`, id))
}

// state is what get_operation_v1 says.
func (s *session) state(id string) string {
	s.p.t.Helper()
	r := s.call("get_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, operation(id)))
	s.p.ok(r.Err(), "get_operation_v1")
	var v struct {
		State string `json:"state"`
	}
	s.p.ok(json.Unmarshal(r.Data, &v), "operation")
	return v.State
}

// work runs a worker until the function that it returns is called.
func (s *session) work(name string) (stop func()) {
	s.p.t.Helper()
	w, err := tool.NewWorker(s.d, tool.WorkerConfig{Name: name, Poll: 2 * time.Millisecond, Sweep: 50 * time.Millisecond})
	s.p.ok(err, "worker")
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.p.t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			s.p.ok(<-done, "worker")
		}
	}
	s.p.t.Cleanup(stop)
	return stop
}

func operation(proposal string) string { return idem.OperationID(tenant, proposal) }

func key(proposal string) idem.Key { return idem.Key{Tenant: tenant, Operation: operation(proposal)} }

func (p *play) proposal(id string) approval.Record {
	p.t.Helper()
	rec, err := p.stores.Approvals.Find(p.t.Context(), tenant, id)
	p.ok(err, "find proposal")
	return rec
}

func (p *play) record(id string) idem.Record {
	p.t.Helper()
	rec, err := p.ledger.Find(p.t.Context(), key(id))
	p.ok(err, "find operation")
	return rec
}

func (p *play) is(id string, want idem.State) {
	p.t.Helper()
	p.that(p.record(id).State == want, "the operation is %s, want %s", p.record(id).State, want)
}

func (p *play) absent(id string) {
	p.t.Helper()
	_, err := p.ledger.Find(p.t.Context(), key(id))
	p.that(errors.Is(err, idem.ErrNotFound), "an operation is there")
}

// becomes waits until the worker has brought the operation to a state. Each look moves the stores' clocks a little, past
// back-offs, for at most a given time.
func (p *play) becomes(id string, want idem.State, within time.Duration) {
	p.t.Helper()
	p.until(func() bool { return p.record(id).State == want }, within, "the operation does not become "+string(want))
}

func (p *play) until(done func() bool, within time.Duration, complaint string) {
	p.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	over := time.NewTimer(patience)
	defer over.Stop()
	const step = time.Second
	for moved := time.Duration(0); !done(); {
		select {
		case <-over.C:
			p.t.Fatal(complaint)
		case <-tick.C:
		}
		if moved < within {
			moved += step
			p.advance(step)
		}
	}
}

func (p *play) refused(r envelope.Result, want envelope.Code, why string) {
	p.t.Helper()
	_ = p.refusal(r, want, why)
}

func (p *play) refusal(r envelope.Result, want envelope.Code, why string) *envelope.Error {
	p.t.Helper()
	switch {
	case r.OK:
		p.t.Fatalf("%s: succeeded, want %s", why, want)
	case r.Error.Code != want:
		p.t.Fatalf("%s: %s, want %s", why, r.Error.Code, want)
	}
	return r.Error
}

func (p *play) none(r envelope.Result, want envelope.Code, why string) {
	p.t.Helper()
	e := p.refusal(r, want, why)
	p.that(e.Effect == envelope.EffectNone, "%s: effect %q, want none", why, e.Effect)
}

func (p *play) unknown(r envelope.Result, why string) {
	p.t.Helper()
	e := p.refusal(r, envelope.OutcomeUnknown, why)
	p.that(e.Effect == envelope.EffectUnknown && !e.Retryable && e.OperationID != "", "%s: %+v", why, *e)
}

func (p *play) succeeded(r envelope.Result, why string) {
	p.t.Helper()
	p.ok(r.Err(), why)
}

func (p *play) replayed(r envelope.Result, why string) {
	p.t.Helper()
	p.succeeded(r, why)
	p.that(r.Replayed, "%s: not a replay", why)
}

// alter changes the plan of a body.
func alter(body jsontext.Value) jsontext.Value {
	return bytes.Replace(body, []byte(`"limit":250`), []byte(`"limit":251`), 1)
}
