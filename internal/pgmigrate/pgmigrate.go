// Package pgmigrate brings a package's tables in PostgreSQL up to date, once, whoever else tries at the same time.
package pgmigrate

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/internal/pghint"
)

// Tables are a package's, with the scripts that make them and the table that counts those.
type Tables struct {
	Lock    string   // the statement that takes an advisory lock until the transaction ends
	Counter string   // the name of the table that counts; its column version holds the number of scripts
	Make    string   // the statement that makes it where there is none
	Scripts []Script // by version, the first is version 1
	Later   func(have, known int) error
}

// Script is one step.
type Script struct {
	SQL  string
	Name string // stands in the counter's column name; empty: it has none
}

// Run makes what is missing in the first schema of the pool's search_path, in one transaction. Of many processes at once
// one does it, the others wait. Tables of a later version are Later's error, and are not touched.
func (t Tables) Run(ctx context.Context, pool *pgxpool.Pool) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		for _, statement := range []string{t.Lock, t.Make} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		have, err := t.Version(ctx, tx)
		if err != nil {
			return err
		}
		if have > len(t.Scripts) {
			return t.Later(have, len(t.Scripts))
		}
		for i, s := range t.Scripts[have:] {
			version := have + i + 1
			if _, err := tx.Exec(ctx, s.SQL); err != nil {
				return fmt.Errorf("version %d: %w", version, err)
			}
			if err := t.count(ctx, tx, version, s.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t Tables) count(ctx context.Context, tx pgx.Tx, version int, name string) error {
	sql, args := "INSERT INTO "+t.Counter+" (version) VALUES ($1)", []any{version}
	if name != "" {
		sql, args = "INSERT INTO "+t.Counter+" (version, name) VALUES ($1, $2)", []any{version, name}
	}
	_, err := tx.Exec(ctx, sql, args...)
	return err
}

// Version returns how many scripts have run; its error says what to do about tables that cannot be read.
func (t Tables) Version(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
},
) (v int, err error) {
	err = q.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM "+t.Counter).Scan(&v)
	return v, pghint.Tables(err)
}
