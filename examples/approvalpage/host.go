package main

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvalweb"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

//go:embed policy.json
var policy []byte

//go:embed start.html
var start string

const tenant = "shop"

// host is everything that runs on the host's side: the shop, the dispatcher, the page, the agent and who is signed in.
type host struct {
	shop       *shop
	approvals  approval.Store
	dispatcher *tool.Dispatcher
	page       *approvalweb.Handler
	run        caller
	people     sessions
	welcome    *template.Template

	agents sync.WaitGroup // the agent's work on proposals, until each is decided

	speaking sync.Mutex
	out      io.Writer

	writing sync.Mutex
	words   map[string]string // what the agent wrote, by proposal
}

// caller makes calls: a run, or what records one.
type caller interface {
	Call(ctx context.Context, c envelope.Call) envelope.Result
}

// setup is what a test changes of a host: its clock, and the definitions and the configuration before the dispatcher is made
// of them.
type setup struct {
	now  func() time.Time // nil: time.Now
	wire func(defs []tool.Definition, cfg *tool.Config) error
}

// newHost puts it together.
func newHost(out io.Writer, with setup) (*host, error) {
	now := with.now
	if now == nil {
		now = time.Now
	}
	h := &host{shop: newShop(now), people: newSessions(), out: out, words: map[string]string{}}
	var err error
	if h.welcome, err = template.New("start").Parse(start); err != nil {
		return nil, err
	}
	cfg, err := config(now)
	if err != nil {
		return nil, err
	}
	defs := definitions(h.shop)
	if with.wire != nil {
		if err := with.wire(defs, &cfg); err != nil {
			return nil, err
		}
	}
	catalog, err := tool.NewCatalog(defs...)
	if err != nil {
		return nil, err
	}
	if h.dispatcher, err = tool.NewDispatcher(catalog, cfg); err != nil {
		return nil, err
	}
	h.approvals = cfg.Approvals
	h.page, err = approvalweb.New(approvalweb.Config{
		Path: "/approvals", Identify: h.people.identify, Approvals: cfg.Approvals, Ledger: cfg.Ledger, Authority: cfg.Authority,
		Decide: h.dispatcher.Decide, Fresh: h.dispatcher.Fresh, Resolve: h.dispatcher.Resolve, Keys: []redact.Key{freshKey("forms")},
		Writes: map[string]approvalweb.Write{
			"commit_address_change_v1": {Verb: "Replace shipping address"},
			"commit_refund_v1":         {Verb: "Pay the order back", Irreversible: true},
			"commit_account_delete_v1": {Verb: "Delete the account", Irreversible: true},
			"commit_price_change_v1":   {Verb: "Change the price"},
		},
		Words: h.agentsWords,
	})
	if err != nil {
		return nil, err
	}
	role, err := supportRole(catalog)
	if err != nil {
		return nil, err
	}
	h.run, err = h.dispatcher.Start(tool.RunConfig{
		ID: "run9", Principal: approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "support-desk"}, Role: role,
		Budget: tool.Budget{Calls: 10_000}, Deadline: now().Add(24 * time.Hour),
	})
	return h, err
}

// config keeps everything in memory.
func config(now func() time.Time) (tool.Config, error) {
	table, err := approval.ParseTable(bytes.NewReader(policy))
	if err != nil {
		return tool.Config{}, err
	}
	digester, err := redact.NewDigester(freshKey("digest"))
	return tool.Config{
		Policy: table, Approvals: approval.NewMemory(now), Authority: approval.ByRole{}, Ledger: idem.NewMemory(now), Digester: digester,
		Audit: &audit.Recorder{}, Now: now,
	}, err
}

// freshKey is a key that ends with the program; a real host takes its own from where it keeps its secrets.
func freshKey(id string) redact.Key {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	return redact.Key{ID: id, Secret: secret}
}

// close waits for the agent, whose context is over, and stops the dispatcher.
func (h *host) close(ctx context.Context) error {
	h.agents.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return h.dispatcher.Close(ctx)
}

// say prints a line; the agent and the server speak at the same time.
func (h *host) say(format string, args ...any) {
	h.speaking.Lock()
	defer h.speaking.Unlock()
	_, _ = fmt.Fprintf(h.out, format+"\n", args...)
}

func (h *host) agentsWords(_ context.Context, p approval.Proposal) (string, error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	return h.words[p.ID], nil
}

var errNotProposed = errors.New("the proposal was refused")
