package tool_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// TestWorkerGoesRoundTheTenants: who has much to do makes nobody else wait for all of it.
func TestWorkerGoesRoundTheTenants(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Queued = true
		var mu sync.Mutex
		var effects []string // the tenants', in order
		w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			mu.Lock()
			effects = append(effects, cmd.By.Principal.Tenant)
			mu.Unlock()
			time.Sleep(time.Second)
			return w.provider.apply(cmd), nil
		}
		d := w.dispatcher()
		const many = 50
		s := w.session(d, "run1", agent)
		for i := range many {
			s.queue(fmt.Sprint("b", i))
		}
		stop := w.work(d, tool.WorkerConfig{Parallel: 1})
		time.Sleep(2500 * time.Millisecond) // in the third
		w.session(d, "run2", of("t2", agent)).queueOf("t2")
		time.Sleep(many * time.Second)
		synctest.Wait()
		stop()
		require.Len(t, effects, many+1)
		require.Contains(t, effects[3:5], "t2", "its turn is the next, or the one after it: %v", effects)
		require.Len(t, slices.DeleteFunc(effects, func(tenant string) bool { return tenant == "t2" }), many)
	})
}

func of(tenant string, p approval.Principal) approval.Principal {
	p.Tenant = tenant
	return p
}

// queueOf commits a limit for the account that a tenant has.
func (s *session) queueOf(tenant string) {
	s.w.t.Helper()
	v, err := s.call(previewTool, `{"account_id":"a1","limit":7}`).Decode[proposalView]()
	require.NoError(s.w.t, err)
	rec, err := s.w.approvals.Find(s.w.t.Context(), tenant, v.ProposalID)
	require.NoError(s.w.t, err)
	_, err = s.d.Decide(s.w.t.Context(), tenant, v.ProposalID, approval.Decision{Approved: true, By: of(tenant, lead), Digest: rec.Proposal.Digest})
	require.NoError(s.w.t, err)
	refuses(s.w.t, s.commit(v.ProposalID), envelope.InProgress, "queued")
}
