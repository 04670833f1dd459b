package contracttest_test

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

func review(t *testing.T) (*tool.Catalog, contracttest.New) {
	t.Helper()
	c, err := tool.NewCatalog(samples.RequestReview())
	require.NoError(t, err)
	return c, contracttest.Make(func() (*contracttest.Fixture, error) { return contracttest.Assemble(c) })
}

func TestCasesAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	c, _ := review(t)
	first, err := contracttest.Cases(c, "request_review_v1")
	require.NoError(t, err)
	second, err := contracttest.Cases(c, "request_review_v1")
	require.NoError(t, err)
	require.Equal(t, first, second)
	names := map[string]bool{}
	for _, cs := range first {
		require.False(t, names[cs.Name], cs.Name)
		names[cs.Name] = true
		require.Regexp(t, `^[A-Za-z0-9_/-]+$`, cs.Name, "no value, no space, no sign of a regular expression")
		for _, value := range cs.Canary {
			require.NotContains(t, cs.Name, value)
		}
	}
}

func TestInstancesAreValidAndFollowTheirChoices(t *testing.T) {
	t.Parallel()
	shop := samples.NewShop()
	c, err := tool.NewCatalog(shop.Refund(), samples.Tree(), samples.Search())
	require.NoError(t, err)
	for _, wire := range []string{"preview_refund_v1", "tree_v1", "search_v1"} {
		different := map[string]bool{}
		for seed := range 20 {
			choose := func() func(int) int {
				x := seed * 7919
				return func(n int) int { x = (x*1103515245 + 12345) & 0x7fffffff; return x >> 8 % n % n }
			}
			doc := contracttest.Instance(c, wire, choose())
			require.NotNil(t, doc, wire)
			require.Equal(t, string(doc), string(contracttest.Instance(c, wire, choose())))
			different[string(doc)] = true
		}
		require.Greater(t, len(different), 5, wire)
	}
	require.Nil(t, contracttest.Instance(c, "nothing_v1", func(int) int { return 0 }))
}

func TestSkipMustMatchFailAndHaveAReason(t *testing.T) {
	t.Parallel()
	_, fresh := review(t)
	only := contracttest.Only("input")
	for _, tt := range []struct{ name, pattern, reason, says string }{
		{"no-reason", "input/**", " ", "needs a reason"},
		{"matches-nothing", "input/other/**", "a reason", "matches no case"},
		{"now-passes", "input/request_review_v1/wire/empty", "a reason", "now passes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, contracttest.Check(fresh, only, contracttest.Skip(tt.pattern, tt.reason)).Err(), tt.says)
		})
	}
	require.ErrorContains(t, contracttest.Check(fresh, only, contracttest.Expect("input/other/**", contracttest.Refusal{Code: "X_Y"})).Err(), "matches no case")
	require.ErrorContains(t, contracttest.Check(fresh, only, contracttest.Budget(10, 0)).Err(), "the budget is 10")
	require.ErrorContains(t, contracttest.Check(fresh, contracttest.Only("nothing")).Err(), "no such suite")
}

func TestWhatHasNoEffectIsNamed(t *testing.T) {
	t.Parallel()
	c, fresh := review(t)
	only := contracttest.Only("input")
	files := fstest.MapFS{}
	for _, tt := range []struct {
		name, says string
		fresh      contracttest.New
		opt        contracttest.Option
	}{
		{"nil-option", "option 1 is nil", fresh, nil},
		{"examples", `Examples has no effect: "other_v1"`, fresh, contracttest.Examples("other_v1", jsontext.Value(`{}`))},
		{"witness", `Witness has no effect: "other_v1"`, fresh, contracttest.Witness("other_v1/a", []string{"a"}, nil)},
		{"upstreams", `Upstreams has no effect: "other_v1"`, fresh, contracttest.Upstreams("other_v1", files, "*")},
		{"expect", "none of the", fresh, contracttest.Expect("input/request_review_v1/**", contracttest.Refusal{Code: "X_Y"})},
		{"nil-new", "New is nil", nil, only},
		{"nil-fixture", "New returned no fixture", contracttest.Make(func() (*contracttest.Fixture, error) { return nil, nil }), only}, //nolint:nilnil // what is tried
		{"empty-fixture", "lacks its catalogue", contracttest.Make(func() (*contracttest.Fixture, error) { return &contracttest.Fixture{}, nil }), only},
		{"probe-not-wired", "was not wired", contracttest.Make(func() (*contracttest.Fixture, error) {
			f, err := contracttest.Assemble(c)
			if err == nil {
				f.Probe = contracttest.NewProbe()
			}
			return f, err
		}), only},
		{"empty-upstream", "NewUpstream", contracttest.Make(func() (*contracttest.Fixture, error) {
			f, err := contracttest.Assemble(c)
			if err == nil {
				f.Upstream = &contracttest.Upstream{}
			}
			return f, err
		}), only},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, contracttest.Check(tt.fresh, only, tt.opt).Err(), tt.says)
		})
	}
}

