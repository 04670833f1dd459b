package tool_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// previewed answers a preview whose draft was altered.
func previewed(t *testing.T, unversioned bool, alter func(*tool.Draft[limitPlan])) envelope.Result {
	t.Helper()
	w := newWorld(t)
	inner := w.write.Preview
	w.write.Unversioned = unversioned
	w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
		d, err := inner(ctx, by, in)
		alter(&d)
		return d, err
	}
	r := w.start().call(previewTool, `{"account_id":"a1","limit":250}`)
	if !r.OK {
		require.Zero(t, w.audited("propose"), "nothing is proposed")
	}
	return r
}

// TestDraftsTextsAreBounded: what an approver reads is text, of a length that can be read.
func TestDraftsTextsAreBounded(t *testing.T) {
	t.Parallel()
	type draft = tool.Draft[limitPlan]
	for _, tt := range []struct {
		name string
		most int
		need bool // empty is refused
		set  func(*draft, string)
	}{
		{"target.type", 128, true, func(d *draft, s string) { d.Target.Type = s }},
		{"target.id", 512, true, func(d *draft, s string) { d.Target.ID = s }},
		{"target.version", 512, true, func(d *draft, s string) { d.Target.Version = s }},
		{"resource", 2048, false, func(d *draft, s string) { d.Resource = s }},
		{"summary", 1024, true, func(d *draft, s string) { d.Summary = s }},
		{"diffs.field", 512, true, func(d *draft, s string) { d.Diffs[0].Field = s }},
		{"diffs.before", 4096, false, func(d *draft, s string) { d.Diffs[0].Before = s }},
		{"diffs.after", 4096, false, func(d *draft, s string) { d.Diffs[0].After = s }},
		{"consequence.environment", 512, false, func(d *draft, s string) { d.Consequence.Environment = s }},
		{"consequence.recipients", 512, true, func(d *draft, s string) { d.Consequence.Recipients = []string{s} }},
		{"consequence.irreversible", 4096, true, func(d *draft, s string) { d.Consequence.Irreversible = []string{s} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			with := func(s string) envelope.Result {
				return previewed(t, false, func(d *tool.Draft[limitPlan]) { tt.set(d, s) })
			}
			require.NoError(t, with(strings.Repeat("é", tt.most)).Err(), "characters, not bytes")
			refuses(t, with(strings.Repeat("é", tt.most+1)), envelope.OutputInvalid, "too long")
			refuses(t, with("a\x00b"), envelope.OutputInvalid, "U+0000")
			refuses(t, with("a\xffb"), envelope.OutputInvalid, "not UTF-8")
			if empty := with(""); tt.need {
				refuses(t, empty, envelope.OutputInvalid, "empty")
			} else {
				require.NoError(t, empty.Err(), "may be empty")
			}
		})
	}
}

func TestDraftsListsAreBounded(t *testing.T) {
	t.Parallel()
	type draft = tool.Draft[limitPlan]
	for name, set := range map[string]func(*draft, int){
		"diffs":        func(d *draft, n int) { d.Diffs = slices.Repeat([]approval.Diff{{Field: "limit"}}, n) },
		"recipients":   func(d *draft, n int) { d.Consequence.Recipients = slices.Repeat([]string{"a"}, n) },
		"irreversible": func(d *draft, n int) { d.Consequence.Irreversible = slices.Repeat([]string{"a"}, n) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := func(n int) envelope.Result { return previewed(t, false, func(d *draft) { set(d, n) }) }
			require.NoError(t, with(256).Err())
			refuses(t, with(257), envelope.OutputInvalid, "too long")
		})
	}
}

func TestDraftsCurrencyAndVersion(t *testing.T) {
	t.Parallel()
	for currency, ok := range map[string]bool{"EUR": true, "": true, "eur": false, "EU": false, "EURO": false} {
		r := previewed(t, false, func(d *tool.Draft[limitPlan]) { d.Consequence.Currency = currency })
		require.Equal(t, ok, r.OK, "%q", currency)
	}
	r := previewed(t, true, func(d *tool.Draft[limitPlan]) { d.Target.Version = "" })
	require.NoError(t, r.Err(), "declared Unversioned")
}

// TestDraftThatNamesAnotherResourceTheSecondTime: what was read between the two was read of the other.
func TestDraftThatNamesAnotherResourceTheSecondTime(t *testing.T) {
	t.Parallel()
	for name, alter := range map[string]func(*tool.Draft[limitPlan]){
		"resource": func(d *tool.Draft[limitPlan]) { d.Resource = "account/a2" },
		"target":   func(d *tool.Draft[limitPlan]) { d.Target.ID = "a2" },
	} {
		calls := 0
		r := previewed(t, false, func(d *tool.Draft[limitPlan]) {
			if calls++; calls == 2 {
				alter(d)
			}
		})
		e := refusal(t, r, envelope.VersionConflict, name)
		require.Equal(t, "target", e.Field)
		require.Equal(t, envelope.EffectNone, e.Effect)
	}
}

// TestTargetsShareNoResource: type and id are escaped.
func TestTargetsShareNoResource(t *testing.T) {
	t.Parallel()
	seen := map[string]approval.Target{}
	for _, target := range []approval.Target{
		{Type: "a", ID: "b/c", Version: "1"}, {Type: "a/b", ID: "c", Version: "1"}, {Type: "a", ID: "b%2Fc", Version: "1"}, {Type: "a%2Fb", ID: "c", Version: "1"},
	} {
		w := newWorld(t)
		inner := w.write.Preview
		w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
			d, err := inner(ctx, by, in)
			d.Target = target
			return d, err
		}
		rec, err := w.approvals.Find(t.Context(), "t1", w.start().preview(250).ProposalID)
		require.NoError(t, err)
		require.NotContains(t, seen, rec.Proposal.Resource)
		seen[rec.Proposal.Resource] = target
	}
}

// TestSecondDraftsRefusalIsTheAnswer: what was there the first time may be gone the second.
func TestSecondDraftsRefusalIsTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inner, calls := w.write.Preview, 0
	w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
		if calls++; calls == 2 {
			return tool.Draft[limitPlan]{}, envelope.New(envelope.NotFound).At("account_id")
		}
		return inner(ctx, by, in)
	}
	e := refusal(t, w.start().call(previewTool, `{"account_id":"a1","limit":250}`), envelope.NotFound, "")
	require.Equal(t, "account_id", e.Field)
	require.Equal(t, envelope.EffectNone, e.Effect)
}

// TestPreviewOfATakenResource: it says by which operation, and whether that one may still be waited for.
func TestPreviewOfATakenResource(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		answer error
		want   envelope.Code
		effect envelope.Effect
	}{
		{"unknown", errors.New("EOF"), envelope.OutcomeUnknown, envelope.EffectUnknown},
		{"running", envelope.Running("job-7"), envelope.InProgress, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write.RunFor = time.Hour
			w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) { return limitOut{}, tt.answer }
			s := w.start()
			id := s.approved(250)
			require.False(t, s.commit(id).OK)
			before := w.audited("propose")
			e := refusal(t, s.call(previewTool, `{"account_id":"a1","limit":300}`), tt.want, "")
			require.Equal(t, key(id).Operation, e.OperationID)
			require.Equal(t, tt.effect, e.Effect)
			require.Equal(t, tt.want == envelope.InProgress, e.Retryable)
			require.Equal(t, tt.want == envelope.InProgress, e.RetryAfter > 0)
			require.Equal(t, before, w.audited("propose"), "nothing is proposed")
			require.NoError(t, s.call(previewTool, `{"account_id":"a2","limit":300}`).Err(), "another resource is free")
		})
	}
}
