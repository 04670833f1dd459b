package trace_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

type closeIn struct {
	Ward string `json:"ward" jsonschema:"pattern=^ward-north$"`
}

// closing is a write with one target, for which nothing can stand: the arguments of its preview are left out.
func closing(r *registry) []tool.Definition {
	return []tool.Definition{r.getPatient(), tool.Write[closeIn, closeIn, moveOut]{
		Spec:  tool.Spec{Name: "close", Version: 1, Description: "Close a ward.", Timeout: 5 * time.Second},
		Class: tool.Reversible, Unversioned: true,
		Preview: func(_ context.Context, _ tool.Caller, in closeIn) (tool.Draft[closeIn], error) {
			return tool.Draft[closeIn]{Plan: in, Target: approval.Target{Type: "ward", ID: in.Ward}, Summary: "Close " + in.Ward}, nil
		},
		Commit: func(context.Context, tool.Approved[closeIn]) (moveOut, error) {
			return moveOut{tool.Evidence{CommittedAt: epoch}, "north"}, nil
		},
	}}
}

// What rests on a call whose arguments were left out cannot be made either, and is no difference.
func TestWhatRestsOnALeftOutCallIsLeftOut(t *testing.T) {
	t.Parallel()
	names := []string{"get_patient_v1", "preview_close_v1", "commit_close_v1"}
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, closing, names...)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711"}`)).Err())
	p := run.Call(t.Context(), call("preview_close_v1", `{"ward":"ward-north"}`))
	require.NoError(t, p.Err())
	id := between(string(p.Data), `"proposal_id":"`)
	h.approve(t, id)
	require.NoError(t, run.Call(t.Context(), call("commit_close_v1", `{"proposal_id":"`+id+`"}`)).Err())
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	_, report := replayed(t, file.String(), trace.PlayerConfig{}, nil, closing, names...)
	require.NoError(t, report.Err())
	require.Equal(t, 1, report.Count(trace.Same))
	require.Equal(t, []trace.Replayed{
		{Case: "call-2", Tool: "preview_close_v1", As: trace.LeftOut, Why: "the arguments were not saved"},
		{Case: "call-3", Tool: "commit_close_v1", As: trace.LeftOut, Why: "it rests on call-2"},
	}, report.Calls[1:])
}
