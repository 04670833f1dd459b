package tool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

func decision(rec approval.Record, by approval.Principal) approval.Decision {
	return approval.Decision{Approved: true, By: by, Digest: rec.Proposal.Digest}
}

func TestVersionMovedBeforeCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	id := s.approved(250)
	w.provider.touch("t1/a1")
	e := refusal(t, s.commit(id), envelope.VersionConflict, "17 became 18")
	require.Equal(t, "target.version", e.Field)
	require.Equal(t, envelope.EffectNone, e.Effect)
	require.Equal(t, id, e.ProposalID)
	require.Equal(t, approval.Approved, w.approvalState(id), "the proposal is not consumed")
	_, err := w.ledger.Find(t.Context(), idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", id)})
	require.ErrorIs(t, err, idem.ErrNotFound, "no dispatch is left behind")
	require.Zero(t, w.provider.effectCount())
}

func TestCommitOfSomebodyElsesProposalIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.dispatcher()
	id := w.session(d, "run1", agent).approved(250)
	eve, foreign := agent, agent
	eve.Subject, foreign.Tenant = "eve", "t2"
	for name, s := range map[string]*session{
		"another run": w.session(d, "run2", agent), "another subject": w.session(d, "run3", eve), "another tenant": w.session(d, "run1", foreign),
	} {
		e := refusal(t, s.commit(id), envelope.NotFound, name)
		require.Equal(t, "proposal_id", e.Field)
		require.Equal(t, envelope.EffectNone, e.Effect)
		r := s.call("get_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, idem.OperationID("t1", id)))
		refuses(t, r, envelope.NotFound, name)
	}
	refuses(t, w.session(d, "run1", agent).commit("p_0000"), envelope.NotFound, "an invented id")
	require.Zero(t, w.provider.effectCount())
}

func TestOperationIsBoundToSubjectAndItsCancellationToTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.dispatcher()
	s := w.session(d, "run1", agent)
	id := s.approved(250)
	success(t, s.commit(id), "")
	eve := agent
	eve.Subject = "eve"
	arg := fmt.Sprintf(`{"operation_id":%q}`, idem.OperationID("t1", id))
	require.NoError(t, w.session(d, "run2", agent).call("get_operation_v1", arg).Err(), "the next session of the same person reads it")
	refuses(t, w.session(d, "run3", eve).call("get_operation_v1", arg), envelope.NotFound, "another person does not")
	refuses(t, w.session(d, "run2", agent).call("cancel_operation_v1", arg), envelope.NotFound, "another run does not cancel it")
	r := s.call("cancel_operation_v1", arg)
	require.Contains(t, string(r.Data), `"already_finished"`)
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	id := s.preview(250).ProposalID
	rec, err := w.approvals.Find(t.Context(), "t1", id)
	require.NoError(t, err)
	self, foreign, nobody, policy := agent, lead, lead, lead
	self.Roles, foreign.Tenant, nobody.Roles, policy.Kind = []string{"lead"}, "t2", nil, approval.PolicyDecision
	other := decision(rec, lead)
	other.Digest = "k1:0000"
	empty := decision(rec, lead)
	empty.Digest = ""
	noReason := decision(rec, lead)
	noReason.Approved = false
	for _, tt := range []struct {
		name string
		dec  approval.Decision
		want error
	}{
		{"self-approval", decision(rec, self), approval.ErrSelf},
		{"another tenant's approver", decision(rec, foreign), approval.ErrNotFound},
		{"no role", decision(rec, nobody), approval.ErrNotAllowed},
		{"a forged policy", decision(rec, policy), approval.ErrNotAllowed},
		{"another digest", other, approval.ErrDigest},
		{"no digest", empty, approval.ErrDigest},
		{"rejection without a reason", noReason, approval.ErrReason},
	} {
		_, err := s.d.Decide(t.Context(), "t1", id, tt.dec)
		require.ErrorIs(t, err, tt.want, tt.name)
		require.Equal(t, approval.Pending, w.approvalState(id), tt.name)
	}
	s.decide(id, false)
	e := refusal(t, s.commit(id), envelope.ApprovalRejected, "")
	require.Equal(t, "too high", e.Reason)
	require.Equal(t, envelope.EffectNone, e.Effect)
	again := s.preview(250)
	require.Equal(t, id, again.ProposalID, "the same again gets the rejection that stands")
	require.Equal(t, "rejected", again.State)
	require.Equal(t, "too high", again.Reason)
	require.NotEqual(t, id, s.preview(200).ProposalID, "another plan may be proposed")
	require.Zero(t, w.provider.effectCount())
}

