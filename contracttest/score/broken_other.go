package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

// letting passes what the output check withheld, where the predicate holds.
func letting(when func(fault *envelope.Error) bool) func(m *meddler) {
	return answering(func(m *meddler, c envelope.Call, r envelope.Result) envelope.Result {
		inner, is := m.inner.take()
		if !is || r.Error == nil || r.Error.Code != envelope.OutputInvalid || !inner.OK {
			return r
		}
		s, err := validate.Compile(m.output(c.Tool))
		if err != nil {
			return r
		}
		var fault *envelope.Error
		if !errors.As(s.Check(inner.Data, validate.Limits{}), &fault) || !when(fault) {
			return r
		}
		return envelope.Result{OK: true, Tool: r.Tool, RequestID: r.RequestID, Data: inner.Data}
	})
}

// leaking writes what the output check withheld to a sink, in an encoding.
func leaking(sink string, encode func(data []byte) string) func(m *meddler) {
	return answering(func(m *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
		if inner, is := m.inner.take(); is && r.Error != nil && r.Error.Code == envelope.OutputInvalid {
			m.f.Sinks[sink].Plant(encode(inner.Data))
		}
		return r
	})
}

func brokenOutput() []broken {
	out := func(name, by string, session func(m *meddler)) broken {
		return broken{name: name, suite: "output", by: "output/*/" + by, session: session}
	}
	return []broken{
		out("no-output-check", "**", letting(func(*envelope.Error) bool { return true })),
		out("unknown-upstream-field-passes", "**/unknown-*", letting(func(e *envelope.Error) bool { return e.Code == envelope.UnknownField })),
		out("null-for-required-output", "**/type-null*", letting(func(e *envelope.Error) bool { return e.Rule == "type" })),
		out("missing-output-member", "**/required-*", letting(func(e *envelope.Error) bool { return e.Rule == "required" })),
		out("checks-top-level-only", "**", letting(func(e *envelope.Error) bool { return strings.ContainsAny(e.Field, ".[") })),
		out("output-enum-ignored", "**/enum-*", letting(func(e *envelope.Error) bool { return e.Rule == "enum" })),
		out("output-lengths-ignored", "**/maxLength-*", letting(func(e *envelope.Error) bool { return e.Rule == "maxLength" })),
		out("redacts-result-not-error", "**", answering(func(m *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if inner, is := m.inner.take(); is && r.Error != nil && r.Error.Code == envelope.OutputInvalid {
				e := *r.Error
				e.Message += ": " + string(inner.Data)
				r.Error = &e
			}
			return r
		})),
		out("secret-in-wrapped-error", "errors/wrapped-secret", answering(func(m *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if inner, is := m.inner.take(); is && inner.Error != nil && r.Error != nil {
				r.Error = r.Error.WithCause(inner.Error.Unwrap())
			}
			return r
		})),
		out("output-in-log", "**", leaking("log", func(b []byte) string { return string(b) })),
		out("truncated-secret", "**", leaking("log", func(b []byte) string { return string(b[:len(b)*2/3]) })),
		out("base64-in-audit", "**", leaking("audit", base64.StdEncoding.EncodeToString)),
		out("hex-in-span", "**", leaking("spans", hex.EncodeToString)),
		out("percent-in-metric", "**", leaking("metrics", func(b []byte) string { return url.QueryEscape(string(b)) })),
		out("escaped-in-log", "**", leaking("log", func(b []byte) string { return strconv.QuoteToASCII(string(b)) })),
		out("data-beside-error", "**", answering(func(m *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if inner, is := m.inner.take(); is && r.Error != nil {
				r.Data = inner.Data
			}
			return r
		})),
		out("rewrites-answers", "**", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if v, ok := lenient(r.Data); ok && r.OK {
				if b, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent(" ")); err == nil {
					r.Data = b
				}
			}
			return r
		})),
		out("undeclared-code-passes", "errors/undeclared-code", answering(func(m *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if inner, is := m.inner.take(); is && inner.Error != nil {
				r.Error = inner.Error
			}
			return r
		})),
		out("error-with-data-is-success", "errors/error-beside-data", answering(func(m *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if inner, is := m.inner.take(); is && inner.OK && inner.Error != nil {
				return envelope.Result{OK: true, Tool: r.Tool, RequestID: r.RequestID, Data: inner.Data}
			}
			return r
		})),
		out("commit-output-without-effect", "**", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Effect == envelope.EffectDone {
				e := *r.Error
				e.Effect = envelope.EffectNone
				r.Error = &e
			}
			return r
		})),
		out("no-request-id", "own", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			r.RequestID = ""
			return r
		})),
		{name: "handler-breaks-its-own-schema", suite: "output", by: "output/*/own", definitions: func(s *samples.Shop) []tool.Definition {
			return []tool.Definition{s.Refund(), samples.BrokenAnswer()}
		}},
	}
}

