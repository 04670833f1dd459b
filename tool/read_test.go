package tool_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

func TestReadAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	r := s.call(readTool, `{"account_id":"a1"}`)
	require.NoError(t, r.Err())
	require.Equal(t, readTool, r.Tool)
	require.Regexp(t, `^req_[0-9a-hjkmnp-tv-z]{26}$`, r.RequestID)
	require.JSONEq(t, `{"account_id":"a1","limit":100}`, string(r.Data))
	require.Equal(t, []string{"account_id", "owner"}, r.Untrusted, "free text is named")
	require.Equal(t, []string{readTool}, w.entered)
}

func TestRefusedCallsReachNoHandler(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-canary"
	for _, tt := range []struct {
		name, args string
		code       envelope.Code
		field      string
	}{
		{"not JSON", `{` + secret, envelope.MalformedJSON, ""},
		{"twice", `{"account_id":"a1","account_id":"` + secret + `"}`, envelope.DuplicateMember, "account_id"},
		{"trailing", `{"account_id":"a1"} "` + secret + `"`, envelope.TrailingData, ""},
		{"unknown", `{"account_id":"a1","` + strings.ReplaceAll(secret, "-", "_") + `":1}`, envelope.UnknownField, "hunter2_canary"},
		{"unknown, not showable", `{"account_id":"a1","` + secret + ` x":1}`, envelope.UnknownField, ""},
		{"type", `{"account_id":["` + secret + `"]}`, envelope.InvalidArgument, "account_id"},
		{"missing", `{}`, envelope.InvalidArgument, "account_id"},
		{"empty", ``, envelope.MalformedJSON, ""},
		{"too large", `{"account_id":"` + strings.Repeat(secret, 10000) + `"}`, envelope.PayloadTooLarge, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.start()
			r := s.call(readTool, tt.args)
			e := refusal(t, r, tt.code, "")
			require.Equal(t, tt.field, e.Field)
			require.Empty(t, w.entered, "no handler ran")
			require.NotContains(t, w.everything(), "canary", "the sender's text stands in no log, audit or quarantine")
			require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err(), "the next call works")
		})
	}
}

// everything is the text of all sinks.
func (w *world) everything() string {
	var b strings.Builder
	for _, e := range w.logs.All() {
		fmt.Fprintf(&b, "%s %v\n", e.Message, e.ContextMap())
	}
	fmt.Fprintf(&b, "%+v\n", w.audit.events)
	return b.String()
}

func TestHandlersWordsStayInside(t *testing.T) {
	t.Parallel()
	const secret = "postgres://admin:hunter2@10.0.0.7/prod"
	for _, tt := range []struct {
		name, why string
		handle    func() error
		code      envelope.Code
		field     string
	}{
		{"error with a database URL", "any other error is INTERNAL", func() error { return errors.New("dial " + secret) }, envelope.Internal, ""},
		{"panic with a secret", "a panic is INTERNAL", func() error { panic(secret) }, envelope.Internal, ""},
		{"panic with an error", "", func() error { panic(errors.New(secret)) }, envelope.Internal, ""},
		{"index out of range", "", func() error { return errors.New(accounts(0)[3].Owner) }, envelope.Internal, ""},
		{"the goroutine ends", "", func() error { runtime.Goexit(); return nil }, envelope.Internal, ""},
		{"undeclared code", "a code that the tool does not declare is INTERNAL", func() error { return &envelope.Error{Code: "SECRET_CODE", Message: secret} }, envelope.Internal, ""},
		{"the library's own code", "a handler has no budget to exhaust", func() error { return envelope.New(envelope.BudgetExhausted) }, envelope.Internal, ""},
		{"declared code", "the words are the declaration's", func() error {
			return &envelope.Error{Code: "ACCOUNT_LOCKED", Message: secret, Field: "account_id", Reason: secret}
		}, "ACCOUNT_LOCKED", "account_id"},
		{"undeclared field", "only declared places cross", func() error { return envelope.New(envelope.NotFound).At(secret) }, envelope.NotFound, ""},
		{"wrapped", "the code crosses through a wrap", func() error {
			return fmt.Errorf("query %s: %w", secret, envelope.New(envelope.NotFound).At("account_id"))
		}, envelope.NotFound, "account_id"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.read.Spec.Failures = []envelope.Failure{{Code: "ACCOUNT_LOCKED", Message: "the account is locked"}}
			broken := true
			inner := w.read.Handle
			w.read.Handle = func(ctx context.Context, by tool.Caller, in accountIn) (accountOut, error) {
				if broken {
					return accountOut{Owner: secret}, tt.handle()
				}
				return inner(ctx, by, in)
			}
			s := w.start()
			r := s.call(readTool, `{"account_id":"a1"}`)
			e := refusal(t, r, tt.code, tt.why)
			require.Equal(t, tt.field, e.Field)
			wire, err := r.MarshalJSON()
			require.NoError(t, err)
			all := string(wire) + fmt.Sprintf("%+v %#v %v", r, r.Error, errors.Unwrap(r.Error)) + w.everything()
			require.NotContains(t, all, "hunter2")
			require.NotContains(t, all, "SECRET_CODE")
			require.Contains(t, w.everything(), r.RequestID, "operators find it")
			require.Len(t, w.kept.items, 1, "the cause is kept for them")
			broken = false
			require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err(), "the next call works")
		})
	}
}

