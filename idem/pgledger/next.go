package pgledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/storable"
)

// Next implements [idem.Ledger]. Rows that are locked by others are passed over. The handle remembers the tenants that had
// something due: one that comes has its first turn in the round after they were looked up again, which is when none of
// those has anything due, and otherwise after a second or after as many deliveries as there are tenants, at least 64,
// whichever is first, and at most one delivery later.
func (l *Ledger) Next(ctx context.Context, tools []string, lease time.Duration) (idem.Delivery, error) {
	if lease <= 0 {
		return idem.Delivery{}, idem.ErrInvalid
	}
	var d idem.Delivery
	err := l.retry(ctx, func(conn *pgxpool.Conn) (err error) {
		d, err = l.nextOn(ctx, conn, tools, lease)
		return err
	})
	if err != nil {
		return idem.Delivery{}, wrap("next", err)
	}
	return d, nil
}

func (l *Ledger) nextOn(ctx context.Context, conn *pgxpool.Conn, asked []string, lease time.Duration) (d idem.Delivery, err error) {
	tools := asked
	if asked == nil {
		if tools, err = waitingTools(ctx, conn); err != nil {
			return d, err
		}
	}
	tools = slices.DeleteFunc(slices.Clone(tools), func(t string) bool { return !storable.Text(t) })
	if len(tools) == 0 {
		return d, idem.ErrEmpty
	}
	var overdue bool
	d, overdue, err = l.deliver(ctx, conn, l.circles.begin(asked), tools, lease)
	if err != nil || !overdue {
		return d, err
	}
	v, _, err := l.attempt(ctx, conn, d.Key, true, func(_ now, r *row) error {
		r.DueAt = r.wasDue // it is hidden already, and stays so
		return nil
	})
	if err != nil {
		return d, err
	}
	d.State = v.State
	return d, nil
}

// deliver takes the row whose turn it is. Where the circle has none, the outbox is read through.
func (l *Ledger) deliver(ctx context.Context, conn *pgxpool.Conn, w round, tools []string, lease time.Duration) (d idem.Delivery, overdue bool, err error) {
	for read := w.read; ; read = true {
		if read {
			if w, err = l.readThrough(ctx, conn, w, tools); err != nil {
				return d, false, err
			}
			if len(w.places) == 0 {
				return d, false, idem.ErrEmpty
			}
		}
		d, overdue, err = l.deliverTo(ctx, conn, w, tools, lease)
		if errors.Is(err, pgx.ErrNoRows) {
			if !read {
				continue
			}
			err = idem.ErrEmpty // others are at work on what there is
		}
		return d, overdue, err
	}
}

func (l *Ledger) deliverTo(ctx context.Context, conn *pgxpool.Conn, w round, tools []string, lease time.Duration) (d idem.Delivery, overdue bool, err error) {
	tenants, from := make([]string, len(w.places)), make([]time.Time, len(w.places))
	for i, p := range w.places {
		tenants[i], from[i] = p.tenant, p.from
	}
	var at, now time.Time
	var running, until zeronull.Timestamptz
	if err := conn.QueryRow(ctx, l.sql.next, tools, lease.Microseconds(), tenants, from).Scan(&d.Key.Tenant, &d.Key.Operation, &d.Tool, &d.Turn,
		(*string)(&d.State), &d.Attempt, &until, &running, &at, &now); err != nil {
		return idem.Delivery{}, false, err
	}
	l.circles.served(w, d.Key.Tenant, at, now)
	overdue = d.State == idem.Dispatching && !now.Before(time.Time(until)) || d.State == idem.Running && !now.Before(time.Time(running))
	return d, overdue, nil
}

// readThrough looks for the tenants that have something due, in the order of their turns, and for the first row of each.
func (l *Ledger) readThrough(ctx context.Context, conn *pgxpool.Conn, w round, tools []string) (round, error) {
	rows, err := conn.Query(ctx, l.sql.tenants, tools, l.circles.after(w))
	if err != nil {
		return w, err
	}
	var places []place
	var p place
	var now time.Time
	if _, err := pgx.ForEachRow(rows, []any{&p.tenant, &p.from, &now}, func() error {
		places = append(places, p)
		return nil
	}); err != nil {
		return w, err
	}
	return l.circles.fill(w, places, now), nil
}

// waitingTools returns the tools that stand in the outbox.
func waitingTools(ctx context.Context, conn *pgxpool.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, `WITH RECURSIVE each (tool) AS (SELECT min(tool) FROM command_outbox
		UNION ALL SELECT (SELECT min(tool) FROM command_outbox o WHERE o.tool > each.tool) FROM each WHERE each.tool IS NOT NULL)
		SELECT tool FROM each WHERE tool IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
