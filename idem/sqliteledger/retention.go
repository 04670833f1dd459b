package sqliteledger

import (
	"context"
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

// batch is how many rows one transaction of Sweep or Purge touches at most: others wait for it.
const batch = 200

// Sweep implements [idem.Ledger].
func (l *Ledger) Sweep(ctx context.Context) (idem.Swept, error) {
	s, err := l.sweep(ctx, "o.due_by > 0 AND o.due_by <= 1000 * "+l.sql.clock)
	return s, wrap("sweep", err)
}

func (l *Ledger) sweep(ctx context.Context, where string, args ...any) (s idem.Swept, err error) {
	err = l.write(ctx, func(q querier) error {
		s = idem.Swept{}
		rs, err := l.scanAll(ctx, q, where+" LIMIT ?", append(args, batch)...)
		if err != nil {
			return err
		}
		for _, r := range rs {
			if r.Reap(r.now) {
				s.Unknown++
			}
			if r.Expire(r.now) {
				s.Expired++
				r.Explain()
			}
			if err := save(ctx, q, &r.Row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return idem.Swept{}, err
	}
	if s.Unknown > 0 {
		l.bell.Ring()
	}
	return s, nil
}

// Purge implements [idem.Ledger].
func (l *Ledger) Purge(ctx context.Context, bodies, tombstones time.Duration) (n int, err error) {
	if bodies < 0 || tombstones < bodies {
		return 0, idem.ErrInvalid
	}
	err = l.write(ctx, func(q querier) error {
		n = 0
		now, err := l.now(ctx, q)
		if err != nil {
			return err
		}
		for _, step := range []struct {
			keys string
			age  time.Duration
			do   []string
		}{
			{"tomb_at <= ?", tombstones, []string{remove}},
			{"ended_at <= ?", tombstones, append(strip(), remove)},
			{"ended_at <= ?", bodies, append(strip(), bury)},
		} {
			ks, err := keys(ctx, q, step.keys, toMicros(now.Add(-step.age)))
			if err != nil {
				return err
			}
			n += len(ks)
			for _, k := range ks {
				for _, sql := range step.do {
					if err := run(ctx, q, stmt{sql + " WHERE tenant_id = ? AND operation_id = ?", []any{k.Tenant, k.Operation}}); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	return n, wrap("purge", err)
}

func keys(ctx context.Context, q querier, where string, at micros) ([]idem.Key, error) {
	rows, err := q.QueryContext(ctx, "SELECT tenant_id, operation_id FROM agent_command WHERE "+where+" LIMIT ?", at, batch)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err says it
	var ks []idem.Key
	for rows.Next() {
		var k idem.Key
		if err := rows.Scan(&k.Tenant, &k.Operation); err != nil {
			return nil, err
		}
		ks = append(ks, k)
	}
	return ks, rows.Err()
}

// Restored implements [idem.Ledger].
func (l *Ledger) Restored(ctx context.Context) error {
	err := l.write(ctx, func(q querier) error {
		now, err := l.now(ctx, q)
		if err != nil {
			return err
		}
		at := toMicros(now)
		if err := run(ctx, q,
			stmt{"UPDATE ledger_meta SET floor = max(floor + 1, ?), waiting = (SELECT count(*) FROM command_outbox)", []any{at}},
			stmt{"UPDATE agent_resource SET seq = max(seq + 1, (SELECT floor FROM ledger_meta))", nil},
		); err != nil {
			return err
		}
		var done idem.Key
		for {
			rs, err := l.scanAll(ctx, q, "o.operation_id IS NOT NULL AND (c.tenant_id, c.operation_id) > (?, ?) ORDER BY c.tenant_id, c.operation_id LIMIT ?",
				done.Tenant, done.Operation, batch)
			if err != nil || len(rs) == 0 {
				return err
			}
			for _, r := range rs {
				if err := restore(ctx, q, now, r); err != nil {
					return err
				}
				done = r.Command.Key
			}
		}
	})
	return wrap("restored", err)
}

func restore(ctx context.Context, q querier, now time.Time, r *row) error {
	// an earlier row of this batch may have taken the resource
	if err := q.QueryRowContext(ctx, "SELECT seq, open_operation FROM agent_resource WHERE tenant_id = ? AND resource = ?", r.Command.Key.Tenant, r.Command.Resource).
		Scan(&r.Slot.Seq, &r.Slot.Open); err != nil {
		return err
	}
	r.Was = r.Slot
	r.Restore(now, &r.Slot)
	return save(ctx, q, &r.Row)
}

// What a purge does to one row: first what hangs on it, then the row.
func strip() []string {
	return []string{"DELETE FROM agent_attempt", "DELETE FROM agent_evidence"}
}

const (
	bury = `UPDATE agent_command SET command = '', body = NULL, result = NULL, failure = NULL, word = NULL, reason = '', worker = '', token = '',
		finished = '', provider_receipt = '', request_hash = '', run_id = '', tomb_at = ended_at, ended_at = NULL`
	remove = "DELETE FROM agent_command"
)
