package tool_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// What the interleavings of tooltest do not show by themselves: their variants that need no other store.

func TestI6ErrorsThatProveNothingAreUnknown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, why string
		commit    func(context.Context, tool.Approved[limitPlan]) (limitOut, error)
	}{
		{"time-out in an envelope", "a code is no proof", func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
			return limitOut{}, envelope.New(envelope.DeadlineExceeded).WithCause(context.DeadlineExceeded)
		}},
		{"not found in an envelope", "a code is no proof", func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
			return limitOut{}, envelope.New(envelope.NotFound)
		}},
		{"malformed 200", "the effect may be there", func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
			return limitOut{}, envelope.New(envelope.InvalidResponse)
		}},
		{"panic", "it may have come after the request", func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
			panic("hunter2")
		}},
		{"no evidence", "no time of the change", func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
			return limitOut{Limit: 1, Evidence: tool.Evidence{NewVersion: "18"}}, nil
		}},
		{"another resource", "the answer is about something else", func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
			return limitOut{Evidence: tool.Evidence{NewVersion: "18", ResourceID: "a2", CommittedAt: epoch}}, nil
		}},
		{"two proofs", "a join says two things", func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
			return limitOut{}, errors.Join(envelope.NotSent(nil), errors.New("broken pipe"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write.Commit = tt.commit
			s := w.start()
			id := s.approved(250)
			e := refusal(t, s.commit(id), envelope.OutcomeUnknown, tt.why)
			require.Equal(t, envelope.EffectUnknown, e.Effect)
			require.Equal(t, idem.Unknown, w.state(id))
		})
	}
}

func TestI8LedgerThatForgotIsUnknown(t *testing.T) {
	t.Parallel()
	t.Run("purged", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		s := w.start()
		id := s.approved(250)
		success(t, s.commit(id), "")
		w.clock.add(time.Second)
		n, err := w.ledger.Purge(t.Context(), time.Millisecond, 2*time.Millisecond)
		require.NoError(t, err)
		require.Positive(t, n)
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "no tombstone is left: nobody can prove it")
		require.Equal(t, 1, w.provider.effectCount())
	})
	t.Run("a tombstone is left", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		s := w.start()
		id := s.approved(250)
		success(t, s.commit(id), "")
		w.clock.add(time.Second)
		_, err := w.ledger.Purge(t.Context(), time.Millisecond, time.Hour)
		require.NoError(t, err)
		e := refusal(t, s.commit(id), envelope.ApprovalConsumed, "the tombstone says that it succeeded")
		require.Equal(t, envelope.EffectDone, e.Effect)
		require.Equal(t, 1, w.provider.effectCount())
	})
	t.Run("restored", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		s := w.start()
		id := s.approved(250)
		success(t, s.commit(id), "")
		restored := idem.NewMemory(w.clock.Now) // the backup was taken before
		require.NoError(t, restored.Restored(t.Context()))
		w.ledger, w.config.Ledger = restored, restored
		s = w.session(w.dispatcher(), "run1", agent)
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "the backup does not know it")
		require.Equal(t, 1, w.provider.effectCount())
	})
}

func TestI14AuthorityDownIsNotANo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := &hookedStore{Store: w.approvals}
	w.config.Approvals = store
	s := w.start()
	id := s.approved(250)
	w.authority.set(errDown, nil)
	e := refusal(t, s.commit(id), envelope.Unavailable, "before the admission nothing happened")
	require.Equal(t, envelope.EffectNone, e.Effect)
	require.True(t, e.Retryable)
	_, err := w.ledger.Find(t.Context(), idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", id)})
	require.ErrorIs(t, err, idem.ErrNotFound)

	w.authority.set(nil, nil)
	store.beforeConsume.Store(failing(errDown))
	refuses(t, s.commit(id), envelope.InProgress, "admitted")
	store.beforeConsume.Store(nil)
	w.authority.set(nil, errDown)
	refuses(t, s.commit(id), envelope.InProgress, "the authority cannot be asked: it stays pending")
	require.Equal(t, idem.Pending, w.state(id))
	w.authority.set(nil, nil)
	success(t, s.commit(id), "")

	other := s.approved(300)
	store.beforeConsume.Store(failing(errDown))
	refuses(t, s.commit(other), envelope.InProgress, "admitted")
	store.beforeConsume.Store(nil)
	w.authority.set(fmt.Errorf("ldap: %w", approval.ErrNotAllowed), nil)
	refuses(t, s.commit(other), envelope.ApproverNotAuthorized, "a definite no closes it")
	require.Equal(t, idem.Denied, w.state(other))
}

// TestI25RaceBetweenLoadAndCheck: the approval is loaded as approved, and the operation runs before the version is read.
func TestI25RaceBetweenLoadAndCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inner := w.write.Current
	var once bool
	var s *session
	var id string
	w.write.Current = func(ctx context.Context, by tool.Caller, target approval.Target) (string, error) {
		if !once && id != "" {
			once = true
			success(t, s.commit(id), "another call is quicker") //nolint:contextcheck // another caller's
		}
		return inner(ctx, by, target)
	}
	s = w.start()
	id = s.approved(250)
	r := s.commit(id)
	success(t, r, "the slower call answers from the operation, not VERSION_CONFLICT")
	require.True(t, r.Replayed)
	require.Equal(t, 1, w.provider.effectCount())
}
