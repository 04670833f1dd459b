package tool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// panicked is the error that a handler's panic becomes. Its text names no value: the value is for the quarantine.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("tool: a handler panicked with a %T", p.value) }

// detail is what operators may read under seal.
func (p *panicked) detail() []byte { return fmt.Appendf(nil, "%v\n\n%s", p.value, p.stack) }

// errGoexit is what a handler that ends its goroutine answers with.
var errGoexit = errors.New("tool: a handler ended its goroutine")

// timeIsUpError is why a handler's context ended before the caller's.
type timeIsUpError struct{}

func (timeIsUpError) Error() string { return "tool: the time for the call is up" }
func (timeIsUpError) Unwrap() error { return context.DeadlineExceeded }

// runTimeIsUpError is why a call's context ended with its run's Elapsed.
type runTimeIsUpError struct{}

func (runTimeIsUpError) Error() string { return "tool: the run's time is used up" }
func (runTimeIsUpError) Unwrap() error { return context.DeadlineExceeded }

// guarded runs f in a goroutine of its own, for at most timeout, and contains its panics. It returns when the context
// ends even if f does not heed it; then the error is the context's cause and what f still returns is dropped.
func guarded[T any](ctx context.Context, held *slots, timeout time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, timeIsUpError{})
	defer cancel()
	return watched(ctx, held, f)
}

// watched is guarded within the time that ctx has. The slots are held until f returns; nil: there are none.
func watched[T any](ctx context.Context, held *slots, f func(context.Context) (T, error)) (T, error) {
	done := make(chan answer[T], 1)
	held.take()
	go func() {
		a := answer[T]{err: errGoexit}
		defer func() {
			held.drop()
			done <- a
		}()
		a = contained(ctx, f)
	}()
	if a, ok := awaited(ctx, done); ok {
		return a.value, a.err
	}
	var zero T
	return zero, context.Cause(ctx)
}

// awaited waits for what is done, or for ctx; what is done by then counts.
func awaited[T any](ctx context.Context, done <-chan T) (v T, ok bool) {
	select {
	case v = <-done:
		return v, true
	case <-ctx.Done():
	}
	select {
	case v = <-done:
		return v, true
	default:
		return v, false
	}
}

type answer[T any] struct {
	value T
	err   error
}

// contained calls f, turns a panic into an error, and examines the error that f returns.
func contained[T any](ctx context.Context, f func(context.Context) (T, error)) (a answer[T]) {
	defer func() {
		if v := recover(); v != nil {
			a.err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	a.value, a.err = f(ctx)
	if _, ours := decided(a.err); a.err != nil && !ours {
		a.err = examine(a.err)
	}
	return a
}

// shielded calls a part of the host that may panic where nothing may: its panic is an error.
func shielded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return f()
}

// abandonable is guarded for a handler whose late answer matters: what f returns after ctx has ended goes to late.
// The slots are held until f returns.
func abandonable[T any](ctx context.Context, held *slots, timeout time.Duration, late func(answer[T]), f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, timeIsUpError{})
	defer cancel()
	done := make(chan answer[T])
	gone := make(chan struct{})
	held.take()
	go func() {
		a := answer[T]{err: errGoexit}
		defer func() {
			held.drop()
			select {
			case done <- a:
			case <-gone:
				late(a)
			}
		}()
		a = contained(ctx, f)
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		close(gone)
		var zero T
		return zero, context.Cause(ctx)
	}
}
