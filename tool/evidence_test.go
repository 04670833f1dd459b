package tool_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// TestEvidenceOfSomethingElseProvesNothing: each member by itself must speak of this operation and this target.
func TestEvidenceOfSomethingElseProvesNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		alter func(*tool.Evidence)
		want  idem.State
	}{
		{"nothing more than the time and the version", func(*tool.Evidence) {}, idem.Succeeded},
		{"its own resource and version", func(e *tool.Evidence) { e.ResourceID, e.PreviousVersion = "a1", "17" }, idem.Succeeded},
		{"another operation", func(e *tool.Evidence) { e.OperationID = "op_0000" }, idem.Unknown},
		{"another resource", func(e *tool.Evidence) { e.ResourceID = "a2" }, idem.Unknown},
		{"another version before", func(e *tool.Evidence) { e.PreviousVersion = "16" }, idem.Unknown},
		{"no version after", func(e *tool.Evidence) { e.NewVersion = "" }, idem.Unknown},
		{"no time", func(e *tool.Evidence) { *e = tool.Evidence{NewVersion: "18"} }, idem.Unknown},
		{"no time in Unix seconds", func(e *tool.Evidence) { e.CommittedAt = time.Unix(0, 0) }, idem.Unknown},
		{"the first second", func(e *tool.Evidence) { e.CommittedAt = time.Unix(1, 0) }, idem.Succeeded},
		{"seconds read as milliseconds", func(e *tool.Evidence) { e.CommittedAt = time.Unix(epoch.UnixMilli(), 0) }, idem.Unknown},
		{"the last second that has a form", func(e *tool.Evidence) { e.CommittedAt = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) }, idem.Succeeded},
		{"a year too far, in another zone", func(e *tool.Evidence) {
			e.CommittedAt = time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -7200))
		}, idem.Unknown},
		{"a clock that is ahead", func(e *tool.Evidence) { e.CommittedAt = epoch.AddDate(30, 0, 0) }, idem.Succeeded},
		{"a clock that is behind", func(e *tool.Evidence) { e.CommittedAt = epoch.AddDate(-30, 0, 0) }, idem.Succeeded},
		{"more fields than were proposed", func(e *tool.Evidence) { e.ChangedFields = []string{"limit", "modified_by"} }, idem.Succeeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
				out := limitOut{Limit: 250, Evidence: tool.Evidence{NewVersion: "18", CommittedAt: epoch}}
				tt.alter(&out.Evidence)
				return out, nil
			}
			s := w.start()
			id := s.approved(250)
			r := s.commit(id)
			require.Equal(t, tt.want, w.state(id))
			if tt.want == idem.Unknown {
				refuses(t, r, envelope.OutcomeUnknown, "")
			}
		})
	}
}

// TestEvidenceNamesEachChangedFieldOnce, and keeps what the provider itself names.
func TestEvidenceNamesEachChangedFieldOnce(t *testing.T) {
	t.Parallel()
	for _, provider := range [][]string{nil, {"credit_line"}} {
		w := newWorld(t)
		inner := w.write.Preview
		w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
			d, err := inner(ctx, by, in)
			d.Diffs = []approval.Diff{{Field: "limit", After: "1"}, {Field: "note"}, {Field: "limit", After: "2"}}
			return d, err
		}
		w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			out := w.provider.apply(cmd)
			out.ChangedFields = provider
			return out, nil
		}
		s := w.start()
		want := provider
		if want == nil {
			want = []string{"limit", "note"}
		}
		require.Equal(t, want, success(t, s.commit(s.approved(250)), "").ChangedFields)
	}
}
