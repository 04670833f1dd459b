package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
	"uuid"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/sqlitestore"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/addresschange/internal/crm"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

// host is what surrounds the tools in a real system: the service, the stores, the dispatcher, and the clock of them all.
type host struct {
	clock      *clock
	crm        *crm.Service
	approvals  *sqlitestore.Store
	ledger     *sqliteledger.Ledger
	dispatcher *tool.Dispatcher
	run        caller
	with       []setup
	entered    *entered
	trail      *trail
	dir        string
	temporary  bool             // dir goes with the host
	newID      func() uuid.UUID // nil: the library's
	lease      time.Duration    // zero: the library's
}

// setup is what a test changes of a host: the definitions before the catalogue is made of them, and the configuration
// before the dispatcher is.
type setup struct {
	definitions func(defs []tool.Definition)
	wire        func(cfg *tool.Config) error
}

// caller makes calls: a run, or what records one.
type caller interface {
	Tools() []tool.Published
	Call(ctx context.Context, c envelope.Call) envelope.Result
}

// The people and programs of the example. A host takes them from its own verified sessions, never from a call.
const tenant = "acme"

func agent() approval.Principal {
	return approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "support-desk"}
}

func lead() approval.Principal {
	return approval.Principal{Kind: approval.Person, Tenant: tenant, Subject: "lea.lindt", Roles: []string{"support_lead"}}
}

// newHost starts the service on a fresh database and a dispatcher with one run of at most calls calls, in a temporary
// directory and on a clock that stands still until the story moves it.
func newHost(ctx context.Context, calls int, with ...setup) (*host, error) {
	dir, err := os.MkdirTemp("", "addresschange")
	if err != nil {
		return nil, err
	}
	h := &host{clock: &clock{at: time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)}, dir: dir, temporary: true, newID: numbered(), with: with}
	return h, h.start(ctx, calls)
}

// keptHost is newHost in a directory that outlives the program, on the machine's clock.
func keptHost(ctx context.Context, dir string, calls int) (*host, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	h := &host{clock: &clock{}, dir: dir, lease: time.Second}
	return h, h.start(ctx, calls)
}

func (h *host) start(ctx context.Context, calls int) (err error) {
	h.entered, h.trail = &entered{}, &trail{}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close(ctx))
		}
	}()
	if h.crm, err = crm.Open(ctx, h.dir, h.clock.now); err != nil {
		return err
	}
	defs := definitions(h.crm)
	for _, s := range h.with {
		if s.definitions != nil {
			s.definitions(defs)
		}
	}
	catalogue, err := tool.NewCatalog(defs...)
	if err != nil {
		return err
	}
	cfg, err := h.config(ctx)
	for _, s := range h.with {
		if s.wire != nil {
			err = errors.Join(err, s.wire(&cfg))
		}
	}
	if err != nil {
		return err
	}
	if h.dispatcher, err = tool.NewDispatcher(catalogue, cfg); err != nil {
		return err
	}
	role, err := supportRole(catalogue)
	if err != nil {
		return err
	}
	h.run, err = h.dispatcher.Start(tool.RunConfig{
		ID: "run_monday", Principal: agent(), Role: role,
		Budget: tool.Budget{Calls: calls}, Deadline: h.clock.now().Add(8 * time.Hour),
	})
	return err
}

// config puts SQLite files behind the dispatcher. The approvals' clock is the story's; the ledger's is the machine's.
func (h *host) config(ctx context.Context) (tool.Config, error) {
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
	sealer, err := redact.NewSealer(redact.Key{ID: "example", Secret: secret[:]})
	if err != nil {
		return tool.Config{}, err
	}
	if h.approvals, err = sqlitestore.Open(ctx, filepath.Join(h.dir, "approvals.db"), sealer, sqlitestore.WithClock(h.clock.now)); err != nil {
		return tool.Config{}, err
	}
	if h.ledger, err = sqliteledger.Open(ctx, filepath.Join(h.dir, "ledger.db"), sqliteledger.Config{Sealer: sealer}); err != nil {
		return tool.Config{}, err
	}
	return tool.Config{
		Policy: table, Approvals: h.approvals, Authority: approval.ByRole{}, Ledger: h.ledger, Digester: digester,
		Audit: h.trail, Now: h.clock.now, NewID: h.newID, Entered: h.entered.note, Lease: h.lease,
	}, nil
}

func (h *host) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var errs []error
	if h.dispatcher != nil {
		errs = append(errs, h.dispatcher.Close(ctx))
	}
	if h.ledger != nil {
		errs = append(errs, h.ledger.Shutdown())
	}
	if h.approvals != nil {
		errs = append(errs, h.approvals.Close())
	}
	if h.crm != nil {
		errs = append(errs, h.crm.Close())
	}
	if h.temporary {
		errs = append(errs, os.RemoveAll(h.dir))
	}
	return errors.Join(errs...)
}

// clock stands still until it is moved, so that the same story has the same times. The zero clock is the machine's.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return time.Now()
	}
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
