package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcontract/toolcontract/approval"
)

// attempts is how often a call is tried at most.
const attempts = 5

// retry runs a call, again after what another attempt may mend. Every call of a Store may be repeated. Beside an error
// the answer is the zero value.
func retry[T any](ctx context.Context, what string, run func() (T, error)) (T, error) {
	var zero T
	if err := ctx.Err(); err != nil {
		return zero, fmt.Errorf("pgstore: %s: %w", what, err)
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 5*time.Millisecond, 200*time.Millisecond
	v, err := backoff.Retry(ctx, func() (T, error) {
		v, err := run()
		if err != nil && !mayMend(err) {
			err = backoff.Permanent(err)
		}
		return v, err
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(attempts))
	if err == nil {
		return v, nil
	}
	if p, ok := errors.AsType[*backoff.PermanentError](err); ok {
		err = p.Unwrap()
	}
	if contractual(err) {
		return zero, err
	}
	return zero, fmt.Errorf("pgstore: %s: %w", what, err)
}

// contractual errors are the package approval's own answers; all others are the machinery's.
func contractual(err error) bool {
	for _, known := range []error{
		approval.ErrNotFound, approval.ErrExpired, approval.ErrConsumed, approval.ErrDecided, approval.ErrDigest, approval.ErrSelf,
		approval.ErrNotAllowed, approval.ErrPending, approval.ErrReason, approval.ErrExists, approval.ErrInvalid,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// mayMend: a transaction that lost against another (40001, 40P01), a server that is stopping or starting (57P01 to
// 57P03), a connection that broke (class 08, or no answer at all).
func mayMend(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pg.Code {
		case "40001", "40P01", "57P01", "57P02", "57P03":
			return true
		}
		return strings.HasPrefix(pg.Code, "08")
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if _, broken := errors.AsType[net.Error](err); broken || pgconn.SafeToRetry(err) {
		return true
	}
	for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, pgconn.ErrConnClosed} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}

// setTenant is what the policies of row-level security compare with, until the transaction ends. jit is off as long:
// the planner cannot know how few proposals are live, and compiling took a hundred times as long as what was compiled.
const setTenant = `SELECT set_config('toolcontract.tenant', $1, true), set_config('jit', 'off', true)`

// within runs a transaction for the tenant. READ COMMITTED whatever the database's default: each statement sees what
// was committed before it, so what is read after a lock is current.
func (s *Store) within(ctx context.Context, tenant string, run func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, setTenant, tenant); err != nil {
			return err
		}
		return run(tx)
	})
}

// clock reads the database's.
func clock(ctx context.Context, tx pgx.Tx) (time.Time, error) {
	var ns int64
	err := tx.QueryRow(ctx, `SELECT approval_now_ns()`).Scan(&ns)
	return time.Unix(0, ns).UTC(), err
}
