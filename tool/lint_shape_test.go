package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
)

type (
	bagOfOptions struct {
		A string `json:"a,omitzero"`
		B string `json:"b,omitzero"`
		C string `json:"c,omitzero"`
		D string `json:"d,omitzero"`
		E string `json:"e,omitzero"`
		F string `json:"f,omitzero"`
	}
	bagWithAName struct {
		ID string `json:"id"`
		A  string `json:"a,omitzero"`
		B  string `json:"b,omitzero"`
		C  string `json:"c,omitzero"`
		D  string `json:"d,omitzero"`
		E  string `json:"e,omitzero"`
	}
	keptRecord struct {
		ID        string `json:"id"`
		CreatedAt string `json:"created_at"`
		UpdatedAt string `json:"updated_at"`
		ETag      string `json:"etag"`
	}
	keptWithReason struct {
		CreatedAt string `json:"created_at"`
		UpdatedAt string `json:"updated_at"`
		ETag      string `json:"etag" lint:"a later call needs all three"`
	}
	manyUnspoken struct {
		Order, A, B, C, D, E, F, G, H, I, J, K, L int
	}
)

// TestLintOfShapes: what an object's members are together.
func TestLintOfShapes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, why string
		lint      func(*testing.T) map[string]string
		want      map[string]string
	}{
		{"a bag", "nothing says which belong together", takes[holds[bagOfOptions]], map[string]string{"input.customer": tool.LintBag}},
		{"a list of bags", "as above", takes[holds[[]bagOfOptions]], map[string]string{"input.customer": tool.LintBag}},
		{"a look-up's filters", "each narrows by itself", takes[bagOfOptions], map[string]string{}},
		{"one required", "it says what the others are of", takes[holds[bagWithAName]], map[string]string{}},
		{"a record's marks", "only its keeper needs them", answers[holds[keptRecord]], map[string]string{"output.customer": tool.LintWholeRecord}},
		{"a list of records", "as above", answers[holds[[]keptRecord]], map[string]string{"output.customer": tool.LintWholeRecord}},
		{"the answer itself", "it has no tag: the third of them is the place", answers[keptRecord], map[string]string{"output.etag": tool.LintWholeRecord}},
		{"with a reason", "beside the third of them", answers[keptWithReason], map[string]string{}},
		{"more than is spoken of", "the first that nothing speaks of is the place", answers[manyUnspoken], map[string]string{"output.A": tool.LintWholeRecord}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.lint(t), tt.why)
		})
	}
}

// A list is silenced by its own tag, and by it alone.
func TestLintOfAListIsSilencedAtTheList(t *testing.T) {
	t.Parallel()
	type in struct {
		Notes   []string `json:"notes" lint:"printed on the parcel"`
		Details []string `json:"details"`
	}
	require.Equal(t, map[string]string{"input.details[]": tool.LintCatchAll}, takes[in](t))
}
