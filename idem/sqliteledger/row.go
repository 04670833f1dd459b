package sqliteledger

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
)

// micros is a time as the file has it.
type micros int64

func toMicros(t time.Time) micros {
	if t.IsZero() {
		return 0
	}
	return micros(t.UnixMicro())
}

func (m micros) time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(m)).UTC()
}

// querier is a handle, a connection or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (l *Ledger) now(ctx context.Context, q querier) (time.Time, error) {
	var ms int64
	err := q.QueryRowContext(ctx, "SELECT "+l.clock).Scan(&ms)
	return time.UnixMilli(ms).UTC(), err
}

const columns = `c.tenant_id, c.operation_id, c.request_hash, c.run_id, c.resource, c.command, c.seq, c.state, c.generation, c.token,
	c.finished, c.worker, c.dispatches, c.turn, c.doubtful, c.forgotten, c.restored, c.created_at, c.updated_at, c.expires_at,
	c.lease_until, c.retry_at, c.sent_at, c.idle_since, c.running_until, c.provider_receipt, c.reason, c.body, c.result, c.failure,
	c.word, c.tomb_at IS NOT NULL, coalesce(o.available_at, 0), r.seq, r.open_operation`

const from = ` FROM agent_command c
	JOIN agent_resource r ON r.tenant_id = c.tenant_id AND r.resource = c.resource
	LEFT JOIN command_outbox o ON o.tenant_id = c.tenant_id AND o.operation_id = c.operation_id `

func scan(from interface{ Scan(dest ...any) error }) (*stored.Row, error) {
	var r stored.Row
	var t struct{ created, updated, expires, lease, retry, sent, idle, until, due micros }
	var command []byte
	c := &r.Command
	err := from.Scan(&c.Key.Tenant, &c.Key.Operation, &c.RequestHash, &c.Run, &c.Resource, &command, &c.Seq, &r.State, &r.Generation, &r.Token,
		&r.Finished, &r.Worker, &r.Dispatches, &r.Turn, &r.Doubtful, &r.Forgotten, &r.Restored, &t.created, &t.updated, &t.expires,
		&t.lease, &t.retry, &t.sent, &t.idle, &t.until, &r.Receipt, &r.Reason, &r.Sealed.Body, &r.Sealed.Result, &r.Sealed.Failure,
		&r.Sealed.Word, &r.Gone, &t.due, &r.Slot.Seq, &r.Slot.Open)
	if err != nil {
		return nil, err
	}
	r.CreatedAt, r.UpdatedAt, r.ExpiresAt, r.LeaseUntil, r.RetryAt = t.created.time(), t.updated.time(), t.expires.time(), t.lease.time(), t.retry.time()
	r.SentAt, r.IdleSince, r.RunningUntil, r.DueAt = t.sent.time(), t.idle.time(), t.until.time(), t.due.time()
	return &r, r.Read(command)
}

// load reads a row with its resource, its outbox row and its last attempt.
func load(ctx context.Context, q querier, k idem.Key) (*stored.Row, error) {
	r, err := scan(q.QueryRowContext(ctx, "SELECT "+columns+from+"WHERE c.tenant_id = ? AND c.operation_id = ?", k.Tenant, k.Operation))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, idem.ErrNotFound
	case err != nil:
		return nil, err
	case r.Gone:
		return nil, &idem.Gone{State: r.State}
	}
	return r, lastAttempt(ctx, q, r)
}

func lastAttempt(ctx context.Context, q querier, r *stored.Row) error {
	as, err := attempts(ctx, q, r.Command.Key, 1)
	if len(as) == 1 {
		r.Attempt = as[0]
	}
	return err
}

// attempts returns the last attempts, at most limit, the oldest first.
func attempts(ctx context.Context, q querier, k idem.Key, limit int) ([]idem.Attempt, error) {
	rows, err := q.QueryContext(ctx, `SELECT generation, started_at, ended_at, outcome, worker FROM
		(SELECT * FROM agent_attempt WHERE tenant_id = ? AND operation_id = ? ORDER BY generation DESC LIMIT ?) ORDER BY generation`,
		k.Tenant, k.Operation, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err says it
	var as []idem.Attempt
	for rows.Next() {
		var a idem.Attempt
		var started, ended micros
		if err := rows.Scan(&a.Generation, &started, &ended, &a.Outcome, &a.Worker); err != nil {
			return nil, err
		}
		a.StartedAt, a.EndedAt = started.time(), ended.time()
		as = append(as, a)
	}
	return as, rows.Err()
}
