package trace_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// What is saved beside a worker's work is a run in which it has not begun.
func TestSavedBesideWorkReplays(t *testing.T) {
	t.Parallel()
	var mid string
	defs := queued(nil)
	worked(t, trace.Config{}, defs, nil, func(o *office) {
		o.registry.moves = func(int, moving) (moved, error) {
			time.Sleep(4 * time.Second)
			return moved{Version: "2", At: epoch}, nil
		}
		op := o.move("pat_4711")
		time.Sleep(3 * time.Second)
		require.Equal(o.t, "running", o.state(op))
		o.agent.Call(o.t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711"}`))
		mid = o.saved()
		o.later(op)
	})
	require.NotContains(t, mid, "get_operation_v1\",\"arguments")
	report := again(t, mid, defs, nil)
	require.NoError(t, report.Err())
	require.Equal(t, 3, report.Count(trace.Same), "the look at the patient too: %v", report.Calls)
}

// finishing calls a function when it has been told what an operation came to.
type finishing struct {
	audit.Sink
	then func()
}

func (f *finishing) Record(ctx context.Context, e audit.Event) error {
	err := f.Sink.Record(ctx, e)
	if e.Kind == "finish" {
		f.then()
	}
	return err
}

// What is saved when a write is over, and its call not yet, is a run in which it was not called.
func TestSavedBeforeTheAnswerReplays(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t, trace.Config{})
	var run *trace.Run
	var mid bytes.Buffer
	h := newHouse(t, func(c *tool.Config) error {
		unasked(c)
		rec.Wire(c)
		c.Audit = &finishing{c.Audit, func() { require.NoError(t, rec.Save(&mid, run.ID())) }}
		return nil
	}, nil)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, move(t.Context(), t, run).Err())
	require.Empty(t, lines(mid.String(), "outcome"))
	report := again(t, mid.String(), nil, nil)
	require.NoError(t, report.Err())
	require.Equal(t, 1, report.Count(trace.Same))
	require.Equal(t, 1, strings.Count(mid.String(), `"case":"call-`))
}

// A look at a write that is under way beside it rests on it.
func TestSavedBesideAWriteReplays(t *testing.T) {
	t.Parallel()
	goOn, inside := make(chan struct{}), make(chan struct{})
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { unasked(c); rec.Wire(c); return nil }, nil)
	h.registry.moves = func(int, moving) (moved, error) {
		close(inside)
		<-goOn
		return moved{Version: "2", At: epoch}, nil
	}
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	p := run.Call(t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`))
	require.NoError(t, p.Err())
	commit := call("commit_move_patient_v1", `{"proposal_id":"`+between(string(p.Data), `"proposal_id":"`)+`"}`)
	done := make(chan error, 1)
	go func() { done <- run.Call(t.Context(), commit).Err() }()
	<-inside
	second := run.Call(t.Context(), commit)
	require.NotNil(t, second.Error, "it is under way")
	require.NoError(t, run.Call(t.Context(), call("get_operation_v1", `{"operation_id":"`+second.Error.OperationID+`"}`)).Err())
	var mid bytes.Buffer
	require.NoError(t, rec.Save(&mid, run.ID()))
	close(goOn)
	require.NoError(t, <-done)
	report := again(t, mid.String(), nil, nil)
	require.NoError(t, report.Err())
	require.Len(t, report.Calls, 1)
}
