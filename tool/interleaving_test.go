package tool_test

import (
	"context"
	"encoding/json/jsontext"
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

// Each test is one interleaving of proposal, approval, ledger and provider, by its number.

func TestI1AnswerLostThenTheSameAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		w.provider.apply(cmd)
		return limitOut{}, errors.New("read: connection reset by peer")
	}
	s := w.start()
	id := s.approved(250)
	e := refusal(t, s.commit(id), envelope.OutcomeUnknown, "the answer was lost")
	require.Equal(t, envelope.EffectUnknown, e.Effect)
	require.False(t, e.Retryable)
	require.Equal(t, idem.OperationID("t1", id), e.OperationID)

	r := s.call(previewTool, `{"account_id":"a1","limit":250}`)
	e = refusal(t, r, envelope.OutcomeUnknown, "the same again is refused at preview")
	require.Equal(t, idem.OperationID("t1", id), e.OperationID)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "and at commit")
	require.Equal(t, 1, w.provider.effectCount())
	require.Equal(t, "unknown", s.operation(id).State)
	unknown, _, err := w.ledger.Unknown(t.Context(), "t1", idem.Page{})
	require.NoError(t, err)
	require.Len(t, unknown, 1, "it waits for the operator")
}

func TestI2SecondProposalWithoutVersionIsRefusedBySequence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.unversioned()
	s := w.start()
	p1, p2 := s.approved(250), s.approved(300)
	require.NotEqual(t, p1, p2)
	success(t, s.commit(p1), "the first runs")
	e := refusal(t, s.commit(p2), envelope.VersionConflict, "the second was made before the first ran")
	require.Equal(t, envelope.EffectNone, e.Effect)
	require.Equal(t, approval.Approved, w.approvalState(p2), "the proposal is not consumed")
	require.Equal(t, 1, w.provider.effectCount())
}

// unversioned makes the write one whose target has no version.
func (w *world) unversioned() {
	preview := w.write.Preview
	w.write.Unversioned, w.write.Current = true, nil
	w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
		d, err := preview(ctx, by, in)
		d.Target.Version = ""
		return d, err
	}
}

func TestI3PreviewAfterApprovalJoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	pending := s.preview(250)
	require.Equal(t, pending.ProposalID, s.preview(250).ProposalID, "a pending one is joined")
	s.decide(pending.ProposalID, true)
	again := s.preview(250)
	require.Equal(t, pending.ProposalID, again.ProposalID)
	require.Equal(t, "approved", again.State)
	other := s.preview(251)
	require.NotEqual(t, pending.ProposalID, other.ProposalID, "another plan is another proposal")
	success(t, s.commit(pending.ProposalID), "")
}

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

func TestI9SentThenNotSentIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		envelope.Sent(ctx)
		w.provider.apply(cmd)
		return limitOut{}, envelope.NotSent(errors.New("dial: refused")) // the second of two requests
	}
	s := w.start()
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "the first request landed")
	require.Equal(t, idem.Unknown, w.state(id))
}

func TestI11ClientDisconnectsAfterTheClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	entered, release := make(chan struct{}), make(chan struct{})
	handlerErr := make(chan error, 1)
	w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		close(entered)
		<-release
		handlerErr <- ctx.Err()
		return w.provider.apply(cmd), nil
	}
	s := w.start()
	id := s.approved(250)
	ctx, disconnect := context.WithCancel(t.Context())
	answered := make(chan envelope.Result, 1)
	go func() {
		answered <- s.run.Call(ctx, envelope.Call{Tool: commitTool, Arguments: jsontext.Value(fmt.Sprintf(`{"proposal_id":%q}`, id))})
	}()
	<-entered
	disconnect()
	e := refusal(t, <-answered, envelope.InProgress, "the operation goes on without its caller")
	require.Equal(t, idem.OperationID("t1", id), e.OperationID)
	close(release)
	require.NoError(t, <-handlerErr, "the handler's context is not the caller's")
	require.NoError(t, s.d.Close(t.Context()), "Close waits for it")
	require.Equal(t, idem.Succeeded, w.state(id))
	require.Equal(t, 1, w.provider.effectCount())
}

