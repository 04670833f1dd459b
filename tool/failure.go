package tool

import (
	"context"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// maxRetryAfter bounds the time that a handler may ask the model to wait.
const maxRetryAfter = 24 * time.Hour

// final is an error that the library has decided on: it crosses as it is. No handler can make one.
type final struct{ e *envelope.Error }

func (f *final) Error() string { return f.e.Error() }
func (f *final) Unwrap() error { return f.e }

// as returns the decided error in err; an undecided one is INTERNAL.
func as(err error) *envelope.Error {
	if f, ok := decided(err); ok {
		return f.e
	}
	return envelope.New(envelope.Internal).WithCause(err)
}

// decided reports whether err itself is final: one that is only the cause of another decides nothing.
func decided(err error) (*final, bool) {
	f, ok := err.(*final) //nolint:errorlint // not through wraps, see above
	return f, ok
}

// failure decides on what a handler returned: of an *envelope.Error the code, the declared field and the retry time may
// cross, of anything else nothing. The cause stays inside, for the operators.
func (c *call) failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := decided(err); ok {
		return f
	}
	return &final{crossing(ctx, c.tool, err)}
}

// crossing is what may cross of a handler's error.
func crossing(ctx context.Context, t *callable, err error) *envelope.Error {
	e := examine(err)
	switch {
	case runTimeIsUp(ctx) && (e.stopped || e.declared != nil && e.declared.Code == envelope.DeadlineExceeded):
		return ended(ctx, false).WithCause(e) // however the handler worded it
	case e.declared != nil:
		return declaredFailure(t, e.declared).WithCause(e)
	case e.notFound:
		return declaredFailure(t, envelope.New(envelope.NotFound)).WithCause(e)
	case e.timedOut, e.stopped && ctx.Err() != nil:
		return ended(ctx, e.timedOut).WithCause(e)
	}
	return envelope.New(envelope.Internal).WithCause(err)
}

func declaredFailure(t *callable, e *envelope.Error) *envelope.Error {
	d, ok := t.def.allows(e.Code)
	if !ok {
		return envelope.New(envelope.Internal)
	}
	return t.worded(d, e)
}

// worded is an error in the words of its declaration, with the field of e where the tool declares it, and its retry time.
func (t *callable) worded(d envelope.Failure, e *envelope.Error) *envelope.Error {
	out := &envelope.Error{Code: d.Code, Message: d.Message, Retryable: d.Retryable}
	if t.place(e.Field) == e.Field {
		out.Field = e.Field
	}
	if d.Retryable && e.RetryAfter > 0 {
		out.RetryAfter = min(e.RetryAfter, maxRetryAfter)
	}
	return out
}

// runTimeIsUp reports whether ctx ended with the run's Elapsed.
func runTimeIsUp(ctx context.Context) bool { return errors.Is(context.Cause(ctx), runTimeIsUpError{}) }

// ended says why a time was over: the run has none left, the caller or the run stopped it, or the call's is up.
func ended(ctx context.Context, timedOut bool) *envelope.Error {
	if runTimeIsUp(ctx) {
		return envelope.New(envelope.BudgetExhausted)
	}
	if timedOut || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return envelope.New(envelope.DeadlineExceeded)
	}
	return envelope.New(envelope.Cancelled)
}

// refusedInput is the boundary's own refusal, or INTERNAL where the check itself failed.
func refusedInput(err error) error {
	if e, ok := errors.AsType[*envelope.Error](err); ok {
		return &final{e}
	}
	return &final{envelope.New(envelope.Internal).WithCause(err)}
}

// brokenOutput says that a handler's answer broke its contract. The place is for the operators.
func brokenOutput(err error) error {
	return &final{envelope.New(envelope.OutputInvalid).WithCause(err)}
}

// planUnreadable says that a stored plan no longer decodes; nothing was sent.
func planUnreadable(err error) error { return envelope.NotSent(err) }
