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

// columns are a command's with its resource, its outbox row and its last attempt, whether there is evidence and whether
// a restore waits, and the time: one statement is all that a transition or a replay reads of most operations.
const columns = `c.tenant_id, c.operation_id, c.request_hash, c.run_id, c.resource, c.command, c.seq, c.state, c.generation, c.token,
	c.finished, c.worker, c.dispatches, c.turn, c.doubtful, c.forgotten, c.restored, c.created_at, c.updated_at, c.expires_at,
	c.lease_until, c.retry_at, c.sent_at, c.idle_since, c.running_until, c.provider_receipt, c.reason, c.body, c.result, c.failure,
	c.word, c.tomb_at IS NOT NULL, coalesce(o.available_at, 0), r.seq, r.open_operation,
	coalesce(a.generation, 0), coalesce(a.started_at, 0), coalesce(a.ended_at, 0), coalesce(a.outcome, ''), coalesce(a.worker, ''),
	EXISTS (SELECT 1 FROM agent_evidence e WHERE e.tenant_id = c.tenant_id AND e.operation_id = c.operation_id),
	(SELECT waiting > 0 FROM ledger_meta), `

const from = ` FROM agent_command c
	JOIN agent_resource r ON r.tenant_id = c.tenant_id AND r.resource = c.resource
	LEFT JOIN command_outbox o ON o.tenant_id = c.tenant_id AND o.operation_id = c.operation_id
	LEFT JOIN agent_attempt a ON a.tenant_id = c.tenant_id AND a.operation_id = c.operation_id AND a.generation =
		(SELECT max(generation) FROM agent_attempt l WHERE l.tenant_id = c.tenant_id AND l.operation_id = c.operation_id)
	WHERE `

const byKey = "c.tenant_id = ? AND c.operation_id = ?"

// row is a stored row and what was read beside it.
type row struct {
	stored.Row
	late    bool // it has evidence
	waiting bool // a restore waits for an operator
	now     time.Time
}

func scan(from interface{ Scan(dest ...any) error }) (*row, error) {
	var r row
	var t struct{ created, updated, expires, lease, retry, sent, idle, until, due, started, ended micros }
	var command []byte
	var ms int64
	c, a := &r.Command, &r.Attempt
	err := from.Scan(&c.Key.Tenant, &c.Key.Operation, &c.RequestHash, &c.Run, &c.Resource, &command, &c.Seq, &r.State, &r.Generation, &r.Token,
		&r.Finished, &r.Worker, &r.Dispatches, &r.Turn, &r.Doubtful, &r.Forgotten, &r.Restored, &t.created, &t.updated, &t.expires,
		&t.lease, &t.retry, &t.sent, &t.idle, &t.until, &r.Receipt, &r.Reason, &r.Sealed.Body, &r.Sealed.Result, &r.Sealed.Failure,
		&r.Sealed.Word, &r.Gone, &t.due, &r.Slot.Seq, &r.Slot.Open, &a.Generation, &t.started, &t.ended, &a.Outcome, &a.Worker,
		&r.late, &r.waiting, &ms)
	if err != nil {
		return nil, err
	}
	r.CreatedAt, r.UpdatedAt, r.ExpiresAt, r.LeaseUntil, r.RetryAt = t.created.time(), t.updated.time(), t.expires.time(), t.lease.time(), t.retry.time()
	r.SentAt, r.IdleSince, r.RunningUntil, r.DueAt = t.sent.time(), t.idle.time(), t.until.time(), t.due.time()
	a.StartedAt, a.EndedAt = t.started.time(), t.ended.time()
	r.now = time.UnixMilli(ms).UTC()
	return &r, r.Read(command)
}

// load reads a row, and the clock after it.
func (l *Ledger) load(ctx context.Context, q querier, k idem.Key) (*row, error) {
	return loaded(scan(q.QueryRowContext(ctx, l.sql.one, k.Tenant, k.Operation)))
}

func loaded(r *row, err error) (*row, error) {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, idem.ErrNotFound
	case err != nil:
		return nil, err
	case r.Gone:
		return nil, &idem.Gone{State: r.State}
	}
	return r, nil
}

func (l *Ledger) scanAll(ctx context.Context, q querier, where string, args ...any) ([]*row, error) {
	rows, err := q.QueryContext(ctx, "SELECT "+columns+l.sql.clock+from+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err says it
	var rs []*row
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return nil, err
		}
		rs = append(rs, r)
	}
	return rs, rows.Err()
}

func (l *Ledger) now(ctx context.Context, q querier) (time.Time, error) {
	var ms int64
	err := q.QueryRowContext(ctx, "SELECT "+l.sql.clock).Scan(&ms)
	return time.UnixMilli(ms).UTC(), err
}
