package sqliteledger

import (
	"context"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
)

const (
	allAttempts = `SELECT generation, started_at, ended_at, outcome, worker FROM agent_attempt
		WHERE tenant_id = ? AND operation_id = ? ORDER BY generation`
	allEvidence = `SELECT generation, state, at, receipt, result, failure FROM agent_evidence
		WHERE tenant_id = ? AND operation_id = ? ORDER BY at, generation, state`
)

// look completes a view: reads what a row does not hold. Most operations have one attempt at most and no evidence, and
// nothing has to be read.
func look(ctx context.Context, q querier, r *row) (v stored.View, err error) {
	v = stored.View{Row: &r.Row, Now: r.now}
	switch {
	case r.Dispatches == 1 && r.Attempt.Generation > 0:
		v.Attempts = []idem.Attempt{r.Attempt}
	case r.Dispatches > 1:
		if v.Attempts, err = attempts(ctx, q, r.Command.Key); err != nil {
			return v, err
		}
	}
	if r.late {
		v.Kept, err = evidence(ctx, q, r.Command.Key)
	}
	return v, err
}

func attempts(ctx context.Context, q querier, k idem.Key) ([]idem.Attempt, error) {
	rows, err := q.QueryContext(ctx, allAttempts, k.Tenant, k.Operation)
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

func evidence(ctx context.Context, q querier, k idem.Key) ([]stored.Late, error) {
	rows, err := q.QueryContext(ctx, allEvidence, k.Tenant, k.Operation)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err says it
	var all []stored.Late
	for rows.Next() {
		var e stored.Late
		var at micros
		if err := rows.Scan(&e.Generation, &e.Outcome.State, &at, &e.Outcome.Receipt, &e.Sealed.Result, &e.Sealed.Failure); err != nil {
			return nil, err
		}
		e.At = at.time()
		all = append(all, e)
	}
	return all, rows.Err()
}
