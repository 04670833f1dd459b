package pgbudget

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed schema/0001.sql
var schema string

// version counts the scripts.
const version = 1

// Schema returns the SQL that Migrate runs in an empty schema, for those who run it themselves; after it the table
// budget_schema (version integer) must hold 1.
func Schema() string { return schema }

// migrationLock is taken together with the schema's own number, so that two schemas do not wait for each other.
const migrationLock = `SELECT pg_advisory_xact_lock(hashtext('toolcontract/budget'), hashtext(current_schema()))`

// Migrate makes the tables in the first schema of the pool's search_path, in one transaction under an advisory lock: of
// many processes at once one does it. Tables of a later version are an error.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, migrationLock); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS budget_schema (version integer NOT NULL)"); err != nil {
			return err
		}
		have, err := schemaVersion(ctx, tx)
		switch {
		case err != nil:
			return err
		case have > version:
			return errLater
		case have == version:
			return nil
		}
		if _, err := tx.Exec(ctx, schema); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO budget_schema VALUES ($1)", version)
		return err
	})
	if err != nil {
		return fmt.Errorf("pgbudget: migrate: %w", err)
	}
	return nil
}

var errLater = errors.New("the tables are of a later version of this package")

func schemaVersion(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
},
) (v int, err error) {
	err = q.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM budget_schema").Scan(&v)
	return v, err
}
