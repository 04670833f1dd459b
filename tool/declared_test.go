package tool_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// What a definition declares of time, tries and parallel work holds; each test fails where the declaration is ignored.

// Two reads that fail together do not come back together.
func TestRetriesAreJittered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.Now, w.clock.now = nil, time.Now()
		w.read.Retry = tool.Retry{Attempts: 2, On: []envelope.Code{envelope.UpstreamUnavailable}}
		var at []time.Time
		w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
			at = append(at, time.Now())
			return accountOut{}, envelope.New(envelope.UpstreamUnavailable)
		}
		s := w.start()
		waits := map[time.Duration]bool{}
		for range 8 {
			at = nil
			refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.UpstreamUnavailable, "two tries")
			require.Len(t, at, 2)
			wait := at[1].Sub(at[0])
			require.Positive(t, wait)
			require.Less(t, wait, time.Second)
			waits[wait] = true
		}
		require.Greater(t, len(waits), 1, "the waits differ")
	})
}

// Within ends the tries although more attempts are declared.
func TestRetriesEndWithTheirTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.Now, w.clock.now = nil, time.Now()
		w.read.Retry = tool.Retry{Attempts: 100, Within: 10 * time.Second, On: []envelope.Code{envelope.RateLimited}}
		tries := 0
		w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
			tries++
			return accountOut{}, envelope.New(envelope.RateLimited).After(3 * time.Second)
		}
		s := w.start()
		began := time.Now()
		refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.RateLimited, "time is over before the tries are")
		require.LessOrEqual(t, time.Since(began), 10*time.Second)
		require.Equal(t, 4, tries, "at 0, 3, 6 and 9 seconds")
	})
}

// Each try has the tool's time, and so has each handler of a write.
func TestTimeoutIsTheTools(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.realTime()
		w.write.Spec.Timeout, w.read.Spec.Timeout = 2*time.Second, 3*time.Second
		w.config.Lease = time.Hour
		rest := map[string]time.Duration{}
		left := func(ctx context.Context, what string) {
			end, ok := ctx.Deadline()
			require.True(t, ok, what)
			rest[what] = time.Until(end)
		}
		read, preview, current, commit := w.read.Handle, w.write.Preview, w.write.Current, w.write.Commit
		w.read.Handle = func(ctx context.Context, by tool.Caller, in accountIn) (accountOut, error) {
			left(ctx, "read")
			return read(ctx, by, in)
		}
		w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
			left(ctx, "preview")
			return preview(ctx, by, in)
		}
		w.write.Current = func(ctx context.Context, by tool.Caller, target approval.Target) (string, error) {
			left(ctx, "current")
			return current(ctx, by, target)
		}
		w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			left(ctx, "commit")
			return commit(ctx, cmd)
		}
		s := w.start()
		require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err())
		success(t, s.commit(s.approved(250)), "in time")
		require.Equal(t, map[string]time.Duration{
			"read": 3 * time.Second, "preview": 2 * time.Second, "current": 2 * time.Second, "commit": 2 * time.Second,
		}, rest)
	})
}

// held is a read that stays in its handler until it is let go.
func (w *world) held() (entered chan string, release chan struct{}) {
	entered, release = make(chan string), make(chan struct{})
	w.read.Handle = func(_ context.Context, by tool.Caller, in accountIn) (accountOut, error) {
		entered <- by.Principal.Tenant + " " + by.Run
		<-release
		return accountOut{AccountID: in.AccountID}, nil
	}
	return entered, release
}

// A bound per run is one run's, a bound per tenant all its runs'; another tenant is never refused for it.
func TestParallelBoundsArePerRunAndPerTenant(t *testing.T) {
	t.Parallel()
	other := approval.Principal{Kind: approval.Person, Tenant: "t2", Subject: "bob", Roles: []string{"support"}}
	for _, row := range []struct {
		name           string
		change         func(*tool.Spec)
		sameTenantFits bool
	}{
		{"per run", func(s *tool.Spec) { s.PerRun = 1 }, true},
		{"per tenant", func(s *tool.Spec) { s.PerTenant = 1 }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			row.change(&w.read.Spec)
			w.read.Spec.Timeout = 5 * time.Second // of a call that should have been refused
			entered, release := w.held()
			d := w.dispatcher()
			first, second, foreign := w.session(d, "run1", agent), w.session(d, "run2", agent), w.session(d, "run1", other)
			var calls sync.WaitGroup
			hold := func(s *session) {
				answered := make(chan envelope.Result, 1)
				calls.Go(func() { answered <- s.call(readTool, `{"account_id":"a1"}`) })
				select {
				case <-entered:
				case r := <-answered:
					close(release)
					require.Fail(t, "refused", "%v", r.Err())
				}
			}
			hold(first)
			refuses(t, first.call(readTool, `{"account_id":"a1"}`), envelope.RateLimited, "the run has its one")
			if row.sameTenantFits {
				hold(second)
			} else {
				refuses(t, second.call(readTool, `{"account_id":"a1"}`), envelope.RateLimited, "the tenant has its one")
			}
			hold(foreign)
			close(release)
			calls.Wait()
		})
	}
}

