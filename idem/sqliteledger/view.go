package sqliteledger

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

// view is what a record is made of, read in one transaction and still sealed.
type view struct {
	*row
	now      time.Time
	attempts []idem.Attempt
	late     []late
}

type late struct {
	idem.Evidence
	sealed sealed
}

func look(ctx context.Context, q querier, r *row, now time.Time) (view, error) {
	v := view{row: r, now: now}
	var err error
	if v.attempts, err = attempts(ctx, q, r.Command.Key, math.MaxInt32); err != nil {
		return v, err
	}
	v.late, err = evidence(ctx, q, r.Command.Key)
	return v, err
}

func evidence(ctx context.Context, q querier, k idem.Key) ([]late, error) {
	rows, err := q.QueryContext(ctx, `SELECT generation, state, at, receipt, result, failure FROM agent_evidence
		WHERE tenant_id = ? AND operation_id = ? ORDER BY at, generation, state`, k.Tenant, k.Operation)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err says it
	var all []late
	for rows.Next() {
		var e late
		var at micros
		if err := rows.Scan(&e.Generation, &e.Outcome.State, &at, &e.Outcome.Receipt, &e.sealed.result, &e.sealed.failure); err != nil {
			return nil, err
		}
		e.At = at.time()
		all = append(all, e)
	}
	return all, rows.Err()
}

// place is the column that an evidence's parts are bound to.
func place(e idem.Evidence) string {
	return fmt.Sprintf("evidence/%d/%s/", e.Generation, e.Outcome.State)
}

// record opens a view, outside of any transaction.
func (l *Ledger) record(ctx context.Context, v view) (idem.Record, error) {
	if err := l.unseal(ctx, v.row); err != nil {
		return idem.Record{}, err
	}
	k := v.Command.Key
	evs := make([]idem.Evidence, len(v.late))
	for i, e := range v.late {
		var err error
		if e.Outcome.Result, err = l.open(ctx, k, place(e.Evidence)+"result", e.sealed.result); err != nil {
			return idem.Record{}, err
		}
		if e.Outcome.Failure, err = l.openFailure(ctx, k, place(e.Evidence)+"failure", e.sealed.failure); err != nil {
			return idem.Record{}, err
		}
		evs[i] = e.Evidence
	}
	return v.Record(v.now, v.attempts, evs), nil
}