func TestCasesWithoutApproversAreNotJudged(t *testing.T) {
	t.Parallel()
	shop := samples.NewShop()
	c, err := tool.NewCatalog(shop.Tag())
	require.NoError(t, err)
	report := contracttest.Check(contracttest.Make(func() (*contracttest.Fixture, error) {
		return shop.Fixture(c, func(cfg *tool.Config) { cfg.Policy = approval.Everything(approval.Requirement{Level: approval.None}) })
	}), contracttest.Only("approvals"))
	require.NoError(t, report.Err())
	require.Contains(t, report.NotJudged, contracttest.NotJudgedRow{Case: "approvals/commit_tag_order_v1/self-approval", Reason: "the policy asks for no approver of this proposal"})
}

func TestSkippedFailuresAreCountedAndPass(t *testing.T) {
	t.Parallel()
	c, err := tool.NewCatalog(samples.BrokenAnswer())
	require.NoError(t, err)
	fresh := contracttest.Make(func() (*contracttest.Fixture, error) { return contracttest.Assemble(c) })
	require.Error(t, contracttest.Check(fresh).Err())
	report := contracttest.Check(fresh, contracttest.Only("output"), contracttest.Skip("output/broken_answer_v1/own", "the handler is known to be broken"))
	require.NoError(t, report.Err())
	require.Equal(t, []contracttest.SkipRow{{Pattern: "output/broken_answer_v1/own", Reason: "the handler is known to be broken", Matched: 1}}, report.Skips)
}

func TestReportNamesEveryKeyword(t *testing.T) {
	t.Parallel()
	_, fresh := review(t)
	report := contracttest.Check(fresh, contracttest.Only("input"))
	require.NoError(t, report.Err())
	rows := map[string]contracttest.KeywordRow{}
	for _, r := range report.Keywords {
		rows[r.Place+" "+r.Keyword] = r
	}
	for _, want := range []string{"case_ref pattern", "reason_code enum", "amount_minor minimum", "amount_minor maximum", "currency pattern", " required", " additionalProperties"} {
		require.Positive(t, rows[want].Invalid, want)
	}
	require.Equal(t, report.Executed, report.Accepted+report.Refused+1, "all but the controls")
}

func TestFailureIsReadableOnOneScreen(t *testing.T) {
	t.Parallel()
	c, _ := review(t)
	report := contracttest.Check(contracttest.Make(func() (*contracttest.Fixture, error) {
		f, err := contracttest.Assemble(c)
		if err == nil {
			f.Session = func(run *tool.Run) contracttest.Session { return trimming{run} }
		}
		return f, err
	}), contracttest.Only("input"))
	require.NotEmpty(t, report.Failures)
	text := report.Failures[0].String()
	for _, part := range []string{"operator", "keyword", "field", "want", "got", "handler", "sent"} {
		require.Contains(t, text, "\n  "+part)
	}
	require.Less(t, strings.Count(text, "\n"), 24)
}

type trimming struct{ *tool.Run }

func (t trimming) Call(ctx context.Context, c envelope.Call) envelope.Result {
	c.Arguments = bytes.ReplaceAll(c.Arguments, []byte(`" `), []byte(`"`))
	return t.Run.Call(ctx, c)
}

func TestPinAsksForReasons(t *testing.T) {
	t.Parallel()
	before, _ := review(t)
	after, err := tool.NewCatalog(samples.RequestReview(), samples.GetCustomer())
	require.NoError(t, err)
	role := func(c *tool.Catalog, names ...string) []tool.Role {
		r, err := c.Role("reader", names...)
		require.NoError(t, err)
		return []tool.Role{r}
	}
	golden := filepath.Join(t.TempDir(), "pin.json")
	small := role(before, "request_review_v1")
	require.ErrorContains(t, contracttest.CheckPin(before, small, golden), "CONTRACTTEST_UPDATE=1")
	require.NoError(t, contracttest.WritePin(before, small, golden))
	require.NoError(t, contracttest.CheckPin(before, small, golden))
	large := role(after, "request_review_v1", "get_customer_v1")
	require.ErrorContains(t, contracttest.CheckPin(after, large, golden), "reader/get_customer_v1")
	require.ErrorContains(t, contracttest.WritePin(after, large, golden), "widens")
	doc, err := os.ReadFile(golden)
	require.NoError(t, err)
	doc = bytes.Replace(doc, []byte(`"widening": {}`), []byte(`"widening": {"reader/get_customer_v1": "support asked for it"}`), 1)
	require.NoError(t, os.WriteFile(golden, doc, 0o600))
	require.NoError(t, contracttest.WritePin(after, large, golden))
	require.NoError(t, contracttest.CheckPin(after, large, golden))
	require.ErrorContains(t, contracttest.CheckPin(before, small, golden), "is gone", "a narrowing is a difference too")
	require.NoError(t, contracttest.WritePin(before, small, golden))
	require.ErrorContains(t, contracttest.WritePin(after, large, golden), "widens", "a reason serves once")
	doc, err = os.ReadFile(golden)
	require.NoError(t, err)
	require.Contains(t, string(doc), "support asked for it", "and is kept")
	doc = bytes.Replace(doc, []byte(`"widening": {}`), []byte(`"widening": {"reader/other_v1": "in advance"}`), 1)
	require.NoError(t, os.WriteFile(golden, doc, 0o600))
	require.ErrorContains(t, contracttest.CheckPin(before, small, golden), "reader/other_v1 has a reason")
}

