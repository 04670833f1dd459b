package tool_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// TestCancelledRunLeavesNothingQueued: more operations than one page of the ledger's has, and none of another run.
func TestCancelledRunLeavesNothingQueued(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Queued = true
	d := w.dispatcher()
	s, other := w.session(d, "run1", agent), w.session(d, "run2", agent)
	mine := make([]string, 0, 120)
	for i := range 120 {
		mine = append(mine, s.queue(fmt.Sprintf("b%d", i)))
	}
	theirs := other.queue("c1")
	s.run.Cancel("enough")
	for _, id := range mine {
		require.Equal(t, idem.Cancelled, w.state(id))
	}
	require.Equal(t, idem.Pending, w.state(theirs))
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.Cancelled, "")
	require.ErrorContains(t, s.run.Spend(t.Context(), 1), "no budget of tokens")
}

// TestReasonOfACancelledRunIsAWord: any other text may hold values.
func TestReasonOfACancelledRunIsAWord(t *testing.T) {
	t.Parallel()
	for given, recorded := range map[string]string{"user_left": "user_left", "Ada's card 4711 was refused": "stopped", "": "stopped"} {
		w := newWorld(t)
		s := w.start()
		s.run.Cancel(given)
		last := w.audit.events[len(w.audit.events)-1]
		require.Equal(t, "run_cancel", last.Kind)
		require.Equal(t, recorded, last.Outcome)
		require.Equal(t, "ada", last.Subject)
		require.Equal(t, "run1", last.Run)
	}
}

// TestRunThatIsOverMayBeAnothers: its id is free again once its deadline has passed.
func TestRunThatIsOverMayBeAnothers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.dispatcher()
	w.session(d, "run1", agent)
	role, err := roleOf(d, w)
	require.NoError(t, err)
	start := func() error {
		_, err := d.Start(tool.RunConfig{ID: "run1", Principal: lead, Role: role, Budget: tool.Budget{Calls: 1}, Deadline: w.clock.Now().Add(time.Hour)})
		return err
	}
	w.clock.add(time.Hour)
	require.ErrorContains(t, start(), "somebody else", "at its instant it is not over")
	w.clock.add(time.Nanosecond)
	require.NoError(t, start())
}

// TestParallelWorkIsCountedByItself: four calls of a run at once where nothing is said, and a tool's bounds for each run
// and each tenant.
func TestParallelWorkIsCountedByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.read.Spec.PerRun, w.read.Spec.PerTenant = 5, 6
		release := make(chan struct{})
		w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
			<-release
			return accountOut{AccountID: "a1"}, nil
		}
		d := w.dispatcher()
		foreign := agent
		foreign.Tenant = "t2"
		sessions := []*session{w.session(d, "run1", agent), w.session(d, "run2", agent), w.session(d, "run1", foreign)}
		var calls sync.WaitGroup
		end := sync.OnceFunc(func() { close(release); calls.Wait() })
		defer end()
		begin := func(s *session, n int) {
			for range n {
				calls.Go(func() {
					if err := s.call(readTool, `{"account_id":"a1"}`).Err(); err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
		}
		full := func(s *session, why string) {
			refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.RateLimited, why)
		}
		begin(sessions[0], 4)
		full(sessions[0], "four are a run's default")
		begin(sessions[1], 2)
		full(sessions[1], "six are the tenant's")
		begin(sessions[2], 4)
		full(sessions[2], "another tenant's run of the same id has its own four")
		end()
		for _, s := range sessions {
			require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err(), "all places are given back")
		}
	})
}
