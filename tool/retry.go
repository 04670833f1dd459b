package tool

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// The first wait between two tries, and the longest, before jitter.
const (
	retryFirst = 50 * time.Millisecond
	retryMost  = 5 * time.Second
)

// retrying tries a read again as its declaration says: only for the codes it names, after the time that the other system
// asked for, and never past the end of the call, which the run's deadline and Elapsed bound.
func (c *call) retrying(ctx context.Context, f func(context.Context) (reply, error)) (reply, error) {
	declared := c.tool.def.retry
	var last error
	tries := 0
	try := func() (reply, error) {
		if tries > 0 && ctx.Err() != nil { // the wait and the call ended at once
			return reply{}, backoff.Permanent(context.Cause(ctx))
		}
		if tries++; tries > 1 {
			count(ctx, c.d.meter.retries, attrTool.String(c.tool.wire), attrRetry.String(retryRead))
		}
		ctx, cancel := context.WithTimeoutCause(ctx, c.tool.def.spec.Timeout, timeIsUpError{})
		defer cancel()
		r, err := f(ctx)
		if last = err; err == nil {
			return r, nil
		}
		e := as(err)
		switch {
		case !declared.again(e):
			return reply{}, backoff.Permanent(err)
		case e.RetryAfter > 0:
			return reply{}, &backoff.RetryAfterError{Duration: e.RetryAfter}
		}
		return reply{}, err
	}
	within := declared.Within
	if end, ok := ctx.Deadline(); ok { // a wait that cannot end before the call does is not begun
		if rest := end.Sub(c.d.mono()); within == 0 || rest < within {
			within = max(rest-time.Nanosecond, time.Nanosecond)
		}
	}
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = retryFirst, retryMost
	r, err := backoff.Retry(ctx, try, backoff.WithBackOff(waits),
		backoff.WithMaxTries(uint(declared.Attempts)),
		backoff.WithMaxElapsedTime(within))
	if _, handlers := decided(err); err != nil && !handlers && ctx.Err() != nil { // stopped in the wait
		return reply{}, &final{ended(ctx, false)}
	}
	if err != nil && last != nil {
		return reply{}, last
	}
	return r, err
}