func TestPinOfPolicies(t *testing.T) {
	t.Parallel()
	c, err := tool.NewCatalog(samples.NewShop().Refund())
	require.NoError(t, err)
	role, err := c.Role("clerk", "preview_refund_v1", "commit_refund_v1")
	require.NoError(t, err)
	roles := []tool.Role{role}
	golden := filepath.Join(t.TempDir(), "pin.json")
	of := func(r ...approval.Requirement) approval.Table {
		table := approval.Table{Version: 1}
		for _, need := range r {
			table.Rules = append(table.Rules, approval.Rule{Require: need})
		}
		return table
	}
	strict := approval.Requirement{Level: approval.Two, Role: "lead", Lifetime: time.Hour}
	require.NoError(t, contracttest.WritePin(c, roles, golden, of(strict)))
	require.NoError(t, contracttest.CheckPin(c, roles, golden, of(strict)))
	other := func(change func(r *approval.Requirement)) approval.Table {
		r := strict
		change(&r)
		return of(r)
	}
	for name, looser := range map[string]approval.Table{
		"level":    other(func(r *approval.Requirement) { r.Level = approval.One }),
		"role":     other(func(r *approval.Requirement) { r.Role = "" }),
		"self":     other(func(r *approval.Requirement) { r.Self = true }),
		"lifetime": other(func(r *approval.Requirement) { r.Lifetime = 0 }),
	} {
		require.ErrorContains(t, contracttest.CheckPin(c, roles, golden, looser), "policy/commit_refund_v1 differs", name)
		require.ErrorContains(t, contracttest.WritePin(c, roles, golden, looser), "widens", name)
	}
	require.ErrorContains(t, contracttest.WritePin(c, roles, golden), "no longer pinned")
	stricter := of(strict, approval.Requirement{Level: approval.Deny})
	require.ErrorContains(t, contracttest.CheckPin(c, roles, golden, stricter), "differs")
	require.NoError(t, contracttest.WritePin(c, roles, golden, stricter), "a rule that came loosens nothing")
}

func TestReplayComparesAnswers(t *testing.T) {
	t.Parallel()
	_, fresh := review(t)
	line := `{"case":"c1","tool":"request_review_v1","arguments_b64":"bnVsbA==","verdict":"refuse","code":"INVALID_ARGUMENT","field":""}`
	contracttest.Replay(t, fresh, fstest.MapFS{"calls.jsonl": {Data: []byte(line)}}, "*.jsonl")
	other := strings.Replace(line, "INVALID_ARGUMENT", "UNKNOWN_FIELD", 1)
	require.Error(t, contracttest.CheckReplay(fresh, fstest.MapFS{"calls.jsonl": {Data: []byte(other)}}, "*.jsonl").Err())
}

func TestReplayTakesNoSoftRecord(t *testing.T) {
	t.Parallel()
	_, fresh := review(t)
	const good = `"arguments":{"case_ref":"case_AAAAAAAAAAAAAAAA","reason_code":"other"}`
	for name, tt := range map[string]struct{ line, says string }{
		"unknown-member":     {`{"case":"c","tool":"request_review_v1",` + good + `,"verdict":"accept","expect":"x"}`, "not known"},
		"both-arguments":     {`{"case":"c","tool":"request_review_v1",` + good + `,"arguments_b64":"e30=","verdict":"accept"}`, "which was sent"},
		"refuse-any-code":    {`{"case":"c","tool":"request_review_v1","arguments":{},"verdict":"refuse","field":"case_ref"}`, "without its code"},
		"accept-with-a-code": {`{"case":"c","tool":"request_review_v1",` + good + `,"verdict":"accept","code":"NOT_FOUND"}`, "beside accept"},
		"answer-of-old":      {`{"case":"c","tool":"request_review_v1",` + good + `,"verdict":"accept","answer":{"qualifies":"yes"}}`, "admitted by the tool's output schema"},
		"answer-of-refusal":  {`{"case":"c","tool":"request_review_v1","arguments":{},"verdict":"refuse","code":"INVALID_ARGUMENT","answer":{}}`, "beside a refusal"},
		"no-object":          {`[]`, "no JSON object"},
	} {
		err := contracttest.CheckReplay(fresh, fstest.MapFS{"calls.jsonl": {Data: []byte(tt.line)}}, "*.jsonl").Err()
		require.ErrorContains(t, err, tt.says, name)
	}
}

