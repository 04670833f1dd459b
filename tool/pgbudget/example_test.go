package pgbudget_test

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/pgbudget"
)

// Every process that serves the runs opens a store of its own on the same tables.
func Example() {
	cfg, closeAll, err := configured(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer closeAll()
	_ = cfg // for tool.NewDispatcher
}

func configured(ctx context.Context, dsn string) (cfg tool.Config, closeAll func(), err error) {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return cfg, nil, err
	}
	if err := pgbudget.Migrate(ctx, pool); err != nil {
		pool.Close()
		return cfg, nil, err
	}
	budgets, err := pgbudget.Open(ctx, pool, pgbudget.Config{})
	if err != nil {
		pool.Close()
		return cfg, nil, err
	}
	cfg.Budgets = budgets
	return cfg, func() {
		if err := budgets.Shutdown(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		pool.Close()
	}, nil
}
