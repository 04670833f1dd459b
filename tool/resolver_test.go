package tool_test

import (
	"context"
	"errors"
	"strings"
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

// What may close an unknown operation, and what may send it again.

// TestAskingSendsNothingAgain: only a worker does, whatever the provider promises.
func TestAskingSendsNothingAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sends, asked := w.losesFirst(time.Hour), 0
	w.write.Status = func(context.Context, tool.Approved[limitPlan], string) (limitOut, error) {
		asked++
		return limitOut{}, errors.New("no route to host")
	}
	s := w.start()
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "the answer is lost")
	w.clock.add(time.Minute)
	require.Equal(t, "unknown", s.operation(id).State)
	w.clock.add(time.Minute)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
	require.Equal(t, 2, asked)
	require.Equal(t, int32(1), sends.Load())
}

// TestAskingWithNobodyToAskClaimsNothing: a claim would keep a worker from its turn.
func TestAskingWithNobodyToAskClaimsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.tapped()
	w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
		return limitOut{}, errors.New("EOF")
	}
	s := w.start()
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "the answer is lost")
	claims := 0
	l.opened.set(func(*idem.Claim) error { claims++; return nil })
	require.Equal(t, "unknown", s.operation(id).State)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
	require.Zero(t, claims)
}

// altering hands out another plan than was approved.
func altering(c *idem.Claim) error {
	c.Command.Body = []byte(strings.Replace(string(c.Command.Body), `"limit":250`, `"limit":251`, 1))
	return nil
}

func TestNothingAlteredOrUnrecordedIsSentAgain(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*world, *tappedLedger){
		"the body is altered at the resend": func(_ *world, l *tappedLedger) { l.resent.set(altering) },
		"the resend cannot be recorded": func(w *world, _ *tappedLedger) {
			w.audit.fail = func(e audit.Event) error {
				if e.Kind == "dispatch" && e.Outcome == "again" {
					return errDown
				}
				return nil
			}
		},
		"the target has changed": func(w *world, _ *tappedLedger) {
			inner := w.write.Current
			w.write.Current = func(ctx context.Context, by tool.Caller, target approval.Target) (string, error) {
				if w.provider.effectCount() > 0 {
					return "99", nil
				}
				return inner(ctx, by, target)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				spoil(w, w.tapped())
				sends := w.losesFirst(time.Hour)
				d := w.dispatcher()
				s := w.session(d, "run1", agent)
				id := s.approved(250)
				refuses(t, s.commit(id), envelope.OutcomeUnknown, "the answer is lost")
				stop := w.work(d, tool.WorkerConfig{})
				time.Sleep(5 * time.Minute)
				stop()
				require.Equal(t, int32(1), sends.Load())
				require.Equal(t, idem.Unknown, w.state(id))
			})
		})
	}
}

func TestNothingAlteredIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.tapped()
	w.write.Contract = idem.StatusQueryable
	w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
		return limitOut{}, errors.New("EOF")
	}
	asked := 0
	w.write.Status = func(_ context.Context, cmd tool.Approved[limitPlan], _ string) (limitOut, error) {
		asked++
		return w.provider.apply(cmd), nil
	}
	s := w.start()
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "the answer is lost")
	l.opened.set(altering)
	w.clock.add(time.Minute)
	require.Equal(t, "unknown", s.operation(id).State)
	require.Zero(t, asked, "the command is not what was approved")
	l.opened.off()
	w.clock.add(time.Minute)
	require.Equal(t, "succeeded", s.operation(id).State)
	require.Equal(t, 1, asked)
}

func TestStatusKeepsItsClaimWhileTheProviderThinks(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Contract = idem.StatusQueryable
		w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			w.provider.apply(cmd)
			return limitOut{}, errors.New("EOF")
		}
		w.write.Status = func(_ context.Context, cmd tool.Approved[limitPlan], _ string) (limitOut, error) {
			time.Sleep(25 * time.Second)
			return w.provider.status(cmd.ProviderKey)
		}
		s := w.start()
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "the answer is lost")
		others := make(chan error, 1)
		go func() {
			time.Sleep(15 * time.Second) // the lease is ten
			_, err := w.ledger.ClaimOpen(context.Background(), key(id), "another", time.Minute)
			others <- err
		}()
		require.Equal(t, "unknown", s.operation(id).State, "the call's time is up before the provider's")
		require.ErrorIs(t, <-others, idem.ErrBusy)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, idem.Succeeded, w.state(id), "and what was asked is learnt all the same")
	})
}

