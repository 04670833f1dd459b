package pgledger

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
	"github.com/toolcontract/toolcontract/internal/cursor"
	"github.com/toolcontract/toolcontract/internal/storable"
)

// Later implements [idem.Ledger].
func (l *Ledger) Later(ctx context.Context, d idem.Delivery, after time.Duration) error {
	if !storable.Text(d.Key.Tenant, d.Key.Operation) {
		return nil
	}
	err := l.retry(ctx, func(conn *pgxpool.Conn) error { return l.later(ctx, conn, d, after) })
	if errors.Is(err, idem.ErrNotFound) || errors.Is(err, idem.ErrGone) {
		return nil
	}
	return wrap("later", err)
}

// later writes the outbox row alone, and only if it was not delivered while this transaction looked at it.
func (l *Ledger) later(ctx context.Context, conn *pgxpool.Conn, d idem.Delivery, after time.Duration) error {
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	l.lock(b, d.Key)
	r, n, err := l.locked(conn.SendBatch(ctx, b), true)
	if err != nil {
		return rollback(ctx, conn, err)
	}
	b = &pgx.Batch{}
	if r.Reap(n.time) {
		r.save(b)
	}
	r.Later(n.time, d, after)
	if r.Changed() {
		b.Queue("UPDATE command_outbox SET available_at = $3 WHERE tenant_id = $1 AND operation_id = $2 AND ($4 = 0 OR turn = $4)",
			d.Key.Tenant, d.Key.Operation, r.DueAt, d.Turn)
	}
	b.Queue("COMMIT")
	return rollback(ctx, conn, conn.SendBatch(ctx, b).Close())
}

// Open implements [idem.Ledger].
func (l *Ledger) Open(ctx context.Context, tenant, run string, page idem.Page) ([]idem.Record, string, error) {
	if !storable.Text(tenant, run) {
		tenant, run = "", "" // nobody's either
	}
	return l.list(ctx, tenant, page, l.sql.open, run)
}

// Unknown implements [idem.Ledger].
func (l *Ledger) Unknown(ctx context.Context, tenant string, page idem.Page) ([]idem.Record, string, error) {
	if !storable.Text(tenant) {
		tenant = "" // nobody's either
	}
	return l.list(ctx, tenant, page, l.sql.unknown)
}

func (l *Ledger) list(ctx context.Context, tenant string, page idem.Page, query string, args ...any) ([]idem.Record, string, error) {
	at, id, err := cursor.Decode(page.Cursor)
	if err != nil {
		return nil, "", idem.ErrInvalid
	}
	if err := l.reapTenant(ctx, tenant); err != nil {
		return nil, "", wrap("list", err)
	}
	size := cursor.Size(page.Size)
	var vs []stored.View
	err = l.retry(ctx, func(conn *pgxpool.Conn) (err error) {
		vs, err = l.views(ctx, conn, tenant, query, size+1, append([]any{tenant, early(at), id}, args...))
		return err
	})
	if err != nil {
		return nil, "", wrap("list", err)
	}
	next := ""
	if len(vs) > size {
		vs = vs[:size]
		next = cursor.Encode(vs[size-1].CreatedAt, vs[size-1].Command.Key.Operation)
	}
	recs := make([]idem.Record, len(vs))
	for i, v := range vs {
		recs[i] = l.vault.Show(ctx, v)
	}
	if err := ctx.Err(); err != nil { // nothing opens any more
		return nil, "", wrap("list", err)
	}
	return recs, next, nil
}

// early is a time that the database can hold: the first cursor's is before that.
func early(t time.Time) time.Time {
	if t.Year() < 1 {
		return time.Unix(0, 0)
	}
	return t
}

// views reads rows, and then what stands beside them, in two round trips.
func (l *Ledger) views(ctx context.Context, conn *pgxpool.Conn, tenant, query string, limit int, args []any) ([]stored.View, error) {
	b := &pgx.Batch{}
	var vs []stored.View
	beside := &pgx.Batch{}
	b.Queue(query+" LIMIT "+itoa(limit), args...).Query(func(rows pgx.Rows) error {
		var rs []*row
		for rows.Next() {
			var v stored.View
			r, err := scanRow(rows, false, &v.Now)
			if err != nil {
				return err
			}
			v.Row, v.Now = &r.Row, v.Now.UTC()
			vs, rs = append(vs, v), append(rs, r)
		}
		for i, r := range rs {
			r.look(beside, &vs[i])
		}
		return rows.Err()
	})
	if err := l.send(ctx, conn, tenant, b); err != nil || beside.Len() == 0 {
		return vs, err
	}
	return vs, l.send(ctx, conn, tenant, beside)
}

// reapTenant puts a tenant's overdue rows right before they are listed.
func (l *Ledger) reapTenant(ctx context.Context, tenant string) error {
	var ops []string
	err := l.retry(ctx, func(conn *pgxpool.Conn) error {
		b := &pgx.Batch{}
		b.Queue(l.sql.overdue, tenant).Query(func(rows pgx.Rows) (err error) {
			ops, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		return l.send(ctx, conn, tenant, b)
	})
	if err != nil {
		return err
	}
	for _, op := range ops {
		_, err := l.update(ctx, "list", idem.Key{Tenant: tenant, Operation: op}, true, func(now, *row) error { return nil }, nil)
		if err != nil && !errors.Is(err, idem.ErrNotFound) && !errors.Is(err, idem.ErrGone) {
			return err
		}
	}
	return nil
}
