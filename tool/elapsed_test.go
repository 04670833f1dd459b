package tool_test

import (
	"context"
	"encoding/json/jsontext"
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

// plainBudgets is a store that does not tell what is left of a run's time, nor looks at it.
type plainBudgets struct{ tool.BudgetStore }

func (p plainBudgets) Reserve(ctx context.Context, tenant, run string, want, limit tool.Budget, until time.Time) error {
	limit.Elapsed = 0
	return p.BudgetStore.Reserve(ctx, tenant, run, want, limit, until)
}

// timed starts a run with ten seconds in all.
func (w *world) timed(d *tool.Dispatcher) *session {
	w.t.Helper()
	role, err := roleOf(d, w)
	require.NoError(w.t, err)
	run, err := d.Start(tool.RunConfig{
		ID: "run1", Principal: agent, Role: role, Budget: tool.Budget{Calls: 1000, Elapsed: 10 * time.Second}, Deadline: w.config.Now().Add(time.Hour),
	})
	require.NoError(w.t, err)
	return &session{w, d, run}
}

func elapsing(t *testing.T, f func(*world)) {
	t.Helper()
	t.Parallel()
	for name, plain := range map[string]bool{"a store that tells the rest": false, "a store that does not": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.config.Budgets = tool.NewMemoryBudgets(time.Now)
				if plain {
					w.config.Budgets = plainBudgets{w.config.Budgets}
				}
				f(w)
			})
		})
	}
}

const readArguments = `{"account_id":"a1"}`

// TestACallEndsWithItsRunsTime: the run's time is used up, and that is what the model reads, whatever the handler makes
// of the end of its context.
func TestACallEndsWithItsRunsTime(t *testing.T) {
	elapsing(t, func(w *world) {
		t := w.t
		deaf := make(chan struct{})
		for _, tt := range []struct {
			name   string
			answer func(ctx context.Context) error
		}{
			{"heeds", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
			{"words it", func(ctx context.Context) error { <-ctx.Done(); return envelope.New(envelope.DeadlineExceeded) }},
			{"tells the cause", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }},
			{"is deaf", func(context.Context) error { <-deaf; return nil }},
		} {
			w.read.Handle = func(ctx context.Context, _ tool.Caller, in accountIn) (accountOut, error) {
				if in.AccountID == "late" {
					return accountOut{}, tt.answer(ctx)
				}
				return accountOut{AccountID: in.AccountID}, nil
			}
			s := w.timed(w.dispatcher())
			began := time.Now()
			require.NoError(t, s.call(readTool, readArguments).Err(), "the first call starts the time")
			time.Sleep(9700 * time.Millisecond)
			e := refusal(t, s.call(readTool, `{"account_id":"late"}`), envelope.BudgetExhausted, tt.name)
			require.False(t, e.Retryable)
			require.Equal(t, 10*time.Second, time.Since(began), tt.name)
			refuses(t, s.call(readTool, readArguments), envelope.BudgetExhausted, "and so is every later one")
			w.config.Budgets = tool.NewMemoryBudgets(time.Now)
		}
		close(deaf)
	})
}

// TestTheToolsOwnTimeIsNotTheRuns: what ends a call earlier keeps its name.
func TestTheToolsOwnTimeIsNotTheRuns(t *testing.T) {
	elapsing(t, func(w *world) {
		w.read.Spec.Timeout = 2 * time.Second
		w.read.Handle = func(ctx context.Context, _ tool.Caller, _ accountIn) (accountOut, error) {
			<-ctx.Done()
			return accountOut{}, ctx.Err()
		}
		s := w.timed(w.dispatcher())
		refuses(w.t, s.call(readTool, readArguments), envelope.DeadlineExceeded, "")
	})
}

// TestNoTryBeginsPastTheRunsTime, and no wait that cannot end within it.
func TestNoTryBeginsPastTheRunsTime(t *testing.T) {
	elapsing(t, func(w *world) {
		t := w.t
		var tries []time.Duration
		began := time.Now()
		w.read.Spec.Timeout = 3 * time.Second
		w.read.Retry = tool.Retry{Attempts: 99, Within: time.Hour, On: []envelope.Code{envelope.RateLimited, envelope.DeadlineExceeded}}
		w.read.Handle = func(ctx context.Context, _ tool.Caller, _ accountIn) (accountOut, error) {
			tries = append(tries, time.Since(began))
			if len(tries) < 3 {
				return accountOut{}, envelope.New(envelope.RateLimited).After(4 * time.Second)
			}
			<-ctx.Done()
			return accountOut{}, ctx.Err()
		}
		s := w.timed(w.dispatcher())
		refuses(t, s.call(readTool, readArguments), envelope.BudgetExhausted, "in the third try")
		require.Equal(t, 10*time.Second, time.Since(began))
		synctest.Wait() // the try that was left behind has ended
		require.Equal(t, []time.Duration{0, 4 * time.Second, 8 * time.Second}, tries)
	})
}

