package tool_test

import (
	"context"
	"errors"
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

// A claim is good until its time is over, however slow the ledger was that handed it out.

func TestClaimThatComesLateEntersNoHandler(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, why string
		after     time.Duration
		reader    bool // somebody reads the row meanwhile
		code      envelope.Code
		state     idem.State
	}{
		{"at the lease's end", "at its instant it is over", 10 * time.Second, false, envelope.InProgress, idem.Pending},
		{"after the lease", "nobody noticed: it is the proof that nothing was sent", 30 * time.Second, false, envelope.InProgress, idem.Pending},
		{"after the lease, reaped", "the ledger has told somebody that it is unknown", 30 * time.Second, true, envelope.OutcomeUnknown, idem.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				l := w.tapped()
				l.claimed.set(func(*idem.Claim) error { time.Sleep(tt.after); return nil })
				s := w.start()
				id := s.approved(250)
				if tt.reader {
					go func() {
						time.Sleep(20 * time.Second)
						_, _ = w.ledger.Find(context.Background(), key(id))
					}()
				}
				refuses(t, s.commit(id), tt.code, tt.why)
				require.Equal(t, tt.state, w.state(id))
				require.NotContains(t, w.entered, commitTool)
				require.Zero(t, w.provider.effectCount())
				if tt.reader {
					return
				}
				l.claimed.off()
				time.Sleep(time.Minute)
				success(t, s.commit(id), "it can be claimed again, and in time")
				require.Equal(t, 1, w.provider.effectCount())
			})
		})
	}
}

func TestResendThatComesAfterTheWindowSendsNothing(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		l := w.tapped()
		l.resent.set(func(*idem.Claim) error { time.Sleep(2 * time.Minute); return nil })
		sends := w.losesFirst(time.Minute)
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "the answer is lost")
		stop := w.work(d, tool.WorkerConfig{})
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		stop()
		require.Equal(t, int32(1), sends.Load(), "the provider has forgotten the key by then")
		require.Equal(t, idem.Unknown, w.state(id))
		require.Equal(t, 1, w.provider.effectCount())
	})
}

// losesFirst makes the write replay_safe; the answer to its first request is lost, and the same key gets it later.
func (w *world) losesFirst(window time.Duration) *atomic.Int32 {
	sends := new(atomic.Int32)
	w.write.Contract, w.write.DedupFor = idem.ReplaySafe, window
	w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		if sends.Add(1) == 1 {
			w.provider.apply(cmd)
			w.provider.put("t1/a1", account{17, 100}) // the version is not the provider's to move here
			return limitOut{}, errors.New("EOF")
		}
		return w.provider.status(cmd.ProviderKey)
	}
	return sends
}

func (p *provider) put(id string, a account) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accounts[id] = a
}

func TestHandlerEndsWithItsLeaseThoughTheRenewalHangs(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		l := w.tapped()
		release := make(chan struct{})
		l.renewing.set(func(context.Context) error { <-release; return errDown }) // deaf to its context
		var lasted time.Duration
		w.write.Commit = func(ctx context.Context, _ tool.Approved[limitPlan]) (limitOut, error) {
			began := time.Now()
			<-ctx.Done()
			lasted = time.Since(began)
			close(release)
			return limitOut{}, ctx.Err()
		}
		s := w.start()
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
		require.Equal(t, 10*time.Second, lasted, "the lease, and not the minute that the handler has")
		require.Equal(t, idem.Unknown, w.state(id))
	})
}

// TestPollingDoesNotKeepFromSendingAgain: a model that asks all the time puts off nobody but itself.
func TestPollingDoesNotKeepFromSendingAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ask    string
		status bool
	}{{"get_operation", false}, {"get_operation", true}, {"commit", false}, {"commit", true}} {
		t.Run(fmt.Sprintf("%s, status %t", tt.ask, tt.status), func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				sends := w.losesFirst(10 * time.Minute)
				if tt.status {
					w.write.Status = func(context.Context, tool.Approved[limitPlan], string) (limitOut, error) {
						return limitOut{}, errors.New("no route to host")
					}
				}
				d := w.dispatcher()
				s := w.session(d, "run1", agent)
				id := s.approved(250)
				refuses(t, s.commit(id), envelope.OutcomeUnknown, "the answer is lost")
				stop := w.work(d, tool.WorkerConfig{})
				for range 200 { // a minute, in steps that are shorter than any rest
					time.Sleep(300 * time.Millisecond)
					if tt.ask == "commit" {
						s.commit(id)
						continue
					}
					s.operation(id)
				}
				stop()
				require.Equal(t, idem.Succeeded, w.state(id))
				require.Equal(t, int32(2), sends.Load())
				require.Equal(t, 1, w.provider.effectCount())
			})
		})
	}
}
