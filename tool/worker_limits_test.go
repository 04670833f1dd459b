package tool_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
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

// handlers tells how many handlers there were at once, of each kind.
type handlers struct {
	mu       sync.Mutex
	now, max map[string]int
}

func (h *handlers) enter(kinds ...string) (leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == nil {
		h.now, h.max = map[string]int{}, map[string]int{}
	}
	for _, k := range kinds {
		h.now[k]++
		h.max[k] = max(h.max[k], h.now[k])
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, k := range kinds {
			h.now[k]--
		}
	}
}

func (h *handlers) most(kind string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.max[kind]
}

// slow lets each handler take a second, and counts them.
func (w *world) slow() *handlers {
	h := &handlers{}
	w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		defer h.enter("all", cmd.By.Principal.Tenant, cmd.By.Principal.Tenant+"/"+cmd.By.Run)()
		time.Sleep(time.Second)
		return w.provider.apply(cmd), nil
	}
	return h
}

var (
	foreignAgent = approval.Principal{Kind: approval.Person, Tenant: "t2", Subject: "bob", Roles: []string{"support"}}
	foreignLead  = approval.Principal{Kind: approval.Person, Tenant: "t2", Subject: "lea", Roles: []string{"lead"}}
)

// ready proposes a limit for an account of its own, in the session's tenant, and approves it.
func (s *session) ready(account string) (proposal string) {
	s.w.t.Helper()
	who, approver := s.run.Principal(), lead
	if who.Tenant != lead.Tenant {
		approver = foreignLead
	}
	s.w.provider.put(who.Tenant+"/"+account, accountOne)
	r := s.call(previewTool, fmt.Sprintf(`{"account_id":%q,"limit":7}`, account))
	v, err := r.Decode[proposalView]()
	require.NoError(s.w.t, err)
	rec, err := s.w.approvals.Find(s.w.t.Context(), who.Tenant, v.ProposalID)
	require.NoError(s.w.t, err)
	_, err = s.d.Decide(s.w.t.Context(), who.Tenant, v.ProposalID, approval.Decision{Approved: true, By: approver, Digest: rec.Proposal.Digest})
	require.NoError(s.w.t, err)
	return v.ProposalID
}

func (s *session) queued(account string) (proposal string) {
	s.w.t.Helper()
	id := s.ready(account)
	refuses(s.w.t, s.commit(id), envelope.InProgress, "queued")
	return id
}

func (w *world) stored(tenant, proposal string) idem.Record {
	w.t.Helper()
	rec, err := w.ledger.Find(w.t.Context(), idem.Key{Tenant: tenant, Operation: idem.OperationID(tenant, proposal)})
	require.NoError(w.t, err)
	return rec
}

// TestWorkerKeepsTheBoundsOfATool: what has no place waits, unharmed, and what has one is not kept from it.
func TestWorkerKeepsTheBoundsOfATool(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		change         func(*tool.Spec)
		tenant, ofRuns int // handlers at once, of tenant t1 and of one of its runs
	}{
		{"per tenant", func(s *tool.Spec) { s.PerTenant = 1 }, 1, 1},
		{"per tenant, two", func(s *tool.Spec) { s.PerTenant = 2 }, 2, 2},
		{"per run", func(s *tool.Spec) { s.PerRun = 1 }, 2, 1},
		{"both", func(s *tool.Spec) { s.PerRun, s.PerTenant = 1, 2 }, 2, 1},
		{"none", func(*tool.Spec) {}, 4, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				w.write.Queued = true
				tt.change(&w.write.Spec)
				h := w.slow()
				d := w.dispatcher()
				mine, second, foreign := w.session(d, "run1", agent), w.session(d, "run2", agent), w.session(d, "run1", foreignAgent)
				ids := map[string][]string{"t1": {mine.queued("a"), mine.queued("b"), second.queued("d"), mine.queued("c")}}
				ids["t2"] = []string{foreign.queued("a")}
				stop := w.work(d, tool.WorkerConfig{Parallel: 5})
				time.Sleep(500 * time.Millisecond)
				require.Equal(t, 1, h.most("t2"), "another tenant runs beside")
				time.Sleep(20 * time.Second)
				stop()
				require.Equal(t, tt.tenant, h.most("t1"))
				require.Equal(t, tt.ofRuns, h.most("t1/run1"))
				for tenant, proposals := range ids {
					for _, id := range proposals {
						rec := w.stored(tenant, id)
						require.Equal(t, idem.Succeeded, rec.State)
						require.Len(t, rec.Attempts, 1, "waiting is no attempt")
					}
				}
				require.Empty(t, w.logs.FilterMessage("operation_waits").All(), "nor an error")
				require.Equal(t, 5, w.audited("dispatch"), "nor told as one")
			})
		})
	}
}

