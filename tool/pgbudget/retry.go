package pgbudget

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// tries is how often a statement is sent at most.
const tries = 5

// retry runs a statement, again where another try may mend it. One that may not be repeated is run again only where it
// certainly changed nothing.
func retry(ctx context.Context, repeatable bool, run func() error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 5*time.Millisecond, 200*time.Millisecond
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := run()
		if err != nil && !unsent(err) && (!repeatable || ctx.Err() != nil || refused(err)) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(tries))
	if p, ok := errors.AsType[*backoff.PermanentError](err); ok {
		return p.Unwrap()
	}
	return err
}

// unsent: nothing reached the server, or the transaction lost against another and was rolled back.
func unsent(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "40001" || pg.Code == "40P01"
	}
	return pgconn.SafeToRetry(err)
}

// refused: the server answered with an error that another try meets again. One that is stopping or starting (57P01 to
// 57P03) or lost its connection (class 08) may be back.
func refused(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code[:min(2, len(pg.Code))] != "08" && pg.Code[:min(4, len(pg.Code))] != "57P0"
}
