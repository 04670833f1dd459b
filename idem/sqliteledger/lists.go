package sqliteledger

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
	"github.com/toolcontract/toolcontract/internal/cursor"
)

// Later implements [idem.Ledger].
func (l *Ledger) Later(ctx context.Context, d idem.Delivery, after time.Duration) error {
	_, err := l.update(ctx, "later", d.Key, true, func(r *row) error {
		r.Later(r.now, d, after)
		return nil
	})
	var gone *idem.Gone
	if errors.Is(err, idem.ErrNotFound) || errors.As(err, &gone) {
		return nil
	}
	return err
}

// Open implements [idem.Ledger].
func (l *Ledger) Open(ctx context.Context, tenant, run string, page idem.Page) ([]idem.Record, string, error) {
	return l.list(ctx, tenant, page, "o.run_id = ? AND o.operation_id IS NOT NULL", run)
}

// Unknown implements [idem.Ledger].
func (l *Ledger) Unknown(ctx context.Context, tenant string, page idem.Page) ([]idem.Record, string, error) {
	return l.list(ctx, tenant, page, "c.state = 'unknown'")
}

func (l *Ledger) list(ctx context.Context, tenant string, page idem.Page, where string, args ...any) ([]idem.Record, string, error) {
	at, id, err := cursor.Decode(page.Cursor)
	if err != nil {
		return nil, "", idem.ErrInvalid
	}
	if err := l.reapTenant(ctx, tenant); err != nil {
		return nil, "", wrap("list", err)
	}
	size := cursor.Size(page.Size)
	args = append([]any{tenant, toMicros(at), id}, args...)
	vs, err := l.views(ctx, "c.tenant_id = ? AND (c.created_at, c.operation_id) > (?, ?) AND "+where+" ORDER BY c.created_at, c.operation_id LIMIT ?", append(args, size+1)...)
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

// views reads rows in one reading transaction.
func (l *Ledger) views(ctx context.Context, where string, args ...any) ([]stored.View, error) {
	tx, err := l.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it wrote nothing
	q := l.reading.in(tx)
	rs, err := l.scanAll(ctx, q, where, args...)
	if err != nil {
		return nil, err
	}
	vs := make([]stored.View, len(rs))
	for i, r := range rs {
		if vs[i], err = look(ctx, q, r); err != nil {
			return nil, err
		}
	}
	return vs, nil
}

// reapTenant puts a tenant's overdue rows right before they are listed.
func (l *Ledger) reapTenant(ctx context.Context, tenant string) error {
	for {
		var n int
		err := l.reader.QueryRowContext(ctx, "SELECT count(*) FROM command_outbox o JOIN agent_command c USING (tenant_id, operation_id) WHERE tenant_id = ? AND "+overdue+l.sql.clock, tenant).Scan(&n)
		if err != nil || n == 0 {
			return err
		}
		if _, err := l.sweep(ctx, overdue+l.sql.clock+" AND o.tenant_id = ?", tenant); err != nil {
			return err
		}
	}
}

// overdue is what Reap has to do with, once the clock stands behind it.
const overdue = "c.state IN ('dispatching', 'running') AND o.due_by > 0 AND o.due_by <= 1000 * "