func TestExpiryAtTheInstant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Lifetime = 10 * time.Minute
	s := w.start()
	v := s.preview(250)
	require.Equal(t, epoch.Add(10*time.Minute), v.ExpiresAt)
	s.decide(v.ProposalID, true)
	w.clock.add(10*time.Minute - time.Nanosecond)
	late := s.approved(300)
	require.NotEmpty(t, late)
	w.clock.add(time.Nanosecond)
	e := refusal(t, s.commit(v.ProposalID), envelope.ApprovalExpired, "at its instant it is over")
	require.Equal(t, envelope.EffectNone, e.Effect)
	success(t, s.commit(late), "the younger one is not")
}

func TestPolicyLevels(t *testing.T) {
	t.Parallel()
	amount := func(n int64) *int64 { return &n }
	w := newWorld(t)
	w.config.Policy = approval.Table{Version: 3, Rules: []approval.Rule{
		{When: approval.Match{AmountUpTo: amount(100)}, Require: approval.Requirement{Level: approval.None}},
		{When: approval.Match{AmountOver: amount(100), AmountUpTo: amount(1000)}, Require: approval.Requirement{Level: approval.Two, Role: "lead", Lifetime: time.Minute}},
		{When: approval.Match{AmountOver: amount(1000)}, Require: approval.Requirement{Level: approval.Deny}},
	}}
	inner := w.write.Preview
	w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
		d, err := inner(ctx, by, in)
		if in.Limit != 7 {
			d.Consequence.AmountMinor = &in.Limit
		}
		return d, err
	}
	s := w.start()
	refuses(t, s.call(previewTool, `{"account_id":"a1","limit":5000}`), envelope.NotPermitted, "denied")
	refuses(t, s.call(previewTool, `{"account_id":"a1","limit":7}`), envelope.NotPermitted, "an amount that is not said is not small")

	two := s.preview(500)
	require.Equal(t, "two", two.Level)
	require.Equal(t, epoch.Add(time.Minute), two.ExpiresAt)
	s.decide(two.ProposalID, true)
	refuses(t, s.commit(two.ProposalID), envelope.ApprovalPending, "one of two")
	rec, err := w.approvals.Find(t.Context(), "t1", two.ProposalID)
	require.NoError(t, err)
	second := lead
	second.Subject = "linus"
	_, err = s.d.Decide(t.Context(), "t1", two.ProposalID, decision(rec, second))
	require.NoError(t, err)
	success(t, s.commit(two.ProposalID), "")

	none := s.preview(50)
	require.Equal(t, "none", none.Level)
	require.Equal(t, "approved", none.State)
	success(t, s.commit(none.ProposalID), "commit works at once")
	rec, err = w.approvals.Find(t.Context(), "t1", none.ProposalID)
	require.NoError(t, err)
	require.Equal(t, approval.PolicyDecision, rec.Decisions[0].By.Kind)
}

