package tool_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// realTime puts the world's stores on the bubble's clock.
func (w *world) realTime() {
	w.clock.now = time.Now()
	w.approvals, w.ledger = approval.NewMemory(time.Now), idem.NewMemory(time.Now)
	w.config.Now, w.config.Approvals, w.config.Ledger, w.config.Lease = time.Now, w.approvals, w.ledger, 10*time.Second
}

// work runs a worker in the bubble until the test ends.
func (w *world) work(d *tool.Dispatcher, cfg tool.WorkerConfig) (stop func()) {
	w.t.Helper()
	worker, err := tool.NewWorker(d, cfg)
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- worker.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(w.t, <-done)
	}
}

func bubble(t *testing.T, f func(*world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.realTime()
		f(w)
	})
}

func TestWorkerRunsWhatIsQueued(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Queued = true
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		e := refusal(t, s.commit(id), envelope.InProgress, "commit answers at once")
		require.Equal(t, idem.OperationID("t1", id), e.OperationID)
		require.Equal(t, "queued", s.operation(id).State)
		stop := w.work(d, tool.WorkerConfig{Name: "w1"})
		synctest.Wait()
		require.Equal(t, "succeeded", s.operation(id).State)
		r := s.commit(id)
		success(t, r, "a commit after it replays")
		require.True(t, r.Replayed)
		rec, err := w.ledger.Find(t.Context(), idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", id)})
		require.NoError(t, err)
		require.Equal(t, "w1", rec.Attempts[0].Worker)
		stop()
		require.Equal(t, 1, w.provider.effectCount())
	})
}

func TestWorkerTriesAgainWhatWasNotSent(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		var tries atomic.Int32
		w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			if tries.Add(1) < 3 {
				return limitOut{}, envelope.NotSent(errors.New("dial"))
			}
			require.Equal(t, 3, cmd.Attempt)
			return w.provider.apply(cmd), nil
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "the outbox will run it")
		stop := w.work(d, tool.WorkerConfig{})
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, idem.Succeeded, w.state(id))
		require.Equal(t, 1, w.provider.effectCount())
		stop()
	})
}

func TestI4QueuedPastItsExpiryIsNotSent(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Queued, w.write.Lifetime = true, time.Minute
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "")
		time.Sleep(time.Minute)
		stop := w.work(d, tool.WorkerConfig{Sweep: time.Hour})
		synctest.Wait()
		stop()
		require.Equal(t, idem.Expired, w.state(id))
		refuses(t, s.commit(id), envelope.ApprovalExpired, "")
		require.Zero(t, w.provider.effectCount())
	})
}

func TestI5NoResendAfterWhatChanged(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){
		"expiry":        func(*world) { time.Sleep(16 * time.Minute) },
		"revocation":    func(w *world) { w.authority.set(approval.ErrNotAllowed, nil) },
		"a new version": func(w *world) { w.provider.touch("t1/a1") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				var sends atomic.Int32
				w.write.Contract, w.write.DedupFor = idem.ReplaySafe, time.Hour
				w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
					sends.Add(1)
					return limitOut{}, errors.New("EOF")
				}
				d := w.dispatcher()
				s := w.session(d, "run1", agent)
				id := s.approved(250)
				refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
				change(w)
				stop := w.work(d, tool.WorkerConfig{})
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				stop()
				require.Equal(t, int32(1), sends.Load(), "sent once")
				require.Equal(t, idem.Unknown, w.state(id))
			})
		})
	}
}

func TestReplaySafeIsSentAgainUntilItAnswers(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		var sends atomic.Int32
		var keys sync.Map
		w.write.Contract, w.write.DedupFor = idem.ReplaySafe, time.Hour
		w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			keys.Store(cmd.ProviderKey, true)
			if sends.Add(1) == 1 {
				w.provider.apply(cmd)
				w.provider.accounts["t1/a1"] = account{17, 100} // the version is not the provider's to move here
				return limitOut{}, errors.New("EOF")
			}
			return w.provider.status(cmd.ProviderKey) // the first answer again
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
		stop := w.work(d, tool.WorkerConfig{})
		time.Sleep(time.Minute)
		synctest.Wait()
		stop()
		require.Equal(t, idem.Succeeded, w.state(id))
		require.Equal(t, int32(2), sends.Load())
		require.Equal(t, 1, w.provider.effectCount())
		n := 0
		keys.Range(func(any, any) bool { n++; return true })
		require.Equal(t, 1, n, "the same key")
	})
}

