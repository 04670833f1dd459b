package sdktest

import (
	"encoding/json"
	"encoding/json/jsontext"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export"
)

// again reads a document into an SDK's type and writes it: a member that the type does not know would be gone.
func again[T any](t *testing.T, doc jsontext.Value) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal(doc, &v))
	out, err := json.Marshal(v)
	require.NoError(t, err)
	require.JSONEq(t, string(doc), string(out))
	return v
}

// golden returns one provider's definitions of every example.
func golden(t *testing.T, provider string) map[string]jsontext.Value {
	t.Helper()
	files, err := filepath.Glob("../../../examples/*/testdata/export.golden")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 6)
	definitions := map[string]jsontext.Value{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		_, section, found := strings.Cut(string(text), "# "+provider+"\n")
		require.True(t, found, f)
		section, _, _ = strings.Cut(section, "\n# ")
		definitions[f] = jsontext.Value(section[strings.Index(section, "\n[\n"):])
	}
	return definitions
}

func TestDefinitionsOfTheExamples(t *testing.T) {
	t.Parallel()
	for file, doc := range golden(t, "OpenAI") {
		for _, d := range again[[]openai.ChatCompletionToolUnionParam](t, doc) {
			f := d.GetFunction()
			require.NotNil(t, f, file)
			require.NotEmpty(t, f.Name, file)
			require.Equal(t, "object", f.Parameters["type"], file)
			require.True(t, f.Strict.Value, "%s: %s", file, f.Name)
		}
	}
	for file, doc := range golden(t, "Anthropic") {
		for _, d := range again[[]anthropic.ToolUnionParam](t, doc) {
			require.NotNil(t, d.OfTool, file)
			require.NotEmpty(t, d.OfTool.Name, file)
			require.NotNil(t, d.OfTool.InputSchema.Properties, file)
		}
	}
	for file, doc := range golden(t, "Gemini") {
		tools := again[[]*genai.Tool](t, doc)
		require.Len(t, tools, 1, file)
		for _, f := range tools[0].FunctionDeclarations {
			require.NotEmpty(t, f.Name, file)
			require.Nil(t, f.Parameters, file)
		}
	}
}

func published() []tool.Published {
	return []tool.Published{{
		Name: "search_v1", Description: "Count the articles with a text.",
		Input: jsontext.Value(`{"type":"object","properties":{"text":{"type":"string","maxLength":80},"limit":{"type":"integer","minimum":1}},"required":["text"],"additionalProperties":false}`),
	}}
}

func results() []envelope.Result {
	return []envelope.Result{
		{OK: true, Tool: "search_v1", RequestID: "req_1", Data: jsontext.Value(`{"count":3}`)},
		{Tool: "search_v1", RequestID: "req_2", Error: envelope.New(envelope.InvalidArgument).At("text")},
	}
}

func want(first, second string) []envelope.Call {
	return []envelope.Call{
		{ID: first, Tool: "search_v1", Arguments: jsontext.Value(`{"text":"a"}`)},
		{ID: second, Tool: "search_v1", Arguments: jsontext.Value(`{"text":""}`)},
	}
}

func encoded(t *testing.T, v any) jsontext.Value {
	t.Helper()
	doc, err := json.Marshal(v)
	require.NoError(t, err)
	return doc
}

func TestOpenAI(t *testing.T) {
	t.Parallel()
	x, err := export.OpenAI(published())
	require.NoError(t, err)
	again[[]openai.ChatCompletionToolUnionParam](t, x.Tools())

	var answer openai.ChatCompletion
	require.NoError(t, json.Unmarshal([]byte(`{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[
		{"id":"c1","type":"function","function":{"name":"search_v1","arguments":"{\"text\":\"a\",\"limit\":null}"}},
		{"id":"c2","type":"function","function":{"name":"search_v1","arguments":"{\"text\":\"\",\"limit\":null}"}}]}}]}`), &answer))
	message := answer.Choices[0].Message
	for _, doc := range []jsontext.Value{jsontext.Value(message.RawJSON()), encoded(t, message.ToParam())} {
		calls, err := x.Calls(doc)
		require.NoError(t, err)
		require.Equal(t, want("c1", "c2"), calls)
		answers, err := x.Answers(calls, results())
		require.NoError(t, err)
		for i, a := range answers {
			m := again[openai.ChatCompletionMessageParamUnion](t, a)
			require.NotNil(t, m.OfTool)
			require.Equal(t, calls[i].ID, m.OfTool.ToolCallID)
		}
	}
}

