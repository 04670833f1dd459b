package sqliteledger

import (
	"context"
	"slices"

	"github.com/toolcontract/toolcontract/idem/internal/stored"
)

const (
	insertCommand = `INSERT INTO agent_command (tenant_id, operation_id, request_hash, run_id, resource, command, seq, state, generation, token, finished,
		worker, dispatches, turn, doubtful, forgotten, restored, created_at, updated_at, expires_at, lease_until, retry_at, sent_at, idle_since,
		running_until, provider_receipt, reason, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '', '', '', 0, 0, ?, ?, 0, ?, ?, ?, 0, 0, 0, ?, 0, '', '', ?)`
	insertOutbox   = "INSERT INTO command_outbox VALUES (?, ?, ?, ?, ?, ?)"
	insertResource = `INSERT INTO agent_resource VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET seq = excluded.seq, open_operation = excluded.open_operation`
	updateCommand = `UPDATE agent_command SET seq = ?, state = ?, generation = ?, token = ?, finished = ?, worker = ?, dispatches = ?, turn = ?,
		doubtful = ?, restored = ?, updated_at = ?, lease_until = ?, retry_at = ?, sent_at = ?, idle_since = ?, running_until = ?,
		provider_receipt = ?, reason = ?, result = ?, failure = ?, word = ?, ended_at = ? WHERE tenant_id = ? AND operation_id = ?`
	saveAttempt = `INSERT INTO agent_attempt VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET ended_at = excluded.ended_at, outcome = excluded.outcome`
	updateResource = "UPDATE agent_resource SET seq = ?, open_operation = ? WHERE tenant_id = ? AND resource = ?"
	updateOutbox   = "UPDATE command_outbox SET available_at = ?, due_by = ? WHERE tenant_id = ? AND operation_id = ?"
	deleteOutbox   = "DELETE FROM command_outbox WHERE tenant_id = ? AND operation_id = ?"
)

// hot are the statements of an operation's way, and of finding it again.
func (l *Ledger) hot() (writing, reading []string) {
	reading = []string{l.sql.one, l.sql.due, allAttempts, allEvidence}
	return append(slices.Clone(reading), l.sql.admission, insertCommand, insertOutbox, insertResource, updateCommand, saveAttempt, updateResource,
		updateOutbox, deleteOutbox), reading
}

// insert writes a new row with its resource and its outbox row.
func insert(ctx context.Context, q querier, r *stored.Row) error {
	c := r.Command
	command, err := stored.EncodeCommand(c)
	if err != nil {
		return err
	}
	return run(ctx, q,
		stmt{insertCommand, []any{
			c.Key.Tenant, c.Key.Operation, c.RequestHash, c.Run, c.Resource, string(command), c.Seq, r.State, r.Doubtful, r.Forgotten,
			toMicros(r.CreatedAt), toMicros(r.UpdatedAt), toMicros(r.ExpiresAt), toMicros(r.IdleSince), r.Sealed.Body,
		}},
		stmt{insertOutbox, []any{
			c.Key.Tenant, c.Key.Operation, c.Tool, c.Run, toMicros(r.DueAt), toMicros(r.DueBy()),
		}},
		stmt{insertResource, []any{
			c.Key.Tenant, c.Resource, r.Slot.Seq, r.Slot.Open,
		}},
	)
}

// save writes what this call changed.
func save(ctx context.Context, q querier, r *stored.Row) error {
	if !r.Changed() {
		return nil
	}
	r.Saved()
	k := r.Command.Key
	var ended any
	if r.State.Terminal() {
		ended = toMicros(r.UpdatedAt)
	}
	todo := []stmt{{updateCommand, []any{
		r.Command.Seq, r.State, r.Generation, r.Token, r.Finished, r.Worker, r.Dispatches, r.Turn,
		r.Doubtful, r.Restored, toMicros(r.UpdatedAt), toMicros(r.LeaseUntil), toMicros(r.RetryAt), toMicros(r.SentAt), toMicros(r.IdleSince),
		toMicros(r.RunningUntil), r.Receipt, r.Reason, r.Sealed.Result, r.Sealed.Failure, r.Sealed.Word, ended, k.Tenant, k.Operation,
	}}}
	if a := r.Attempt; a.Generation > 0 {
		todo = append(todo, stmt{saveAttempt, []any{
			k.Tenant, k.Operation, a.Generation, toMicros(a.StartedAt), toMicros(a.EndedAt), a.Outcome, a.Worker,
		}})
	}
	if r.Slot != r.Was {
		todo = append(todo, stmt{updateResource, []any{
			r.Slot.Seq, r.Slot.Open, k.Tenant, r.Command.Resource,
		}})
	}
	if r.State.Terminal() {
		todo = append(todo, stmt{deleteOutbox, []any{k.Tenant, k.Operation}})
	} else {
		todo = append(todo, stmt{updateOutbox, []any{
			toMicros(r.DueAt), toMicros(r.DueBy()), k.Tenant, k.Operation,
		}})
	}
	return run(ctx, q, todo...)
}

type stmt struct {
	sql  string
	args []any
}

func run(ctx context.Context, q querier, todo ...stmt) error {
	for _, s := range todo {
		if _, err := q.ExecContext(ctx, s.sql, s.args...); err != nil {
			return err
		}
	}
	return nil
}
