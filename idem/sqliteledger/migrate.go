package sqliteledger

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed schema/*.sql
var migrations embed.FS

// Schema returns the SQL that Open runs on an empty file, in order.
func Schema() string {
	var b strings.Builder
	for _, m := range scripts() {
		b.WriteString(m)
	}
	return b.String()
}

// scripts returns the migrations by version, the first is version 1.
func scripts() []string {
	entries, err := fs.ReadDir(migrations, "schema")
	if err != nil {
		return nil // the embedded folder is there
	}
	all := make([]string, len(entries))
	for i, e := range entries {
		b, err := migrations.ReadFile("schema/" + e.Name())
		if err != nil {
			return nil
		}
		all[i] = string(b)
	}
	return all
}

// migrate brings the tables up to date. The transaction is a writing one from its beginning: of two processes one waits.
func (l *Ledger) migrate(ctx context.Context) error {
	tx, err := l.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = func() error {
		if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS ledger_schema (version INTEGER NOT NULL) STRICT"); err != nil {
			return err
		}
		var version int
		if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM ledger_schema").Scan(&version); err != nil {
			return err
		}
		all := scripts()
		if version > len(all) {
			return fmt.Errorf("the file's tables are of version %d, this library knows %d", version, len(all))
		}
		for i, m := range all[version:] {
			if _, err := tx.ExecContext(ctx, m); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO ledger_schema VALUES (?)", version+i+1); err != nil {
				return err
			}
		}
		return nil
	}()
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
