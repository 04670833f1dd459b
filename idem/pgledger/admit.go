package pgledger

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
)

// Admit implements [idem.Ledger]. Which of inserting and looking comes first is what consumedBefore tells: a key that
// was committed before is most likely there, another is most likely not. Either is one round trip.
func (l *Ledger) Admit(ctx context.Context, c idem.Command, consumedBefore bool) (idem.Record, idem.Admission, error) {
	if err := c.Validate(); err != nil {
		return idem.Record{}, "", err
	}
	if consumedBefore {
		rec, how, err := l.replay(ctx, c)
		if !errors.Is(err, idem.ErrNotFound) {
			return rec, how, err
		}
	}
	body, err := l.vault.SealBody(ctx, c.Key, c.Body)
	if err != nil {
		return idem.Record{}, "", wrap("admit", err)
	}
	insert := l.insert
	if consumedBefore {
		insert = l.insertForgotten
	}
	for range 3 {
		rec, there, err := insert(ctx, c, body)
		if err != nil {
			return idem.Record{}, "", wrap("admit", err)
		}
		if !there {
			return rec, idem.Admitted, nil
		}
		found, how, err := l.replay(ctx, c)
		if !errors.Is(err, idem.ErrNotFound) {
			return found, how, err
		}
		// Not there either: a restore waits, or it was purged in between.
		if n, err := l.now(ctx); err != nil || n.waiting {
			return idem.Record{}, "", wrap("admit", cmp.Or[error](err, idem.ErrBusy))
		}
	}
	return idem.Record{}, "", wrap("admit", errors.New("the key comes and goes"))
}

// insert is T1, in one statement. there says that it inserted nothing.
func (l *Ledger) insert(ctx context.Context, c idem.Command, body []byte) (rec idem.Record, there bool, err error) {
	command, err := stored.EncodeCommand(c)
	if err != nil {
		return rec, false, err
	}
	var created time.Time
	err = l.retry(ctx, func(conn *pgxpool.Conn) error {
		_, err := one(ctx, l, conn, c.Key.Tenant, l.sql.admit, []any{
			c.Key.Tenant, c.Key.Operation, c.RequestHash, c.Run, c.Resource, command, c.Seq, c.ExpiresIn.Microseconds(), body, c.Tool, c.AvailableIn.Microseconds(),
		}, func(from pgx.Row) (struct{}, error) { return struct{}{}, from.Scan(&created) })
		if there = errors.Is(err, pgx.ErrNoRows); there {
			return nil
		}
		return err
	})
	if err != nil || there {
		return rec, there, err
	}
	e, err := idem.NewEntry(created.UTC(), c, false, &idem.Slot{})
	if err != nil {
		return rec, false, err
	}
	if c.AvailableIn == 0 {
		l.ring()
	}
	return e.Record(e.CreatedAt, nil, nil), false, nil
}

// insertForgotten is T1b: the resource is locked and looked at first.
func (l *Ledger) insertForgotten(ctx context.Context, c idem.Command, body []byte) (rec idem.Record, there bool, err error) {
	command, err := stored.EncodeCommand(c)
	if err != nil {
		return rec, false, err
	}
	err = l.retry(ctx, func(conn *pgxpool.Conn) error {
		b := &pgx.Batch{}
		b.Queue("BEGIN")
		l.secure(b, c.Key.Tenant)
		b.Queue("INSERT INTO agent_resource (tenant_id, resource, seq) SELECT $1, $2, floor FROM ledger_meta ON CONFLICT DO NOTHING", c.Key.Tenant, c.Resource)
		var slot idem.Slot
		b.Queue("SELECT seq, open_operation FROM agent_resource WHERE tenant_id = $1 AND resource = $2 FOR UPDATE", c.Key.Tenant, c.Resource).
			QueryRow(func(r pgx.Row) error { return r.Scan(&slot.Seq, &slot.Open) })
		var n now
		b.Queue(l.sql.clock).QueryRow(func(r pgx.Row) error { return r.Scan(&n.time, &n.waiting) })
		if err := conn.SendBatch(ctx, b).Close(); err != nil {
			return rollback(ctx, conn, err)
		}
		if there = slot.Open == c.Key.Operation; there { // another call's, or this one's, whose answer was lost
			_, err := conn.Exec(ctx, "ROLLBACK")
			return err
		}
		if n.waiting {
			return rollback(ctx, conn, idem.ErrBusy)
		}
		e, err := idem.NewEntry(n.time.UTC(), c, true, &slot)
		if err != nil {
			return rollback(ctx, conn, err)
		}
		rec = e.Record(e.CreatedAt, nil, nil)
		b = &pgx.Batch{}
		b.Queue(forgotten, c.Key.Tenant, c.Key.Operation, c.RequestHash, c.Run, c.Resource, command, c.Seq, e.CreatedAt, e.ExpiresAt, body, c.Tool, slot.Seq).
			QueryRow(func(r pgx.Row) error {
				var inserted int
				err := r.Scan(&inserted)
				there = inserted == 0
				return err
			})
		b.Queue("COMMIT")
		return rollback(ctx, conn, conn.SendBatch(ctx, b).Close())
	})
	return rec, there, err
}

const forgotten = `WITH cmd AS (
		INSERT INTO agent_command (tenant_id, operation_id, request_hash, run_id, resource, command, seq, state, doubtful, forgotten,
			created_at, updated_at, expires_at, idle_since, doubt_at, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 'unknown', true, true, $8, $8, $9, $8, $8, $10) ON CONFLICT DO NOTHING RETURNING 1
	), box AS (
		INSERT INTO command_outbox (tenant_id, operation_id, tool, run_id, available_at) SELECT $1, $2, $11, $4, $8 FROM cmd
	), res AS (
		UPDATE agent_resource SET seq = $12, open_operation = $2 WHERE tenant_id = $1 AND resource = $5 AND EXISTS (SELECT FROM cmd)
	) SELECT count(*) FROM cmd`

// replay answers from the row that is there.
func (l *Ledger) replay(ctx context.Context, c idem.Command) (idem.Record, idem.Admission, error) {
	v, err := l.seen(ctx, "admit", c.Key)
	var gone *idem.Gone
	switch {
	case errors.As(err, &gone):
		return stored.Tombstone(c.Key, gone), "", err
	case err != nil:
		return idem.Record{}, "", err
	case v.Command.RequestHash != c.RequestHash:
		return idem.Record{}, "", idem.ErrConflict
	}
	how := idem.InProgress
	if v.State.Terminal() {
		how = idem.Replayed
	}
	rec, err := l.vault.Record(ctx, v)
	return rec, how, wrap("admit", err)
}