func TestRecheckRefusesWhatChangedSince(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*world)
		want   envelope.Code
	}{
		{"the approver lost the role", func(w *world) { w.authority.set(approval.ErrNotAllowed, nil) }, envelope.ApproverNotAuthorized},
		{"the requester lost access", func(w *world) { w.authority.set(nil, approval.ErrNotAllowed) }, envelope.NotPermitted},
		{"the policy asks for two now", func(w *world) {
			w.config.Policy = approval.Table{Version: 2, Rules: []approval.Rule{{Require: approval.Requirement{Level: approval.Two, Role: "lead"}}}}
		}, envelope.ApprovalMismatch},
		{"the policy denies now", func(w *world) {
			w.config.Policy = approval.Table{Version: 2, Rules: []approval.Rule{{Require: approval.Requirement{Level: approval.Deny}}}}
		}, envelope.ApprovalMismatch},
		{"Tighten asks for more", func(w *world) {
			w.config.Tighten = func(context.Context, approval.Proposal) (approval.Requirement, error) {
				return approval.Requirement{Level: approval.Two, Role: "lead"}, nil
			}
		}, envelope.ApprovalMismatch},
		{"no key verifies the digest", func(w *world) { w.config.Digester = digester(w.t, "k9") }, envelope.ApprovalMismatch},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.start()
			id := s.approved(250)
			tt.change(w)
			s = w.session(w.dispatcher(), "run1", agent)
			e := refusal(t, s.commit(id), tt.want, tt.name)
			require.Equal(t, envelope.EffectNone, e.Effect)
			require.Zero(t, w.provider.effectCount())
		})
	}
}

func TestOlderPolicyRefusesWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.config.Policy
	s := w.start()
	id := s.approved(250)
	w.config.Policy.Version = 2
	w.session(w.dispatcher(), "run1", agent).preview(300) // the store has met version 2
	w.config.Policy = old
	s = w.session(w.dispatcher(), "run1", agent)
	e := refusal(t, s.commit(id), envelope.Unavailable, "a dispatcher of the older policy refuses writes")
	require.Equal(t, envelope.EffectNone, e.Effect)
	refuses(t, s.call(previewTool, `{"account_id":"a1","limit":400}`), envelope.Unavailable, "previews too")
	require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err(), "reads go on")
	w.config.Policy.Version = 2
	success(t, w.session(w.dispatcher(), "run1", agent).commit(id), "the newer one runs it")
}

func TestRelaxedPolicyDoesNotLoosenAnApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	id := s.preview(250).ProposalID
	w.config.Policy = approval.Table{Version: 2, Rules: []approval.Rule{{Require: approval.Requirement{Level: approval.None}}}}
	s = w.session(w.dispatcher(), "run1", agent)
	refuses(t, s.commit(id), envelope.ApprovalPending, "what was asked for then is still missing")
	s.decide(id, true)
	success(t, s.commit(id), "and suffices")
}

func TestTightenAsksForLessIsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Tighten = func(context.Context, approval.Proposal) (approval.Requirement, error) {
		return approval.Requirement{Level: approval.None}, nil
	}
	require.Equal(t, "one", w.start().preview(250).Level)
	w.config.Tighten = func(context.Context, approval.Proposal) (approval.Requirement, error) {
		return approval.Requirement{}, errDown
	}
	r := w.start().call(previewTool, `{"account_id":"a1","limit":250}`)
	refuses(t, r, envelope.Unavailable, "an error refuses")
}

func TestRefusedIsFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Spec.Failures = []envelope.Failure{{Code: "LIMIT_LOCKED", Message: "the limit is locked", Retryable: true}}
	w.write.Commit = func(ctx context.Context, _ tool.Approved[limitPlan]) (limitOut, error) {
		envelope.Sent(ctx)
		return limitOut{}, envelope.Refused((&envelope.Error{Code: "LIMIT_LOCKED", Message: "hunter2"}).At("limit"))
	}
	s := w.start()
	id := s.approved(250)
	for range 2 {
		e := refusal(t, s.commit(id), "LIMIT_LOCKED", "")
		require.Equal(t, "the limit is locked", e.Message)
		require.Equal(t, "limit", e.Field)
		require.Equal(t, envelope.EffectNone, e.Effect)
		require.False(t, e.Retryable, "this operation will not change by being asked again")
	}
	require.Equal(t, idem.Failed, w.state(id))
	success2 := s.approved(300)
	require.NotEmpty(t, success2, "the resource is free again")

	w = newWorld(t)
	w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
		return limitOut{}, envelope.Refused(&envelope.Error{Code: "UNDECLARED", Message: "hunter2"})
	}
	s = w.start()
	id = s.approved(250)
	e := refusal(t, s.commit(id), envelope.Internal, "an undeclared code")
	require.Equal(t, envelope.EffectNone, e.Effect)
	require.Equal(t, idem.Failed, w.state(id))
}

func TestOutputInvalidAfterTheEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type strictOut struct {
		tool.Evidence
		Note string `json:"note" jsonschema:"maxLength=4"`
	}
	write := tool.Write[limitIn, limitPlan, strictOut]{
		Spec: w.write.Spec, Class: tool.Reversible, Preview: w.write.Preview, Current: w.write.Current,
		Commit: func(_ context.Context, cmd tool.Approved[limitPlan]) (strictOut, error) {
			out := w.provider.apply(cmd)
			return strictOut{Evidence: out.Evidence, Note: "hunter2-too-long"}, nil
		},
	}
	c, err := tool.NewCatalog(w.read, write)
	require.NoError(t, err)
	d, err := tool.NewDispatcher(c, w.config)
	require.NoError(t, err)
	s := w.session(d, "run1", agent)
	id := s.approved(250)
	for range 2 {
		e := refusal(t, s.commit(id), envelope.OutputInvalid, "")
		require.Equal(t, envelope.EffectDone, e.Effect, "the change was made; only its report is faulty")
	}
	require.Equal(t, idem.Succeeded, w.state(id))
	require.Equal(t, 1, w.provider.effectCount())
	require.Contains(t, string(w.kept.items[0].Raw), "hunter2-too-long", "operators can read it under seal")
	require.NotContains(t, w.everything(), "hunter2")
}

func TestEvidenceWithoutVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		current func(context.Context, tool.Caller, approval.Target) (string, error)
		want    idem.State
	}{
		{"the target is gone", func(context.Context, tool.Caller, approval.Target) (string, error) {
			return "", envelope.New(envelope.NotFound)
		}, idem.Succeeded},
		{"the target is there", func(context.Context, tool.Caller, approval.Target) (string, error) { return "17", nil }, idem.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			done := false
			inner := w.write.Current
			w.write.Current = func(ctx context.Context, by tool.Caller, target approval.Target) (string, error) {
				if done {
					return tt.current(ctx, by, target)
				}
				return inner(ctx, by, target)
			}
			w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
				done = true
				return limitOut{Evidence: tool.Evidence{CommittedAt: epoch}}, nil
			}
			s := w.start()
			id := s.approved(250)
			s.commit(id)
			require.Equal(t, tt.want, w.state(id))
		})
	}
}

func TestAnswerLostThenStatusByKey(t *testing.T) {
	t.Parallel()
	for _, ask := range []string{"second commit", "get_operation"} {
		t.Run(ask, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write.Contract = idem.StatusQueryable
			reachable := false
			w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
				w.provider.apply(cmd)
				return limitOut{}, errors.New("EOF")
			}
			w.write.Status = func(_ context.Context, cmd tool.Approved[limitPlan], _ string) (limitOut, error) {
				if !reachable {
					return limitOut{}, errors.New("dial: no route to host")
				}
				return w.provider.status(cmd.ProviderKey)
			}
			s := w.start()
			id := s.approved(250)
			refuses(t, s.commit(id), envelope.OutcomeUnknown, "the answer is lost")
			w.clock.add(10 * time.Minute)
			refuses(t, s.commit(id), envelope.OutcomeUnknown, "the provider cannot be asked: still unknown")
			reachable = true
			w.clock.add(10 * time.Minute)
			if ask == "get_operation" {
				v := s.operation(id)
				require.Equal(t, "succeeded", v.State)
				require.Equal(t, "18", v.Evidence.NewVersion)
			}
			r := s.commit(id)
			out := success(t, r, "")
			require.True(t, r.Replayed)
			require.Equal(t, "18", out.NewVersion)
			require.Equal(t, 1, w.provider.effectCount())
		})
	}
}