func accounts(n int) []accountOut { return make([]accountOut, n) }

func TestDeclaredFailureIsTheDeclarations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.read.Spec.Failures = []envelope.Failure{
		{Code: "ACCOUNT_LOCKED", Message: "the account is locked; ask the owner", Retryable: true},
		{Code: envelope.NotFound, Message: "there is no such account"},
	}
	var err error
	w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) { return accountOut{}, err }
	s := w.start()
	err = (&envelope.Error{Code: "ACCOUNT_LOCKED"}).After(3 * time.Second)
	e := refusal(t, s.call(readTool, `{"account_id":"a1"}`), "ACCOUNT_LOCKED", "")
	require.Equal(t, "the account is locked; ask the owner", e.Message)
	require.True(t, e.Retryable)
	require.Equal(t, 3*time.Second, e.RetryAfter)
	err = envelope.New(envelope.NotFound)
	e = refusal(t, s.call(readTool, `{"account_id":"a1"}`), envelope.NotFound, "")
	require.Equal(t, "there is no such account", e.Message)
}

func TestOutputThatBreaksItsContractIsNotPassedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := accountOut{AccountID: "a1", Owner: strings.Repeat("hunter2 ", 100)}
	w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) { return out, nil }
	s := w.start()
	r := s.call(readTool, `{"account_id":"a1"}`)
	e := refusal(t, r, envelope.OutputInvalid, "longer than declared")
	require.Empty(t, e.Field, "the place is for the operators")
	require.Nil(t, r.Data)
	require.NotContains(t, w.everything(), "hunter2")
	require.Equal(t, "owner", w.kept.items[0].Path)
	require.Equal(t, "maxLength", w.kept.items[0].Rule)
	out = accountOut{}
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.OutputInvalid, "an empty id")
}

func TestCheckAndVerify(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.read.Check = func(_ context.Context, _ tool.Caller, in accountIn) error {
		if in.AccountID == "root" {
			return envelope.New(envelope.PreconditionFailed).At("account_id")
		}
		return nil
	}
	w.read.Verify = func(_ context.Context, _ tool.Caller, in accountIn, out accountOut) error {
		if in.AccountID != out.AccountID {
			return envelope.New(envelope.InvalidResponse).At("account_id")
		}
		return nil
	}
	w.read.Handle = func(_ context.Context, _ tool.Caller, _ accountIn) (accountOut, error) {
		return accountOut{AccountID: "a1"}, nil
	}
	s := w.start()
	require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err())
	w.entered = nil
	refuses(t, s.call(readTool, `{"account_id":"root"}`), envelope.PreconditionFailed, "")
	require.Empty(t, w.entered, "Check stands before the handler")
	e := refusal(t, s.call(readTool, `{"account_id":"a2"}`), envelope.InvalidResponse, "the answer is about another account")
	require.Equal(t, "account_id", e.Field)
}

