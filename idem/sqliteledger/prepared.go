package sqliteledger

import (
	"context"
	"database/sql"
	"errors"
)

// querier is a handle or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// queries are the statements that read the clock.
type queries struct {
	clock     string // SQL expression of the time, in milliseconds
	one       string // a row by its key
	admission string // what an admission is judged by: whether the key is there, and the resource's row
	due       string // the row whose turn it is
}

func makeQueries(clock string) queries {
	return queries{
		clock: clock,
		one:   "SELECT " + columns + clock + from + byKey,
		admission: `SELECT EXISTS (SELECT 1 FROM agent_command WHERE tenant_id = ?1 AND operation_id = ?2), m.waiting > 0, coalesce(r.seq, m.floor),
			coalesce(r.open_operation, ''), ` + clock + `
			FROM ledger_meta m LEFT JOIN agent_resource r ON r.tenant_id = ?1 AND r.resource = ?3`,
		due: dueAfter(clock),
	}
}

// prepared are a handle's statements by their text. They are made when the handle is opened: the writer has one
// connection, and nothing can be prepared while a transaction holds it. Other statements are parsed each time.
type prepared map[string]*sql.Stmt

func prepare(ctx context.Context, db *sql.DB, queries ...string) (prepared, error) {
	p := prepared{}
	for _, q := range queries {
		s, err := db.PrepareContext(ctx, q) //nolint:sqlclosecheck // close does
		if err != nil {
			return p, errors.Join(err, p.close())
		}
		p[q] = s
	}
	return p, nil
}

func (p prepared) close() error {
	errs := make([]error, 0, len(p))
	for _, s := range p {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// in is a transaction that uses what is prepared.
func (p prepared) in(tx *sql.Tx) querier { return within{p, tx} }

type within struct {
	prepared prepared
	tx       *sql.Tx
}

func (w within) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if s, ok := w.prepared[query]; ok {
		return w.tx.StmtContext(ctx, s).ExecContext(ctx, args...) //nolint:sqlclosecheck // the end of the transaction does
	}
	return w.tx.ExecContext(ctx, query, args...)
}

func (w within) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s, ok := w.prepared[query]; ok {
		return w.tx.StmtContext(ctx, s).QueryContext(ctx, args...) //nolint:sqlclosecheck // the end of the transaction does
	}
	return w.tx.QueryContext(ctx, query, args...)
}

func (w within) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if s, ok := w.prepared[query]; ok {
		return w.tx.StmtContext(ctx, s).QueryRowContext(ctx, args...) //nolint:sqlclosecheck // the end of the transaction does
	}
	return w.tx.QueryRowContext(ctx, query, args...)
}

// queryRow runs a statement outside of a transaction.
func (p prepared) queryRow(ctx context.Context, db *sql.DB, query string, args ...any) *sql.Row {
	if s, ok := p[query]; ok {
		return s.QueryRowContext(ctx, args...)
	}
	return db.QueryRowContext(ctx, query, args...)
}

// on is the handle itself, using what is prepared for one row.
func (p prepared) on(db *sql.DB) querier { return outside{db, p} }

type outside struct {
	*sql.DB
	prepared prepared
}

func (o outside) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return o.prepared.queryRow(ctx, o.DB, query, args...)
}
