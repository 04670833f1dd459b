package main

import (
	"context"
	"fmt"

	"github.com/toolcontract/toolcontract/internal/pgtest/pgxtest"
)

// stores is where the children keep approvals and operations.
type stores struct {
	env  []string
	drop func()
}

// openStores makes a PostgreSQL schema of the campaign's own; SQLite's files are made by the first child.
func openStores(ctx context.Context, ledger string) (stores, error) {
	switch ledger {
	case "sqlite":
		return stores{drop: func() {}}, nil
	case "postgres":
		return openSchema(ctx)
	}
	return stores{}, fmt.Errorf("-ledger %q: sqlite or postgres", ledger)
}

func openSchema(ctx context.Context) (stores, error) {
	server, schema, drop, err := pgxtest.Schema(ctx, "crashcampaign")
	if err != nil {
		return stores{}, err
	}
	return stores{env: []string{"CRASHCAMPAIGN_DSN=" + server, "CRASHCAMPAIGN_SCHEMA=" + schema}, drop: drop}, nil
}