// A resource has one write at a time; an append with a finer resource has as many as it names.
func TestWritesAreOnePerResource(t *testing.T) {
	t.Parallel()
	for name, finer := range map[string]bool{"the target": false, "an append of its own": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			preview := w.write.Preview
			w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
				d, err := preview(ctx, by, in)
				if finer {
					d.Resource = "account/a1/entry/" + in.Note
				}
				return d, err
			}
			w.write.Unversioned, w.write.Current = true, nil
			entered, release := make(chan struct{}), make(chan struct{})
			w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
				if cmd.Plan.Limit == 1 {
					entered <- struct{}{}
					<-release
				}
				return w.provider.apply(cmd), nil
			}
			s := w.start()
			propose := func(limit, note string) string {
				v, err := s.call(previewTool, `{"account_id":"a1","limit":`+limit+`,"note":"`+note+`"}`).Decode[proposalView]()
				require.NoError(t, err)
				s.decide(v.ProposalID, true)
				return v.ProposalID
			}
			one, two := propose("1", "x"), propose("2", "y")
			done := make(chan envelope.Result)
			go func() { done <- s.commit(one) }()
			<-entered
			r := s.commit(two)
			if finer {
				success(t, r, "its resource is its own")
			} else {
				refuses(t, r, envelope.VersionConflict, "made before the other began")
			}
			close(release)
			success(t, <-done, "the first")
		})
	}
}

// A stopped run admits nothing new, and says of each operation what is true: what waits is cancelled, what was sent runs on.
func TestAStoppedRunSaysWhatIsTrue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	preview := w.write.Preview
	w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
		d, err := preview(ctx, by, in)
		d.Resource = "limit/" + in.Note
		return d, err
	}
	entered, release := make(chan struct{}), make(chan struct{})
	w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		if cmd.Plan.Note == "waits" {
			return limitOut{}, envelope.NotSent(errors.New("no route"))
		}
		close(entered)
		<-release
		if ctx.Err() != nil {
			return limitOut{}, ctx.Err()
		}
		return w.provider.apply(cmd), nil
	}
	d := w.dispatcher()
	s := w.session(d, "run1", agent)
	propose := func(note string) string {
		v, err := s.call(previewTool, `{"account_id":"a1","limit":5,"note":"`+note+`"}`).Decode[proposalView]()
		require.NoError(t, err)
		s.decide(v.ProposalID, true)
		return v.ProposalID
	}
	waits, sent, never := propose("waits"), propose("sent"), propose("never")
	refuses(t, s.commit(waits), envelope.InProgress, "nothing left")
	done := make(chan envelope.Result)
	go func() { done <- s.commit(sent) }()
	<-entered
	s.run.Cancel("enough")
	refuses(t, <-done, envelope.InProgress, "what was sent goes on, and the caller is told so")
	refuses(t, s.commit(never), envelope.Cancelled, "nothing new is admitted")
	require.Equal(t, idem.Cancelled, w.state(waits))
	close(release)
	require.NoError(t, d.Close(t.Context()), "what was sent is waited for")
	require.Equal(t, idem.Succeeded, w.state(sent), "its handler was not cancelled")
	require.Equal(t, 1, w.provider.effectCount())
}

// A write is dispatched as often as it declares, and never past the approval's expiry.
func TestWritesEndTheirTries(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		attempts int
		lifetime time.Duration
		want     idem.State
	}{
		"attempts": {2, time.Hour, idem.Denied},
		"expiry":   {5, 3 * time.Second, idem.Expired},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				tries := 0
				w.write.Attempts, w.write.Lifetime = row.attempts, row.lifetime
				w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
					tries++
					return limitOut{}, envelope.NotSent(errors.New("no route"))
				}
				d := w.dispatcher()
				s := w.session(d, "run1", agent)
				id := s.approved(250)
				refuses(t, s.commit(id), envelope.InProgress, "nothing left")
				stop := w.work(d, tool.WorkerConfig{Sweep: time.Second})
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				stop()
				require.Equal(t, row.want, w.state(id))
				require.Equal(t, 2, tries)
				require.Zero(t, w.provider.effectCount())
			})
		})
	}
}

// What makes a write good is a write of its own: previewed, approved, and named so in the manifest.
func TestACompensationIsAWriteOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	undo := w.write
	undo.Spec.Name, undo.Spec.Version, undo.Compensates = "limit_restore", 1, commitTool
	c, err := tool.NewCatalog(w.write, undo)
	require.NoError(t, err)
	d, err := tool.NewDispatcher(c, w.config)
	require.NoError(t, err)
	role, err := c.Role("support", "preview_limit_restore_v1", "commit_limit_restore_v1")
	require.NoError(t, err)
	i := slices.IndexFunc(c.Manifest(role).Tools, func(m tool.ManifestTool) bool { return m.Name == "commit_limit_restore_v1" })
	require.Equal(t, commitTool, c.Manifest(role).Tools[i].Write.Compensates)
	run, err := d.Start(tool.RunConfig{Principal: agent, Role: role, Budget: tool.Budget{Calls: 9}, Deadline: epoch.Add(time.Hour)})
	require.NoError(t, err)
	s := &session{w, d, run}
	v, err := s.call("preview_limit_restore_v1", `{"account_id":"a1","limit":100}`).Decode[proposalView]()
	require.NoError(t, err)
	commit := func() envelope.Result { return s.call("commit_limit_restore_v1", `{"proposal_id":"`+v.ProposalID+`"}`) }
	refuses(t, commit(), envelope.ApprovalPending, "a compensation is approved like every write")
	s.decide(v.ProposalID, true)
	success(t, commit(), "and runs like one")

	undo.Compensates = "commit_limit_change_v9"
	_, err = tool.NewCatalog(w.write, undo)
	require.ErrorContains(t, err, "compensates")
	undo.Compensates = "commit_limit_restore_v1"
	_, err = tool.NewCatalog(w.write, undo)
	require.ErrorContains(t, err, "compensates", "nothing makes itself good")
}
