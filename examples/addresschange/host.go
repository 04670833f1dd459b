package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
	"uuid"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/examples/addresschange/internal/crm"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

// host is what surrounds the tools in a real system: the service, the stores, the dispatcher, and the clock of them all.
type host struct {
	clock      *clock
	crm        *crm.Service
	approvals  approval.Store
	ledger     idem.Ledger
	dispatcher *tool.Dispatcher
	run        *tool.Run
	entered    *entered
	trail      *trail
	dir        string
}

// The people and programs of the example. A host takes them from its own verified sessions, never from a call.
const tenant = "acme"

func agent() approval.Principal {
	return approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "support-desk"}
}

func lead() approval.Principal {
	return approval.Principal{Kind: approval.Person, Tenant: tenant, Subject: "lea.lindt", Roles: []string{"support_lead"}}
}

// newHost starts the service on a fresh database and a dispatcher with one run of at most calls calls.
func newHost(ctx context.Context, calls int) (_ *host, err error) {
	h := &host{clock: &clock{at: time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)}, entered: &entered{}, trail: &trail{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close(ctx))
		}
	}()
	if h.dir, err = os.MkdirTemp("", "addresschange"); err != nil {
		return nil, err
	}
	if h.crm, err = crm.Open(ctx, h.dir, h.clock.now); err != nil {
		return nil, err
	}
	catalogue, err := newCatalogue(h.crm)
	if err != nil {
		return nil, err
	}
	cfg, err := h.config()
	if err != nil {
		return nil, err
	}
	if h.dispatcher, err = tool.NewDispatcher(catalogue, cfg); err != nil {
		return nil, err
	}
	role, err := supportRole(catalogue)
	if err != nil {
		return nil, err
	}
	h.run, err = h.dispatcher.Start(tool.RunConfig{
		ID: "run_monday", Principal: agent(), Role: role,
		Budget: tool.Budget{Calls: calls}, Deadline: h.clock.now().Add(8 * time.Hour),
	})
	return h, err
}

// config puts memory stores behind the dispatcher, all on one clock that stands still until the story moves it.
func (h *host) config() (tool.Config, error) {
	table, err := policy()
	if err != nil {
		return tool.Config{}, err
	}
	// A key of the example's own. A host takes 32 random bytes from its key management.
	secret := sha256.Sum256([]byte("an example's key, known to everybody"))
	digester, err := redact.NewDigester(redact.Key{ID: "example", Secret: secret[:]})
	if err != nil {
		return tool.Config{}, err
	}
	h.approvals, h.ledger = approval.NewMemory(h.clock.now), idem.NewMemory(h.clock.now)
	return tool.Config{
		Policy: table, Approvals: h.approvals, Authority: approval.ByRole{}, Ledger: h.ledger, Digester: digester,
		Audit: h.trail, Now: h.clock.now, NewID: numbered(), Entered: h.entered.note,
	}, nil
}

func (h *host) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var errs []error
	if h.dispatcher != nil {
		errs = append(errs, h.dispatcher.Close(ctx))
	}
	if h.crm != nil {
		errs = append(errs, h.crm.Close())
	}
	if h.dir != "" {
		errs = append(errs, os.RemoveAll(h.dir))
	}
	return errors.Join(errs...)
}

// clock stands still until it is moved, so that the same story has the same times.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
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

// entered counts the handlers that ran, by the dispatcher's own word.
type entered struct {
	mu sync.Mutex
	n  int
}

func (e *entered) note(context.Context, string, any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n++
}

func (e *entered) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.n
}

// trail keeps the audit events. A host writes them where they last.
type trail struct {
	mu     sync.Mutex
	events []audit.Event
}

// Record implements audit.Sink.
func (t *trail) Record(_ context.Context, e audit.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, e)
	return nil
}

// text is everything that the trail says.
func (t *trail) text() (n int, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.events), fmt.Sprintf("%+v", t.events)
}
