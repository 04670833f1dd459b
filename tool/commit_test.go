package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
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
