package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/pgstore"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/pgledger"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

// The parent tells its children by the environment where the bank and the tables are.
const (
	dsnVariable    = "EXAMPLE_WORKER_DSN"
	schemaVariable = "EXAMPLE_WORKER_SCHEMA"
	bankVariable   = "EXAMPLE_WORKER_BANK"
)

const tenant = "acme"

// host is what every process of the example is made of: the same catalogue, the same policy, the same stores.
type host struct {
	dispatcher *tool.Dispatcher
	catalog    *tool.Catalog
	ledger     idem.Ledger
	close      func()
}

func newHost(ctx context.Context) (*host, error) {
	pool, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	sealer, err := redact.NewSealer(redact.Key{ID: "example", Secret: bytes.Repeat([]byte{7}, 32)}) // of your key management
	if err != nil {
		return nil, err
	}
	approvals, err := pgstore.New(ctx, pool, sealer)
	if err != nil {
		return nil, err
	}
	ledger, err := pgledger.Open(ctx, pool, pgledger.Config{Sealer: sealer})
	if err != nil {
		return nil, err
	}
	catalog, err := tool.NewCatalog(transferTool(bankClient{os.Getenv(bankVariable), http.DefaultClient}))
	if err != nil {
		return nil, err
	}
	cfg, err := configuration(approvals, ledger)
	if err != nil {
		return nil, err
	}
	d, err := tool.NewDispatcher(catalog, cfg)
	return &host{d, catalog, ledger, func() { ledger.Shutdown(); pool.Close() }}, err
}

// configuration is every process's, over its stores.
func configuration(approvals approval.Store, ledger idem.Ledger) (tool.Config, error) {
	digester, err := redact.NewDigester(redact.Key{ID: "example", Secret: bytes.Repeat([]byte{8}, 32)})
	return tool.Config{
		Policy:    approval.Everything(approval.Requirement{Level: approval.None}), // the example is about what comes after
		Approvals: approvals, Authority: approval.ByRole{}, Ledger: ledger, Digester: digester, Audit: audit.NewZap(nil), Lease: time.Second,
	}, err
}

func connect(ctx context.Context) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(os.Getenv(dsnVariable))
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 6
	cfg.ConnConfig.RuntimeParams["search_path"] = os.Getenv(schemaVariable)
	return pgxpool.NewWithConfig(ctx, cfg)
}

// migrate makes the tables; the parent does it once.
func migrate(ctx context.Context) error {
	pool, err := connect(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := pgstore.Migrate(ctx, pool); err != nil {
		return err
	}
	return pgledger.Migrate(ctx, pool)
}