func TestNotFoundIsAFailureOnlyByContractAndAfterSettle(t *testing.T) {
	t.Parallel()
	for _, contract := range []idem.Contract{idem.StatusQueryable, idem.NotFoundIsFinal} {
		t.Run(string(contract), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write.Contract, w.write.Settle = contract, 10*time.Minute
			w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
				return limitOut{}, errors.New("EOF") // it never arrived
			}
			w.write.Status = func(_ context.Context, cmd tool.Approved[limitPlan], _ string) (limitOut, error) {
				return w.provider.status(cmd.ProviderKey)
			}
			s := w.start()
			id := s.approved(250)
			refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
			w.clock.add(10 * time.Minute)
			refuses(t, s.commit(id), envelope.OutcomeUnknown, "a request may still land")
			w.clock.add(time.Minute)
			r := s.commit(id)
			if contract == idem.StatusQueryable {
				refuses(t, r, envelope.OutcomeUnknown, "not found proves nothing here")
				return
			}
			e := refusal(t, r, envelope.Unavailable, "nothing landed and nothing can")
			require.Equal(t, envelope.EffectNone, e.Effect)
			require.Equal(t, idem.Failed, w.state(id))
		})
	}
}

func TestRunningThenDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Contract, w.write.RunFor = idem.StatusQueryable, time.Hour
	done := false
	var plan tool.Approved[limitPlan]
	w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		plan = cmd
		return limitOut{}, envelope.Running("job-7")
	}
	w.write.Status = func(_ context.Context, _ tool.Approved[limitPlan], receipt string) (limitOut, error) {
		require.Equal(t, "job-7", receipt)
		if !done {
			return limitOut{}, envelope.Running(receipt)
		}
		return w.provider.apply(plan), nil
	}
	s := w.start()
	id := s.approved(250)
	e := refusal(t, s.commit(id), envelope.InProgress, "the provider works on it")
	require.Positive(t, e.RetryAfter)
	require.Equal(t, "running", s.operation(id).State)
	refuses(t, s.call(previewTool, `{"account_id":"a1","limit":9}`), envelope.InProgress, "the resource is taken")
	done = true
	w.clock.add(time.Minute)
	v := s.operation(id)
	require.Equal(t, "succeeded", v.State)
	require.Zero(t, v.RetryAfterMS)
}

func TestCancelRunning(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		stopped tool.Stopped
		err     error
		want    string
		state   idem.State
	}{
		{tool.StoppedNow, nil, "stopped", idem.Cancelled},
		{tool.NotInterruptible, nil, "not_interruptible", idem.Running},
		{"", errors.New("EOF"), "not_interruptible", idem.Running},
		{tool.StoppedNow, errors.New("EOF"), "not_interruptible", idem.Running},
	} {
		t.Run(fmt.Sprint(tt.stopped, tt.err), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write.RunFor = time.Hour
			w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
				return limitOut{}, envelope.Running("job-7")
			}
			w.write.Cancel = func(context.Context, tool.Approved[limitPlan], string) (tool.Stopped, error) {
				return tt.stopped, tt.err
			}
			s := w.start()
			id := s.approved(250)
			refuses(t, s.commit(id), envelope.InProgress, "")
			r := s.call("cancel_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, idem.OperationID("t1", id)))
			require.NoError(t, r.Err())
			require.Contains(t, string(r.Data), `"`+tt.want+`"`)
			require.Equal(t, tt.state, w.state(id))
		})
	}
}