// TestLateRefusalOfOneOfTwoRequestsProvesNothing: the other one may have landed.
func TestLateRefusalOfOneOfTwoRequestsProvesNothing(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		name, want := "of the only one", idem.Failed
		if again {
			name, want = "of the first of two", idem.Unknown
		}
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				w.write.Contract, w.write.DedupFor, w.write.Attempts = idem.ReplaySafe, time.Hour, 2
				w.write.Spec.Timeout = 5 * time.Second
				first := make(chan struct{})
				var sends atomic.Int32
				w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
					if sends.Add(1) == 1 {
						<-first // deaf to its context
						return limitOut{}, envelope.Refused(envelope.New(envelope.UpstreamRejected))
					}
					return limitOut{}, errors.New("EOF")
				}
				d := w.dispatcher()
				s := w.session(d, "run1", agent)
				id := s.approved(250)
				refuses(t, s.commit(id), envelope.OutcomeUnknown, "it takes too long")
				if again {
					stop := w.work(d, tool.WorkerConfig{})
					time.Sleep(time.Minute)
					stop()
					require.Equal(t, int32(2), sends.Load())
				}
				close(first)
				synctest.Wait()
				time.Sleep(2 * time.Minute)
				s.operation(id)
				require.Equal(t, want, w.state(id))
			})
		})
	}
}

// TestLateAnswerOfAnAskerIsNoRefusalOfTheRequest: it told of an earlier moment, and its claim is another's.
func TestLateAnswerOfAnAskerIsNoRefusalOfTheRequest(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		l := w.tapped()
		w.config.Lease = 5 * time.Second
		w.write.Contract = idem.StatusQueryable
		w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
			return limitOut{}, errors.New("EOF")
		}
		reachable := true
		w.write.Status = func(context.Context, tool.Approved[limitPlan], string) (limitOut, error) {
			if !reachable {
				return limitOut{}, errors.New("no route to host")
			}
			return limitOut{}, envelope.Refused(envelope.New(envelope.UpstreamRejected))
		}
		s := w.start()
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "the answer is lost")
		l.finishing.set(func(idem.Outcome) error {
			l.finishing.off()
			time.Sleep(6 * time.Second) // longer than the lease
			other, err := w.ledger.ClaimOpen(context.Background(), key(id), "another", time.Minute)
			require.NoError(t, err)
			go func() {
				time.Sleep(time.Second)
				_, err := w.ledger.Finish(context.Background(), other, idem.Outcome{State: idem.Unknown})
				require.NoError(t, err)
			}()
			return nil
		})
		s.operation(id)
		rec, err := w.ledger.Find(t.Context(), key(id))
		require.NoError(t, err)
		require.Equal(t, idem.Failed, rec.Evidence[0].Outcome.State, "it is kept")
		reachable = false
		time.Sleep(time.Minute)
		require.Equal(t, "unknown", s.operation(id).State)
		reachable = true
		time.Sleep(time.Minute)
		require.Equal(t, "failed", s.operation(id).State, "asked again")
	})
}

func TestResolveIsRecordedBeforeItHappens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
		return limitOut{}, errors.New("EOF")
	}
	s := w.start()
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
	word := idem.Resolution{State: idem.Succeeded, Reason: "seen in the journal", Evidence: "journal 4711"}
	var seen []audit.Event
	w.audit.fail = func(e audit.Event) error {
		if e.Kind != "resolve" {
			return nil
		}
		seen = append(seen, e)
		return errDown
	}
	_, err := s.d.Resolve(t.Context(), key(id), operator, word)
	require.ErrorIs(t, err, errDown)
	require.Equal(t, idem.Unknown, w.state(id), "what cannot be recorded does not happen")
	require.Len(t, seen, 1)
	require.Equal(t, "olga", seen[0].Subject)
	require.Equal(t, "succeeded", seen[0].Outcome)
	require.Equal(t, key(id).Operation, seen[0].Operation)
	w.audit.fail = nil
	bad := word
	bad.Result = []byte(`{"limit":1}`)
	_, err = s.d.Resolve(t.Context(), key(id), operator, bad)
	require.ErrorContains(t, err, "result:", "a result must fit the tool's output")
	require.Equal(t, idem.Unknown, w.state(id))
	_, err = s.d.Resolve(t.Context(), key(id), operator, word)
	require.NoError(t, err)
	require.Equal(t, idem.Succeeded, w.state(id))
}
