package tool_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

func TestWritePreviewApproveCommitReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	v := s.preview(250)
	require.Equal(t, "pending", v.State)
	require.Equal(t, "one", v.Level)
	require.Equal(t, approval.Target{Type: "account", ID: "a1", Version: "17"}, v.Target)

	e := refusal(t, s.commit(v.ProposalID), envelope.ApprovalPending, "nobody decided")
	require.True(t, e.Retryable)
	require.Positive(t, e.RetryAfter)
	require.Zero(t, w.provider.effectCount())

	s.decide(v.ProposalID, true)
	r := s.commit(v.ProposalID)
	out := success(t, r, "approved")
	require.False(t, r.Replayed)
	require.Equal(t, "18", out.NewVersion)
	require.Equal(t, "17", out.PreviousVersion, "the library fills what it knows")
	require.Equal(t, "a1", out.ResourceID)
	require.Equal(t, []string{"limit"}, out.ChangedFields)
	require.Equal(t, idem.OperationID("t1", v.ProposalID), out.OperationID)

	again := s.commit(v.ProposalID)
	require.Equal(t, string(r.Data), string(again.Data), "the second commit replays the first answer to the byte")
	require.True(t, again.Replayed)
	require.Equal(t, 1, w.provider.effectCount())
	require.Equal(t, "succeeded", s.operation(v.ProposalID).State)
	require.Equal(t, approval.Consumed, w.approvalState(v.ProposalID))
}

// Whatever asks for the target's version says for which request: an upstream is asked on somebody's behalf.
func TestCurrentIsToldTheRequest(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		current := w.write.Current
		var asked []tool.Caller
		w.write.Current = func(ctx context.Context, by tool.Caller, target approval.Target) (string, error) {
			asked = append(asked, by)
			return current(ctx, by, target)
		}
		w.write.Queued = true
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		commit := s.commit(id)
		refuses(t, commit, envelope.InProgress, "it is queued")
		stop := w.work(d, tool.WorkerConfig{})
		synctest.Wait()
		stop()
		require.Equal(t, "succeeded", s.operation(id).State)
		require.Len(t, asked, 2, "the commit, and the worker before its claim")
		for _, by := range asked {
			require.Equal(t, commit.RequestID, by.RequestID)
			require.Equal(t, "run1", by.Run)
		}
		rec, err := w.approvals.Find(t.Context(), "t1", id)
		require.NoError(t, err)
		_ = d.Fresh(t.Context(), rec.Proposal) // stale by now; who asked is the question
		require.NotEmpty(t, asked[2].RequestID)
	})
}