func TestI12ApprovalStoreDownBeforeConsume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := &hookedStore{Store: w.approvals}
	w.config.Approvals = store
	s := w.start()
	id := s.approved(250)
	store.beforeConsume.Store(failing(errDown))
	e := refusal(t, s.commit(id), envelope.InProgress, "admitted, not sent")
	require.Equal(t, idem.OperationID("t1", id), e.OperationID)
	require.Equal(t, idem.Pending, w.state(id))
	require.Zero(t, w.provider.effectCount())
	store.beforeConsume.Store(nil)
	success(t, s.commit(id), "the next commit goes on")
	require.Equal(t, 1, w.provider.effectCount())
}

func TestI13ApproverWithdrawsBeforeConsume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := &hookedStore{Store: w.approvals}
	w.config.Approvals = store
	s := w.start()
	id := s.approved(250)
	store.beforeConsume.Store(new(func() error {
		rec, err := w.approvals.Find(t.Context(), "t1", id)
		if err == nil {
			_, err = w.approvals.Withdraw(t.Context(), "t1", id, rec.Decisions[0].ID, lead)
		}
		store.beforeConsume.Store(nil)
		return err
	}))
	e := refusal(t, s.commit(id), envelope.ApprovalRejected, "taken back in time")
	require.Equal(t, envelope.EffectNone, e.Effect)
	require.Equal(t, idem.Denied, w.state(id))
	require.Zero(t, w.provider.effectCount())
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

func TestI18DigestKeyRotated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	done, waiting := s.approved(250), ""
	success(t, s.commit(done), "")
	waiting = s.approved(300)
	w.config.Digester = digester(t, "k2", "k1")
	s = w.session(w.dispatcher(), "run1", agent)
	require.Equal(t, waiting, s.preview(300).ProposalID, "the same proposal is found under the old key")
	success(t, s.commit(waiting), "a pending approval verifies")
	r := s.commit(done)
	success(t, r, "a replay replays")
	require.True(t, r.Replayed)
	require.Equal(t, 2, w.provider.effectCount())

	w.config.Digester = digester(t, "k3")
	s = w.session(w.dispatcher(), "run1", agent)
	success(t, s.commit(done), "no key is needed to replay")
}

func TestI21NumbersAndNUL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	e := refusal(t, s.call(previewTool, `{"account_id":"a1","limit":1,"note":"a\u0000b"}`), envelope.InvalidArgument, "U+0000")
	require.Equal(t, "note", e.Field)
	require.Equal(t, "nul", e.Rule)

	r := s.call(previewTool, `{"account_id":"a1","limit":9007199254740993}`)
	v, err := r.Decode[proposalView]()
	require.NoError(t, err)
	s.decide(v.ProposalID, true)
	require.Equal(t, int64(9007199254740993), success(t, s.commit(v.ProposalID), "").Limit, "2⁵³+1 runs as it was sent")

	refuses(t, s.call(previewTool, `{"account_id":"a1","limit":1E2}`), envelope.InvalidArgument, "an integer has no exponent")
}