// TestARetryAfterThatTheRunHasNoTimeForIsNotWaitedFor: the other system's word is the answer, at once.
func TestARetryAfterThatTheRunHasNoTimeForIsNotWaitedFor(t *testing.T) {
	elapsing(t, func(w *world) {
		t := w.t
		for _, after := range []time.Duration{10 * time.Second, 11 * time.Second} {
			w.read.Retry = tool.Retry{Attempts: 9, On: []envelope.Code{envelope.RateLimited}}
			tries := 0
			w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
				tries++
				return accountOut{}, envelope.New(envelope.RateLimited).After(after)
			}
			began := time.Now()
			e := refusal(t, w.timed(w.dispatcher()).call(readTool, readArguments), envelope.RateLimited, "")
			require.Equal(t, after, e.RetryAfter)
			require.Zero(t, time.Since(began))
			require.Equal(t, 1, tries)
			w.config.Budgets = tool.NewMemoryBudgets(time.Now)
		}
	})
}

// TestAPreviewEndsWithItsRunsTime and proposes nothing.
func TestAPreviewEndsWithItsRunsTime(t *testing.T) {
	elapsing(t, func(w *world) {
		w.write.Preview = func(ctx context.Context, _ tool.Caller, _ limitIn) (tool.Draft[limitPlan], error) {
			<-ctx.Done()
			return tool.Draft[limitPlan]{}, ctx.Err()
		}
		s := w.timed(w.dispatcher())
		e := refusal(w.t, s.call(previewTool, `{"account_id":"a1","limit":1}`), envelope.BudgetExhausted, "")
		require.Equal(w.t, envelope.EffectNone, e.Effect)
	})
}

// TestAWriteOutlivesItsRunsTime once it is claimed; the caller alone stops waiting.
func TestAWriteOutlivesItsRunsTime(t *testing.T) {
	elapsing(t, func(w *world) {
		t := w.t
		commit := w.write.Commit
		w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			select {
			case <-ctx.Done():
				return limitOut{}, ctx.Err()
			case <-time.After(30 * time.Second):
			}
			return commit(ctx, cmd)
		}
		s := w.timed(w.dispatcher())
		began := time.Now()
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "it goes on")
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Equal(t, idem.Dispatching, w.state(id))
		time.Sleep(21 * time.Second)
		require.Equal(t, idem.Succeeded, w.state(id))
	})
}

// deafLedger claims for callers who are gone.
type deafLedger struct{ idem.Ledger }

func (l deafLedger) Claim(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	return l.Ledger.Claim(context.WithoutCancel(ctx), k, worker, lease)
}

// TestNothingIsClaimedPastTheRunsTime: what takes long before the claim, and heeds nothing, claims nothing after it.
func TestNothingIsClaimedPastTheRunsTime(t *testing.T) {
	elapsing(t, func(w *world) {
		t := w.t
		w.config.Ledger = deafLedger{w.ledger}
		s := w.timed(w.dispatcher())
		began := time.Now()
		id := s.approved(250)
		time.Sleep(8 * time.Second)
		w.audit.fail = func(e audit.Event) error {
			if e.Kind == "dispatch" {
				time.Sleep(3 * time.Second)
			}
			return nil
		}
		refuses(t, s.commit(id), envelope.InProgress, "the outbox will run it")
		require.Equal(t, 11*time.Second, time.Since(began))
		require.Equal(t, idem.Pending, w.state(id))
		require.NotContains(t, w.entered, commitTool)
	})
}

// TestACommitThatIsNotAdmittedInTimeSaysSo: the run's time is used up, and nothing was done.
func TestACommitThatIsNotAdmittedInTimeSaysSo(t *testing.T) {
	elapsing(t, func(w *world) {
		t := w.t
		asked := false
		current := w.write.Current
		slow := false
		s := (*session)(nil)
		w.write.Current = func(ctx context.Context, by tool.Caller, target approval.Target) (string, error) {
			if slow {
				asked = true
				<-ctx.Done()
				return "", ctx.Err()
			}
			return current(ctx, by, target)
		}
		s = w.timed(w.dispatcher())
		id := s.approved(250)
		slow = true
		e := refusal(t, s.commit(id), envelope.BudgetExhausted, "")
		synctest.Wait() // what was left behind has ended
		require.True(t, asked)
		require.Equal(t, envelope.EffectNone, e.Effect)
		_, err := w.ledger.Find(t.Context(), key(id))
		require.ErrorIs(t, err, idem.ErrNotFound)
	})
}

