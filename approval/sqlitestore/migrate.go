package sqlitestore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migration is one step of the schema. A step that was published never changes.
type Migration struct {
	Version int    // from 1, without gaps
	Name    string // what it is about
	SQL     string
}

// Migrations returns the steps in their order, for those who print or apply them with tools of their own.
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
			return nil, errors.New("sqlitestore: a migration is misnamed")
		}
		text, err := fs.ReadFile(migrationFiles, "migrations/"+e.Name())
		if err != nil {
			return nil, err
		}
		out[i] = Migration{Version: version, Name: name, SQL: string(text)}
	}
	return out, nil
}

const migrationTable = `CREATE TABLE IF NOT EXISTS approval_schema (
    version    INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    applied_ns INTEGER NOT NULL
) STRICT`

// migrate applies the steps that are missing in one transaction, which holds the writer's lock from its begin:
// processes that open the file together wait for each other. A file of a later version of this package is an error.
func (s *Store) migrate(ctx context.Context) error {
	steps, err := Migrations()
	if err != nil {
		return err
	}
	return s.writing(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, migrationTable); err != nil {
			return err
		}
		var have int
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM approval_schema`).Scan(&have); err != nil {
			return err
		}
		if have > len(steps) {
			return fmt.Errorf("the file has schema version %d, this package knows %d", have, len(steps))
		}
		for _, m := range steps[have:] {
			if _, err := tx.ExecContext(ctx, m.SQL); err != nil {
				return fmt.Errorf("version %d: %w", m.Version, err)
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO approval_schema (version, name, applied_ns) VALUES (?, ?, ?)`, m.Version, m.Name, s.now().UnixNano()); err != nil {
				return err
			}
		}
		return nil
	})
}