func TestTimeIsUpEvenIfTheHandlerDoesNotHeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.Now = nil
		release := make(chan struct{})
		w.read.Spec.Timeout = 2 * time.Second
		w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
			<-release // deaf
			return accountOut{AccountID: "a1"}, nil
		}
		w.clock.now = time.Now()
		s := w.start()
		began := time.Now()
		refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.DeadlineExceeded, "")
		require.Equal(t, 2*time.Second, time.Since(began))
		close(release)
		synctest.Wait()
		require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err(), "the next call works")
	})
}

func TestCallerGoesAndRunStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	entered := make(chan struct{}, 2)
	w.read.Handle = func(ctx context.Context, _ tool.Caller, _ accountIn) (accountOut, error) {
		entered <- struct{}{}
		<-ctx.Done()
		return accountOut{}, ctx.Err()
	}
	s := w.start()
	ctx, cancel := context.WithCancel(t.Context())
	answers := make(chan envelope.Result, 1)
	call := func(ctx context.Context) {
		answers <- s.run.Call(ctx, envelope.Call{Tool: readTool, Arguments: jsontext.Value(`{"account_id":"a1"}`)})
	}
	go call(ctx)
	<-entered
	cancel()
	refuses(t, <-answers, envelope.Cancelled, "the caller went")
	go call(t.Context())
	<-entered
	s.run.Cancel("the user closed the window")
	refuses(t, <-answers, envelope.Cancelled, "the run was stopped")
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.Cancelled, "a stopped run admits nothing new")
}

func TestClosedDispatcherAdmitsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	id := s.approved(250)
	require.NoError(t, s.d.Close(t.Context()))
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.Cancelled, "a read")
	refuses(t, s.commit(id), envelope.Cancelled, "a write")
	require.Zero(t, w.provider.effectCount())
	_, err := s.d.Start(tool.RunConfig{Principal: agent, Role: foreignRole(t, w), Budget: tool.Budget{Calls: 1}, Deadline: epoch.Add(time.Hour)})
	require.Error(t, err)
}

func TestReplayNeedsNoAudit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	id := s.approved(250)
	success(t, s.commit(id), "")
	w.audit.fail = func(audit.Event) error { return errDown }
	success(t, s.commit(id), "nothing starts: the stored answer is given")
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.dispatcher()
	role, err := roleOf(d, w)
	require.NoError(t, err)
	start := func(id string, b tool.Budget) *session {
		run, err := d.Start(tool.RunConfig{ID: id, Principal: agent, Role: role, Budget: b, Deadline: w.clock.Now().Add(time.Hour)})
		require.NoError(t, err)
		return &session{w, d, run}
	}
	s := start("calls", tool.Budget{Calls: 3})
	refuses(t, s.call("nothing_v1", `{}`), envelope.UnknownTool, "counts")
	refuses(t, s.call(readTool, `{`), envelope.MalformedJSON, "counts")
	require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err())
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.BudgetExhausted, "three were given")
	s = start("calls", tool.Budget{Calls: 3})
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.BudgetExhausted, "resuming gives nothing back")

	s = start("pending", tool.Budget{Calls: 2})
	id := s.preview(250).ProposalID
	for range 5 {
		refuses(t, s.commit(id), envelope.ApprovalPending, "a wait for an approval is no call")
	}
	s.decide(id, true)
	success(t, s.commit(id), "")

	s = start("elapsed", tool.Budget{Calls: 9, Elapsed: time.Minute})
	require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err())
	w.clock.add(time.Minute)
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.BudgetExhausted, "its time is used up")

	s = start("tokens", tool.Budget{Calls: 9, Tokens: 100})
	require.NoError(t, s.run.Spend(t.Context(), 60))
	var e *envelope.Error
	require.ErrorAs(t, s.run.Spend(t.Context(), 41), &e)
	require.Equal(t, envelope.BudgetExhausted, e.Code)
	require.NoError(t, s.run.Spend(t.Context(), 40))
	require.Error(t, s.run.Spend(t.Context(), -1))
	require.Error(t, start("no tokens", tool.Budget{Calls: 1}).run.Spend(t.Context(), 1))

	s = start("over", tool.Budget{Calls: 9})
	w.clock.add(2 * time.Hour)
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.BudgetExhausted, "past the run's deadline")
}

