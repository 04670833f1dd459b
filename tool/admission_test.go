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

// What a commit admits, and for how long; what it answers where it admits nothing.

func TestCommitOfAnotherToolsProposalIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.write
	other.Spec.Name = "limit_removal"
	c, err := tool.NewCatalog(w.write, other)
	require.NoError(t, err)
	d, err := tool.NewDispatcher(c, w.config)
	require.NoError(t, err)
	role, err := c.Role("support", previewTool, commitTool, "commit_limit_removal_v2")
	require.NoError(t, err)
	run, err := d.Start(tool.RunConfig{Principal: agent, Role: role, Budget: tool.Budget{Calls: 9}, Deadline: epoch.Add(time.Hour)})
	require.NoError(t, err)
	s := &session{w, d, run}
	id := s.approved(250)
	e := refusal(t, s.call("commit_limit_removal_v2", fmt.Sprintf(`{"proposal_id":%q}`, id)), envelope.NotFound, "the same run and person")
	require.Equal(t, "proposal_id", e.Field)
	require.Equal(t, envelope.EffectNone, e.Effect)
	require.Zero(t, w.provider.effectCount())
	success(t, s.commit(id), "the tool that it was made for")
}

// TestRefusalLooksForAConsumptionTwice: between load and check another call ran the operation, and the ledger forgot it.
func TestRefusalLooksForAConsumptionTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inner := w.write.Current
	var s *session
	var id string
	raced := false
	w.write.Current = func(ctx context.Context, by tool.Caller, target approval.Target) (string, error) {
		if !raced && id != "" {
			raced = true
			success(t, s.commit(id), "another call is quicker") //nolint:contextcheck // another caller's
			w.clock.add(time.Second)
			_, err := w.ledger.Purge(ctx, time.Millisecond, 2*time.Millisecond)
			require.NoError(t, err)
		}
		return inner(ctx, by, target)
	}
	s = w.start()
	id = s.approved(250)
	e := refusal(t, s.commit(id), envelope.OutcomeUnknown, "VERSION_CONFLICT would say that nothing was done")
	require.Equal(t, envelope.EffectUnknown, e.Effect)
	require.Equal(t, 1, w.provider.effectCount())
}

// TestOperationLivesNoLongerThanItsApprovalAndItsRun counts from the reading of the approval.
func TestOperationLivesNoLongerThanItsApprovalAndItsRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		run, look time.Duration // from now; of Current, at the commit
		lives     time.Duration // from the admission
	}{
		{"the approval's rest", time.Hour, 0, 15 * time.Minute},
		{"the run's rest", 5 * time.Minute, 0, 5 * time.Minute},
		{"less the time of the checks", time.Hour, 40 * time.Second, 15*time.Minute - 40*time.Second},
		{"less the time of the checks, of the run's", 5 * time.Minute, 40 * time.Second, 5*time.Minute - 80*time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				w.write.Queued = true
				inner, slow := w.write.Current, false
				w.write.Current = func(ctx context.Context, by tool.Caller, target approval.Target) (string, error) {
					if slow {
						time.Sleep(tt.look)
					}
					return inner(ctx, by, target)
				}
				d := w.dispatcher()
				role, err := roleOf(d, w)
				require.NoError(t, err)
				run, err := d.Start(tool.RunConfig{Principal: agent, Role: role, Budget: tool.Budget{Calls: 9}, Deadline: time.Now().Add(tt.run)})
				require.NoError(t, err)
				s := &session{w, d, run}
				id := s.approved(250)
				slow = true
				refuses(t, s.commit(id), envelope.InProgress, "queued")
				time.Sleep(tt.lives - time.Nanosecond)
				n, err := w.ledger.Sweep(t.Context())
				require.NoError(t, err)
				require.Zero(t, n.Expired)
				time.Sleep(time.Nanosecond)
				n, err = w.ledger.Sweep(t.Context())
				require.NoError(t, err)
				require.Equal(t, 1, n.Expired)
			})
		})
	}
}

// TestCommitRespectsTheBackOff: a commit of what was not sent asks nobody before its time.
func TestCommitRespectsTheBackOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tries := 0
	w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		if tries++; tries == 1 {
			return limitOut{}, envelope.NotSent(errors.New("dial"))
		}
		return w.provider.apply(cmd), nil
	}
	s := w.start()
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.InProgress, "not sent")
	w.clock.add(400 * time.Millisecond)
	e := refusal(t, s.commit(id), envelope.InProgress, "a second has not passed")
	require.Equal(t, 600*time.Millisecond, e.RetryAfter, "the rest of it")
	require.Equal(t, 1, w.audited("dispatch"), "what is not sent is not audited as sent")
	w.clock.add(600 * time.Millisecond)
	success(t, s.commit(id), "now it has")
	require.Equal(t, 2, tries)
}

// byRoleOfRequester lets only those request who have the role now.
type byRoleOfRequester struct{ *authority }

func (byRoleOfRequester) MayRequest(_ context.Context, by approval.Principal, _ string, _ approval.Target) error {
	if len(by.Roles) == 0 {
		return approval.ErrNotAllowed
	}
	return nil
}

// TestCommitAsksForTheRunsOwnAccess: the same person resumes the run elsewhere, without the role that the proposal was
// made with.
func TestCommitAsksForTheRunsOwnAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := &hookedStore{Store: w.approvals}
	w.config.Approvals, w.config.Authority = store, byRoleOfRequester{w.authority}
	s := w.start()
	id := s.approved(250)
	store.beforeConsume.Store(failing(errDown))
	refuses(t, s.commit(id), envelope.InProgress, "admitted")
	store.beforeConsume.Store(nil)
	less := agent
	less.Roles = nil
	e := refusal(t, w.session(w.dispatcher(), "run1", less).commit(id), envelope.NotPermitted, "what the session has now")
	require.Equal(t, envelope.EffectNone, e.Effect)
	require.Equal(t, idem.Denied, w.state(id))
	require.Zero(t, w.provider.effectCount())
}

// TestForgottenOperationIsNotDispatched: it is unknown from the start, and nobody is asked whether it may run.
func TestForgottenOperationIsNotDispatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	id := s.approved(250)
	success(t, s.commit(id), "")
	w.clock.add(time.Second)
	_, err := w.ledger.Purge(t.Context(), time.Millisecond, 2*time.Millisecond)
	require.NoError(t, err)
	w.authority.set(approval.ErrNotAllowed, approval.ErrNotAllowed)
	e := refusal(t, s.commit(id), envelope.OutcomeUnknown, "what it did cannot be proved")
	require.Equal(t, key(id).Operation, e.OperationID)
	require.Equal(t, 1, w.audited("dispatch"), "the first one")
	require.Equal(t, 1, w.audited("admit"))
	require.Equal(t, 1, w.provider.effectCount())
}

// TestCommitThatCannotLoadSaysNoneOnlyWhereTheLedgerShowsNothing: the approval store is down.
func TestCommitThatCannotLoadSaysNoneOnlyWhereTheLedgerShowsNothing(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{false, true} {
		t.Run(fmt.Sprintf("committed before %t", before), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			store := &hookedStore{Store: w.approvals}
			w.config.Approvals = store
			s := w.start()
			id := s.approved(250)
			want := envelope.EffectNone
			if before {
				success(t, s.commit(id), "")
				want = envelope.EffectUnknown
			}
			store.beforeFind.Store(failing(errDown))
			e := refusal(t, s.commit(id), envelope.Unavailable, "")
			require.Equal(t, want, e.Effect)
			require.True(t, e.Retryable)
		})
	}
}
