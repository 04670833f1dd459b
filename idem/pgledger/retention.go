package pgledger

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/idem"
)

// batch is how many rows one transaction of Sweep or Purge touches at most. It stands in the statements, so that plans
// are made for it.
const batch = 200

func itoa(n int) string { return strconv.Itoa(n) }

// Sweep implements [idem.Ledger]. Rows that are locked by others are left to the next.
func (l *Ledger) Sweep(ctx context.Context) (s idem.Swept, err error) {
	err = l.retry(ctx, func(conn *pgxpool.Conn) (err error) {
		s, err = l.sweep(ctx, conn)
		return err
	})
	if err != nil {
		return idem.Swept{}, wrap("sweep", err)
	}
	if s.Unknown > 0 {
		l.ring()
	}
	return s, nil
}

func (l *Ledger) sweep(ctx context.Context, conn *pgxpool.Conn) (s idem.Swept, err error) {
	save := &pgx.Batch{}
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	b.Queue(l.sql.sweep).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var n time.Time
			r, err := scanRow(rows, true, &n)
			if err != nil {
				return err
			}
			if r.Reap(n) {
				s.Unknown++
			}
			if r.Expire(n) {
				s.Expired++
				r.Explain()
			}
			r.save(save)
		}
		return rows.Err()
	})
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return s, rollback(ctx, conn, err)
	}
	save.Queue("COMMIT")
	return s, rollback(ctx, conn, conn.SendBatch(ctx, save).Close())
}

// Purge implements [idem.Ledger].
func (l *Ledger) Purge(ctx context.Context, bodies, tombstones time.Duration) (n int, err error) {
	if bodies < 0 || tombstones < bodies {
		return 0, idem.ErrInvalid
	}
	err = l.retry(ctx, func(conn *pgxpool.Conn) error {
		b := &pgx.Batch{}
		n = 0
		for i, age := range []time.Duration{tombstones, tombstones, bodies} {
			b.Queue(l.sql.purge[i], age.Microseconds()).QueryRow(func(r pgx.Row) error {
				var k int
				err := r.Scan(&k)
				n += k
				return err
			})
		}
		return conn.SendBatch(ctx, b).Close()
	})
	return n, wrap("purge", err)
}

// Restored implements [idem.Ledger].
func (l *Ledger) Restored(ctx context.Context) error {
	err := l.retry(ctx, func(conn *pgxpool.Conn) error { return l.restored(ctx, conn) })
	return wrap("restored", err)
}

func (l *Ledger) restored(ctx context.Context, conn *pgxpool.Conn) error {
	var n now
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	b.Queue("LOCK TABLE agent_command, command_outbox, agent_resource, ledger_meta IN EXCLUSIVE MODE")
	b.Queue(l.sql.clock).QueryRow(func(r pgx.Row) error { return r.Scan(&n.time, &n.waiting) })
	b.Queue("UPDATE ledger_meta SET waiting = (SELECT count(*) FROM command_outbox)")
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return rollback(ctx, conn, err)
	}
	b = &pgx.Batch{}
	b.Queue("UPDATE ledger_meta SET floor = greatest(floor + 1, $1)", n.time.UnixMicro())
	b.Queue("UPDATE agent_resource SET seq = greatest(seq + 1, (SELECT floor FROM ledger_meta))")
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return rollback(ctx, conn, err)
	}
	var done idem.Key
	for {
		more, err := l.restoreSome(ctx, conn, n.time.UTC(), &done)
		if err != nil {
			return rollback(ctx, conn, err)
		}
		if !more {
			_, err := conn.Exec(ctx, "COMMIT")
			return rollback(ctx, conn, err)
		}
	}
}

// restoreSome makes the rows after done unknown. Of several on one resource the first keeps it, or takes it.
func (l *Ledger) restoreSome(ctx context.Context, conn *pgxpool.Conn, at time.Time, done *idem.Key) (more bool, err error) {
	b := &pgx.Batch{}
	save := &pgx.Batch{}
	slots := map[string]idem.Slot{}
	b.Queue("SELECT "+own+beside+` FROM command_outbox o JOIN agent_command c USING (tenant_id, operation_id)
		JOIN agent_resource r ON r.tenant_id = c.tenant_id AND r.resource = c.resource
		WHERE (c.tenant_id, c.operation_id) > ($1, $2) ORDER BY c.tenant_id, c.operation_id LIMIT $3`, done.Tenant, done.Operation, batch).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				r, err := scanRow(rows, true)
				if err != nil {
					return err
				}
				place := r.Command.Key.Tenant + "\x00" + r.Command.Resource
				if s, ok := slots[place]; ok {
					r.Slot, r.Was = s, s
				}
				r.Restore(at, &r.Slot)
				slots[place] = r.Slot
				r.save(save)
				*done, more = r.Command.Key, true
			}
			return rows.Err()
		})
	if err := conn.SendBatch(ctx, b).Close(); err != nil || !more {
		return false, err
	}
	return true, conn.SendBatch(ctx, save).Close()
}
