package tool_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"uuid"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

// An error's methods are its maker's code: they panic like any other.

type nilUnwrapError struct{ inner error }

func (e *nilUnwrapError) Error() string { return "x" }
func (e *nilUnwrapError) Unwrap() error { return e.inner }

type panickingAsError struct{}

func (panickingAsError) Error() string { return "x" }
func (panickingAsError) As(any) bool   { panic("hunter2") }

func hostileErrors() map[string]error {
	var noEnvelope *envelope.Error
	var noPath *fs.PathError
	var noUnwrap *nilUnwrapError
	return map[string]error{
		"typed nil envelope":    noEnvelope,
		"wrapped nil envelope":  fmt.Errorf("x: %w", noEnvelope),
		"typed nil of stdlib":   noPath,
		"typed nil with Unwrap": noUnwrap,
		"not sent of nil":       envelope.NotSent(noUnwrap),
		"join":                  errors.Join(noUnwrap, errors.New("x")),
		"panicking As":          panickingAsError{},
		"wrapped panicking As":  fmt.Errorf("x: %w", panickingAsError{}),
	}
}

func TestHostileErrorsProveNothingAndKillNobody(t *testing.T) {
	t.Parallel()
	for name, err := range hostileErrors() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) { return accountOut{}, err }
			w.write.Contract = idem.StatusQueryable
			w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) { return limitOut{}, err }
			w.write.Status = w.write2status(err)
			s := w.start()
			refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.Internal, "a read")
			id := s.approved(250)
			r := s.commit(id)
			if name == "not sent of nil" { // the proof stands, whatever its cause
				refuses(t, r, envelope.InProgress, "commit")
				return
			}
			refuses(t, r, envelope.OutcomeUnknown, "commit")
			refuses(t, s.commit(id), envelope.OutcomeUnknown, "status")
			require.Equal(t, idem.Unknown, w.state(id))
			require.NotContains(t, w.everything(), "hunter2")
		})
	}
	for name, err := range hostileErrors() {
		t.Run("verify, "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write.Verify = func(context.Context, tool.Approved[limitPlan], limitOut) error { return err }
			s := w.start()
			refuses(t, s.commit(s.approved(250)), envelope.OutcomeUnknown, "verify")
		})
	}
}

func (w *world) write2status(err error) func(context.Context, tool.Approved[limitPlan], string) (limitOut, error) {
	return func(context.Context, tool.Approved[limitPlan], string) (limitOut, error) { return limitOut{}, err }
}

type panickingCore struct{ zapcore.Core }

func (panickingCore) Enabled(zapcore.Level) bool { return true }
func (p panickingCore) Check(e zapcore.Entry, c *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return c.AddCore(e, p)
}
func (panickingCore) Write(zapcore.Entry, []zapcore.Field) error { panic("hunter2") }

type panickingQuarantine struct{ kept }

func (*panickingQuarantine) Keep(context.Context, audit.Item) error { panic("hunter2") }

func TestPanicsOfTheHostsPartsAreContained(t *testing.T) {
	t.Parallel()
	boom := func() error { panic("hunter2") }
	for name, spoil := range map[string]func(*world){
		"audit":      func(w *world) { w.audit.fail = func(audit.Event) error { return boom() } },
		"quarantine": func(w *world) { w.config.Quarantine = &panickingQuarantine{} },
		"logger":     func(w *world) { w.config.Logger = zap.New(panickingCore{zapcore.NewNopCore()}) },
		"now":        func(w *world) { w.config.Now = func() time.Time { panic("hunter2") } },
		"new id":     func(w *world) { w.config.NewID = func() uuid.UUID { panic("hunter2") } },
		"entered":    func(w *world) { w.config.Entered = func(context.Context, string, any) { _ = boom() } },
		"finish": func(w *world) {
			l := &hookedLedger{Ledger: w.ledger}
			l.beforeFinish.Store(new(boom))
			w.config.Ledger = l
		},
		"claim": func(w *world) {
			l := &hookedLedger{Ledger: w.ledger}
			l.beforeClaim.Store(new(boom))
			w.config.Ledger = l
		},
		"consume": func(w *world) {
			a := &hookedStore{Store: w.approvals}
			a.beforeConsume.Store(new(boom))
			w.config.Approvals = a
		},
		"tighten": func(w *world) {
			w.config.Tighten = func(context.Context, approval.Proposal) (approval.Requirement, error) { panic("hunter2") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			role := w.start() // a healthy dispatcher proposes and approves
			id := role.approved(250)
			w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
				return accountOut{}, errors.New("x") // something to report
			}
			c, err := tool.NewCatalog(w.read, w.write)
			require.NoError(t, err)
			now := w.config.Now
			d := w.spoiled(c, spoil)
			if d == nil {
				return // refused where it was built
			}
			support, err := c.Role("support", readTool, previewTool, commitTool)
			require.NoError(t, err)
			run := startQuietly(d, tool.RunConfig{ID: "run1", Principal: agent, Role: support, Budget: tool.Budget{Calls: 99}, Deadline: now().Add(time.Hour)})
			if run == nil {
				return // the clock of the host is needed to start a run
			}
			s := &session{w, d, run}
			for _, r := range []envelope.Result{s.call(readTool, `{"account_id":"a1"}`), s.call(readTool, `{`), s.commit(id)} {
				require.NotContains(t, fmt.Sprintf("%+v", r), "hunter2")
				require.NotEmpty(t, r.RequestID)
			}
			require.LessOrEqual(t, w.provider.effectCount(), 1)
		})
	}
}

