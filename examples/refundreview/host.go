package main

import (
	"context"
	"crypto/sha256"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// host is what surrounds the tools in a real system, with everything that leaves it at hand.
type host struct {
	clock      clock
	billing    *billing
	quarantine *audit.MemoryQuarantine
	trail      *audit.Recorder
	log        *buffer
	dispatcher *tool.Dispatcher
	desk       desk
	runs       map[string]caller
	answers    strings.Builder // all that any agent read
}

// caller makes calls: a run, or what records one.
type caller interface {
	Tools() []tool.Published
	Call(ctx context.Context, c envelope.Call) envelope.Result
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

// buffer is a log in memory.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) Sync() error { return nil }

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// vault holds billing's credentials, one for each tenant.
type vault struct{}

const billingToken = "Bearer blk_acme_Wq81-hhT2-eeN0" //nolint:gosec // an example's, good for nothing

func (vault) For(_ context.Context, by upstream.Caller, operation string) ([]upstream.Credential, error) {
	if by.Tenant != "acme" {
		return nil, fmt.Errorf("no credentials for %s", operation)
	}
	return []upstream.Credential{{Name: "Authorization", Value: redact.NewSecret(billingToken)}}, nil
}

// setup is what a test changes of a host: the definitions before the catalogue is made of them, and the configuration
// before the dispatcher is.
type setup struct {
	definitions func(defs []tool.Definition)
	wire        func(cfg *tool.Config) error
}

// newHost starts billing, the desk and its runs.
func newHost(ctx context.Context, with ...setup) (_ *host, err error) {
	h := &host{trail: &audit.Recorder{}, log: &buffer{}, runs: map[string]caller{}}
	h.clock.at = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close(ctx))
		}
	}()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if h.billing, err = openBilling(listener); err != nil {
		return nil, err
	}
	if err := h.openDesk(); err != nil {
		return nil, err
	}
	return h, h.openDispatcher(with)
}

// key is an example's own. A host takes 32 random bytes from its key management.
func key() redact.Key {
	secret := sha256.Sum256([]byte("an example's key, known to everybody"))
	return redact.Key{ID: "example", Secret: secret[:]}
}

func (h *host) openDesk() (err error) {
	h.quarantine = audit.NewMemoryQuarantine(audit.MemoryQuarantineConfig{Audit: h.trail, Now: h.clock.now})
	h.desk = desk{now: h.clock.now, cases: []openCase{
		{"acme", "bc-2207", "Marit Okonkwo-Lund", "duplicate_charge", h.clock.now().Add(-52 * time.Hour)},
		{"acme", "bc-2270", "Tomasz Reinholt", "other", h.clock.now().Add(-5 * time.Hour)},
		{"zenith", "bc-9001", "Ada Ferreira-Quist", "other", h.clock.now().Add(-5 * time.Hour)},
	}}
	if h.desk.refs, err = redact.NewReferencesAt(h.clock.now, key()); err != nil {
		return err
	}
	digester, err := redact.NewDigester(key())
	if err != nil {
		return err
	}
	h.desk.charges, err = newCharges(h.billing.origin, vault{}, upstream.Host{
		Quarantine: h.quarantine, Digester: digester, Retention: 7 * 24 * time.Hour, Now: h.clock.now,
	})
	return err
}

func (h *host) openDispatcher(with []setup) error {
	defs := []tool.Definition{h.desk.listCases(), h.desk.requestReview(), h.desk.status()}
	for _, s := range with {
		if s.definitions != nil {
			s.definitions(defs)
		}
	}
	catalogue, err := tool.NewCatalog(defs...)
	if err != nil {
		return err
	}
	logger := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), h.log, zap.DebugLevel))
	cfg := tool.Config{Audit: h.trail, Quarantine: h.quarantine, Logger: logger, Now: h.clock.now}
	for _, s := range with {
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
	role, err := catalogue.Role("refunds", "list_refund_cases_v1", reviewTool, statusTool)
	if err != nil {
		return err
	}
	for _, who := range []approval.Principal{
		{Kind: approval.Service, Tenant: "acme", Subject: "day desk"},
		{Kind: approval.Service, Tenant: "acme", Subject: "night desk"},
		{Kind: approval.Service, Tenant: "zenith", Subject: "day desk"},
	} {
		run, err := h.dispatcher.Start(tool.RunConfig{
			Principal: who, Role: role, Budget: tool.Budget{Calls: 100}, Deadline: h.clock.now().Add(8 * time.Hour),
		})
		if err != nil {
			return err
		}
		h.runs[who.Tenant+"/"+who.Subject] = run
	}
	return nil
}

// call asks as the model does, and keeps every byte of the answer.
func (h *host) call(ctx context.Context, who, name string, args any) envelope.Result {
	text, err := json.Marshal(args)
	if err != nil {
		return envelope.Result{Error: envelope.New(envelope.Internal).WithCause(err)}
	}
	r := h.runs[who].Call(ctx, envelope.Call{Tool: name, Arguments: text})
	if text, err = json.Marshal(r); err == nil {
		h.answers.Write(text)
	}
	return r
}

func (h *host) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var errs []error
	if h.dispatcher != nil {
		errs = append(errs, h.dispatcher.Close(ctx))
	}
	if h.billing != nil {
		errs = append(errs, h.billing.close())
	}
	return errors.Join(errs...)
}