func TestOvertimeIsUnknownAndTheLateAnswerIsEvidence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.clock.now = time.Now()
		w.approvals, w.ledger = approval.NewMemory(time.Now), idem.NewMemory(time.Now)
		w.config.Now, w.config.Approvals, w.config.Ledger, w.config.Lease = time.Now, w.approvals, w.ledger, 10*time.Second
		release := make(chan struct{})
		w.write.Spec.Timeout = time.Minute
		w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			<-release // deaf to its context
			return w.provider.apply(cmd), nil
		}
		s := w.start()
		id := s.approved(250)
		began := time.Now()
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
		require.Equal(t, time.Minute, time.Since(began), "the claim was renewed six times meanwhile")
		close(release)
		synctest.Wait()
		time.Sleep(30 * time.Minute) // virtual
		r := s.commit(id)
		success(t, r, "the stored evidence resolves it")
		require.Equal(t, 1, w.provider.effectCount())
	})
}

func TestLedgerDownAtFinishNeverTwoTruths(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.clock.now = time.Now()
		w.approvals, w.ledger = approval.NewMemory(time.Now), idem.NewMemory(time.Now)
		ledger := &hookedLedger{Ledger: w.ledger}
		w.config.Now, w.config.Approvals, w.config.Ledger, w.config.Lease = time.Now, w.approvals, ledger, 30*time.Second
		s := w.start()
		id := s.approved(250)
		ledger.beforeFinish.Store(failing(errDown))
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "nothing is answered before it is stored")
		ledger.beforeFinish.Store(nil)
		time.Sleep(2 * time.Second) // virtual: the process tries again
		synctest.Wait()
		require.Equal(t, idem.Succeeded, w.state(id))
		r := s.commit(id)
		success(t, r, "")
		require.Equal(t, 1, w.provider.effectCount())
	})
}

func TestOperatorResolves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		w.provider.apply(cmd)
		return limitOut{}, errors.New("EOF")
	}
	s := w.start()
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
	k := idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", id)}
	r := idem.Resolution{State: idem.Succeeded, Reason: "seen in the bank's journal", Evidence: "journal 4711"}
	_, err := s.d.Resolve(t.Context(), k, lead, r)
	require.ErrorIs(t, err, approval.ErrNotAllowed)
	bad := r
	bad.Result = []byte(`{"limit":1}`)
	_, err = s.d.Resolve(t.Context(), k, operator, bad)
	require.Error(t, err, "a result must fit the tool's output")
	bad = r
	bad.Reason = ""
	_, err = s.d.Resolve(t.Context(), k, operator, bad)
	require.Error(t, err)
	require.Equal(t, idem.Unknown, w.state(id))
	rec, err := s.d.Resolve(t.Context(), k, operator, r)
	require.NoError(t, err)
	require.Equal(t, "olga", rec.Resolution.By)
	require.Equal(t, "succeeded", s.operation(id).State)
	require.NoError(t, s.call(previewTool, `{"account_id":"a1","limit":300}`).Err(), "the resource is free again")
	require.True(t, slices.ContainsFunc(w.audit.events, func(e audit.Event) bool { return e.Kind == "resolve" && e.Subject == "olga" }))
}

func TestRunCancelClosesWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := &hookedStore{Store: w.approvals}
	w.config.Approvals = store
	s := w.start()
	id := s.approved(250)
	store.beforeConsume.Store(failing(errDown))
	refuses(t, s.commit(id), envelope.InProgress, "")
	s.run.Cancel("enough")
	require.Equal(t, idem.Cancelled, w.state(id))
	refuses(t, s.commit(id), envelope.Cancelled, "")
}

func TestTwentyCommitsOfOneProposalHaveOneEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.dispatcher()
	role, err := roleOf(d, w)
	require.NoError(t, err)
	run, err := d.Start(tool.RunConfig{ID: "run1", Principal: agent, Role: role, Budget: tool.Budget{Calls: 100, Parallel: 50}, Deadline: epoch.Add(time.Hour)})
	require.NoError(t, err)
	s := &session{w, d, run}
	id := s.approved(250)
	var wg sync.WaitGroup
	results := make([]envelope.Result, 20)
	for i := range results {
		wg.Go(func() { results[i] = s.commit(id) })
	}
	wg.Wait()
	fresh := 0
	for _, r := range results {
		switch {
		case r.OK && !r.Replayed:
			fresh++
		case !r.OK:
			require.Equal(t, envelope.InProgress, r.Error.Code)
		}
	}
	require.Equal(t, 1, fresh)
	require.Equal(t, 1, w.provider.effectCount())
}

func TestBodyAlteredBeforeTheClaimIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Ledger = &alteringLedger{Ledger: w.ledger}
	s := w.start()
	id := s.approved(250)
	e := refusal(t, s.commit(id), envelope.ApprovalMismatch, "I30: the plan is not what was approved")
	require.Equal(t, envelope.EffectNone, e.Effect)
	require.Equal(t, idem.Denied, w.state(id))
	require.Zero(t, w.provider.effectCount())
}

// alteringLedger hands out another plan than it was given.
type alteringLedger struct{ idem.Ledger }

func (a *alteringLedger) Claim(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	c, err := a.Ledger.Claim(ctx, k, worker, lease)
	c.Command.Body = []byte(replaceOnce(string(c.Command.Body), `"limit":250`, `"limit":251`))
	return c, err
}

// What a live host has begun, a shadow over the same stores neither goes on with, nor asks about, nor stops.
func TestShadowLeavesRealOperationsAlone(t *testing.T) {
	t.Parallel()
	for _, queued := range []bool{true, false} {
		w := newWorld(t)
		var reached atomic.Int32
		w.runs(time.Hour, func() tool.Stopped { reached.Add(1); return tool.StoppedNow })
		status, current := w.write.Status, w.write.Current
		w.write.Queued = queued
		w.write.Status = func(ctx context.Context, a tool.Approved[limitPlan], receipt string) (limitOut, error) {
			reached.Add(1)
			return status(ctx, a, receipt)
		}
		w.write.Current = func(ctx context.Context, by tool.Caller, at approval.Target) (string, error) {
			reached.Add(1)
			return current(ctx, by, at)
		}
		c, err := tool.NewCatalog(w.read, w.write)
		require.NoError(t, err)
		live, err := tool.NewDispatcher(c, w.config)
		require.NoError(t, err)
		s := w.session(live, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "it waits, or runs")
		state := w.state(id)
		reached.Store(0)
		w.entered = nil

		w.config.Shadow = &tool.Shadow{Stubs: shadowStubs()}
		d, err := tool.NewDispatcher(c, w.config)
		require.NoError(t, err)
		_, err = tool.NewWorker(d, tool.WorkerConfig{})
		require.ErrorIs(t, err, tool.ErrNotLive)
		shadow := w.session(d, "run1", agent)
		get := shadow.call("get_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, idem.OperationID("t1", id)))
		require.NoError(t, get.Err(), "what the ledger knows is told")
		refuses(t, shadow.cancel(id), envelope.NotPermitted, "nothing real is stopped")
		rec, err := w.approvals.Find(t.Context(), "t1", id)
		require.NoError(t, err)
		require.Error(t, d.Fresh(t.Context(), rec.Proposal), "nobody is asked")
		require.Zero(t, reached.Load())
		require.Empty(t, w.entered)
		require.Equal(t, state, w.state(id))
	}
}

func TestShadowReachesNoHandler(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Shadow = &tool.Shadow{}
	s := w.start()
	refuses(t, s.call(previewTool, `{"account_id":"a1","limit":250}`), envelope.NotPermitted, "a write without a stub")
	w.config.Shadow.Stubs = shadowStubs()
	s = w.session(w.dispatcher(), "run1", agent)
	refuses(t, s.call(previewTool, `{"account_id":"a1"}`), envelope.InvalidArgument, "the contract holds in the shadow")
	r := s.call(previewTool, `{"account_id":"a1","limit":250}`)
	require.NoError(t, r.Err())
	refuses(t, s.commit("p_0000"), envelope.OutputInvalid, "a stub's answer is checked")
	require.Empty(t, w.entered)
	require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err(), "reads are real")
	require.Zero(t, w.provider.effectCount())
}