// TestWorkerLooksSoonAgainForAPlace: not only with the next poll.
func TestWorkerLooksSoonAgainForAPlace(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		l := w.tapped()
		w.write.Queued, w.write.Spec.PerTenant = true, 1
		w.slow()
		var claimed []time.Time
		l.claimed.set(func(*idem.Claim) error { claimed = append(claimed, time.Now()); return nil })
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		s.queued("a")
		s.queued("b")
		stop := w.work(d, tool.WorkerConfig{Poll: time.Hour})
		time.Sleep(time.Minute)
		stop()
		require.Len(t, claimed, 2)
		require.GreaterOrEqual(t, claimed[1].Sub(claimed[0]), time.Second, "nothing is claimed before its place is free")
		require.Less(t, claimed[1].Sub(claimed[0]), time.Second+400*time.Millisecond)
	})
}

// TestManyWithoutAPlaceAreNotAskedForAllTheTime: the more there are, the longer they rest.
func TestManyWithoutAPlaceAreNotAskedForAllTheTime(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		l := w.tapped()
		w.write.Queued, w.write.Spec.PerTenant, w.write.Spec.Timeout = true, 1, time.Hour
		w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			time.Sleep(time.Minute)
			return w.provider.apply(cmd), nil
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		const many = 200
		for i := range many {
			s.queued(fmt.Sprint("a", i))
		}
		deliveries := 0
		var order []idem.Key
		rests := map[idem.Key]time.Duration{} // from the first delivery to the second
		last := map[idem.Key]time.Time{}
		l.delivered.set(func(v idem.Delivery) error {
			deliveries++
			if at, ok := last[v.Key]; !ok {
				order = append(order, v.Key)
			} else if _, ok := rests[v.Key]; !ok {
				rests[v.Key] = time.Since(at)
			}
			last[v.Key] = time.Now()
			return nil
		})
		stop := w.work(d, tool.WorkerConfig{Parallel: 2})
		time.Sleep(50 * time.Second)
		l.delivered.off()
		synctest.Wait()
		require.Less(t, deliveries, 50*many, "less than once a second each")
		sooner := 0
		for i, k := range order[20:] {
			if rests[k] < rests[order[i]] {
				sooner++
			}
		}
		require.Greater(t, sooner, many/10, "with jitter: who was put off later is not always looked at later")
		s.run.Cancel("enough")
		stop()
	})
}

// TestCallAndWorkerShareThePlaces of a write that is not queued: what one holds the other does not get.
func TestCallAndWorkerShareThePlaces(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*tool.Spec)
	}{
		{"per tenant", func(s *tool.Spec) { s.PerTenant = 1 }},
		{"per run", func(s *tool.Spec) { s.PerRun = 1 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				tt.change(&w.write.Spec)
				h := w.slow()
				commit, first := w.write.Commit, true
				w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
					if first {
						first = false
						return limitOut{}, envelope.NotSent(errors.New("dial"))
					}
					return commit(ctx, cmd)
				}
				d := w.dispatcher()
				s := w.session(d, "run1", agent)
				left, direct, later := s.ready("a"), s.ready("b"), s.ready("c")
				refuses(t, s.commit(left), envelope.InProgress, "not sent: the outbox has it, in a second")
				answered := make(chan envelope.Result, 1)
				go func() { time.Sleep(900 * time.Millisecond); answered <- s.commit(direct) }()
				stop := w.work(d, tool.WorkerConfig{Poll: 100 * time.Millisecond})
				time.Sleep(1800 * time.Millisecond)
				require.Equal(t, idem.Pending, w.state(left), "the call has the place")
				require.Len(t, w.stored("t1", left).Attempts, 1)
				success(t, <-answered, "")
				for w.state(left) == idem.Pending {
					time.Sleep(50 * time.Millisecond)
				}
				refuses(t, s.commit(later), envelope.RateLimited, "the worker has the place")
				time.Sleep(1500 * time.Millisecond)
				success(t, s.commit(later), "it is free again")
				stop()
				require.Equal(t, idem.Succeeded, w.state(left))
				require.Equal(t, 1, h.most("all"))
			})
		})
	}
}