func TestParallelCallsAreBounded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*world, *tool.Budget)
	}{
		{"by the run's budget", func(_ *world, b *tool.Budget) { b.Parallel = 2 }},
		{"by the tool, per run", func(w *world, _ *tool.Budget) { w.read.Spec.PerRun = 2 }},
		{"by the tool, per tenant", func(w *world, _ *tool.Budget) { w.read.Spec.PerTenant = 2 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			entered, release := make(chan struct{}), make(chan struct{})
			w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
				entered <- struct{}{}
				<-release
				return accountOut{AccountID: "a1"}, nil
			}
			b := tool.Budget{Calls: 99, Parallel: 9}
			tt.change(w, &b)
			d := w.dispatcher()
			role, err := roleOf(d, w)
			require.NoError(t, err)
			run, err := d.Start(tool.RunConfig{Principal: agent, Role: role, Budget: b, Deadline: epoch.Add(time.Hour)})
			require.NoError(t, err)
			s := &session{w, d, run}
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() { s.call(readTool, `{"account_id":"a1"}`) })
				<-entered
			}
			e := refusal(t, s.call(readTool, `{"account_id":"a1"}`), envelope.RateLimited, "two are under way")
			require.Positive(t, e.RetryAfter)
			close(release)
			wg.Wait()
			go func() { <-entered }()
			require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err(), "their places are given back")
		})
	}
}

func TestReadRetriesAsDeclaredAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.Now = nil
		var tries []time.Time
		answers := []error{}
		w.read.Retry = tool.Retry{Attempts: 3, Within: 30 * time.Second, On: []envelope.Code{envelope.RateLimited, envelope.UpstreamUnavailable}}
		w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
			tries = append(tries, time.Now())
			if len(answers) == 0 {
				return accountOut{AccountID: "a1"}, nil
			}
			err := answers[0]
			answers = answers[1:]
			return accountOut{}, err
		}
		w.clock.now = time.Now()
		s := w.start()
		call := func(errs ...error) envelope.Result {
			tries, answers = nil, errs
			return s.call(readTool, `{"account_id":"a1"}`)
		}
		require.NoError(t, call(envelope.New(envelope.UpstreamUnavailable), envelope.New(envelope.RateLimited).After(7*time.Second)).Err())
		require.Len(t, tries, 3)
		require.Equal(t, 7*time.Second, tries[2].Sub(tries[1]), "the other system's time is honoured")
		refuses(t, call(envelope.New(envelope.NotFound)), envelope.NotFound, "not declared for another try")
		require.Len(t, tries, 1)
		up := envelope.New(envelope.UpstreamUnavailable)
		refuses(t, call(up, up, up, up), envelope.UpstreamUnavailable, "three tries in all")
		require.Len(t, tries, 3)
		refuses(t, call(envelope.New(envelope.RateLimited).After(time.Minute)), envelope.RateLimited, "a wait beyond the time is not begun")
		require.Len(t, tries, 1)
	})
}

