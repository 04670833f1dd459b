package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvalweb"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

const tenant = "acme"

// The program on whose behalf the model acts, and the person who decides. A host takes both from its own verified
// sessions, never from a model.
func agent() approval.Principal {
	return approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "price-desk"}
}

func lea() approval.Principal {
	return approval.Principal{Kind: approval.Person, Tenant: tenant, Subject: "lea.lindt", Roles: []string{"sales_lead"}}
}

// host is what surrounds the loop: the shop, the dispatcher, one run, and the page.
type host struct {
	out        io.Writer
	clock      clock
	shop       *shop
	dispatcher *tool.Dispatcher
	run        *tool.Run
	calls      caller // the run, or what records it
	door       *door
	page       string                                           // the page's address
	decide     func(ctx context.Context, proposal string) error // the scripted person; nil: a real one has the address
	serving    []*http.Server
}

// caller is what the loop calls tools through.
type caller interface {
	Call(ctx context.Context, c envelope.Call) envelope.Result
}

// newHost puts it together; wire puts a recorder or a player before the dispatcher's parts.
func newHost(ctx context.Context, s settings, out io.Writer, wire func(*tool.Config) error) (_ *host, err error) {
	h := &host{out: out, door: newDoor()}
	h.shop = newShop(h.clock.now)
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close(ctx))
		}
	}()
	catalogue, err := h.shop.catalogue()
	if err != nil {
		return nil, err
	}
	cfg, err := h.config()
	if err != nil {
		return nil, err
	}
	if err := wire(&cfg); err != nil {
		return nil, err
	}
	if h.dispatcher, err = tool.NewDispatcher(catalogue, cfg); err != nil {
		return nil, err
	}
	role, err := clerk(catalogue)
	if err != nil {
		return nil, err
	}
	h.run, err = h.dispatcher.Start(tool.RunConfig{
		Principal: agent(), Role: role, Budget: tool.Budget{Calls: s.calls, Tokens: s.tokens}, Deadline: h.clock.now().Add(s.patience),
	})
	if err != nil {
		return nil, err
	}
	h.calls = h.run
	return h, h.openPage(ctx, cfg, s)
}

// config keeps everything in memory. A real host has durable stores, keys of its key management, and an audit that lasts.
func (h *host) config() (tool.Config, error) {
	digester, err := redact.NewDigester(freshKey("digest"))
	return tool.Config{
		Policy:    approval.Everything(approval.Requirement{Level: approval.One, Role: "sales_lead"}),
		Approvals: approval.NewMemory(h.clock.now), Authority: approval.ByRole{}, Ledger: idem.NewMemory(h.clock.now), Digester: digester,
		Audit: &audit.Recorder{}, Now: h.clock.now,
	}, err
}

func freshKey(id string) redact.Key {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	return redact.Key{ID: id, Secret: secret}
}

// openPage serves the page on which a person decides, behind a door that only the person has the key of.
func (h *host) openPage(ctx context.Context, cfg tool.Config, s settings) error {
	page, err := approvalweb.New(approvalweb.Config{
		Path: "/approvals", Identify: h.door.identify, Approvals: cfg.Approvals, Ledger: cfg.Ledger, Authority: cfg.Authority,
		Decide: h.dispatcher.Decide, Fresh: h.dispatcher.Fresh, Resolve: h.dispatcher.Resolve, Keys: []redact.Key{freshKey("forms")},
		Writes: map[string]approvalweb.Write{"commit_set_price_v1": {Verb: "Set the price"}},
	})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/approvals/", page)
	mux.HandleFunc("GET /sign-in", h.door.signIn)
	if h.page, err = h.serve(ctx, s.address, mux); err != nil {
		return err
	}
	if s.provider == scripted {
		h.decide = newVisitor(h.page, h.door.key).approve
		return nil
	}
	h.say("Sign in to the approval page as %s: %s/sign-in?key=%s", lea().Subject, h.page, h.door.key)
	return nil
}

// serve listens on a loopback address until the host is closed, and returns where.
func (h *host) serve(ctx context.Context, address string, handler http.Handler) (base string, err error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return "", err
	}
	if !at.IP.IsLoopback() {
		return "", errors.New("the address must be a loopback address, such as 127.0.0.1:8650")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", at.String())
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	h.serving = append(h.serving, server)
	go func() { _ = server.Serve(listener) }() // ends when the host is closed
	return "http://" + listener.Addr().String(), nil
}

func (h *host) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var errs []error
	for _, s := range h.serving {
		errs = append(errs, s.Shutdown(ctx))
	}
	if h.dispatcher != nil {
		errs = append(errs, h.dispatcher.Close(ctx))
	}
	return errors.Join(errs...)
}

func (h *host) say(format string, args ...any) { fmt.Fprintf(h.out, format+"\n", args...) }
