package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvalweb"
	"github.com/toolcontract/toolcontract/approval/sqlitestore"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit/sqliteaudit"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/mcptool"
)

//go:embed policy.json
var policy []byte

const (
	acme   = "acme"
	globex = "globex"
)

// host is what surrounds the tools: the desk, the stores, the dispatcher and a worker.
type host struct {
	desk       *desk
	approvals  *sqlitestore.Store
	ledger     *sqliteledger.Ledger
	trail      *sqliteaudit.Store
	dispatcher *tool.Dispatcher
	role       tool.Role
	key        redact.Key
	temporary  string    // the directory that goes with the host
	until      time.Time // when every run of this host ends

	stop    context.CancelFunc
	working sync.WaitGroup
}

func newHost(ctx context.Context, dir string) (h *host, err error) {
	h = &host{until: time.Now().Add(8 * time.Hour)}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close(ctx))
		}
	}()
	if dir == "" {
		if h.temporary, err = os.MkdirTemp("", "mcpserver"); err != nil {
			return h, err
		}
		dir = h.temporary
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return h, err
	}
	cfg, err := h.stores(ctx, dir)
	if err != nil {
		return h, err
	}
	if h.desk, err = openDesk(ctx, filepath.Join(dir, "desk.db")); err != nil {
		return h, err
	}
	catalog, err := h.desk.catalogue()
	if err != nil {
		return h, err
	}
	if h.role, err = support(catalog); err != nil {
		return h, err
	}
	if h.dispatcher, err = tool.NewDispatcher(catalog, cfg); err != nil {
		return h, err
	}
	return h, h.work(ctx)
}

// support is the role of an agent: all of the desk.
func support(c *tool.Catalog) (tool.Role, error) {
	return c.Role("support", "get_customer_v1", "get_parcel_v1", "preview_address_change_v1", "commit_address_change_v1",
		"preview_customer_note_v1", "commit_customer_note_v1", "preview_parcel_reroute_v1", "commit_parcel_reroute_v1")
}

// stores puts SQLite files behind the dispatcher.
func (h *host) stores(ctx context.Context, dir string) (cfg tool.Config, err error) {
	// A key of the example's own. A host takes 32 random bytes from its key management.
	secret := sha256.Sum256([]byte("an example's key, known to everybody"))
	h.key = redact.Key{ID: "example", Secret: secret[:]}
	if cfg.Policy, err = approval.ParseTable(bytes.NewReader(policy)); err != nil {
		return cfg, err
	}
	if cfg.Digester, err = redact.NewDigester(h.key); err != nil {
		return cfg, err
	}
	sealer, err := redact.NewSealer(h.key)
	if err != nil {
		return cfg, err
	}
	if h.approvals, err = sqlitestore.Open(ctx, filepath.Join(dir, "approvals.db"), sealer); err != nil {
		return cfg, err
	}
	if h.ledger, err = sqliteledger.Open(ctx, filepath.Join(dir, "ledger.db"), sqliteledger.Config{Sealer: sealer}); err != nil {
		return cfg, err
	}
	if h.trail, err = sqliteaudit.Open(ctx, filepath.Join(dir, "audit.db")); err != nil {
		return cfg, err
	}
	cfg.Approvals, cfg.Authority, cfg.Ledger, cfg.Audit = h.approvals, approval.ByRole{}, h.ledger, h.trail
	cfg.Lease = 5 * time.Second // a killed process's operation is asked for after that
	return cfg, nil
}

// work asks what became of operations that nobody asks for.
func (h *host) work(ctx context.Context) error {
	worker, err := tool.NewWorker(h.dispatcher, tool.WorkerConfig{})
	if err != nil {
		return err
	}
	ctx, h.stop = context.WithCancel(context.WithoutCancel(ctx))
	h.working.Go(func() { _ = worker.Run(ctx) }) // it ends with its context
	return nil
}

// run is what an agent of the tenant may do.
func (h *host) run(tenant string) tool.RunConfig {
	return tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "support-desk"}, Role: h.role,
		Budget: tool.Budget{Calls: 1000}, Deadline: h.until, // the same for each request of a token
	}
}

// config is what the server says of itself; the page is served at the origin given.
func (h *host) config(origin string) mcptool.Config {
	return mcptool.Config{
		Name: "mcpserver", Title: "The service desk", Version: "1.0.0",
		Instructions: "Read a customer or a parcel before you change it. A change is previewed, decided on by a person, and committed by " +
			"the id of its proposal. Ask for an operation that is under way with get_operation_v1.",
		Page: func(proposal string) string { return origin + "/approvals/p/" + proposal },
	}
}

// page is where the lead of the tenant decides.
func (h *host) page(tenant, path string) (*approvalweb.Handler, error) {
	return approvalweb.New(approvalweb.Config{
		Path: path, Identify: lead(tenant), Approvals: h.approvals, Ledger: h.ledger, Authority: approval.ByRole{},
		Decide: h.dispatcher.Decide, Fresh: h.dispatcher.Fresh, Resolve: h.dispatcher.Resolve, Keys: []redact.Key{h.key},
		Writes: map[string]approvalweb.Write{
			"commit_address_change_v1": {Verb: "Change the address"},
			"commit_parcel_reroute_v1": {Verb: "Reroute the parcel", Irreversible: true},
		},
	})
}

// close lets what was sent end, and puts the rest away.
func (h *host) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var errs []error
	if h.stop != nil {
		h.stop()
		h.working.Wait()
	}
	if h.dispatcher != nil {
		errs = append(errs, h.dispatcher.Close(ctx))
	}
	if h.ledger != nil {
		errs = append(errs, h.ledger.Shutdown())
	}
	if h.approvals != nil {
		errs = append(errs, h.approvals.Close())
	}
	if h.trail != nil {
		errs = append(errs, h.trail.Close())
	}
	if h.desk != nil {
		errs = append(errs, h.desk.close())
	}
	if h.temporary != "" {
		errs = append(errs, os.RemoveAll(h.temporary))
	}
	return errors.Join(errs...)
}
