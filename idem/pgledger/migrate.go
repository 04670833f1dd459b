package pgledger

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
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

// migrationLock is the number of the advisory lock: any, but everybody's.
const migrationLock = 7_035_621_904_418

// Migrate brings the tables in the first schema of the search_path up to date, in one transaction. Of many processes at
// once one does it, the others wait. It makes the role toolcontract_worker where there is none, and then needs the right
// to.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	all, err := scripts()
	if err != nil {
		return fmt.Errorf("pgledger: migrate: %w", err)
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS ledger_schema (version integer NOT NULL)"); err != nil {
			return err
		}
		version, err := version(ctx, tx)
		if err != nil {
			return err
		}
		if version > len(all) {
			return fmt.Errorf("the tables are of version %d, this library knows %d", version, len(all))
		}
		for i, script := range all[version:] {
			if _, err := tx.Exec(ctx, script); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "INSERT INTO ledger_schema VALUES ($1)", version+i+1); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("pgledger: migrate: %w", err)
	}
	return nil
}

func version(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
},
) (v int, err error) {
	err = q.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM ledger_schema").Scan(&v)
	return v, err
}