func TestOpenAIResponses(t *testing.T) {
	t.Parallel()
	x, err := export.OpenAIResponses(published())
	require.NoError(t, err)
	for _, d := range again[[]responses.ToolUnionParam](t, x.Tools()) {
		require.NotNil(t, d.OfFunction)
	}
	var answer responses.Response
	require.NoError(t, json.Unmarshal([]byte(`{"id":"r","object":"response","output":[{"type":"reasoning","id":"rs","summary":[]},
		{"type":"function_call","id":"f1","call_id":"c1","name":"search_v1","arguments":"{\"text\":\"a\",\"limit\":null}","status":"completed"},
		{"type":"function_call","id":"f2","call_id":"c2","name":"search_v1","arguments":"{\"limit\":null,\"text\":\"\"}","status":"completed"}]}`), &answer))
	require.Len(t, answer.Output, 3)
	calls, err := x.Calls(jsontext.Value(answer.RawJSON()))
	require.NoError(t, err)
	require.Equal(t, want("c1", "c2"), calls)
	answers, err := x.Answers(calls, results())
	require.NoError(t, err)
	for i, a := range answers {
		item := again[responses.ResponseInputItemUnionParam](t, a)
		require.NotNil(t, item.OfFunctionCallOutput)
		require.Equal(t, calls[i].ID, item.OfFunctionCallOutput.CallID.Value)
	}
}

func TestAnthropic(t *testing.T) {
	t.Parallel()
	x, err := export.Anthropic(published())
	require.NoError(t, err)
	again[[]anthropic.ToolUnionParam](t, x.Tools())

	var message anthropic.Message
	require.NoError(t, json.Unmarshal([]byte(`{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","content":[{"type":"text","text":"I look."},
		{"type":"tool_use","id":"c1","name":"search_v1","input":{"text":"a"}},{"type":"tool_use","id":"c2","name":"search_v1","input":{"text":""}}]}`), &message))
	for _, doc := range []jsontext.Value{jsontext.Value(message.RawJSON()), encoded(t, message.ToParam())} {
		calls, err := x.Calls(doc)
		require.NoError(t, err)
		require.Equal(t, want("c1", "c2"), calls)
		answers, err := x.Answers(calls, results())
		require.NoError(t, err)
		require.Len(t, answers, 1)
		// The SDK reads a tool_result's text as one block of text, and writes it so: the same to the API.
		var m anthropic.MessageParam
		require.NoError(t, json.Unmarshal(answers[0], &m))
		require.Equal(t, anthropic.MessageParamRoleUser, m.Role)
		require.Len(t, m.Content, 2)
		for i, b := range m.Content {
			require.NotNil(t, b.OfToolResult)
			require.Equal(t, calls[i].ID, b.OfToolResult.ToolUseID)
			require.Equal(t, i == 1, b.OfToolResult.IsError.Value)
			require.Len(t, b.OfToolResult.Content, 1)
			require.Contains(t, b.OfToolResult.Content[0].OfText.Text, results()[i].RequestID)
		}
	}
}

func TestGemini(t *testing.T) {
	t.Parallel()
	x, err := export.Gemini(published())
	require.NoError(t, err)
	again[[]*genai.Tool](t, x.Tools())

	content := genai.NewContentFromParts([]*genai.Part{
		genai.NewPartFromText("I look."),
		{FunctionCall: &genai.FunctionCall{ID: "c1", Name: "search_v1", Args: map[string]any{"text": "a"}}, ThoughtSignature: []byte("sign")},
		genai.NewPartFromFunctionCall("search_v1", map[string]any{"text": ""}),
	}, genai.RoleModel)
	calls, err := x.Calls(encoded(t, content))
	require.NoError(t, err)
	require.Equal(t, want("c1", ""), calls)
	answers, err := x.Answers(calls, results())
	require.NoError(t, err)
	require.Len(t, answers, 1)
	c := again[*genai.Content](t, answers[0])
	require.Equal(t, string(genai.RoleUser), c.Role)
	require.Contains(t, c.Parts[0].FunctionResponse.Response, "output")
	require.Contains(t, c.Parts[1].FunctionResponse.Response, "error")
}