func TestI7LateWorkerSendsNothingAndNothingIsCalledFailed(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Contract, w.write.Queued = idem.StatusQueryable, true
		asleep, wake := make(chan struct{}), make(chan struct{})
		sent := errors.New("unset")
		w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			close(asleep)
			<-wake
			if sent = ctx.Err(); sent != nil { // what every client does before it dials
				return limitOut{}, sent
			}
			return w.provider.apply(cmd), nil
		}
		w.write.Status = func(_ context.Context, cmd tool.Approved[limitPlan], _ string) (limitOut, error) {
			return w.provider.status(cmd.ProviderKey)
		}
		paused := &hookedLedger{Ledger: w.ledger}
		paused.beforeRenew.Store(failing(errDown)) // it cannot renew: like a machine that stood still
		w.config.Ledger = paused
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "")
		stop := w.work(d, tool.WorkerConfig{Name: "late"})
		<-asleep
		time.Sleep(11 * time.Second) // past its lease
		w.config.Ledger = w.ledger
		d2 := w.dispatcher()
		stop2 := w.work(d2, tool.WorkerConfig{Name: "other"})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, idem.Unknown, w.state(id), "not found proves nothing")
		close(wake)
		synctest.Wait()
		require.Error(t, sent, "its context ended with the lease")
		require.Zero(t, w.provider.effectCount())
		require.Equal(t, idem.Unknown, w.state(id))
		stop()
		stop2()
	})
}

func TestI10EffectDoneLedgerDownAtFinish(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Contract = idem.StatusQueryable
		w.write.Status = func(_ context.Context, cmd tool.Approved[limitPlan], _ string) (limitOut, error) {
			return w.provider.status(cmd.ProviderKey)
		}
		ledger := &hookedLedger{Ledger: w.ledger}
		w.config.Ledger = ledger
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		ledger.beforeFinish.Store(failing(errDown))
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "the ledger is down")
		time.Sleep(11 * time.Second) // the process gives up with its lease
		ledger.beforeFinish.Store(nil)
		stop := w.work(d, tool.WorkerConfig{})
		time.Sleep(time.Minute)
		synctest.Wait()
		stop()
		require.Equal(t, idem.Succeeded, w.state(id), "resolved by the provider's word when it is back")
		success(t, s.commit(id), "")
		require.Equal(t, 1, w.provider.effectCount())
	})
}

func TestI15TwoResolversAndTheProvidersWindow(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		var sends atomic.Int32
		w.write.Contract, w.write.DedupFor, w.write.Attempts = idem.ReplaySafe, 20*time.Second, 50
		w.write.Commit = func(ctx context.Context, _ tool.Approved[limitPlan]) (limitOut, error) {
			deadline, ok := ctx.Deadline()
			require.True(t, ok)
			_ = deadline
			sends.Add(1)
			return limitOut{}, errors.New("EOF")
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		began := time.Now()
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
		stop1, stop2 := w.work(d, tool.WorkerConfig{Name: "a"}), w.work(w.dispatcher(), tool.WorkerConfig{Name: "b"})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		stop1()
		stop2()
		rec, err := w.ledger.Find(t.Context(), idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", id)})
		require.NoError(t, err)
		require.Equal(t, idem.Unknown, rec.State)
		require.Len(t, rec.Attempts, int(sends.Load()), "one holder at a time")
		require.Greater(t, sends.Load(), int32(1))
		for _, a := range rec.Attempts {
			require.Less(t, a.StartedAt.Sub(began), 20*time.Second, "nothing leaves after the window")
		}
	})
}

func TestI16WorkerThatLacksATool(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Queued = true
		newer := w.write
		newer.Spec.Version = 3
		c, err := tool.NewCatalog(w.read, newer)
		require.NoError(t, err)
		d3, err := tool.NewDispatcher(c, w.config)
		require.NoError(t, err)
		role, err := c.Role("support", "preview_limit_change_v3", "commit_limit_change_v3")
		require.NoError(t, err)
		run, err := d3.Start(tool.RunConfig{ID: "r3", Principal: agent, Role: role, Budget: tool.Budget{Calls: 9}, Deadline: time.Now().Add(time.Hour)})
		require.NoError(t, err)
		s3 := &session{w, d3, run}
		v3, err := s3.call("preview_limit_change_v3", `{"account_id":"a2","limit":1}`).Decode[proposalView]()
		require.NoError(t, err)
		s3.decide(v3.ProposalID, true)
		refuses(t, s3.call("commit_limit_change_v3", `{"proposal_id":"`+v3.ProposalID+`"}`), envelope.InProgress, "at the head of the outbox")

		d := w.dispatcher() // knows version 2 alone
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "")
		stop := w.work(d, tool.WorkerConfig{})
		synctest.Wait()
		require.Equal(t, idem.Succeeded, w.state(id), "others proceed")
		require.Equal(t, idem.Pending, w.state(v3.ProposalID))
		stop()
		stop = w.work(d3, tool.WorkerConfig{})
		synctest.Wait()
		require.Equal(t, idem.Succeeded, w.state(v3.ProposalID))
		stop()
		require.NoError(t, d3.Close(t.Context()))
	})
}

func TestI17NoWorkerWhoeverReadsReaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ledger := &hookedLedger{Ledger: w.ledger}
	ledger.beforeFinish.Store(failing(errDown))
	w.config.Ledger = ledger
	s := w.start()
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "the process dies with the outcome")
	require.Equal(t, idem.Dispatching, w.state(id))
	w.clock.add(time.Minute)
	require.Equal(t, "unknown", s.operation(id).State, "its lease is over, and the reader puts it right")
	e := refusal(t, s.call(previewTool, `{"account_id":"a1","limit":9}`), envelope.OutcomeUnknown, "")
	require.Equal(t, idem.OperationID("t1", id), e.OperationID)
}

