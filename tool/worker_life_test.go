package tool_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// countedQuarantine counts its purges.
type countedQuarantine struct {
	kept
	purges atomic.Int32
}

func (q *countedQuarantine) Purge(context.Context) (int, error) { q.purges.Add(1); return 0, nil }

// queue commits a limit for an account of its own.
func (s *session) queue(account string) (proposal string) {
	s.w.t.Helper()
	s.w.provider.put("t1/"+account, accountOne)
	r := s.call(previewTool, fmt.Sprintf(`{"account_id":%q,"limit":7}`, account))
	v, err := r.Decode[proposalView]()
	require.NoError(s.w.t, err)
	s.decide(v.ProposalID, true)
	refuses(s.w.t, s.commit(v.ProposalID), envelope.InProgress, "queued")
	return v.ProposalID
}

var accountOne = account{1, 1}

// TestBusyWorkerSweepsAndPurges: all its places are taken for an hour, and what is over its time is closed all the same.
func TestBusyWorkerSweepsAndPurges(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		q := &countedQuarantine{}
		w.write.Queued, w.write.Spec.Timeout, w.config.Quarantine = true, 2*time.Hour, q
		entered := make(chan struct{}, 2)
		w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			entered <- struct{}{}
			if cmd.Plan.AccountID == "slow" {
				time.Sleep(time.Hour)
			}
			return w.provider.apply(cmd), nil
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		stop := w.work(d, tool.WorkerConfig{Parallel: 1, Sweep: time.Minute, Bodies: 10 * time.Minute, Tombstones: 20 * time.Minute})
		old := s.queue("old")
		<-entered
		synctest.Wait()
		require.Equal(t, idem.Succeeded, w.state(old))
		slow := s.queue("slow")
		<-entered
		waits := s.queue("waits")
		time.Sleep(12*time.Minute + 30*time.Second) // between two sweeps, here and below
		_, err := w.ledger.Find(t.Context(), key(old))
		require.ErrorIs(t, err, idem.ErrGone, "ten minutes after its end the body goes")
		require.Equal(t, idem.Pending, w.state(waits))
		time.Sleep(4 * time.Minute)
		require.Equal(t, idem.Expired, w.state(waits), "a quarter of an hour after its proposal")
		time.Sleep(5 * time.Minute)
		_, err = w.ledger.Find(t.Context(), key(old))
		require.ErrorIs(t, err, idem.ErrNotFound, "after twenty minutes the tombstone goes")
		synctest.Wait()
		require.Equal(t, int32(22), q.purges.Load(), "at the start and each minute")
		require.Equal(t, idem.Dispatching, w.state(slow))
		stop()
		require.Equal(t, idem.Succeeded, w.state(slow))
	})
}

func TestWorkerWaitsForWhatTheLedgerDoesNotTake(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		down  time.Duration
		waits time.Duration // from the handler's end
		state idem.State
	}{
		{"until it is stored", 3 * time.Second, 3 * time.Second, idem.Succeeded},
		{"until the lease is over", time.Hour, 9 * time.Second, idem.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				l := w.tapped()
				w.write.Queued = true
				entered := make(chan struct{})
				var ended time.Time
				l.finishing.set(func(idem.Outcome) error {
					if time.Since(ended) < tt.down {
						return errDown
					}
					return nil
				})
				w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
					close(entered)
					time.Sleep(time.Second)
					ended = time.Now()
					return w.provider.apply(cmd), nil
				}
				d := w.dispatcher()
				id := w.session(d, "run1", agent).queue("a1")
				stop := w.work(d, tool.WorkerConfig{})
				<-entered
				stop()
				require.Equal(t, tt.waits, time.Since(ended))
				require.Equal(t, tt.state, w.state(id))
				require.Equal(t, 1, w.provider.effectCount())
			})
		})
	}
}

func TestWorkerOfAClosedDispatcherEnds(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Queued = true
		closed, healthy := w.dispatcher(), w.dispatcher()
		worker, err := tool.NewWorker(closed, tool.WorkerConfig{})
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- worker.Run(t.Context()) }()
		synctest.Wait()
		require.NoError(t, closed.Close(t.Context()))
		synctest.Wait()
		select {
		case err := <-done:
			require.NoError(t, err)
		default:
			require.Fail(t, "it goes on")
		}
		id := w.session(healthy, "run1", agent).queue("a1")
		_, err = w.ledger.Next(t.Context(), nil, time.Minute)
		require.NoError(t, err, "nobody took it: %s", id)
	})
}

func TestWorkerGivesBackWhatItGotWhenItsDispatcherClosed(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		l := w.tapped()
		w.write.Queued = true
		d := w.dispatcher()
		id := w.session(d, "run1", agent).queue("a1")
		var deliveries atomic.Int32
		l.delivered.set(func(idem.Delivery) error {
			if deliveries.Add(1) > 1000 {
				return idem.ErrEmpty
			}
			return d.Close(context.Background())
		})
		worker, err := tool.NewWorker(d, tool.WorkerConfig{Parallel: 1})
		require.NoError(t, err)
		require.NoError(t, worker.Run(t.Context()))
		require.Less(t, deliveries.Load(), int32(1000), "and takes no more")
		delivery, err := w.ledger.Next(t.Context(), nil, time.Minute)
		require.NoError(t, err, "another worker need not wait")
		require.Equal(t, key(id), delivery.Key)
		require.Equal(t, idem.Pending, w.state(id))
		require.Zero(t, w.provider.effectCount())
	})
}

// TestOperationExpiresWithItsApproval: whoever sees it first.
func TestOperationExpiresWithItsApproval(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"sweep", "delivery", "commit"} {
		t.Run(first, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				l := w.tapped()
				w.write.Queued = first != "commit"
				store := &hookedStore{Store: w.approvals}
				store.beforeConsume.Store(failing(errDown))
				w.config.Approvals = store
				d := w.dispatcher()
				s := w.session(d, "run1", agent)
				id := s.queue("a1")
				store.beforeConsume.Store(nil)
				time.Sleep(15 * time.Minute)
				switch first {
				case "sweep":
					l.delivered.set(func(idem.Delivery) error { return idem.ErrEmpty })
				case "delivery":
					l.sweeping.set(func(struct{}) error { return errDown })
				case "commit":
					e := refusal(t, s.commit(id), envelope.ApprovalExpired, "")
					require.Equal(t, envelope.EffectNone, e.Effect)
				}
				if first != "commit" {
					stop := w.work(d, tool.WorkerConfig{})
					synctest.Wait()
					stop()
				}
				require.Equal(t, idem.Expired, w.state(id))
				refuses(t, s.commit(id), envelope.ApprovalExpired, "")
				require.Zero(t, w.provider.effectCount())
			})
		})
	}
}

// TestOperationWhoseApprovalExpiredBeforeItIsDenied: two stores, two clocks.
func TestOperationWhoseApprovalExpiredBeforeItIsDenied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	behind := &clock{now: epoch}
	w.ledger = idem.NewMemory(behind.Now)
	w.config.Ledger = w.ledger
	store := &hookedStore{Store: w.approvals}
	store.beforeConsume.Store(failing(errDown))
	w.config.Approvals = store
	s := w.start()
	id := s.queue("a1")
	store.beforeConsume.Store(nil)
	w.clock.add(15 * time.Minute)
	e := refusal(t, s.commit(id), envelope.ApprovalExpired, "the ledger's clock is behind")
	require.Equal(t, envelope.EffectNone, e.Effect)
	require.Equal(t, idem.Denied, w.state(id))
	require.Zero(t, w.provider.effectCount())
}
