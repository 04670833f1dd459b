package trace_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
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

// An operation that a worker ran stays queued in a replay: its effect is not made again.
func TestAQueuedOperationIsNotReplayed(t *testing.T) {
	t.Parallel()
	defs := func(r *registry) []tool.Definition {
		w := r.movePatient()
		w.Queued = true
		return []tool.Definition{r.getPatient(), w}
	}
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error {
		c.Policy = approval.Everything(approval.Requirement{Level: approval.None})
		rec.Wire(c)
		return nil
	}, defs)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	p := run.Call(t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`))
	require.NoError(t, p.Err())
	id := between(string(p.Data), `"proposal_id":"`)
	run.Call(t.Context(), call("commit_move_patient_v1", `{"proposal_id":"`+id+`"}`))
	worker, err := tool.NewWorker(h.dispatcher, tool.WorkerConfig{Poll: time.Millisecond})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- worker.Run(ctx) }()
	key := idem.Key{Tenant: "clinic", Operation: idem.OperationID("clinic", id)}
	require.Eventually(t, func() bool {
		op, err := h.cfg.Ledger.Find(t.Context(), key)
		return err == nil && op.State == idem.Succeeded
	}, time.Minute, time.Millisecond)
	stop()
	require.NoError(t, <-done)
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))

	tr, err := trace.Load(&file)
	require.NoError(t, err)
	var again *house
	player := trace.NewPlayer(tr, trace.PlayerConfig{At: func(at time.Time) { again.clock.set(at) }})
	again = newHouse(t, func(c *tool.Config) error {
		c.Policy = approval.Everything(approval.Requirement{Level: approval.None})
		return player.Wire(c)
	}, defs)
	report, err := player.Play(t.Context(), again.dispatcher, again.run)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.Equal(t, []string{"commit_move_patient_v1"}, report.NotReplayed)
	require.Zero(t, again.registry.total())
}