func TestI24ResentAndNotSentIsUnknownAgain(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		var sends atomic.Int32
		w.write.Contract, w.write.DedupFor, w.write.Attempts = idem.ReplaySafe, time.Hour, 3
		w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
			if sends.Add(1) == 1 {
				return limitOut{}, errors.New("EOF")
			}
			return limitOut{}, envelope.NotSent(errors.New("dial"))
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
		stop := w.work(d, tool.WorkerConfig{})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		stop()
		require.Equal(t, int32(3), sends.Load())
		require.Equal(t, idem.Unknown, w.state(id), "never pending, never denied: the first may have landed")
	})
}

func TestI27OutsiderChangesTheTargetInTheQueue(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Queued = true
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "")
		w.provider.touch("t1/a1")
		stop := w.work(d, tool.WorkerConfig{})
		synctest.Wait()
		stop()
		require.Equal(t, idem.Denied, w.state(id))
		e := refusal(t, s.commit(id), envelope.VersionConflict, "")
		require.Equal(t, envelope.EffectNone, e.Effect)
		require.Zero(t, w.provider.effectCount())
	})
}

func TestAccessRevokedInTheQueue(t *testing.T) {
	t.Parallel()
	for name, revoke := range map[string]func(*authority){
		"the approver's":  func(a *authority) { a.set(approval.ErrNotAllowed, nil) },
		"the requester's": func(a *authority) { a.set(nil, approval.ErrNotAllowed) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				w.write.Queued = true
				d := w.dispatcher()
				s := w.session(d, "run1", agent)
				id := s.approved(250)
				refuses(t, s.commit(id), envelope.InProgress, "")
				revoke(w.authority)
				stop := w.work(d, tool.WorkerConfig{})
				synctest.Wait()
				stop()
				require.Equal(t, idem.Denied, w.state(id))
				require.Zero(t, w.provider.effectCount())
			})
		})
	}
}

func TestI28NotFoundAskedBeforeSettleStaysUnknown(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Contract, w.write.Settle = idem.NotFoundIsFinal, 10*time.Second
		w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
			return limitOut{}, errors.New("EOF")
		}
		var land tool.Approved[limitPlan]
		w.write.Status = func(_ context.Context, cmd tool.Approved[limitPlan], _ string) (limitOut, error) {
			out, err := w.provider.status(cmd.ProviderKey)
			if land = cmd; err != nil {
				time.Sleep(30 * time.Second) // the answer "not found" is old when it arrives: Settle ended meanwhile
			}
			return out, err
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
		time.Sleep(2 * time.Second)
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "asked before Settle was over")
		w.provider.apply(land) // and it did land
		time.Sleep(time.Minute)
		success(t, s.commit(id), "")
		require.Equal(t, 1, w.provider.effectCount())
	})
}

func TestDevelopmentHasAWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.write.Queued = true
		c, err := tool.NewCatalog(w.read, w.write)
		require.NoError(t, err)
		cfg := tool.Development(approval.Everything(approval.Requirement{Level: approval.None}))
		cfg.Logger, cfg.Audit = nil, w.audit
		d, err := tool.NewDispatcher(c, cfg)
		require.NoError(t, err)
		role, err := c.Role("support", previewTool, commitTool)
		require.NoError(t, err)
		run, err := d.Start(tool.RunConfig{Principal: agent, Role: role, Budget: tool.Budget{Calls: 9}, Deadline: time.Now().Add(time.Hour)})
		require.NoError(t, err)
		s := &session{w, d, run}
		id := s.preview(250).ProposalID
		refuses(t, s.commit(id), envelope.InProgress, "queued")
		synctest.Wait()
		require.Equal(t, "succeeded", s.operation(id).State)
		require.NoError(t, d.Close(t.Context()), "Close ends the worker")
	})
}

func TestWorkerDrainsOnShutdown(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Queued = true
		entered := make(chan struct{})
		w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			close(entered)
			time.Sleep(25 * time.Second) // longer than its lease: renewed on the way out too
			return w.provider.apply(cmd), nil
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "")
		stop := w.work(d, tool.WorkerConfig{})
		<-entered
		stop()
		require.Equal(t, idem.Succeeded, w.state(id), "what was begun is finished")
	})
}

func TestNewWorkerRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := tool.NewWorker(nil, tool.WorkerConfig{})
	require.Error(t, err)
	_, err = tool.NewWorker(w.dispatcher(), tool.WorkerConfig{Parallel: -1})
	require.Error(t, err)
	_, err = tool.NewWorker(w.dispatcher(), tool.WorkerConfig{Bodies: time.Hour, Tombstones: time.Minute})
	require.Error(t, err)
	c, err := tool.NewCatalog(w.read)
	require.NoError(t, err)
	reads, err := tool.NewDispatcher(c, tool.Config{})
	require.NoError(t, err)
	_, err = tool.NewWorker(reads, tool.WorkerConfig{})
	require.Error(t, err, "reads need no worker")
}
