package tool_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
)

// linted returns what is found at the places of a look-up, rule by place.
func linted[In, Out any](t *testing.T) map[string]string {
	t.Helper()
	c, err := tool.NewCatalog(tool.Tool[In, Out]{
		Spec: tool.Spec{
			Name: "find_order", Version: 1, Description: "Finds an order's status.", Purpose: "Answering where a parcel is.", Owner: "support",
			Timeout: time.Second,
		},
		Handle: func(context.Context, tool.Caller, In) (out Out, err error) { return out, nil },
	})
	require.NoError(t, err)
	found := map[string]string{}
	for _, f := range c.Lint() {
		require.Equal(t, "find_order_v1", f.Tool)
		require.NotEmpty(t, f.Why)
		require.Contains(t, f.String(), f.Place)
		found[f.Place] = f.Rule
	}
	return found
}

func TestLintReportsWhatIsWide(t *testing.T) {
	t.Parallel()
	type inner struct {
		Details string            `json:"details"`
		Tags    map[string]string `json:"tags" jsonschema:"maxProperties=3"`
	}
	type in struct {
		Payload  string  `json:"payload"`
		Filter   string  `json:"filter_json"`
		Action   string  `json:"action" jsonschema:"enum=read,enum=delete"`
		Resource string  `json:"resource"`
		Metadata string  `json:"metadata"`
		Lines    []inner `json:"lines"`
	}
	type out struct {
		Raw    string `json:"raw"`
		Status string `json:"status" jsonschema:"enum=open,enum=sent"`
		Email  string `json:"email" redact:"personal"`
	}
	require.Equal(t, map[string]string{
		"input.payload": tool.LintSerialised, "input.filter_json": tool.LintSerialised, "input.action": tool.LintMethod,
		"input.metadata": tool.LintCatchAll, "input.lines[].details": tool.LintCatchAll, "input.lines[].tags": tool.LintMap,
		"output.raw": tool.LintWholeRecord, "output.email": tool.LintBeyond,
	}, linted[in, out](t))
}

func TestLintSeesAWholeRecordByItsWidth(t *testing.T) {
	t.Parallel()
	type wide struct {
		A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y int
	}
	type out struct {
		Order wide `json:"order"`
	}
	require.Equal(t, map[string]string{"output.order": tool.LintWholeRecord}, linted[struct{}, out](t))
}

// A reason beside the field silences what is found there, and nothing else; one that silences nothing is itself found.
func TestLintIsSilencedByAReason(t *testing.T) {
	t.Parallel()
	type in struct {
		Details  string `json:"details" lint:"what the customer said, read by a person"`
		Metadata string `json:"metadata"`
		OrderID  string `json:"order_id" lint:"no reason is needed"`
	}
	type out struct {
		Email string `json:"email" redact:"personal" lint:"the parcel service asks for it"`
	}
	require.Equal(t, map[string]string{"input.metadata": tool.LintCatchAll, "input.order_id": tool.LintReason}, linted[in, out](t))
}

// What is narrow is left alone.
func TestLintLeavesNarrowToolsAlone(t *testing.T) {
	t.Parallel()
	type parcel struct {
		Street string `json:"street" redact:"personal"`
	}
	type in struct {
		Action   string `json:"action" jsonschema:"enum=track,enum=trace"`
		OrderID  string `json:"order_id"`
		Metadata int    `json:"metadata"`
		Notes    string `json:"notes" jsonschema:"pattern=^[A-Z]{3}$"`
	}
	type out struct {
		Parcel parcel `json:"parcel"`
		Lines  []int  `json:"lines"`
	}
	require.Empty(t, linted[in, out](t))
}

func TestLintOfAWriteLooksAtWhatItsAuthorWrote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, err := tool.NewCatalog(w.write)
	require.NoError(t, err)
	findings := c.Lint()
	found := make([]string, len(findings))
	for i, f := range findings {
		found[i] = f.Tool + " " + f.Place + " " + f.Rule
	}
	require.Equal(t, []string{commitTool + " owner unstated", commitTool + " purpose unstated"}, found,
		"not the library's own views, nor its own tools")
}