func TestI21ExactNumbersInAPlan(t *testing.T) {
	t.Parallel()
	type ratePlan struct {
		Rate float64 `json:"rate" jsonschema:"minimum=0,maximum=1000"`
		ID   int64   `json:"id"`
	}
	w := newWorld(t)
	var ran ratePlan
	rate := tool.Write[ratePlan, ratePlan, tool.Evidence]{
		Spec:  tool.Spec{Name: "rate_change", Version: 1, Description: "Changes a rate.", Timeout: time.Minute},
		Class: tool.Reversible, Unversioned: true,
		Preview: func(_ context.Context, _ tool.Caller, in ratePlan) (tool.Draft[ratePlan], error) {
			return tool.Draft[ratePlan]{Plan: in, Target: approval.Target{Type: "rate", ID: "r"}, Summary: "Set the rate"}, nil
		},
		Commit: func(_ context.Context, cmd tool.Approved[ratePlan]) (tool.Evidence, error) {
			ran = cmd.Plan
			return tool.Evidence{CommittedAt: epoch}, nil
		},
	}
	c, err := tool.NewCatalog(rate)
	require.NoError(t, err)
	d, err := tool.NewDispatcher(c, w.config)
	require.NoError(t, err)
	role, err := c.Role("support", "preview_rate_change_v1", "commit_rate_change_v1")
	require.NoError(t, err)
	run, err := d.Start(tool.RunConfig{Principal: agent, Role: role, Budget: tool.Budget{Calls: 9}, Deadline: epoch.Add(time.Hour)})
	require.NoError(t, err)
	s := &session{w, d, run}
	v, err := s.call("preview_rate_change_v1", `{"rate":1E2,"id":9223372036854775807}`).Decode[proposalView]()
	require.NoError(t, err)
	s.decide(v.ProposalID, true)
	r := s.call("commit_rate_change_v1", fmt.Sprintf(`{"proposal_id":%q}`, v.ProposalID))
	require.NoError(t, r.Err())
	require.Equal(t, ratePlan{Rate: 100, ID: 9223372036854775807}, ran)
}

func TestI22ClosingAnotherOperationDoesNotFreeTheResource(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"cancelled", "denied", "expired"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			store := &hookedStore{Store: w.approvals}
			w.config.Approvals = store
			sending, release := make(chan struct{}), make(chan struct{})
			w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
				close(sending)
				<-release
				return w.provider.apply(cmd), nil
			}
			w.write.Lifetime = 10 * time.Minute
			s := w.start()
			p1, p2 := s.approved(250), s.approved(300)
			store.beforeConsume.Store(failing(errDown))
			refuses(t, s.commit(p2), envelope.InProgress, "p2 is admitted and waits")
			store.beforeConsume.Store(nil)
			first := make(chan envelope.Result, 1)
			go func() { first <- s.commit(p1) }()
			<-sending

			key := idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", p2)}
			switch how {
			case "cancelled":
				_, err := w.ledger.Close(t.Context(), key, idem.Cancelled, envelope.Cancelled)
				require.NoError(t, err)
			case "denied":
				_, err := w.ledger.Close(t.Context(), key, idem.Denied, envelope.NotPermitted)
				require.NoError(t, err)
			case "expired":
				w.clock.add(11 * time.Minute)
				_, err := w.ledger.Sweep(t.Context())
				require.NoError(t, err)
			}
			r := s.call(previewTool, `{"account_id":"a1","limit":400}`)
			want := envelope.InProgress
			if how == "expired" {
				want = envelope.OutcomeUnknown // p1's lease passed with p2's time
			}
			require.False(t, r.OK)
			e := refusal(t, r, want, "p1 still holds the resource")
			require.Equal(t, idem.OperationID("t1", p1), e.OperationID)
			close(release)
			<-first
			require.Equal(t, 1, w.provider.effectCount())
		})
	}
}

func TestI23DeathBetweenConsumeAndClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ledger := &hookedLedger{Ledger: w.ledger}
	w.config.Ledger = ledger
	s := w.start()
	id := s.approved(250)
	ledger.beforeClaim.Store(failing(errDown))
	refuses(t, s.commit(id), envelope.InProgress, "consumed, not claimed")
	require.Equal(t, approval.Consumed, w.approvalState(id))
	require.Equal(t, idem.Pending, w.state(id))
	ledger.beforeClaim.Store(nil)
	s = w.session(w.dispatcher(), "run1", agent) // another process
	success(t, s.commit(id), "the next commit goes on")
	require.Equal(t, 1, w.provider.effectCount())
}

func TestI25SecondCommitGetsTheOperationsAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sending, release := make(chan struct{}), make(chan struct{})
	w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		out := w.provider.apply(cmd) // the version has moved by now
		close(sending)
		<-release
		return out, nil
	}
	s := w.start()
	id := s.approved(250)
	first := make(chan envelope.Result, 1)
	go func() { first <- s.commit(id) }()
	<-sending
	e := refusal(t, s.commit(id), envelope.InProgress, "while the first sends")
	require.Equal(t, idem.OperationID("t1", id), e.OperationID)
	require.Empty(t, e.Effect, "nobody may read that nothing was done")
	close(release)
	success(t, <-first, "")
	r := s.commit(id)
	success(t, r, "after it succeeded")
	require.True(t, r.Replayed)
	require.Equal(t, 1, w.provider.effectCount())
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

func TestI26OperationBetweenFactsAndProposal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.unversioned()
	inner, calls := w.write.Preview, 0
	var s *session
	var other string
	w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
		d, err := inner(ctx, by, in)
		if in.Limit == 300 {
			if calls++; calls == 2 { // the facts of the draft that counts are read; another operation begins and ends
				success(t, s.commit(other), "") //nolint:contextcheck // another caller's
			}
		}
		return d, err
	}
	s = w.start()
	other = s.approved(250)
	stale := s.preview(300)
	require.Equal(t, 2, calls)
	s.decide(stale.ProposalID, true)
	refuses(t, s.commit(stale.ProposalID), envelope.VersionConflict, "its facts are older than the operation")
	require.Equal(t, 1, w.provider.effectCount())
}

func TestI29PurgeLeavesWhatIsNotTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	id := s.approved(250)
	ledger := &hookedLedger{Ledger: w.ledger}
	ledger.beforeFinish.Store(failing(errDown)) // the process dies after the effect
	w.config.Ledger = ledger
	crashed := w.session(w.dispatcher(), "run1", agent)
	refuses(t, crashed.commit(id), envelope.OutcomeUnknown, "the outcome could not be stored")
	w.clock.add(48 * time.Hour)
	_, err := w.ledger.Purge(t.Context(), time.Hour, time.Hour)
	require.NoError(t, err)
	require.Equal(t, idem.Unknown, w.state(id), "the row is still there")
	require.Equal(t, 1, w.provider.effectCount())
}

func TestI31NotSentUntilTheAttemptsAreUsedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Attempts = 3
	w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
		return limitOut{}, envelope.NotSent(errors.New("dial tcp: refused"))
	}
	s := w.start()
	id := s.approved(250)
	for i := range 2 {
		e := refusal(t, s.commit(id), envelope.InProgress, "the outbox will still run it")
		require.Positive(t, e.RetryAfter)
		require.Equal(t, idem.Pending, w.state(id))
		refuses(t, s.commit(id), envelope.InProgress, "the back-off is respected")
		rec, err := w.ledger.Find(t.Context(), idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", id)})
		require.NoError(t, err)
		require.Len(t, rec.Attempts, i+1, "a commit during the back-off is no attempt")
		w.clock.add(time.Minute)
	}
	e := refusal(t, s.commit(id), envelope.Unavailable, "no attempts are left")
	require.Equal(t, envelope.EffectNone, e.Effect)
	require.Equal(t, idem.Denied, w.state(id))
	require.Zero(t, w.provider.effectCount())
}

func TestI32CancelledBeforeConsumeThenPreviewed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := &hookedStore{Store: w.approvals}
	w.config.Approvals = store
	s := w.start()
	id := s.approved(250)
	store.beforeConsume.Store(failing(errDown))
	refuses(t, s.commit(id), envelope.InProgress, "admitted")
	store.beforeConsume.Store(nil)
	r := s.call("cancel_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, idem.OperationID("t1", id)))
	require.NoError(t, r.Err())
	require.Contains(t, string(r.Data), `"stopped"`)
	require.Equal(t, approval.Approved, w.approvalState(id), "the approval was never consumed")
	again := s.preview(250)
	require.NotEqual(t, id, again.ProposalID, "joining it would lead every commit to the cancelled operation")
	s.decide(again.ProposalID, true)
	success(t, s.commit(again.ProposalID), "")
	refuses(t, s.commit(id), envelope.Cancelled, "the first stays cancelled")
	require.Equal(t, 1, w.provider.effectCount())
}
