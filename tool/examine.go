package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// examined is a handler's error after everything that is asked of it has been asked, once, where a panic is contained:
// an error's methods are the handler's code too. Nothing looks into the cause again.
type examined struct {
	cause    error
	kind     string          // the Go type at the end of its chain
	declared *envelope.Error // the first in its chain; nil: none
	notFound bool            // it is idem.ErrNotFound
	stopped  bool            // it is the end of a context
	timedOut bool            // it is the end of the call's time
	proof    envelope.Proof
	refusal  *envelope.Error // of ProofRefused
	receipt  string          // of ProofRunning
}

// Error names the type alone. There is no Unwrap.
func (e *examined) Error() string { return "tool: a handler failed with " + e.kind }

// examine asks an error what it is. Errors of the library pass through examined.
func examine(err error) *examined {
	if e, ok := err.(*examined); ok { //nolint:errorlint // itself, not in its chain
		return e
	}
	e := &examined{cause: err, kind: fmt.Sprintf("%T", err)}
	for _, question := range [...]func(){ // each by itself: what one cannot answer, another may
		func() { e.proof, e.refusal, e.receipt = envelope.Proven(err) },
		func() { e.kind = goType(err) },
		func() {
			if declared, ok := errors.AsType[*envelope.Error](err); ok && declared != nil {
				e.declared = declared
			}
		},
		func() { e.notFound = errors.Is(err, idem.ErrNotFound) },
		func() { e.timedOut = errors.Is(err, timeIsUpError{}) },
		func() { e.stopped = errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) },
	} {
		_ = shielded(func() error { question(); return nil }) // an error that cannot be asked says nothing
	}
	return e
}

// goType names the type of the last error of a chain that is no join.
func goType(err error) string {
	if e, ok := err.(*examined); ok { //nolint:errorlint // itself, not in its chain
		return e.kind
	}
	if err == nil {
		return ""
	}
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return fmt.Sprintf("%T", err)
		}
		err = next
	}
}
