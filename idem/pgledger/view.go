package pgledger

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
)

// look completes a view: queues what has to be read for it. Most operations have one attempt at most and no evidence,
// and nothing has to be.
func (r *row) look(b *pgx.Batch, v *stored.View) {
	k := r.Command.Key
	switch {
	case r.Dispatches == 1 && r.Attempt.Generation > 0:
		v.Attempts = []idem.Attempt{r.Attempt}
	case r.Dispatches > 1:
		b.Queue("SELECT generation, started_at, ended_at, outcome, worker FROM agent_attempt WHERE tenant_id = $1 AND operation_id = $2 ORDER BY generation",
			k.Tenant, k.Operation).Query(func(rows pgx.Rows) (err error) {
			v.Attempts, err = pgx.CollectRows(rows, scanAttempt)
			return err
		})
	}
	if r.late > 0 {
		b.Queue("SELECT generation, state, at, receipt, result, failure FROM agent_evidence WHERE tenant_id = $1 AND operation_id = $2 ORDER BY at, generation, state",
			k.Tenant, k.Operation).Query(func(rows pgx.Rows) (err error) {
			v.Kept, err = pgx.CollectRows(rows, scanLate)
			return err
		})
	}
}

func scanAttempt(rows pgx.CollectableRow) (a idem.Attempt, err error) {
	var ended zeronull.Timestamptz
	err = rows.Scan(&a.Generation, &a.StartedAt, &ended, &a.Outcome, &a.Worker)
	a.StartedAt, a.EndedAt = a.StartedAt.UTC(), utc(ended)
	return a, err
}

func scanLate(rows pgx.CollectableRow) (e stored.Late, err error) {
	var at time.Time
	err = rows.Scan(&e.Generation, (*string)(&e.Outcome.State), &at, &e.Outcome.Receipt, &e.Sealed.Result, &e.Sealed.Failure)
	e.At = at.UTC()
	return e, err
}
