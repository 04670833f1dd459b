package pgledger

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/puddle/v2"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
	"github.com/toolcontract/toolcontract/internal/storable"
)

// now is what a locked row is judged by: the time after the lock was taken.
type now struct {
	time    time.Time
	waiting bool // rows of a restore wait for an operator
}

// step is a transition. What it changed is stored also when it returned an error: a refusal is no failure.
type step func(n now, r *row) error

// update runs s on the row of k, in two round trips: begin, lock, read the clock; write, commit. done reports of a row
// whether s has been there before: the question after a commit whose answer was lost.
func (l *Ledger) update(ctx context.Context, op string, k idem.Key, reap bool, s step, done func(r *row) bool) (v stored.View, refusal error) {
	if !storable.Text(k.Tenant, k.Operation) {
		return stored.View{}, idem.ErrNotFound
	}
	lost := false
	err := l.retry(ctx, func(conn *pgxpool.Conn) (err error) {
		v, refusal, err = l.attempt(ctx, conn, k, reap, func(n now, r *row) error {
			if lost && done != nil && done(r) {
				return nil
			}
			return s(n, r)
		})
		lost = true // from the second time on
		return err
	})
	if err != nil {
		return stored.View{}, stored.Wrap("postgres", op, err)
	}
	if v.Due() {
		l.ring()
	}
	return v, refusal
}

// attempt is one transaction of update.
func (l *Ledger) attempt(ctx context.Context, conn *pgxpool.Conn, k idem.Key, reap bool, s step) (v stored.View, refusal, err error) {
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	l.lock(b, k)
	r, n, err := l.locked(conn.SendBatch(ctx, b), true)
	if err != nil {
		return v, nil, rollback(ctx, conn, err)
	}
	b = &pgx.Batch{}
	refusal = l.transit(b, n, r, reap, s)
	v = stored.View{Row: &r.Row, Now: n.time}
	r.look(b, &v)
	b.Queue("COMMIT")
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return v, nil, rollback(ctx, conn, err)
	}
	return v, refusal, nil
}

// lock queues what locks a row and reads the clock after it.
func (l *Ledger) lock(b *pgx.Batch, k idem.Key) {
	l.secure(b, k.Tenant)
	b.Queue(l.sql.lock, k.Tenant, k.Operation)
	b.Queue(l.sql.clock)
}

// secure queues the tenant for the tables' policies.
func (l *Ledger) secure(b *pgx.Batch, tenant string) {
	if l.rls {
		b.Queue("SELECT set_config('toolcontract.tenant', $1, true)", tenant)
	}
}

func (l *Ledger) locked(br pgx.BatchResults, began bool) (r *row, n now, err error) {
	defer func() {
		if e := br.Close(); err == nil {
			err = e
		}
	}()
	for _, there := range []bool{began, l.rls} {
		if there {
			if _, err := br.Exec(); err != nil {
				return nil, n, err
			}
		}
	}
	if r, err = scanRow(br.QueryRow(), true); err != nil {
		return nil, n, err
	}
	err = br.QueryRow().Scan(&n.time, &n.waiting)
	n.time = n.time.UTC()
	return r, n, err
}

// transit runs a step and queues what it changed.
func (l *Ledger) transit(b *pgx.Batch, n now, r *row, reap bool, s step) error {
	if reap {
		r.Reap(n.time)
	}
	waited := r.Restored
	refusal := s(n, r)
	r.Explain()
	if waited && !r.Restored {
		b.Queue("UPDATE ledger_meta SET waiting = waiting - 1")
	}
	r.save(b)
	return refusal
}

// rollback ends a transaction that err broke, so that the connection can be used again.
func rollback(ctx context.Context, conn *pgxpool.Conn, err error) error {
	if err == nil || conn.Conn().IsClosed() || conn.Conn().PgConn().TxStatus() == 'I' {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	_, _ = conn.Exec(ctx, "ROLLBACK") // a connection that cannot is dropped by the pool
	return err
}

const (
	rollbackTime = 5 * time.Second
	patience     = 5 * time.Second // of one call, with a server that is away: a restart takes less
)

// retry runs f on a connection until it succeeds, fails for good, or has failed too long.
func (l *Ledger) retry(ctx context.Context, f func(conn *pgxpool.Conn) error) error {
	err := l.once(ctx, f)
	if err == nil || !again(ctx, err) {
		return err
	}
	policy := backoff.NewExponentialBackOff()
	policy.InitialInterval, policy.MaxInterval = 10*time.Millisecond, time.Second
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		err := l.once(ctx, f)
		if err != nil && !again(ctx, err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(policy), backoff.WithMaxElapsedTime(patience))
	return err
}

func (l *Ledger) once(ctx context.Context, f func(conn *pgxpool.Conn) error) error {
	conn, err := l.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return f(conn)
}

// now reads the clock.
func (l *Ledger) now(ctx context.Context) (n now, err error) {
	err = l.retry(ctx, func(conn *pgxpool.Conn) error { return conn.QueryRow(ctx, l.sql.clock).Scan(&n.time, &n.waiting) })
	return n, err
}

// again reports whether a transaction that ended in err may be made again: it lost a race, or its connection.
func again(ctx context.Context, err error) bool {
	if ctx.Err() != nil || stored.Refusal(err) || errors.Is(err, puddle.ErrClosedPool) {
		return false
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return true // the connection, or the way to one
	}
	switch pg.Code {
	case "40001", "40P01", // serialization_failure, deadlock_detected
		"57P01", "57P02", "57P03", // the server goes down, or comes up
		"25006",          // a server that is no longer, or not yet, the one to write to
		"53300", "08006": // too many connections, connection failure
		return true
	}
	return false
}
