package pgledger

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcontract/toolcontract/idem"
)

const (
	update = `UPDATE agent_command SET seq = $3, state = $4, generation = $5, token = $6, finished = $7, worker = $8, dispatches = $9,
		doubtful = $10, restored = $11, updated_at = $12, lease_until = $13, retry_at = $14, sent_at = $15, idle_since = $16, running_until = $17,
		attempt_generation = $18, attempt_started_at = $19, attempt_ended_at = $20, attempt_outcome = $21, attempt_worker = $22,
		provider_receipt = $23, reason = $24, doubt_at = $25`
	ended = ", result = $26, failure = $27, word = $28, ended_at = $29"
	byKey = " WHERE tenant_id = $1 AND operation_id = $2"
)

// save queues what this call changed.
func (r *row) save(b *pgx.Batch) {
	if !r.Changed() {
		return
	}
	r.Saved()
	k, a := r.Command.Key, r.Attempt
	var doubt time.Time
	if r.State == idem.Unknown {
		doubt = r.CreatedAt
	}
	args := []any{
		k.Tenant, k.Operation, r.Command.Seq, string(r.State), r.Generation, r.Token, r.Finished, r.Worker, r.Dispatches,
		r.Doubtful, r.Restored, r.UpdatedAt, null(r.LeaseUntil), null(r.RetryAt), null(r.SentAt), null(r.IdleSince), null(r.RunningUntil),
		a.Generation, null(a.StartedAt), null(a.EndedAt), a.Outcome, a.Worker, r.Receipt, r.Reason, null(doubt),
	}
	if r.State.Terminal() {
		b.Queue(update+ended+byKey, append(args, r.Sealed.Result, r.Sealed.Failure, r.Sealed.Word, r.UpdatedAt)...)
	} else {
		b.Queue(update+byKey, args...)
	}
	if a.Generation > 0 && a != r.stored {
		b.Queue(`INSERT INTO agent_attempt VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (tenant_id, operation_id, generation) DO UPDATE SET ended_at = excluded.ended_at, outcome = excluded.outcome`,
			k.Tenant, k.Operation, a.Generation, a.StartedAt, null(a.EndedAt), a.Outcome, a.Worker)
	}
	if r.Slot != r.Was {
		b.Queue("UPDATE agent_resource SET seq = $3, open_operation = $4 WHERE tenant_id = $1 AND resource = $2",
			k.Tenant, r.Command.Resource, r.Slot.Seq, r.Slot.Open)
	}
	r.saveOutbox(b)
}

// saveOutbox leaves the time alone where this call did: a delivery at the same moment may have moved it.
func (r *row) saveOutbox(b *pgx.Batch) {
	k := r.Command.Key
	claimed := r.State == idem.Dispatching || r.State == idem.Running
	switch {
	case r.State.Terminal():
		b.Queue("DELETE FROM command_outbox WHERE tenant_id = $1 AND operation_id = $2", k.Tenant, k.Operation)
	case r.DueAt.Equal(r.wasDue):
		b.Queue("UPDATE command_outbox SET due_by = $3, claimed = $4 WHERE tenant_id = $1 AND operation_id = $2", k.Tenant, k.Operation, null(r.DueBy()), claimed)
	default:
		b.Queue("UPDATE command_outbox SET due_by = $3, claimed = $4, available_at = $5 WHERE tenant_id = $1 AND operation_id = $2",
			k.Tenant, k.Operation, null(r.DueBy()), claimed, r.DueAt)
	}
}
