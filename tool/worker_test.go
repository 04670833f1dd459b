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