// spoiled returns a dispatcher with a spoilt part, nil where that part is needed to make one.
func (w *world) spoiled(c *tool.Catalog, spoil func(*world)) (d *tool.Dispatcher) {
	defer func() { _ = recover() }()
	spoil(w)
	d, err := tool.NewDispatcher(c, w.config)
	require.NoError(w.t, err)
	return d
}

func startQuietly(d *tool.Dispatcher, rc tool.RunConfig) (run *tool.Run) {
	defer func() { _ = recover() }()
	run, err := d.Start(rc)
	if err != nil {
		return nil
	}
	return run
}

func TestTokensDoNotOverflow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.dispatcher()
	role, err := roleOf(d, w)
	require.NoError(t, err)
	run, err := d.Start(tool.RunConfig{Principal: agent, Role: role, Budget: tool.Budget{Calls: 5, Tokens: 5}, Deadline: epoch.Add(time.Hour)})
	require.NoError(t, err)
	require.NoError(t, run.Spend(t.Context(), 3))
	for _, n := range []int64{3, math.MaxInt64, 1e18} {
		require.Error(t, run.Spend(t.Context(), n), "%d tokens", n)
	}
	require.NoError(t, run.Spend(t.Context(), 2))
}

func TestOperatorsSuccessWithoutAResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
		return limitOut{}, errors.New("EOF")
	}
	s := w.start()
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
	k := idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", id)}
	_, err := s.d.Resolve(t.Context(), k, operator, idem.Resolution{State: idem.Succeeded, Reason: "seen", Evidence: "journal"})
	require.NoError(t, err)
	e := refusal(t, s.commit(id), envelope.OutputInvalid, "there is nothing to show")
	require.Equal(t, envelope.EffectDone, e.Effect)
}

func TestRetryDoesNotWaitPastTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.Now, w.clock.now = nil, time.Now()
		w.read.Retry = tool.Retry{Attempts: 3, On: []envelope.Code{envelope.RateLimited}}
		w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
			return accountOut{}, envelope.New(envelope.RateLimited).After(24 * time.Hour)
		}
		s := w.start()
		began := time.Now()
		refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.RateLimited, "")
		require.Zero(t, time.Since(began), "a wait that cannot fit is not begun")
	})
}

func TestForgedIDsAreNotEchoed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	e := refusal(t, s.commit("p_Zq7kanarieKx9Wv3"), envelope.NotFound, "")
	require.Empty(t, e.ProposalID, "it is the sender's text until it is found")
	require.NotContains(t, w.everything(), "kanarie")
}

func TestMiddlewareSaysNothingOfItsOwn(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	w := newWorld(t)
	pass := false
	w.config.Middleware = []tool.Middleware{func(next tool.Handler) tool.Handler {
		return func(ctx context.Context, i tool.Invocation) envelope.Result {
			if pass {
				return next(ctx, i)
			}
			return envelope.Result{Error: &envelope.Error{
				Code: envelope.RateLimited, Message: secret, Field: secret, Rule: secret, Reason: secret, OperationID: secret, ProposalID: secret,
				RetryAfter: time.Second, Violations: []envelope.Violation{{Field: secret}},
			}}
		}
	}}
	s := w.start()
	r := s.call(readTool, `{"account_id":"a1"}`)
	e := refusal(t, r, envelope.RateLimited, "")
	require.Equal(t, time.Second, e.RetryAfter)
	require.NotContains(t, fmt.Sprintf("%+v", *e), secret)
	pass = true
	e = refusal(t, s.call(readTool, `{"id":1,"nr":2}`), envelope.UnknownField, "the library's own refusal passes as it was")
	require.Equal(t, "id", e.Field)
	require.Len(t, e.Violations, 3)
}

func TestCancelledContextAtCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	id := s.approved(250)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r := s.run.Call(gone, envelope.Call{Tool: commitTool, Arguments: []byte(fmt.Sprintf(`{"proposal_id":%q}`, id))})
	e := refusal(t, r, envelope.Cancelled, "nothing was begun")
	require.Equal(t, envelope.EffectNone, e.Effect)
	late, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	r = s.run.Call(late, envelope.Call{Tool: commitTool, Arguments: []byte(fmt.Sprintf(`{"proposal_id":%q}`, id))})
	e = refusal(t, r, envelope.DeadlineExceeded, "nothing was begun")
	require.Equal(t, envelope.EffectNone, e.Effect)
	success(t, s.commit(id), "")
}

func TestCancelOfAnothersRunOfTheSameID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := &hookedStore{Store: w.approvals}
	w.config.Approvals = store
	s := w.start()
	id := s.approved(250)
	store.beforeConsume.Store(failing(errDown))
	refuses(t, s.commit(id), envelope.InProgress, "")
	eve := agent
	eve.Subject = "eve"
	other := w.session(w.dispatcher(), "run1", eve) // another process knows nothing of run1
	other.run.Cancel("mine")
	require.Equal(t, idem.Pending, w.state(id), "only one's own operations are closed")
	s.run.Cancel("mine")
	require.Equal(t, idem.Cancelled, w.state(id))
}

func TestParallelBoundsHoldForHandlersThatDoNotHeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.Now, w.clock.now = nil, time.Now()
		w.read.Spec.Timeout, w.read.Spec.PerRun = time.Second, 1
		release := make(chan struct{})
		w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
			<-release
			return accountOut{AccountID: "a1"}, nil
		}
		s := w.start()
		refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.DeadlineExceeded, "deaf")
		refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.RateLimited, "the first handler still runs")
		close(release)
		synctest.Wait()
		require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err())
	})
}

func TestCloseWaitsForReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	entered, release := make(chan struct{}), make(chan struct{})
	w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
		close(entered)
		<-release
		return accountOut{AccountID: "a1"}, nil
	}
	s := w.start()
	answer := make(chan envelope.Result, 1)
	go func() { answer <- s.call(readTool, `{"account_id":"a1"}`) }()
	<-entered
	short, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, s.d.Close(short), "a read is under way")
	close(release)
	require.NoError(t, (<-answer).Err(), "it is finished")
	require.NoError(t, s.d.Close(t.Context()))
}

func TestEvidenceTimeIsUTC(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		out := w.provider.apply(cmd)
		out.CommittedAt = out.CommittedAt.In(time.FixedZone("", 3600))
		return out, nil
	}
	s := w.start()
	r := s.commit(s.approved(250))
	require.Contains(t, string(r.Data), `"committed_at":"2026-08-14T16:25:00Z"`)
}

func TestMoreWrongDefinitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := func(context.Context, tool.Caller, string) ([]string, error) { return nil, nil }
	_, err := tool.NewCatalog(tool.Tool[string, []string]{Spec: w.read.Spec, Handle: none})
	require.ErrorContains(t, err, "input: must be a struct")
	require.ErrorContains(t, err, "output: must be a struct")
	bad := w.read
	bad.Spec.Description = "a\xff"
	bad.Spec.Failures = []envelope.Failure{{Code: "BIN", Message: "\xff"}}
	bad.Retry = tool.Retry{Attempts: 2, On: []envelope.Code{"nope", "NOT_DECLARED"}}
	_, err = tool.NewCatalog(bad)
	for _, want := range []string{"description:", "failures[0]:", `"nope"`, "NOT_DECLARED"} {
		require.ErrorContains(t, err, want)
	}
	long := w.write
	long.Lifetime = math.MaxInt64
	_, err = tool.NewCatalog(long)
	require.ErrorContains(t, err, "lifetime:")

	c, err := tool.NewCatalog(w.read, w.write)
	require.NoError(t, err)
	cfg := w.config
	cfg.Approvals, cfg.Digester = (*approval.Memory)(nil), &redact.Digester{}
	cfg.Shadow = &tool.Shadow{Stubs: map[string]stub{"nothing_v1": nil, previewTool: nil}}
	_, err = tool.NewDispatcher(c, cfg)
	for _, want := range []string{"approvals:", "digester:", `"nothing_v1"`, "is nil"} {
		require.ErrorContains(t, err, want)
	}
	cfg = w.config
	cfg.Middleware = []tool.Middleware{func(tool.Handler) tool.Handler { return nil }}
	_, err = tool.NewDispatcher(c, cfg)
	require.ErrorContains(t, err, "middleware[0]")
	_, err = w.dispatcher().Start(tool.RunConfig{ID: "bad\x00id"})
	require.ErrorContains(t, err, "id:")
	runtime.KeepAlive(c)
}
