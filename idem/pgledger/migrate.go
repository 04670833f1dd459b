package pgledger

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/internal/pgmigrate"
)

//go:embed schema/*.sql
var migrations embed.FS

// Schema returns the SQL that Migrate runs in an empty schema, for those who run it themselves. After it the table
// ledger_schema (version integer) must hold the number of scripts, as [Migrate] leaves it.
func Schema() (string, error) {
	all, err := scripts()
	return strings.Join(all, "\n"), err
}

// scripts returns the migrations by version, the first is version 1.
func scripts() ([]string, error) {
	entries, err := fs.ReadDir(migrations, "schema")
	if err != nil {
		return nil, err
	}
	all := make([]string, len(entries))
	for i, e := range entries {
		b, err := migrations.ReadFile("schema/" + e.Name())
		if err != nil {
			return nil, err
		}
		all[i] = string(b)
	}
	return all, nil
}

// tables are the ledger's. The lock's number is any, but everybody's.
func tables() (pgmigrate.Tables, error) {
	all, err := scripts()
	t := pgmigrate.Tables{
		Lock: "SELECT pg_advisory_xact_lock(7035621904418)", Counter: "ledger_schema",
		Make: "CREATE TABLE IF NOT EXISTS ledger_schema (version integer NOT NULL)",
		Later: func(have, known int) error {
			return fmt.Errorf("the tables are of version %d, this library knows %d", have, known)
		},
	}
	for _, script := range all {
		t.Scripts = append(t.Scripts, pgmigrate.Script{SQL: script})
	}
	return t, err
}

// Migrate brings the tables in the first schema of the search_path up to date, in one transaction. Of many processes at
// once one does it, the others wait. It makes the role toolcontract_worker where there is none, and then needs the right
// to.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	t, err := tables()
	if err == nil {
		err = t.Run(ctx, pool)
	}
	if err != nil {
		return fmt.Errorf("pgledger: migrate: %w", err)
	}
	return nil
}
