package sqliteledger

import (
	"context"
	"math"
	"time"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
)

func look(ctx context.Context, q querier, r *stored.Row, now time.Time) (stored.View, error) {
	v := stored.View{Row: r, Now: now}
	var err error
	if v.Attempts, err = attempts(ctx, q, r.Command.Key, math.MaxInt32); err != nil {
		return v, err
	}
	v.Kept, err = evidence(ctx, q, r.Command.Key)
	return v, err
}

func evidence(ctx context.Context, q querier, k idem.Key) ([]stored.Late, error) {
	rows, err := q.QueryContext(ctx, `SELECT generation, state, at, receipt, result, failure FROM agent_evidence
		WHERE tenant_id = ? AND operation_id = ? ORDER BY at, generation, state`, k.Tenant, k.Operation)
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