// renaming resolves names that are not exact.
func renaming(change func(name string) string) func(m *meddler) {
	return func(m *meddler) { m.before = func(c *envelope.Call) { c.Tool = change(c.Tool) } }
}

// asEverybody sends calls through a run that may do everything.
func asEverybody(when func(r envelope.Result, c envelope.Call) bool) func(m *meddler) {
	return func(m *meddler) {
		m.after = func(c envelope.Call, r envelope.Result) envelope.Result {
			if r.Error == nil || r.Error.Code != envelope.NotPermitted || !when(r, c) {
				return r
			}
			return m.elsewhere(c, "run-1", m.f.Authority(""))
		}
	}
}

// elsewhere calls in another run, of anybody.
func (m *meddler) elsewhere(c envelope.Call, id string, by approval.Principal) envelope.Result {
	role, err := m.f.Catalog.Role("everything", "preview_refund_v1", "commit_refund_v1", "preview_tag_order_v1", "commit_tag_order_v1", "search_v1", "check_settings_v1", "quote_v1", "request_review_v1")
	if err != nil {
		return envelope.Result{Error: envelope.New(envelope.Internal)}
	}
	run, err := m.f.Dispatcher.Start(tool.RunConfig{ID: id, Principal: by, Role: role, Budget: tool.Budget{Calls: 1 << 30}, Deadline: m.f.Clock.Now().Add(time.Hour)})
	if err != nil {
		return envelope.Result{Error: envelope.New(envelope.Internal)}
	}
	return run.Call(m.ctx, c)
}

