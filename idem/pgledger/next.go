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

// Next implements [idem.Ledger]. Rows that are locked by others are passed over.
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

func (l *Ledger) nextOn(ctx context.Context, conn *pgxpool.Conn, tools []string, lease time.Duration) (d idem.Delivery, err error) {
	if tools == nil {
		if tools, err = waitingTools(ctx, conn); err != nil {
			return d, err
		}
	}
	tools = slices.DeleteFunc(slices.Clone(tools), func(t string) bool { return !storable.Text(t) })
	if len(tools) == 0 {
		return d, idem.ErrEmpty
	}
	var overdue bool
	d, overdue, err = l.deliver(ctx, conn, tools, lease)
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

// deliver takes the first row that is due. It looks behind the mark first, and everywhere where nothing stands there.
func (l *Ledger) deliver(ctx context.Context, conn *pgxpool.Conn, tools []string, lease time.Duration) (d idem.Delivery, overdue bool, err error) {
	from := l.marks.get(tools)
	for {
		var at, now time.Time
		var running, until zeronull.Timestamptz
		err = conn.QueryRow(ctx, l.sql.next, tools, lease.Microseconds(), from).Scan(&d.Key.Tenant, &d.Key.Operation, &d.Tool, &d.Turn,
			(*string)(&d.State), &d.Attempt, &until, &running, &at, &now)
		switch {
		case err == nil:
			l.marks.set(tools, at, now, from == everywhere())
			overdue = d.State == idem.Dispatching && !now.Before(time.Time(until)) || d.State == idem.Running && !now.Before(time.Time(running))
			return d, overdue, nil
		case !errors.Is(err, pgx.ErrNoRows):
			return d, false, err
		case from == everywhere():
			return d, false, idem.ErrEmpty
		}
		from = everywhere()
	}
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