// A trace that package trace saved is a file of recorded calls.
func TestReplayReadsATrace(t *testing.T) {
	t.Parallel()
	_, fresh := review(t)
	rec, err := trace.NewRecorder(trace.Config{})
	require.NoError(t, err)
	f := fresh(t)
	role, err := f.Catalog.Role("desk", "request_review_v1")
	require.NoError(t, err)
	run, err := f.Dispatcher.Start(tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: "t1", Subject: "desk"}, Role: role, Budget: tool.Budget{Calls: 10}, Deadline: time.Now().Add(1000 * time.Hour),
	})
	require.NoError(t, err)
	watched, err := rec.Run(run)
	require.NoError(t, err)
	require.NoError(t, rec.Note(watched.ID(), trace.Request, "a note is no call"))
	for _, args := range []string{`null`, `{"unknown":1}`, `{`} {
		watched.Call(t.Context(), envelope.Call{Tool: "request_review_v1", Arguments: jsontext.Value(args)})
	}
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, watched.ID()))
	files := fstest.MapFS{"run.trace.jsonl": {Data: file.Bytes()}}
	contracttest.Replay(t, fresh, files, "*.jsonl")
	lines := bytes.SplitAfter(file.Bytes(), []byte("\n"))
	for name, cut := range map[string][][]byte{"no end": lines[:len(lines)-2], "no head": lines[1:], "a call left out": append(slices.Clone(lines[:2]), lines[3:]...)} {
		short := fstest.MapFS{"run.trace.jsonl": {Data: bytes.Join(cut, nil)}}
		require.ErrorIs(t, contracttest.CheckReplay(fresh, short, "*.jsonl").Err(), trace.ErrTrace, name)
	}
	calls := fstest.MapFS{"calls.jsonl": {Data: bytes.Join(lines[2:len(lines)-2], nil)}}
	contracttest.Replay(t, fresh, calls, "*.jsonl") // calls taken out of a trace are no trace
	files["run.trace.jsonl"].Data = bytes.ReplaceAll(file.Bytes(), []byte("UNKNOWN_FIELD"), []byte("TOO_DEEP"))
	require.Error(t, contracttest.CheckReplay(fresh, files, "*.jsonl").Err())
}

func TestSemanticsOfABooking(t *testing.T) {
	t.Parallel()
	good, err := samples.Good()
	require.NoError(t, err)
	for _, a := range good {
		if a.Name == "checked" {
			contracttest.Semantics(t, contracttest.Make(a.New), contracttest.Rule{
				Tool: "book_v1", Name: "ends-after-it-begins", Want: contracttest.Refusal{Code: "DATES"},
				Valid:  jsontext.Value(`{"from":"2026-03-01","to":"2026-03-02","guests":1}`),
				Breach: jsontext.Value(`{"from":"2026-03-02","to":"2026-03-01","guests":1}`),
			})
		}
	}
}

func TestUpstreamsThatAreNoLongerAdmittedAreFound(t *testing.T) {
	t.Parallel()
	_, fresh := review(t)
	files := fstest.MapFS{
		"2025.json":     {Data: []byte(`{"qualifies":true,"why":"it is recent"}`)},
		"2024.bad.json": {Data: []byte(`{"qualifies":"yes","why":"it is recent"}`)},
	}
	output := contracttest.Only("output")
	require.NoError(t, contracttest.Check(fresh, output, contracttest.Upstreams("request_review_v1", files, "*.json")).Err())
	files["2025.json"] = &fstest.MapFile{Data: []byte(`{"qualifies":true}`)}
	require.ErrorContains(t, contracttest.Check(fresh, output, contracttest.Upstreams("request_review_v1", files, "*.json")).Err(), "upstreams/2025")
}

func FuzzReview(f *testing.F) {
	c, err := tool.NewCatalog(samples.RequestReview())
	require.NoError(f, err)
	contracttest.Fuzz(f, contracttest.Make(func() (*contracttest.Fixture, error) { return contracttest.Assemble(c) }), "request_review_v1")
}