func brokenDispatch() []broken {
	d := func(name, by string, session func(m *meddler)) broken {
		return broken{name: name, suite: "dispatch", by: "dispatch/" + by, session: session}
	}
	return []broken{
		d("name-by-case", "names/*-case", renaming(strings.ToLower)),
		d("name-trimmed", "names/space-*", renaming(strings.TrimSpace)),
		d("name-by-look", "names/cyrillic", renaming(func(n string) string { return strings.NewReplacer("а", "a", "е", "e", "о", "o").Replace(n) })),
		d("name-without-zero-width", "names/zero-width", renaming(func(n string) string { return strings.ReplaceAll(n, "\u200b", "") })),
		d("name-cut-at-nul", "names/nul-after", renaming(func(n string) string { s, _, _ := strings.Cut(n, "\x00"); return s })),
		d("name-dash", "names/dash", renaming(func(n string) string { return strings.ReplaceAll(n, "-", "_") })),
		d("name-prefix-cut", "names/prefix", renaming(func(n string) string { return n[strings.LastIndex(n, ".")+1:] })),
		d("latest-version-by-default", "names/no-version", renaming(func(n string) string {
			if n != "" && !strings.Contains(n, "_v") && len(n) < 100 {
				return n + "_v1"
			}
			return n
		})),
		d("names-the-tool-asked-for", "names/*", answering(func(_ *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			r.Tool = c.Tool
			return r
		})),
		d("old-version-served", "*/retired", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == envelope.UnsupportedVersion {
				return envelope.Result{OK: true, Tool: r.Tool, RequestID: r.RequestID, Data: jsontext.Value(`{}`)}
			}
			return r
		})),
		d("write-in-read-only-run", "*/read-only-run", asEverybody(func(_ envelope.Result, c envelope.Call) bool { return strings.Contains(c.Tool, "refund") })),
		d("role-is-advice", "*/role-without-it", asEverybody(func(envelope.Result, envelope.Call) bool { return true })),
		d("instruction-text-rewritten", "**/instructions-*", repairing(func(v any) any {
			if s, ok := v.(string); ok {
				return strings.ReplaceAll(s, "<system>", "")
			}
			return v
		})),
		d("template-expanded", "**/instructions-*", repairing(func(v any) any {
			if s, ok := v.(string); ok {
				return strings.ReplaceAll(s, "{{7*7}}", "49")
			}
			return v
		})),
		d("bidi-stripped", "**/instructions-*", repairing(func(v any) any {
			if s, ok := v.(string); ok {
				return strings.ReplaceAll(s, "\u202e", "")
			}
			return v
		})),
		d("any-call-id", "*/bad-call-id", func(m *meddler) { m.before = func(c *envelope.Call) { c.ID = "" } }),
		d("call-id-in-log", "*/bad-call-id", func(m *meddler) { m.first = func(c envelope.Call) { m.f.Sinks["log"].Plant(c.ID) } }),
		d("oversized-answered-late", "*/oversized", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == envelope.PayloadTooLarge {
				r.Error = envelope.New(envelope.MalformedJSON)
			}
			return r
		})),
		d("budget-not-kept", "runs/budget", answering(func(m *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == envelope.BudgetExhausted {
				return m.elsewhere(c, "run-9", m.f.Authority(""))
			}
			return r
		})),
		d("cancelled-run-goes-on", "runs/cancelled", answering(func(m *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == envelope.Cancelled {
				return m.elsewhere(c, "run-9", m.f.Authority(""))
			}
			return r
		})),
		d("writes-into-arguments", "*/caller-keeps-bytes", answering(func(_ *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			if len(c.Arguments) > 0 {
				c.Arguments[0] = ' '
			}
			return r
		})),
		d("unknown-tool-is-internal", "names/*", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == envelope.UnknownTool {
				r.Error = envelope.New(envelope.Internal)
			}
			return r
		})),
	}
}

func withStore(s faultyStore) func(*samples.Shop, *tool.Config) {
	return func(_ *samples.Shop, cfg *tool.Config) {
		s := s
		s.Store = cfg.Approvals
		cfg.Approvals = s
	}
}

// deciding changes a decision on its way to the dispatcher.
func deciding(change func(f *contracttest.Fixture, id string, d approval.Decision) approval.Decision) func(*contracttest.Fixture) {
	return func(f *contracttest.Fixture) {
		f.Decide = func(ctx context.Context, tenant, id string, d approval.Decision) (approval.Record, error) {
			return f.Dispatcher.Decide(ctx, tenant, id, change(f, id, d))
		}
	}
}

// owners remembers which run proposed what, and commits in its name.
type owners struct {
	mu sync.Mutex
	by map[string]*tool.Run
}

func (o *owners) session(m *meddler) {
	m.route = func(ctx context.Context, c envelope.Call) (envelope.Result, bool) {
		if !strings.HasPrefix(c.Tool, "commit_") {
			return envelope.Result{}, false
		}
		o.mu.Lock()
		run := o.by[text(at(c.Arguments, "proposal_id"))]
		o.mu.Unlock()
		if run == nil {
			return envelope.Result{}, false
		}
		return run.Call(ctx, c), true
	}
	m.after = func(_ envelope.Call, r envelope.Result) envelope.Result {
		if id := text(at(r.Data, "proposal_id")); id != "" {
			o.mu.Lock()
			o.by[id] = m.run
			o.mu.Unlock()
		}
		return r
	}
}

