package pgledger

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/idem"
)

// shown are the columns that a record is made of; those for transitions alone are left out. Replays are the one thing
// that a model asks for again and again, so their row is decoded by hand: in the order of this list, from the
// protocol's binary forms, without a plan for each column.
const shown = `c.request_hash, c.run_id, c.resource, c.command, c.seq, c.state, c.token, c.dispatches, c.late, c.created_at, c.updated_at,
	c.lease_until, c.retry_at, c.running_until, c.attempt_generation, c.attempt_started_at, c.attempt_ended_at, c.attempt_outcome,
	c.attempt_worker, c.provider_receipt, c.reason, c.body, c.result, c.failure, c.word, c.tomb_at`

var errForm = errors.New("a column came in another form")

// readShown reads one row of shown and the clock.
func readShown(ctx context.Context, conn interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, sql string, k idem.Key,
) (*row, time.Time, error) {
	rows, err := conn.Query(ctx, sql, pgx.QueryResultFormats{pgx.BinaryFormatCode}, k.Tenant, k.Operation)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, time.Time{}, err
		}
		return nil, time.Time{}, idem.ErrNotFound
	}
	r, now, err := decodeShown(rows.RawValues(), k)
	if err != nil {
		return r, now, err
	}
	rows.Close()
	return r, now, rows.Err()
}

func decodeShown(cols [][]byte, k idem.Key) (*row, time.Time, error) {
	r := new(row)
	d := decoder{cols: cols}
	c, a := &r.Command, &r.Attempt
	c.Key = k
	c.RequestHash, c.Run, c.Resource = d.text(), d.text(), d.text()
	command := d.next() // read before the buffer is used again
	c.Seq, r.State, r.Token = d.int(), idem.State(d.text()), d.text()
	r.Dispatches, r.late = int(d.int()), int(d.int())
	r.CreatedAt, r.UpdatedAt, r.LeaseUntil, r.RetryAt, r.RunningUntil = d.time(), d.time(), d.time(), d.time(), d.time()
	a.Generation, a.StartedAt, a.EndedAt, a.Outcome, a.Worker = d.int(), d.time(), d.time(), d.text(), d.text()
	r.Receipt, r.Reason = d.text(), d.text()
	r.Sealed.Body, r.Sealed.Result, r.Sealed.Failure, r.Sealed.Word = d.bytes(), d.bytes(), d.bytes(), d.bytes()
	r.Gone = !d.time().IsZero()
	now := d.time()
	switch {
	case d.bad || len(d.cols) > 0:
		return nil, now, errForm
	case r.Gone:
		return r, now, &idem.Gone{State: r.State}
	}
	return r, now, r.Read(command)
}

// decoder takes columns one after the other.
type decoder struct {
	cols [][]byte
	bad  bool
}

func (d *decoder) next() []byte {
	if len(d.cols) == 0 {
		d.bad = true
		return nil
	}
	b := d.cols[0]
	d.cols = d.cols[1:]
	return b
}

func (d *decoder) text() string { return string(d.next()) }

// bytes copies: the protocol's buffer is used again.
func (d *decoder) bytes() []byte {
	b := d.next()
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}

func (d *decoder) int() int64 {
	switch b := d.next(); len(b) {
	case 8:
		return int64(binary.BigEndian.Uint64(b)) //nolint:gosec // two's complement, as it was sent
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b))) //nolint:gosec // as above
	}
	d.bad = true
	return 0
}

// time is microseconds since 2000; NULL is the zero time.
func (d *decoder) time() time.Time {
	const y2000 = 946_684_800_000_000
	b := d.next()
	if b == nil {
		return time.Time{}
	}
	if len(b) != 8 {
		d.bad = true
		return time.Time{}
	}
	return time.UnixMicro(int64(binary.BigEndian.Uint64(b)) + y2000).UTC() //nolint:gosec // as above
}

// shown reads one row, where the tables' policies need it in a transaction that names the tenant.
func (l *Ledger) shown(ctx context.Context, conn *pgxpool.Conn, k idem.Key) (r *row, now time.Time, err error) {
	if !l.rls {
		return readShown(ctx, conn, l.sql.peek, k)
	}
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT set_config('toolcontract.tenant', $1, true)", k.Tenant); err != nil {
			return err
		}
		r, now, err = readShown(ctx, tx, l.sql.peek, k)
		return err
	})
	return r, now, err
}
