package validate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

// TestCompatibleKeepsNoAnswerThatRestsOnAnAssumption: whether the items of an array suffice for a contains is found while
// the comparison that the answer leans on is under way. It fails later, and the same arrays are asked about again.
func TestCompatibleKeepsNoAnswerThatRestsOnAnAssumption(t *testing.T) {
	t.Parallel()
	document := func(bad, p string) string {
		return `{"type":"object","additionalProperties":false,"required":["p","q"],"properties":{"p":` + p + `,
			"q":{"type":"object","allOf":[{"$ref":"#/$defs/A"},{"properties":{"bad":false}}],"unevaluatedProperties":false}},"$defs":{
			"A":{"type":"object","additionalProperties":false,"properties":{"x":{"$ref":"#/$defs/X"},"bad":` + bad + `}},
			"X":{"type":"array","maxItems":5,"items":{"$ref":"#/$defs/I"},"contains":{"$ref":"#/$defs/A"}},
			"I":{"type":"object","additionalProperties":false,"properties":{"x":{"$ref":"#/$defs/J"},"bad":{"type":["string","integer"],"maxLength":5}}},
			"J":{"type":"array","maxItems":5,"items":{"$ref":"#/$defs/I"}}}}`
	}
	before, err := validate.Compile([]byte(document(`{"type":"string","maxLength":5}`, `{"$ref":"#/$defs/X"}`)))
	require.NoError(t, err)
	after, err := validate.Compile([]byte(document(`{"type":"integer"}`, `{"anyOf":[{"$ref":"#/$defs/X"},{"$ref":"#/$defs/J"}]}`)))
	require.NoError(t, err)
	doc := []byte(`{"p":[{"bad":"s"}],"q":{"x":[{"bad":"s"}]}}`)
	require.NoError(t, before.Check(doc, validate.Limits{}))
	require.Error(t, after.Check(doc, validate.Limits{}))
	require.NotEmpty(t, validate.Compatible(before, after))
}