func brokenApprovals() []broken {
	a := func(name, by string) broken {
		return broken{name: name, suite: "approvals", by: "approvals/*/" + by}
	}
	store := func(name, by string, s faultyStore) broken {
		b := a(name, by)
		b.config = withStore(s)
		return b
	}
	decide := func(name, by string, change func(*contracttest.Fixture, string, approval.Decision) approval.Decision) broken {
		b := a(name, by)
		b.fixture = deciding(change)
		return b
	}
	session := func(name, by string, f func(m *meddler)) broken {
		b := a(name, by)
		b.session = f
		return b
	}
	taken := func(rec approval.Record, _ bool, _ error) (approval.Record, bool, error) { return rec, true, nil }
	become := func(from approval.State) func(approval.Record, error) (approval.Record, error) {
		return func(rec approval.Record, err error) (approval.Record, error) {
			if err == nil && rec.State == from {
				rec.State, rec.Left = approval.Approved, time.Hour
			}
			return rec, err
		}
	}
	var aliases sync.Map
	return []broken{
		decide("approves-by-id", "another-digest", func(f *contracttest.Fixture, id string, d approval.Decision) approval.Decision {
			if rec, err := f.Approvals.Find(context.Background(), d.By.Tenant, id); err == nil {
				d.Digest = rec.Proposal.Digest
			}
			return d
		}),
		decide("self-approval", "self-approval", func(_ *contracttest.Fixture, _ string, d approval.Decision) approval.Decision {
			if d.By.Subject == "agent" {
				d.By.Subject = "agent "
			}
			return d
		}),
		decide("any-tenant-approves", "approver-of-another-tenant", func(_ *contracttest.Fixture, _ string, d approval.Decision) approval.Decision {
			d.By.Tenant = strings.TrimSuffix(d.By.Tenant, "-other")
			return d
		}),
		decide("believes-claimed-roles", "approver-without-role", func(_ *contracttest.Fixture, _ string, d approval.Decision) approval.Decision {
			d.By.Roles = []string{"approver"}
			return d
		}),
		decide("policy-may-be-claimed", "policy-as-person", func(_ *contracttest.Fixture, _ string, d approval.Decision) approval.Decision {
			d.By.Kind = approval.Person
			return d
		}),
		{name: "no-authority", suite: "approvals", by: "approvals/*/approver-without-role", config: func(_ *samples.Shop, cfg *tool.Config) { cfg.Authority = anybody{} }},
		{name: "authority-at-proposal-only", suite: "approvals", by: "approvals/*/authority-revoked", fixture: func(f *contracttest.Fixture) { f.Revoke = func(approval.Principal) {} }},
		store("expiry-at-the-wrong-edge", "at-expiry", faultyStore{find: become(approval.Expired), consume: taken}),
		store("pending-is-enough", "undecided", faultyStore{find: become(approval.Pending), consume: taken}),
		store("rejection-ignored", "rejected", faultyStore{find: become(approval.Rejected), consume: taken}),
		store("never-joined", "joined", faultyStore{alike: func() ([]approval.Record, error) { return nil, nil }}),
		store("pointer-approved-then-mutated", "copies-changed", faultyStore{find: func(rec approval.Record, err error) (approval.Record, error) {
			if kept, ok := aliases.LoadOrStore(rec.Proposal.Digest+rec.Proposal.ID, rec.Proposal.Plan); ok {
				if plan, is := kept.(jsontext.Value); is {
					rec.Proposal.Plan = plan
				}
			}
			return rec, err
		}}),
		{name: "one-of-two-suffices", suite: "approvals", by: "approvals/*/one-of-two", config: func(s *samples.Shop, cfg *tool.Config) {
			cfg.Policy = approval.Everything(approval.Requirement{Level: approval.Two, Role: "approver"})
			withStore(faultyStore{consume: taken, find: func(rec approval.Record, err error) (approval.Record, error) {
				if err == nil && rec.State == approval.Pending && len(rec.Decisions) > 0 {
					rec.State = approval.Approved
				}
				return rec, err
			}})(s, cfg)
		}},
		session("commits-for-anybody", "another-*", (&owners{by: map[string]*tool.Run{}}).session),
		session("extra-arguments-ignored", "*-beside-the-id", func(m *meddler) {
			m.before = func(c *envelope.Call) {
				if id := text(at(c.Arguments, "proposal_id")); strings.HasPrefix(c.Tool, "commit_") && id != "" {
					c.Arguments = jsontext.Value(`{"proposal_id":"` + id + `"}`)
				}
			}
		}),
		session("commit-of-any-tool", "another-tool/*", func(m *meddler) {
			m.after = func(c envelope.Call, r envelope.Result) envelope.Result {
				if r.Error == nil || r.Error.Code != envelope.NotFound || !strings.HasPrefix(c.Tool, "commit_") {
					return r
				}
				for _, other := range []string{"commit_refund_v1", "commit_tag_order_v1"} {
					if again := m.run.Call(m.ctx, envelope.Call{Tool: other, Arguments: c.Arguments}); again.OK {
						return again
					}
				}
				return r
			}
		}),
		session("replay-not-marked", "replay-after-use", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			r.Replayed = false
			return r
		})),
		{name: "ledger-forgets", suite: "approvals", by: "approvals/*/replay-after-use", config: func(_ *samples.Shop, cfg *tool.Config) {
			cfg.Ledger = faultyLedger{Ledger: cfg.Ledger, admit: func(ctx context.Context, l idem.Ledger, c idem.Command, _ bool) (idem.Record, idem.Admission, error) {
				if rec, err := l.Find(ctx, c.Key); err == nil && rec.State == idem.Succeeded {
					return idem.Record{}, "", idem.ErrConflict
				}
				return l.Admit(ctx, c, false)
			}}
		}},
		{name: "version-not-read-again", suite: "approvals", by: "approvals/*/stale-version", definitions: func(s *samples.Shop) []tool.Definition {
			return append([]tool.Definition{s.RefundWith(samples.Fault{StaleCurrent: true})}, reference(s)[1:]...)
		}},
		{name: "plan-read-again-at-commit", suite: "approvals", by: "approvals/*/rendered-is-executed", fixture: func(f *contracttest.Fixture) {
			find := f.Approvals
			f.Approvals = faultyStore{Store: find, find: func(rec approval.Record, err error) (approval.Record, error) {
				rec.Proposal.Plan = bytes.Replace(rec.Proposal.Plan, []byte(`7`), []byte(`8`), 1)
				return rec, err
			}}
		}},
	}
}

