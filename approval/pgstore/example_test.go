package pgstore_test

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/approval/pgstore"
	"github.com/toolcontract/toolcontract/redact"
)

// Many machines share one store. Migrate needs the rights of the tables' owner; the processes that take calls do not.
func Example() {
	var pool *pgxpool.Pool   // of your host's
	var sealer redact.Sealer // redact.NewSealer, with keys of your key management

	_ = func(ctx context.Context) (*pgstore.Store, error) {
		if err := pgstore.Migrate(ctx, pool); err != nil {
			return nil, err
		}
		return pgstore.New(ctx, pool, sealer)
	}
}