func TestMiddlewareCannotLoosenTheBoundary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var seen []string
	var change func(*envelope.Result)
	w.config.Middleware = []tool.Middleware{
		func(next tool.Handler) tool.Handler {
			return func(ctx context.Context, i tool.Invocation) envelope.Result {
				seen = append(seen, "outer "+i.Class)
				r := next(ctx, i)
				if change != nil {
					change(&r)
				}
				return r
			}
		},
		func(next tool.Handler) tool.Handler {
			return func(ctx context.Context, i tool.Invocation) envelope.Result {
				seen = append(seen, "inner "+i.Caller.Tool)
				i.Caller.Principal.Tenant, i.Call.Tool = "t2", commitTool // counts for nothing
				return next(ctx, i)
			}
		},
	}
	s := w.start()
	r := s.call(readTool, `{"account_id":"a1"}`)
	require.JSONEq(t, `{"account_id":"a1","limit":100}`, string(r.Data), "the caller is the session's")
	require.Equal(t, []string{"outer read", "inner get_account_v1"}, seen)
	for name, c := range map[string]func(*envelope.Result){
		"other data":       func(r *envelope.Result) { r.Data = jsontext.Value(`{"account_id":"a1","limit":1,"card":"4111"}`) },
		"no JSON":          func(r *envelope.Result) { r.Data = jsontext.Value(`{`) },
		"neither nor":      func(r *envelope.Result) { *r = envelope.Result{} },
		"both":             func(r *envelope.Result) { r.Error = envelope.New(envelope.NotFound) },
		"success, no data": func(r *envelope.Result) { r.Data = nil },
	} {
		change = c
		refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.OutputInvalid, name)
	}
	change = func(r *envelope.Result) {
		*r = envelope.Result{Error: &envelope.Error{Code: "MADE_UP", Message: "hunter2"}}
	}
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.Internal, "an undeclared code")
	change = func(r *envelope.Result) { *r = envelope.Result{Error: envelope.New(envelope.RateLimited)} }
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.RateLimited, "a middleware may refuse")
	change = func(*envelope.Result) { panic("hunter2") }
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.Internal, "its panic is contained")
	require.NotContains(t, w.everything(), "hunter2")
}

func TestCallIDOnlyCorrelates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	for _, id := range []string{"a b", "ä", strings.Repeat("a", 65), "a\n"} {
		r := s.run.Call(t.Context(), envelope.Call{ID: id, Tool: readTool, Arguments: jsontext.Value(`{"account_id":"a1"}`)})
		e := refusal(t, r, envelope.InvalidArgument, id)
		require.Equal(t, "id", e.Rule)
	}
	r := s.run.Call(t.Context(), envelope.Call{ID: "call_1.a:b-c", Tool: readTool, Arguments: jsontext.Value(`{"account_id":"a1"}`)})
	require.NoError(t, r.Err())
}

func TestAuditHoldsNoValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	id := s.approved(424242)
	success(t, s.commit(id), "")
	kinds := make([]string, 0, len(w.audit.events))
	for _, e := range w.audit.events {
		kinds = append(kinds, e.Kind)
		require.Equal(t, "t1", e.Tenant)
	}
	require.Equal(t, []string{"propose", "call", "decide", "admit", "dispatch", "finish", "call"}, kinds)
	require.NotContains(t, w.everything(), "424242")
	require.NotContains(t, w.everything(), "Set the limit")
}

func TestWriteWithoutAuditDoesNotStart(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"propose", "decide", "admit", "dispatch"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.start()
			w.audit.fail = func(e audit.Event) error {
				if e.Kind == kind {
					return errDown
				}
				return nil
			}
			r := s.call(previewTool, `{"account_id":"a1","limit":250}`)
			if kind == "propose" {
				e := refusal(t, r, envelope.Unavailable, "")
				require.Equal(t, envelope.EffectNone, e.Effect)
				return
			}
			v, err := r.Decode[proposalView]()
			require.NoError(t, err)
			if kind == "decide" {
				rec, err := w.approvals.Find(t.Context(), "t1", v.ProposalID)
				require.NoError(t, err)
				_, err = s.d.Decide(t.Context(), "t1", v.ProposalID, decision(rec, lead))
				require.Error(t, err)
				require.Equal(t, "pending", string(w.approvalState(v.ProposalID)))
				return
			}
			s.decide(v.ProposalID, true)
			r = s.commit(v.ProposalID)
			require.False(t, r.OK)
			require.Zero(t, w.provider.effectCount(), "what cannot be recorded does not start")
			w.audit.fail = nil
			success(t, s.commit(v.ProposalID), "later it can")
		})
	}
}