func brokenExecutor() []broken {
	handler := func(name, by string, f samples.Fault) broken {
		return broken{name: name, suite: "executor", by: "executor/commit_refund_v1/" + by, definitions: func(s *samples.Shop) []tool.Definition {
			return []tool.Definition{s.RefundWith(f), s.Tag()}
		}}
	}
	session := func(name, by string, f func(m *meddler)) broken {
		return broken{name: name, suite: "executor", by: "executor/*/" + by, session: f, definitions: writes}
	}
	return []broken{
		handler("retries-after-a-lost-answer", "lost-*", samples.Fault{Retries: true, NoVersion: true}),
		handler("failed-for-unknown", "*", samples.Fault{LostIsRefused: true}),
		handler("not-sent-for-unknown", "*", samples.Fault{LostIsNotSent: true, KeyPerCall: true}),
		handler("any-answer-is-success", "lost-before-commit", samples.Fault{LostIsSuccess: true}),
		handler("down-is-not-found", "*", samples.Fault{DownIsRefused: true}),
		handler("not-found-is-failed", "*", samples.Fault{StaleIsRefused: true}),
		handler("status-always-succeeded", "lost-before-commit", samples.Fault{StatusLies: true}),
		handler("commit-without-the-version", "touched-on-the-way", samples.Fault{NoVersion: true}),
		handler("no-fault-reaches-the-commit", "lost-before-commit", samples.Fault{CommitAside: true}),
		handler("no-fault-reaches-the-status", "status-down", samples.Fault{StatusAside: true}),
		handler("preview-has-an-effect", "plain", samples.Fault{PreviewChanges: true}),
		handler("asking-for-the-version-has-an-effect", "plain", samples.Fault{CurrentChanges: true}),
		{name: "a-key-per-call", suite: "executor", by: "executor/commit_tag_order_v1/lands-late", definitions: func(s *samples.Shop) []tool.Definition {
			return []tool.Definition{s.Refund(), s.TagWith(samples.Fault{KeyPerCall: true})}
		}},
		{name: "read-has-an-effect", suite: "input", by: "input/count_visits_v1/valid", definitions: func(s *samples.Shop) []tool.Definition {
			return []tool.Definition{s.Refund(), s.Visits()}
		}},
		{name: "no-key-for-the-provider", suite: "executor", by: "executor/commit_tag_order_v1/duplicate-delivery", definitions: func(s *samples.Shop) []tool.Definition {
			return []tool.Definition{s.Refund(), s.TagWith(samples.Fault{KeyPerCall: true, NoVersion: true})}
		}},
		{name: "another-key-when-sent-again", suite: "executor", by: "executor/commit_pay_v1/lost-after-commit", definitions: func(s *samples.Shop) []tool.Definition {
			return []tool.Definition{s.Refund(), s.PayWith(samples.Fault{KeyPerCall: true})}
		}},
		{name: "a-refusal-of-the-second-for-the-first", suite: "executor", by: "executor/commit_refund_v1/duplicate-delivery", definitions: func(s *samples.Shop) []tool.Definition {
			return []tool.Definition{s.RefundWith(samples.Fault{KeyPerCall: true}), s.Tag()}
		}},
		{name: "both-racers-commit", suite: "executor", by: "executor/commit_refund_v1/two-proposals-at-once", config: func(_ *samples.Shop, cfg *tool.Config) {
			cfg.Ledger = unfenced(cfg.Ledger)
		}, definitions: func(s *samples.Shop) []tool.Definition {
			return []tool.Definition{s.RefundWith(samples.Fault{NoVersion: true, StaleCurrent: true}), s.Tag()}
		}},
		{name: "open-resource-not-kept", suite: "executor", by: "executor/*/open-while-unknown", config: func(_ *samples.Shop, cfg *tool.Config) {
			cfg.Ledger = unfenced(cfg.Ledger)
		}, definitions: writes},
		{name: "unknown-stored-as-failed", suite: "executor", by: "executor/*/*", config: func(_ *samples.Shop, cfg *tool.Config) {
			cfg.Ledger = faultyLedger{Ledger: cfg.Ledger, finish: func(o idem.Outcome) idem.Outcome {
				if o.State == idem.Unknown {
					o = idem.Outcome{State: idem.Failed, Failure: envelope.New(envelope.UpstreamRejected)}
				}
				return o
			}}
		}, definitions: writes},
		session("cancellation-swallows-the-outcome", "slow-then-cancel", func(m *meddler) {
			m.route = func(ctx context.Context, c envelope.Call) (envelope.Result, bool) {
				r := m.run.Call(ctx, c)
				if ctx.Err() != nil && strings.HasPrefix(c.Tool, "commit_") {
					e := envelope.New(envelope.Cancelled)
					e.Effect = envelope.EffectNone
					r = envelope.Result{Tool: c.Tool, RequestID: r.RequestID, Error: e}
				}
				return r, true
			}
		}),
		session("unknown-told-as-unavailable", "lost-after-commit", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == envelope.OutcomeUnknown {
				e := envelope.New(envelope.Unavailable)
				e.Effect = envelope.EffectNone
				r.Error = e
			}
			return r
		})),
		session("unknown-may-be-retried", "lost-after-commit", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == envelope.OutcomeUnknown {
				e := *r.Error
				e.Retryable = true
				r.Error = &e
			}
			return r
		})),
		handler("provider-error-told", "*", samples.Fault{TellsCause: true}),
	}
}

func writes(s *samples.Shop) []tool.Definition { return []tool.Definition{s.Refund(), s.Tag()} }

// unfenced gives every operation a resource of its own.
func unfenced(l idem.Ledger) idem.Ledger {
	return faultyLedger{
		Ledger: l, resource: func() (int64, string, error) { return 0, "", nil },
		admit: func(ctx context.Context, l idem.Ledger, c idem.Command, before bool) (idem.Record, idem.Admission, error) {
			c.Resource, c.Seq = c.Key.Operation, 0
			return l.Admit(ctx, c, before)
		},
	}
}
