package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
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
	dsn := os.Getenv("TOOLCONTRACT_POSTGRES")
	if dsn == "" {
		dsn = "postgres://postgres@127.0.0.1:5432/test"
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return stores{}, fmt.Errorf("no PostgreSQL: set TOOLCONTRACT_POSTGRES, or run one on 127.0.0.1:5432 with a database test: %w", err)
	}
	schema := "crashcampaign_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if _, err := conn.Exec(ctx, "CREATE SCHEMA "+schema); err != nil {
		return stores{}, err
	}
	return stores{
		env: []string{"CRASHCAMPAIGN_DSN=" + dsn, "CRASHCAMPAIGN_SCHEMA=" + schema},
		drop: func() {
			ctx := context.WithoutCancel(ctx)
			_, _ = conn.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE")
			_ = conn.Close(ctx)
		},
	}, nil
}
