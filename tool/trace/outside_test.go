package trace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// Whoever asks on a replaying host beside the calls of the trace reaches nobody, and is told of.
func TestNothingIsAskedBesideTheCalls(t *testing.T) {
	t.Parallel()
	h, report := replayed(t, recorded(t, trace.Config{}), trace.PlayerConfig{}, func(h *house) {
		require.Error(t, h.run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711"}`)).Err())
		require.Error(t, h.dispatcher.Fresh(t.Context(), approval.Proposal{Tool: "commit_move_patient_v1", Tenant: "clinic", Target: approval.Target{ID: "pat_4711"}}))
		_, err := tool.NewWorker(h.dispatcher, tool.WorkerConfig{})
		require.ErrorIs(t, err, tool.ErrNotLive)
	}, nil)
	require.Zero(t, h.registry.total())
	require.Len(t, report.Other, 2)
	require.ErrorIs(t, report.Err(), trace.ErrDifferent)
}
