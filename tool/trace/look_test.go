package trace_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// A worker that looks at an unknown operation, asks nobody and changes nothing, leaves nothing in the recording, however
// long that goes on.
func TestLooksThatDoNothingAreNotKept(t *testing.T) {
	t.Parallel()
	defs := queued(nil)
	var few, later int
	file := worked(t, trace.Config{}, defs, nil, func(o *office) {
		o.registry.moves = func(int, moving) (moved, error) { return moved{}, errNoWord }
		op := o.move("pat_4711")
		time.Sleep(20 * time.Minute)
		require.Equal(o.t, "unknown", o.state(op))
		o.move("pat_4713")
		time.Sleep(20 * time.Minute)
		few = len(o.saved())
		time.Sleep(5 * time.Hour)
		later = len(o.saved())
	}).saved()
	require.Equal(t, few, later)
	require.Len(t, lines(file, "work"), 2, "the one that moved each")
	same(t, again(t, file, defs, nil), 2)
}

// What the looks leave in memory does not grow either.
func TestLooksThatDoNothingAreForgotten(t *testing.T) {
	t.Parallel()
	worked(t, trace.Config{}, queued(nil), nil, func(o *office) {
		o.registry.moves = func(int, moving) (moved, error) { return moved{}, errNoWord }
		o.move("pat_4711")
		time.Sleep(time.Minute)
		few := trace.Steps(o.rec, o.run.ID())
		time.Sleep(2 * time.Hour)
		require.Equal(o.t, few, trace.Steps(o.rec, o.run.ID()))
	})
}

// A handler that runs and asks nothing is an attempt: it is kept.
func TestAnAttemptThatAsksNothingIsKept(t *testing.T) {
	t.Parallel()
	defs := queued(func(_ *registry, w *tool.Write[moveIn, moveIn, moveOut]) {
		w.Attempts = 3
		w.Commit = func(context.Context, tool.Approved[moveIn]) (moveOut, error) {
			return moveOut{}, envelope.NotSent(errors.New("dial"))
		}
		w.Current, w.Unversioned = nil, true
	})
	file := worked(t, trace.Config{}, defs, nil, func(o *office) {
		require.Equal(o.t, "denied", o.later(o.move("pat_4711")))
	}).saved()
	require.Len(t, lines(file, "work"), 3)
	same(t, again(t, file, defs, nil), 3)
}
