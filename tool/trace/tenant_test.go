package trace_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// A run of the same id that is another tenant's is not of this trace: nothing that people or operations come to there.
func TestAnotherTenantsRunIsNotOfTheTrace(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, nil)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	by := agent()
	by.Tenant = "surgery"
	other, err := h.dispatcher.Start(tool.RunConfig{
		ID: run.ID(), Principal: by, Role: run.Role(), Budget: tool.Budget{Calls: 9}, Deadline: epoch.Add(time.Hour),
	})
	require.NoError(t, err)
	_, err = rec.Run(other)
	require.ErrorContains(t, err, "another tenant")

	var ids []string
	for _, approved := range []bool{true, false} {
		p := other.Call(t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`))
		require.NoError(t, p.Err())
		id := between(string(p.Data), `"proposal_id":"`)
		stored, err := h.cfg.Approvals.Find(t.Context(), "surgery", id)
		require.NoError(t, err)
		decided, err := h.dispatcher.Decide(t.Context(), "surgery", id, approval.Decision{
			Approved: true, By: approval.Principal{Kind: approval.Person, Tenant: "surgery", Subject: "surgeon", Roles: []string{"lead"}}, Digest: stored.Proposal.Digest,
		})
		require.NoError(t, err)
		if ids = append(ids, id); !approved {
			_, err = h.cfg.Approvals.Withdraw(t.Context(), "surgery", id, decided.Decisions[0].ID, decided.Decisions[0].By)
			require.NoError(t, err)
			continue
		}
		require.NoError(t, other.Call(t.Context(), call("commit_move_patient_v1", `{"proposal_id":"`+id+`"}`)).Err())
	}
	require.NoError(t, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711"}`)).Err())
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	require.Equal(t, 3, strings.Count(file.String(), "\n"), "the head, the call and the end")
	for _, id := range ids {
		require.NotContains(t, file.String(), id)
	}
}
