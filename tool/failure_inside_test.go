package tool

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
)

// TestTheRunsTimeIsUpWhateverTheHandlerCallsIt: which of the handler's answer and the end of its context is seen first is
// chance, and from outside neither can be made first.
func TestTheRunsTimeIsUpWhateverTheHandlerCallsIt(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithTimeoutCause(t.Context(), 0, runTimeIsUpError{})
	defer cancel()
	tried, cancelTry := context.WithTimeoutCause(over, time.Second, timeIsUpError{})
	defer cancelTry()
	c := &callable{def: &definition{}}
	for _, err := range []error{envelope.New(envelope.DeadlineExceeded), context.DeadlineExceeded, context.Cause(tried), timeIsUpError{}} {
		require.Equal(t, envelope.BudgetExhausted, crossing(tried, c, err).Code, "%T", err)
		require.Equal(t, envelope.DeadlineExceeded, crossing(t.Context(), c, timeIsUpError{}).Code, "of a call alone")
	}
	require.Equal(t, envelope.NotFound, crossing(tried, c, envelope.New(envelope.NotFound)).Code, "what it learnt in time stands")
}
