package pgledger

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
)

// own are the columns of a command that a record needs.
const own = `c.tenant_id, c.operation_id, c.request_hash, c.run_id, c.resource, c.command, c.seq, c.state, c.generation, c.token,
	c.finished, c.worker, c.dispatches, c.late, c.doubtful, c.forgotten, c.restored, c.created_at, c.updated_at, c.expires_at,
	c.lease_until, c.retry_at, c.sent_at, c.idle_since, c.running_until, c.attempt_generation, c.attempt_started_at, c.attempt_ended_at,
	c.attempt_outcome, c.attempt_worker, c.provider_receipt, c.reason, c.body, c.result, c.failure, c.word, c.tomb_at IS NOT NULL`

// beside are those of other tables, which a transition needs.
const beside = `, o.available_at, coalesce(o.turn, 0), r.seq, r.open_operation`

// row is a stored row and what this package keeps beside it.
type row struct {
	stored.Row
	late   int          // rows of evidence
	wasDue time.Time    // as it was read
	stored idem.Attempt // its attempt, as it was read
}

// scanRow reads own, and beside where with is set, and whatever follows into more.
func scanRow(from pgx.Row, with bool, more ...any) (*row, error) {
	var r row
	var t struct{ lease, retry, sent, idle, until, started, ended, due zeronull.Timestamptz }
	var command []byte
	c, a := &r.Command, &r.Attempt
	dest := []any{
		&c.Key.Tenant, &c.Key.Operation, &c.RequestHash, &c.Run, &c.Resource, &command, &c.Seq, (*string)(&r.State), &r.Generation, &r.Token,
		&r.Finished, &r.Worker, &r.Dispatches, &r.late, &r.Doubtful, &r.Forgotten, &r.Restored, &r.CreatedAt, &r.UpdatedAt, &r.ExpiresAt,
		&t.lease, &t.retry, &t.sent, &t.idle, &t.until, &a.Generation, &t.started, &t.ended,
		&a.Outcome, &a.Worker, &r.Receipt, &r.Reason, &r.Sealed.Body, &r.Sealed.Result, &r.Sealed.Failure, &r.Sealed.Word, &r.Gone,
	}
	if with {
		dest = append(dest, &t.due, &r.Turn, &r.Slot.Seq, &r.Slot.Open)
	}
	if err := from.Scan(append(dest, more...)...); err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, idem.ErrNotFound
		}
		return nil, err
	}
	r.CreatedAt, r.UpdatedAt, r.ExpiresAt = r.CreatedAt.UTC(), r.UpdatedAt.UTC(), r.ExpiresAt.UTC()
	r.LeaseUntil, r.RetryAt, r.SentAt, r.IdleSince = utc(t.lease), utc(t.retry), utc(t.sent), utc(t.idle)
	r.RunningUntil, a.StartedAt, a.EndedAt, r.DueAt = utc(t.until), utc(t.started), utc(t.ended), utc(t.due)
	r.wasDue, r.stored = r.DueAt, *a
	if r.Gone {
		return &r, &idem.Gone{State: r.State}
	}
	return &r, r.Read(command)
}

func utc(t zeronull.Timestamptz) time.Time {
	if time.Time(t).IsZero() {
		return time.Time{}
	}
	return time.Time(t).UTC()
}

func null(t time.Time) zeronull.Timestamptz { return zeronull.Timestamptz(t) }
