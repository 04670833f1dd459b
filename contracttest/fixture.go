package contracttest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
)

// Session is what the suites call: a *tool.Run, or what a host has put around one.
type Session interface {
	Tools() []tool.Published
	Call(ctx context.Context, c envelope.Call) envelope.Result
}

// Fixture is one boundary under test, with everything behind it: fresh, and touched by nobody else. [NewFixture] fills it
// from a catalogue; fields may be changed before it is handed out.
type Fixture struct {
	Catalog    *tool.Catalog
	Dispatcher *tool.Dispatcher
	// Probe was wired into the dispatcher's configuration. Nil is an error: nobody would see what the handlers got.
	Probe *Probe
	// Sinks are searched for values that must not be there. Nil: those of the Probe. Empty is a failure: nothing is searched.
	Sinks Sinks
	// Clock is the dispatcher's and its stores'. Nil: what hangs on time is not judged, and fails unless it is skipped.
	Clock Clock
	// Upstream counts effects and makes faults in the provider behind the writes. Nil: as for Clock.
	Upstream *Upstream
	// Approvals and Ledger are the dispatcher's. Nil: as for Clock.
	Approvals approval.Store
	Ledger    idem.Ledger
	// Authority returns a verified principal of the requester's tenant who holds the role, "" for the requester. Nil: a
	// person named for the role, and a service named agent, of one tenant.
	Authority func(role string) approval.Principal
	// Touch changes the target as an outsider would, so that its version is another. Nil: as for Clock.
	Touch func(ctx context.Context, t approval.Target) error
	// Revoke takes every right from somebody, from now on. Nil: as for Clock.
	Revoke func(by approval.Principal)
	// Decide is the way of the host's console to a decision. Nil: the dispatcher's.
	Decide func(ctx context.Context, tenant, proposal string, d approval.Decision) (approval.Record, error)
	// Session puts around a run what the host puts around it. Nil: the run itself.
	Session func(run *tool.Run) Session

	story *story // of the case that is played
}

// New makes a fresh Fixture. Build the catalogue once, outside: it is immutable, and building it costs more than a case.
// Whatever fails is fatal to tb, and what must be closed is registered with its Cleanup.
type New func(tb testing.TB) *Fixture

// Make turns a function without a testing.TB into a New.
func Make(f func() (*Fixture, error)) New {
	return func(tb testing.TB) *Fixture {
		tb.Helper()
		fixture, err := f()
		if err != nil {
			tb.Fatal(err)
		}
		return fixture
	}
}

// NewFixture puts memory stores, a clock that stands still, and a probe behind a catalogue. The policy asks for one
// approver of the role "approver" for every write. Each adjust may change the configuration before the dispatcher is made:
// its policy, stores, middleware. The dispatcher is closed when tb ends.
func NewFixture(tb testing.TB, c *tool.Catalog, adjust ...func(cfg *tool.Config)) *Fixture {
	tb.Helper()
	f, err := Assemble(c, adjust...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := f.Dispatcher.Close(ctx); err != nil {
			tb.Errorf("contracttest: %v", err)
		}
	})
	return f
}

// Assemble is NewFixture without a test. Whoever calls it closes the dispatcher.
func Assemble(c *tool.Catalog, adjust ...func(cfg *tool.Config)) (*Fixture, error) {
	if c == nil {
		return nil, errors.New("contracttest: no catalogue")
	}
	digester, err := redact.NewDigester(redact.Key{ID: "contracttest", Secret: bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		return nil, err
	}
	clock, probe := NewClock(), NewProbe()
	cfg := tool.Config{
		Policy:    approval.Everything(approval.Requirement{Level: approval.One, Role: approverRole}),
		Approvals: approval.NewMemory(clock.Now), Authority: approval.ByRole{}, Ledger: idem.NewMemory(clock.Now), Digester: digester,
		Now: clock.Now,
	}
	for _, f := range adjust {
		f(&cfg)
	}
	var revoked revocable
	if cfg.Authority != nil {
		revoked = revocable{Authority: cfg.Authority, gone: &sync.Map{}}
		cfg.Authority = revoked
	}
	probe.Wire(&cfg)
	d, err := tool.NewDispatcher(c, cfg)
	if err != nil {
		return nil, err
	}
	return &Fixture{Catalog: c, Dispatcher: d, Probe: probe, Clock: clock, Approvals: cfg.Approvals, Ledger: cfg.Ledger, Revoke: revoked.revoke}, nil
}

// revocable is an authority from which rights can be taken.
type revocable struct {
	approval.Authority
	gone *sync.Map
}

func (r revocable) revoke(by approval.Principal) {
	if r.gone != nil {
		r.gone.Store([2]string{by.Tenant, by.Subject}, true)
	}
}

func (r revocable) barred(by approval.Principal) bool {
	_, gone := r.gone.Load([2]string{by.Tenant, by.Subject})
	return gone
}

// MayApprove implements approval.Authority.
func (r revocable) MayApprove(ctx context.Context, by approval.Principal, p approval.Proposal) error {
	if r.barred(by) {
		return approval.ErrNotAllowed
	}
	return r.Authority.MayApprove(ctx, by, p)
}

// MayRequest implements approval.Authority.
func (r revocable) MayRequest(ctx context.Context, by approval.Principal, wire string, t approval.Target) error {
	if r.barred(by) {
		return approval.ErrNotAllowed
	}
	return r.Authority.MayRequest(ctx, by, wire, t)
}

// complete fills what a fixture leaves out.
func (f *Fixture) complete() error {
	switch {
	case f == nil:
		return errors.New("contracttest: New returned no fixture")
	case f.Catalog == nil || f.Dispatcher == nil:
		return errors.New("contracttest: the fixture lacks its catalogue or its dispatcher")
	case f.Probe == nil:
		return errors.New("contracttest: the fixture has no Probe: nobody would see what the handlers got")
	case !f.Probe.wired():
		return errors.New("contracttest: the fixture's Probe was not wired: call Probe.Wire with the configuration, before NewDispatcher")
	case f.Upstream != nil && f.Upstream.scripts == nil:
		return errors.New("contracttest: the fixture's Upstream is empty: make it with NewUpstream")
	}
	if f.Sinks == nil {
		f.Sinks = f.Probe.Sinks()
	}
	if f.Authority == nil {
		f.Authority = principalFor
	}
	return nil
}

// start begins a run that may call the named tools.
func (f *Fixture) start(by approval.Principal, id string, wireNames ...string) (Session, error) {
	role, err := f.Catalog.Role("contracttest", wireNames...)
	if err != nil {
		return nil, err
	}
	now := time.Now //nolint:forbidigo // a fixture without a clock of its own runs on the real one
	if f.Clock != nil {
		now = f.Clock.Now
	}
	run, err := f.Dispatcher.Start(tool.RunConfig{
		ID: id, Principal: by, Role: role, Budget: tool.Budget{Calls: 1 << 30, Parallel: 64}, Deadline: now().Add(1000 * time.Hour),
	})
	if err != nil {
		return nil, err
	}
	if f.Session == nil {
		return toldSession{run, f, id}, nil
	}
	return toldSession{f.Session(run), f, id}, nil
}
