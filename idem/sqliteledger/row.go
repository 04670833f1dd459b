package sqliteledger

import (
	"context"
	"database/sql"
	"encoding/json/v2"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// row is an entry as the file has it. What is sealed stays so while the file is locked: Entry's Body, Result, Failure
// and Resolution hold what this call brought in, if anything.
type row struct {
	idem.Entry
	slot   idem.Slot
	was    idem.Slot
	sealed sealed
	reason string
	ended  bool // terminal before this call
	gone   bool // a tombstone
}

type sealed struct{ body, result, failure, word []byte }

// made is the command column: what the library made, and no data of anybody's.
type made struct {
	Tool        string            `json:"tool"`
	Proposal    string            `json:"proposal,omitzero"`
	Contract    idem.Contract     `json:"contract,omitzero"`
	ProviderKey string            `json:"provider_key,omitzero"`
	Attempts    int               `json:"attempts,omitzero"`
	AvailableIn nanos             `json:"available_in_ns,omitzero"`
	ExpiresIn   nanos             `json:"expires_in_ns,omitzero"`
	DedupFor    nanos             `json:"dedup_for_ns,omitzero"`
	RunFor      nanos             `json:"run_for_ns,omitzero"`
	Settle      nanos             `json:"settle_ns,omitzero"`
	Meta        map[string]string `json:"meta,omitempty"`
}

// nanos is a duration as the command column has it.
type nanos int64

func encodeMade(c idem.Command) ([]byte, error) {
	return json.Marshal(made{
		c.Tool, c.Proposal, c.Contract, c.ProviderKey, c.Attempts,
		nanos(c.AvailableIn), nanos(c.ExpiresIn), nanos(c.DedupFor), nanos(c.RunFor), nanos(c.Settle), c.Meta,
	}, json.Deterministic(true))
}

func (m made) into(c *idem.Command) {
	c.Tool, c.Proposal, c.Contract, c.ProviderKey, c.Attempts = m.Tool, m.Proposal, m.Contract, m.ProviderKey, m.Attempts
	c.AvailableIn, c.ExpiresIn, c.DedupFor = time.Duration(m.AvailableIn), time.Duration(m.ExpiresIn), time.Duration(m.DedupFor)
	c.RunFor, c.Settle, c.Meta = time.Duration(m.RunFor), time.Duration(m.Settle), m.Meta
}

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

func scan(from interface{ Scan(dest ...any) error }) (*row, error) {
	var r row
	var t struct{ created, updated, expires, lease, retry, sent, idle, until, due micros }
	var command []byte
	c := &r.Command
	err := from.Scan(&c.Key.Tenant, &c.Key.Operation, &c.RequestHash, &c.Run, &c.Resource, &command, &c.Seq, &r.State, &r.Generation, &r.Token,
		&r.Finished, &r.Worker, &r.Dispatches, &r.Turn, &r.Doubtful, &r.Forgotten, &r.Restored, &t.created, &t.updated, &t.expires,
		&t.lease, &t.retry, &t.sent, &t.idle, &t.until, &r.Receipt, &r.reason, &r.sealed.body, &r.sealed.result, &r.sealed.failure,
		&r.sealed.word, &r.gone, &t.due, &r.slot.Seq, &r.slot.Open)
	if err != nil {
		return nil, err
	}
	r.CreatedAt, r.UpdatedAt, r.ExpiresAt, r.LeaseUntil, r.RetryAt = t.created.time(), t.updated.time(), t.expires.time(), t.lease.time(), t.retry.time()
	r.SentAt, r.IdleSince, r.RunningUntil, r.DueAt = t.sent.time(), t.idle.time(), t.until.time(), t.due.time()
	r.was, r.ended = r.slot, r.State.Terminal()
	if r.gone {
		return &r, nil
	}
	var m made
	if err := json.Unmarshal(command, &m, json.RejectUnknownMembers(false)); err != nil {
		return nil, errors.New("the command column is not the ledger's")
	}
	m.into(c)
	if r.reason != "" {
		r.Failure = envelope.New(envelope.Code(r.reason))
		r.Failure.Effect = envelope.EffectNone
	}
	return &r, nil
}

// load reads a row with its resource, its outbox row and its last attempt.
func load(ctx context.Context, q querier, k idem.Key) (*row, error) {
	r, err := scan(q.QueryRowContext(ctx, "SELECT "+columns+from+"WHERE c.tenant_id = ? AND c.operation_id = ?", k.Tenant, k.Operation))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, idem.ErrNotFound
	case err != nil:
		return nil, err
	case r.gone:
		return nil, &idem.Gone{State: r.State}
	}
	return r, r.lastAttempt(ctx, q)
}

func (r *row) lastAttempt(ctx context.Context, q querier) error {
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
