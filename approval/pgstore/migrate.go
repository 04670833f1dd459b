package pgstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/internal/pgmigrate"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migration is one step of the schema. A step that was published never changes.
type Migration struct {
	Version int    // from 1, without gaps
	Name    string // what it is about
	SQL     string
}

// Migrations returns the steps in their order, for those who print or apply them with tools of their own; such a tool
// also inserts (version, name) into approval_schema.
func Migrations() ([]Migration, error) {
	entries, err := fs.ReadDir(migrationFiles, "migrations") // sorted by name
	if err != nil {
		return nil, err
	}
	out := make([]Migration, len(entries))
	for i, e := range entries {
		number, name, found := strings.Cut(strings.TrimSuffix(e.Name(), ".sql"), "_")
		version, err := strconv.Atoi(number)
		if err != nil || !found || version != i+1 {
			return nil, errors.New("pgstore: a migration is misnamed")
		}
		text, err := fs.ReadFile(migrationFiles, "migrations/"+e.Name())
		if err != nil {
			return nil, err
		}
		out[i] = Migration{Version: version, Name: name, SQL: string(text)}
	}
	return out, nil
}

// migrationLock is taken together with the schema's own number, so that two schemas do not wait for each other.
const migrationLock = `SELECT pg_advisory_xact_lock(hashtext('toolcontract/approval'), hashtext(current_schema()))`

const migrationTable = `CREATE TABLE IF NOT EXISTS approval_schema (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)`

func tables(steps []Migration) pgmigrate.Tables {
	t := pgmigrate.Tables{Lock: migrationLock, Counter: "approval_schema", Make: migrationTable, Later: laterSchema}
	for _, m := range steps {
		t.Scripts = append(t.Scripts, pgmigrate.Script{SQL: m.SQL, Name: m.Name})
	}
	return t
}

// Migrate applies the steps that are missing, all in one transaction, under an advisory lock: many processes may call
// it at once. It needs a role that may create tables in the first schema of the pool's search_path, and such a role
// owns them. A schema of a later version of this package is an error.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	steps, err := Migrations()
	if err != nil {
		return err
	}
	if err := tables(steps).Run(ctx, pool); err != nil {
		return fmt.Errorf("pgstore: migrate: %w", err)
	}
	return nil
}

func laterSchema(have, known int) error {
	return fmt.Errorf("the database has schema version %d, this package knows %d", have, known)
}
