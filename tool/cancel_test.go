package tool_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// What cancel_operation answers of a running operation is what the ledger has of it.

// runs makes a write whose provider works on it for long; cancel is asked to stop it.
func (w *world) runs(runFor time.Duration, cancel func() tool.Stopped) {
	w.write.Contract, w.write.RunFor = idem.StatusQueryable, runFor
	w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
		return limitOut{}, envelope.Running("job-7")
	}
	w.write.Status = func(context.Context, tool.Approved[limitPlan], string) (limitOut, error) {
		return limitOut{}, envelope.Running("job-7")
	}
	w.write.Cancel = func(context.Context, tool.Approved[limitPlan], string) (tool.Stopped, error) {
		return cancel(), nil
	}
}

func (s *session) cancel(proposal string) envelope.Result {
	s.w.t.Helper()
	return s.call("cancel_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, idem.OperationID("t1", proposal)))
}

func cancelled(t *testing.T, r envelope.Result, want tool.Stopped, why string) {
	t.Helper()
	require.NoError(t, r.Err(), why)
	require.Contains(t, string(r.Data), fmt.Sprintf(`"result":%q`, want), why)
}

func TestCancelAnswersStoppedOnlyWhenThatIsStored(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		l := w.tapped()
		w.runs(time.Hour, func() tool.Stopped {
			l.finishing.set(func(idem.Outcome) error { return errDown })
			return tool.StoppedNow
		})
		s := w.start()
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "")
		refuses(t, s.cancel(id), envelope.Unavailable, "the provider stopped it, and the ledger does not know")
		require.Equal(t, idem.Running, w.state(id))
		l.finishing.off()
		time.Sleep(2 * time.Second) // the process tries again
		synctest.Wait()
		require.Equal(t, idem.Cancelled, w.state(id))
		cancelled(t, s.cancel(id), tool.AlreadyFinished, "")
	})
}

func TestCancelKeepsItsClaimWhileTheProviderThinks(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.runs(time.Hour, func() tool.Stopped { time.Sleep(25 * time.Second); return tool.StoppedNow })
		s := w.start()
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "")
		others := make(chan error, 1)
		go func() {
			time.Sleep(15 * time.Second) // the lease is ten
			_, err := w.ledger.ClaimOpen(context.Background(), key(id), "another", time.Minute)
			others <- err
		}()
		cancelled(t, s.cancel(id), tool.StoppedNow, "")
		require.Equal(t, idem.Cancelled, w.state(id))
		require.ErrorIs(t, <-others, idem.ErrBusy, "nobody else may ask meanwhile")
	})
}

func TestCancelOfWhatEndedMeanwhile(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		var s *session
		var id string
		w.runs(5*time.Second, func() tool.Stopped {
			time.Sleep(6 * time.Second) // its time to run is over: unknown, and the claim is another's
			_, err := s.d.Resolve(context.Background(), key(id), operator,
				idem.Resolution{State: idem.Succeeded, Reason: "seen in the journal", Evidence: "journal 4711"})
			require.NoError(t, err)
			return tool.StoppedNow
		})
		s = w.start()
		id = s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "")
		cancelled(t, s.cancel(id), tool.AlreadyFinished, "what is stored counts")
		require.Equal(t, idem.Succeeded, w.state(id))
	})
}

func TestCancelOfWhatTheProviderHadFinished(t *testing.T) {
	t.Parallel()
	for _, reachable := range []bool{true, false} {
		t.Run(fmt.Sprintf("status reachable %t", reachable), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.runs(time.Hour, func() tool.Stopped { return tool.AlreadyFinished })
			w.write.Status = func(_ context.Context, cmd tool.Approved[limitPlan], receipt string) (limitOut, error) {
				require.Equal(t, "job-7", receipt)
				if !reachable {
					return limitOut{}, errors.New("no route to host")
				}
				return w.provider.apply(cmd), nil
			}
			s := w.start()
			id := s.approved(250)
			refuses(t, s.commit(id), envelope.InProgress, "")
			cancelled(t, s.cancel(id), tool.AlreadyFinished, "")
			if reachable {
				require.Equal(t, idem.Succeeded, w.state(id), "what it came to is asked for at once")
				return
			}
			require.Equal(t, idem.Running, w.state(id), "what it came to is asked for later")
		})
	}
}
