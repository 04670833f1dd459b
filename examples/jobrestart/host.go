package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"time"
	"uuid"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// host is what surrounds the tools in a real system.
type host struct {
	clock      clock
	tape       *tape
	quarantine *audit.MemoryQuarantine
	trail      *audit.Recorder
	approvals  approval.Store
	dispatcher *tool.Dispatcher
	run        caller
	uncached   bool // a recorded run
}

// caller makes calls: a run, or what records one.
type caller interface {
	Tools() []tool.Published
	Call(ctx context.Context, c envelope.Call) envelope.Result
}

const tenant = "acme"

func lead() approval.Principal {
	return approval.Principal{Kind: approval.Person, Tenant: tenant, Subject: "j.moreau", Roles: []string{"release_lead"}}
}

// setup is what a test changes of a host: the definitions before the catalogue is made of them, and the configuration
// before the dispatcher is.
type setup struct {
	definitions func(defs []tool.Definition)
	wire        func(cfg *tool.Config) error
	recorded    bool // no cache stands between the run and jobctl
}

// newHost starts the tools with one run.
func newHost(with ...setup) (*host, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &host{trail: &audit.Recorder{}}
	h.clock.at = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	h.tape = &tape{self: self, now: h.clock.now, plays: map[string]string{}}
	h.quarantine = audit.NewMemoryQuarantine(audit.MemoryQuarantineConfig{Audit: h.trail, Now: h.clock.now})
	j, err := newJobs(h.tape, upstream.Host{Quarantine: h.quarantine, Now: h.clock.now})
	if err != nil {
		return nil, err
	}
	defs := []tool.Definition{j.getRun(), j.jobRestart()}
	for _, s := range with {
		h.uncached = h.uncached || s.recorded
		if s.definitions != nil {
			s.definitions(defs)
		}
	}
	catalogue, err := tool.NewCatalog(defs...)
	if err != nil {
		return nil, err
	}
	cfg, err := h.config()
	for _, s := range with {
		if s.wire != nil {
			err = errors.Join(err, s.wire(&cfg))
		}
	}
	if err != nil {
		return nil, err
	}
	if h.dispatcher, err = tool.NewDispatcher(catalogue, cfg); err != nil {
		return nil, err
	}
	role, err := catalogue.Role("builds", "get_job_run_v1", "preview_job_restart_v1", "commit_job_restart_v1")
	if err != nil {
		return nil, err
	}
	h.run, err = h.dispatcher.Start(tool.RunConfig{
		ID: "run_monday", Principal: approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "build desk"}, Role: role,
		Budget: tool.Budget{Calls: 100}, Deadline: h.clock.now().Add(8 * time.Hour),
	})
	return h, err
}

// config puts memory stores behind the dispatcher, all on one clock that stands still until the story moves it.
func (h *host) config() (tool.Config, error) {
	// A key of the example's own. A host takes 32 random bytes from its key management.
	secret := sha256.Sum256([]byte("an example's key, known to everybody"))
	digester, err := redact.NewDigester(redact.Key{ID: "example", Secret: secret[:]})
	h.approvals = approval.NewMemory(h.clock.now)
	return tool.Config{
		Policy:    approval.Everything(approval.Requirement{Level: approval.One, Role: "release_lead", Lifetime: 15 * time.Minute}),
		Approvals: h.approvals, Authority: approval.ByRole{}, Ledger: idem.NewMemory(h.clock.now), Digester: digester,
		Audit: h.trail, Quarantine: h.quarantine, Now: h.clock.now, NewID: numbered(),
	}, err
}

func (h *host) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return h.dispatcher.Close(ctx)
}

// clock stands still until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// numbered returns a source of ids that look random and are the same each time.
func numbered() func() uuid.UUID {
	var mu sync.Mutex
	var n uint64
	return func() (id uuid.UUID) {
		mu.Lock()
		defer mu.Unlock()
		n++
		sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("id"), n))
		copy(id[:], sum[:])
		return id
	}
}