// lateBudgets takes its time.
type lateBudgets struct {
	tool.ElapsedStore
	takes time.Duration
}

func (l lateBudgets) ReserveRest(ctx context.Context, tenant, run string, want, limit tool.Budget, until time.Time) (time.Duration, error) {
	rest, err := l.ElapsedStore.ReserveRest(ctx, tenant, run, want, limit, until)
	time.Sleep(l.takes)
	return rest, err
}

// TestTheRestIsMeasuredFromBeforeTheStoreWasAsked: what its answer took is the run's time too.
func TestTheRestIsMeasuredFromBeforeTheStoreWasAsked(t *testing.T) {
	t.Parallel()
	for _, takes := range []time.Duration{4 * time.Second, 10 * time.Second, 11 * time.Second} {
		t.Run(takes.String(), func(t *testing.T) {
			bubble(t, func(w *world) {
				w.config.Budgets = lateBudgets{tool.NewMemoryBudgets(time.Now), takes}
				entered := false
				w.read.Handle = func(ctx context.Context, _ tool.Caller, _ accountIn) (accountOut, error) {
					entered = true
					<-ctx.Done()
					return accountOut{}, ctx.Err()
				}
				s := w.timed(w.dispatcher())
				began := time.Now()
				refuses(w.t, s.call(readTool, readArguments), envelope.BudgetExhausted, "")
				require.Equal(w.t, max(10*time.Second, takes), time.Since(began))
				synctest.Wait()
				require.Equal(w.t, takes < 10*time.Second, entered, "no handler begins when it is over")
			})
		})
	}
}

// TestARunThatIsResumedElsewhereHasItsRest: by a store that tells it, on whatever dispatcher.
func TestARunThatIsResumedElsewhereHasItsRest(t *testing.T) {
	bubble(t, func(w *world) {
		w.config.Budgets = tool.NewMemoryBudgets(time.Now)
		require.NoError(w.t, w.timed(w.dispatcher()).call(readTool, readArguments).Err())
		time.Sleep(9 * time.Second)
		w.read.Handle = func(ctx context.Context, _ tool.Caller, _ accountIn) (accountOut, error) {
			<-ctx.Done()
			return accountOut{}, ctx.Err()
		}
		s := w.timed(w.dispatcher())
		began := time.Now()
		refuses(w.t, s.call(readTool, readArguments), envelope.BudgetExhausted, "")
		require.Equal(w.t, time.Second, time.Since(began))
	})
}

// TestStartAgainStartsNoTime in one process, where the store does not tell the rest.
func TestStartAgainStartsNoTime(t *testing.T) {
	bubble(t, func(w *world) {
		w.config.Budgets = plainBudgets{tool.NewMemoryBudgets(time.Now)}
		d := w.dispatcher()
		w.timed(d)
		time.Sleep(10 * time.Second)
		refuses(w.t, w.timed(d).call(readTool, readArguments), envelope.BudgetExhausted, "")
		synctest.Wait()
	})
}

// TestRetriesEndWithTheRunsDeadline, whatever the tool declares; a wait of the other system's is not begun past it.
func TestRetriesEndWithTheRunsDeadline(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		after time.Duration // asked for; zero: the library's own waits
		lasts time.Duration // zero: until the deadline
	}{
		{"own waits", 0, 0},
		{"asked for less", 4 * time.Second, 8 * time.Second},
		{"asked for as much", 10 * time.Second, time.Nanosecond},
		{"asked for more", time.Hour, time.Nanosecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				var last time.Time
				w.read.Retry = tool.Retry{Attempts: 9999, Within: time.Hour, On: []envelope.Code{envelope.RateLimited}}
				w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
					last = time.Now()
					return accountOut{}, envelope.New(envelope.RateLimited).After(tt.after)
				}
				d := w.dispatcher()
				role, err := roleOf(d, w)
				require.NoError(t, err)
				began := time.Now()
				run, err := d.Start(tool.RunConfig{Principal: agent, Role: role, Budget: tool.Budget{Calls: 9}, Deadline: began.Add(10 * time.Second)})
				require.NoError(t, err)
				refuses(t, run.Call(t.Context(), envelope.Call{Tool: readTool, Arguments: jsontext.Value(readArguments)}), envelope.RateLimited, "the last error is the answer")
				require.Less(t, last.Sub(began), 10*time.Second)
				require.Equal(t, last, time.Now(), "nothing is waited for in vain")
				if tt.lasts > 0 {
					require.Less(t, time.Since(began)-tt.lasts, time.Nanosecond)
				} else {
					require.Greater(t, time.Since(began), time.Second)
				}
			})
		})
	}
}
