package tool_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// What makes a worker look: its poll where nobody wakes it, the ledger's bell where there is one.

func TestWorkerPollsALedgerThatIsNoWaker(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.config.Ledger = struct{ idem.Ledger }{w.ledger}
		w.write.Queued = true
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		stop := w.work(d, tool.WorkerConfig{Poll: time.Minute})
		synctest.Wait()
		id := s.queue("a1")
		time.Sleep(59 * time.Second)
		require.Equal(t, idem.Pending, w.state(id), "nobody told it")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, idem.Succeeded, w.state(id))
		stop()
	})
}

func TestWorkerIsWoken(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Queued = true
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		stop := w.work(d, tool.WorkerConfig{Poll: 24 * time.Hour})
		synctest.Wait()
		for _, account := range []string{"a1", "a2"} {
			id := s.queue(account)
			synctest.Wait()
			require.Equal(t, idem.Succeeded, w.state(id), account)
		}
		stop()
	})
}

// TestWorkerLeavesAnOperationItsBackOff: it was delivered, and before the worker looked a commit had tried it.
func TestWorkerLeavesAnOperationItsBackOff(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		l := w.tapped()
		store := &hookedStore{Store: w.approvals}
		store.beforeConsume.Store(failing(errDown))
		w.config.Approvals = store
		var tries atomic.Int32
		w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			if tries.Add(1) == 1 {
				return limitOut{}, envelope.NotSent(errors.New("dial"))
			}
			return w.provider.apply(cmd), nil
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.queue("a1")
		store.beforeConsume.Store(nil)
		l.delivered.set(func(idem.Delivery) error {
			l.delivered.off()
			refuses(t, s.commit(id), envelope.InProgress, "not sent")
			return nil
		})
		stop := w.work(d, tool.WorkerConfig{})
		time.Sleep(time.Minute)
		stop()
		require.Equal(t, idem.Succeeded, w.state(id))
		require.Equal(t, int32(2), tries.Load())
		require.Equal(t, 2, w.audited("dispatch"), "what is not sent is not audited as sent")
	})
}

// TestWorkerLeavesACommitItsOwnOperation: for ten seconds, in case that the commit died.
func TestWorkerLeavesACommitItsOwnOperation(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		store := &hookedStore{Store: w.approvals}
		w.config.Approvals = store
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		stop := w.work(d, tool.WorkerConfig{Name: "w1"})
		store.beforeConsume.Store(new(func() error { time.Sleep(time.Second); return t.Context().Err() }))
		id := s.approved(250)
		success(t, s.commit(id), "")
		rec, err := w.ledger.Find(t.Context(), key(id))
		require.NoError(t, err)
		require.NotEqual(t, "w1", rec.Attempts[0].Worker, "the commit's own")
		require.Equal(t, 1, w.audited("dispatch"), "nobody else began it")

		store.beforeConsume.Store(failing(errDown))
		died := s.queue("a2")
		store.beforeConsume.Store(nil)
		time.Sleep(9 * time.Second)
		require.Equal(t, idem.Pending, w.state(died))
		time.Sleep(4 * time.Second) // the worker looks every other second
		synctest.Wait()
		require.Equal(t, idem.Succeeded, w.state(died))
		rec, err = w.ledger.Find(t.Context(), key(died))
		require.NoError(t, err)
		require.Equal(t, "w1", rec.Attempts[0].Worker)
		stop()
	})
}
