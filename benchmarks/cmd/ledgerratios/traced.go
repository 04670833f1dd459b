package main

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
)

// sent is a statement that the ledger sent.
type sent struct {
	sql  string
	args []any
}

// round is what the ledger sent in one round trip: one statement, or a batch.
type roundTrip []sent

// tracer writes down what a connection sends. It is what makes "the same statement" the same.
type tracer struct {
	mu     sync.Mutex
	rounds []roundTrip
}

func (t *tracer) take() []roundTrip {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rounds
	t.rounds = nil
	return r
}

// TraceQueryStart implements [pgx.QueryTracer].
func (t *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rounds = append(t.rounds, roundTrip{{d.SQL, values(d.Args)}})
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (*tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements [pgx.BatchTracer].
func (t *tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	var r roundTrip
	for _, q := range d.Batch.QueuedQueries {
		r = append(r, sent{q.SQL, values(q.Arguments)})
	}
	t.rounds = append(t.rounds, r)
	return ctx
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (*tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements [pgx.BatchTracer].
func (*tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// values leaves out what tells the driver how to send.
func values(args []any) []any {
	var v []any
	for _, a := range args {
		switch a.(type) {
		case pgx.QueryResultFormats, pgx.QueryExecMode, pgx.QueryResultFormatsByOID:
		default:
			v = append(v, a)
		}
	}
	return v
}
