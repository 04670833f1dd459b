package export_test

import (
	"encoding/json/jsontext"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export"
)

// FuzzCalls reads whatever an endpoint may send: calls, or a FormError, and for the calls an answer each.
func FuzzCalls(f *testing.F) {
	exports := make([]*export.Export, 0, 4)
	for _, of := range []func([]tool.Published) (*export.Export, error){export.OpenAI, export.OpenAIResponses, export.Anthropic, export.Gemini} {
		x, err := of(one("t_v1", "A tool.", lines))
		require.NoError(f, err)
		exports = append(exports, x)
	}
	for _, seed := range []string{
		`{"tool_calls":[{"id":"c","type":"function","function":{"name":"t_v1","arguments":"{\"note\":null}"}}]}`,
		`{"output":[{"type":"function_call","call_id":"c","name":"t_v1","arguments":"{}"}]}`,
		`{"content":[{"type":"tool_use","id":"t","name":"t_v1","input":{"a":1,"a":2}}]}`,
		`{"parts":[{"functionCall":{"name":"t_v1","args":{}}}]}`, "{\"content\":[\xff]}", "{\"tool_calls\":[{\"id\":\"\xff\",\"function\":{\"name\":\"x\",\"arguments\":\"\"}}]}",
		`{"parts":[{"functionCall":{"name":"\ud800","args":{}}}]}`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		for _, x := range exports {
			calls, err := x.Calls(jsontext.Value(message))
			if err != nil {
				_, ok := errors.AsType[*export.FormError](err)
				require.True(t, ok, "%v", err)
				continue
			}
			results := make([]envelope.Result, len(calls))
			for i := range results {
				results[i] = envelope.Result{Error: envelope.New(envelope.UnknownTool), RequestID: "req_1"}
			}
			_, err = x.Answers(calls, results)
			require.NoError(t, err)
		}
	})
}
