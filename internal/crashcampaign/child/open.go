package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/pgstore"
	"github.com/toolcontract/toolcontract/approval/sqlitestore"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/pgledger"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
	"github.com/toolcontract/toolcontract/redact"
)

// open opens the campaign's durable stores.
func open(ctx context.Context, o options) (approval.Store, idem.Ledger, error) {
	if o.ledger == "sqlite" {
		approvals, err := sqlitestore.Open(ctx, filepath.Join(o.dir, "approvals.db"), redact.Plain())
		if err != nil {
			return nil, nil, err
		}
		ledger, err := sqliteledger.Open(ctx, filepath.Join(o.dir, "ledger.db"), sqliteledger.Config{Sealer: redact.Plain()})
		return approvals, ledger, err
	}
	cfg, err := pgxpool.ParseConfig(os.Getenv("CRASHCAMPAIGN_DSN"))
	if err != nil {
		return nil, nil, err
	}
	cfg.MaxConns = 8
	cfg.ConnConfig.RuntimeParams["search_path"] = os.Getenv("CRASHCAMPAIGN_SCHEMA")
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	if err := pgstore.Migrate(ctx, pool); err != nil {
		return nil, nil, err
	}
	if err := pgledger.Migrate(ctx, pool); err != nil {
		return nil, nil, err
	}
	approvals, err := pgstore.New(ctx, pool, redact.Plain())
	if err != nil {
		return nil, nil, err
	}
	ledger, err := pgledger.Open(ctx, pool, pgledger.Config{Sealer: redact.Plain()})
	return approvals, ledger, err
}
