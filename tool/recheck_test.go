package tool_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// What the re-check refuses by itself, before anything behind it would.

// TestAlteredProposalIsNotAdmitted: it is the digest that is checked, not only the command that was made from it.
func TestAlteredProposalIsNotAdmitted(t *testing.T) {
	t.Parallel()
	for name, alter := range map[string]func(*approval.Record){
		"summary": func(r *approval.Record) { r.Proposal.Summary = "Set another limit" },
		"plan":    func(r *approval.Record) { r.Proposal.Plan = []byte(`{"account_id":"a1","limit":251}`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			store := &alteredStore{Store: w.approvals}
			w.config.Approvals = store
			s := w.start()
			id := s.approved(250)
			store.shown.set(func(r *approval.Record) error { alter(r); return nil })
			e := refusal(t, s.commit(id), envelope.ApprovalMismatch, "")
			require.Equal(t, envelope.EffectNone, e.Effect)
			_, err := w.ledger.Find(t.Context(), key(id))
			require.ErrorIs(t, err, idem.ErrNotFound, "there is no operation")
			require.Equal(t, approval.Approved, w.approvalState(id), "and no consumption")
		})
	}
}

// TestConsumedApprovalExpiresToo: its operation waits, and the approvals' clock says that it is over.
func TestConsumedApprovalExpiresToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	behind := &clock{now: epoch}
	w.ledger = idem.NewMemory(behind.Now)
	l := w.tapped()
	tries := 0
	w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		if tries++; tries == 1 {
			return limitOut{}, envelope.NotSent(errDown)
		}
		return w.provider.apply(cmd), nil
	}
	w.config.Ledger = l
	s := w.start()
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.InProgress, "not sent")
	require.Equal(t, approval.Consumed, w.approvalState(id))
	behind.add(time.Minute) // the back-off is over
	w.clock.add(15 * time.Minute)
	refuses(t, s.commit(id), envelope.ApprovalExpired, "")
	require.Equal(t, idem.Denied, w.state(id))
	require.Zero(t, w.provider.effectCount())
}

// TestTargetThatMayNotBeReadIsANo: of the codes of Current these two are final, here and in the queue.
func TestTargetThatMayNotBeReadIsANo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		returned, want envelope.Code
		closes         bool
	}{
		{envelope.NotPermitted, envelope.NotPermitted, true},
		{envelope.UpstreamDenied, envelope.UpstreamDenied, true},
		{envelope.NotFound, envelope.VersionConflict, true},
		{envelope.UpstreamUnavailable, envelope.Unavailable, false},
	} {
		t.Run(string(tt.returned), func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				w.write.Queued = true
				inner, readable := w.write.Current, true
				w.write.Current = func(ctx context.Context, by tool.Caller, target approval.Target) (string, error) {
					if !readable {
						return "", envelope.New(tt.returned)
					}
					return inner(ctx, by, target)
				}
				d := w.dispatcher()
				s := w.session(d, "run1", agent)
				queued := s.queue("a2")
				id := s.approved(250)
				readable = false
				e := refusal(t, s.commit(id), tt.want, "")
				require.Equal(t, envelope.EffectNone, e.Effect)
				stop := w.work(d, tool.WorkerConfig{})
				synctest.Wait()
				stop()
				want := idem.Pending
				if tt.closes {
					want = idem.Denied
				}
				require.Equal(t, want, w.state(queued))
				require.Zero(t, w.provider.effectCount())
			})
		})
	}
}