// TestQueueingWaitsForNoHandler: a handler that takes long does not keep the model from queueing, nor from asking.
func TestQueueingWaitsForNoHandler(t *testing.T) {
	bubble(t, func(w *world) {
		w.write.Queued, w.write.Spec.PerTenant, w.write.Spec.PerRun = true, 1, 1
		w.slow()
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		first := s.queued("a")
		stop := w.work(d, tool.WorkerConfig{})
		synctest.Wait()
		require.Equal(w.t, idem.Dispatching, w.state(first))
		s.queued("b")
		refuses(w.t, s.commit(first), envelope.InProgress, "it runs")
		stop()
	})
}

// TestADeafHandlerOfAWorkerHoldsItsPlace until it returns, whatever the ledger says meanwhile; nothing else waits for it.
func TestADeafHandlerOfAWorkerHoldsItsPlace(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Queued, w.write.Spec.PerTenant, w.write.Spec.Timeout = true, 1, time.Second
		release := make(chan struct{})
		commit := w.write.Commit
		w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			if cmd.Plan.AccountID == "deaf" {
				<-release
				return limitOut{}, errors.New("too late")
			}
			return commit(ctx, cmd)
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		stop := w.work(d, tool.WorkerConfig{})
		deaf := s.queued("deaf")
		synctest.Wait()
		waits := s.queued("waits")
		time.Sleep(time.Minute)
		require.Equal(t, idem.Unknown, w.state(deaf))
		require.Equal(t, idem.Pending, w.state(waits))
		require.Empty(t, w.stored("t1", waits).Attempts)
		close(release)
		time.Sleep(time.Second)
		require.Equal(t, idem.Succeeded, w.state(waits))
		stop()
	})
}

// TestCloseWaitsForNoPlace that is not coming back.
func TestCloseWaitsForNoPlace(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Queued, w.write.Spec.PerTenant, w.write.Spec.Timeout = true, 1, time.Second
		release := make(chan struct{})
		defer close(release)
		w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
			<-release
			return limitOut{}, errors.New("too late")
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		worker, err := tool.NewWorker(d, tool.WorkerConfig{})
		require.NoError(t, err)
		ended := make(chan error, 1)
		go func() { ended <- worker.Run(context.WithoutCancel(t.Context())) }()
		s.queued("deaf")
		synctest.Wait()
		waits := s.queued("waits")
		time.Sleep(10 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, d.Close(ctx))
		require.NoError(t, <-ended)
		require.Equal(t, idem.Pending, w.state(waits), "another process's")
	})
}

// TestSendingAgainNeedsAPlace too: it is the same handler. Asking the provider needs none.
func TestSendingAgainNeedsAPlace(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		sends := w.losesFirst(time.Hour)
		w.write.Spec.PerTenant = 1
		var asked atomic.Int32
		w.write.Status = func(context.Context, tool.Approved[limitPlan], string) (limitOut, error) {
			asked.Add(1)
			return limitOut{}, errors.New("no route to host")
		}
		commit := w.write.Commit
		release := make(chan struct{})
		w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			if cmd.Plan.AccountID == "long" {
				<-release
				return w.provider.apply(cmd), nil
			}
			return commit(ctx, cmd)
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		lost := s.approved(250)
		refuses(t, s.commit(lost), envelope.OutcomeUnknown, "the answer is lost")
		long := s.ready("long")
		answered := make(chan envelope.Result, 1)
		go func() {
			answered <- s.run.Call(context.WithoutCancel(t.Context()), envelope.Call{Tool: commitTool, Arguments: jsontext.Value(fmt.Sprintf(`{"proposal_id":%q}`, long))})
		}()
		stop := w.work(d, tool.WorkerConfig{})
		time.Sleep(30 * time.Second)
		require.Equal(t, int32(1), sends.Load(), "the call has the place")
		require.Positive(t, asked.Load(), "the provider is asked all the same")
		close(release)
		success(t, <-answered, "")
		time.Sleep(time.Minute)
		stop()
		require.Equal(t, int32(2), sends.Load())
		require.Equal(t, idem.Succeeded, w.state(lost))
	})
}
