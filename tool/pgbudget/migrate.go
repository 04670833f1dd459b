package pgbudget

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/internal/pgmigrate"
)

var (
	//go:embed schema/0001.sql
	first string
	//go:embed schema/0002.sql
	second string
)

// Schema returns the SQL that Migrate runs in an empty schema, for those who run it themselves; after it the table
// budget_schema (version integer) must hold 2.
func Schema() string { return first + second }

// tables are the store's. Its lock is taken together with the schema's own number, so that two schemas do not wait for
// each other.
func tables() pgmigrate.Tables {
	return pgmigrate.Tables{
		Lock:    `SELECT pg_advisory_xact_lock(hashtext('toolcontract/budget'), hashtext(current_schema()))`,
		Counter: "budget_schema", Make: "CREATE TABLE IF NOT EXISTS budget_schema (version integer NOT NULL)",
		Scripts: []pgmigrate.Script{{SQL: first}, {SQL: second}},
		Later:   func(int, int) error { return errLater },
	}
}

// Migrate makes the tables in the first schema of the pool's search_path, in one transaction under an advisory lock: of
// many processes at once one does it. Tables of a later version are an error.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	if err := tables().Run(ctx, pool); err != nil {
		return fmt.Errorf("pgbudget: migrate: %w", err)
	}
	return nil
}

var errLater = errors.New("the tables are of a later version of this package")
