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

func published() []tool.Published {
	return []tool.Published{{
		Name: "get_price_v1", Description: "Read an article's price.",
		Input: jsontext.Value(`{"type":"object","properties":{"sku":{"type":"string","maxLength":32}},"required":["sku"],"additionalProperties":false}`),
	}}
}

func all(t *testing.T) map[string]*export.Export {
	t.Helper()
	m := map[string]*export.Export{}
	for name, f := range map[string]func([]tool.Published) (*export.Export, error){
		"openai": export.OpenAI, "responses": export.OpenAIResponses, "anthropic": export.Anthropic, "gemini": export.Gemini,
	} {
		x, err := f(published())
		require.NoError(t, err)
		m[name] = x
	}
	return m
}

func call(id, name, arguments string) envelope.Call {
	return envelope.Call{ID: id, Tool: name, Arguments: jsontext.Value(arguments)}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	x := all(t)
	for _, row := range []struct {
		provider, name, message string
		want                    []envelope.Call
	}{
		{
			"openai", "two in one turn", `{"role":"assistant","content":null,"refusal":null,"tool_calls":[
			{"id":"call_1","type":"function","function":{"name":"get_price_v1","arguments":"{\"sku\":\"a\"}"}},
			{"id":"call_2","type":"function","function":{"name":"get_price_v1","arguments":"{\"sku\": \"b\"}"}}]}`,
			[]envelope.Call{call("call_1", "get_price_v1", `{"sku":"a"}`), call("call_2", "get_price_v1", `{"sku": "b"}`)},
		},
		{"openai", "none", `{"role":"assistant","content":"Hello."}`, nil},
		{"openai", "none, said", `{"role":"assistant","content":"Hello.","tool_calls":null}`, nil},
		{
			"openai", "unknown tool, as it is spelt", `{"tool_calls":[{"id":"c","type":"function","function":{"name":"functions.get_price_v1","arguments":"{}"}}]}`,
			[]envelope.Call{call("c", "functions.get_price_v1", `{}`)},
		},
		{
			"openai", "empty arguments", `{"tool_calls":[{"id":"c","type":"function","function":{"name":"get_price_v1","arguments":""}}]}`,
			[]envelope.Call{call("c", "get_price_v1", `{}`)},
		},
		{
			"openai", "broken arguments", `{"tool_calls":[{"id":"c","type":"function","function":{"name":"get_price_v1","arguments":"{\"sku\":"}}]}`,
			[]envelope.Call{call("c", "get_price_v1", `{"sku":`)},
		},
		{
			"openai", "duplicates", `{"tool_calls":[{"id":"c","type":"function","function":{"name":"get_price_v1","arguments":"{\"sku\":\"a\",\"sku\":\"b\"}"}}]}`,
			[]envelope.Call{call("c", "get_price_v1", `{"sku":"a","sku":"b"}`)},
		},
		{
			"openai", "a lone surrogate stays no character", `{"tool_calls":[{"id":"c","type":"function","function":{"name":"get_price_v1","arguments":"{\"sku\":\"\ud800\"}"}}]}`,
			[]envelope.Call{call("c", "get_price_v1", "{\"sku\":\"\xed\xa0\x80\"}")},
		},
		{
			"openai", "escapes", `{"tool_calls":[{"id":"c","type":"function","function":{"name":"get_price_v1","arguments":"{\"sku\":\"\u00e9\ud83d\ude00\\n\t\/\"}"}}]}`,
			[]envelope.Call{call("c", "get_price_v1", "{\"sku\":\"é😀\\n\t/\"}")},
		},
		{"responses", "among other items", `{"id":"resp_1","output":[{"type":"reasoning","summary":[]},
			{"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_price_v1","arguments":"{\"sku\":\"a\"}","status":"completed"},
			{"type":"message","content":[]}]}`, []envelope.Call{call("call_1", "get_price_v1", `{"sku":"a"}`)}},
		{
			"anthropic", "among other blocks", `{"id":"msg_1","role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"I look."},
			{"type":"tool_use","id":"toolu_1","name":"get_price_v1","input":{"sku": "a","n":1.0}},{"type":"tool_use","id":"toolu_2","name":"get_price_v1","input":{}}]}`,
			[]envelope.Call{call("toolu_1", "get_price_v1", `{"sku": "a","n":1.0}`), call("toolu_2", "get_price_v1", `{}`)},
		},
		{
			"anthropic", "duplicates", `{"content":[{"type":"tool_use","id":"t","name":"get_price_v1","input":{"sku":"a","sku":"b"}}]}`,
			[]envelope.Call{call("t", "get_price_v1", `{"sku":"a","sku":"b"}`)},
		},
		{
			"anthropic", "a string for an object", `{"content":[{"type":"tool_use","id":"t","name":"get_price_v1","input":"{}"}]}`,
			[]envelope.Call{call("t", "get_price_v1", `"{}"`)},
		},
		{
			"gemini", "among other parts", `{"role":"model","parts":[{"text":"I look.","thought":true},
			{"functionCall":{"id":"f1","name":"get_price_v1","args":{"sku":"a"}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"get_price_v1"}}]}`,
			[]envelope.Call{call("f1", "get_price_v1", `{"sku":"a"}`), call("", "get_price_v1", `{}`)},
		},
		{
			"gemini", "two calls without ids", `{"parts":[{"functionCall":{"name":"get_price_v1"}},{"functionCall":{"name":"get_price_v1"}}]}`,
			[]envelope.Call{call("", "get_price_v1", `{}`), call("", "get_price_v1", `{}`)},
		},
		{"gemini", "no parts", `{"role":"model"}`, nil},
	} {
		t.Run(row.provider+": "+row.name, func(t *testing.T) {
			t.Parallel()
			calls, err := x[row.provider].Calls(jsontext.Value(row.message))
			require.NoError(t, err)
			require.Equal(t, append([]envelope.Call{}, row.want...), append([]envelope.Call{}, calls...))
		})
	}
}

func TestMessagesThatAreNotTheProviders(t *testing.T) {
	t.Parallel()
	x := all(t)
	for _, row := range []struct{ provider, name, message, place string }{
		{"openai", "no JSON", `{"tool_calls":[`, ""},
		{"openai", "two values", `{} {}`, ""},
		{"openai", "no object", `[]`, ""},
		{"openai", "calls are no list", `{"tool_calls":{}}`, "tool_calls"},
		{"openai", "a call is no object", `{"tool_calls":["x"]}`, "tool_calls"},
		{"openai", "another type", `{"tool_calls":[{"id":"c","type":"custom","custom":{"name":"x","input":"y"}}]}`, "tool_calls[0].type"},
		{"openai", "no function", `{"tool_calls":[{"id":"c","type":"function"}]}`, "tool_calls[0].function"},
		{"openai", "arguments are no string", `{"tool_calls":[{"id":"c","type":"function","function":{"name":"x","arguments":{}}}]}`, "tool_calls[0].function.arguments"},
		{"openai", "null for a string", `{"tool_calls":[{"id":"c","type":"function","function":{"name":"x","arguments":null}}]}`, "tool_calls[0].function.arguments"},
		{"openai", "two arguments", `{"tool_calls":[{"id":"c","type":"function","function":{"name":"x","arguments":"{}","arguments":"{\"sku\":\"a\"}"}}]}`, "tool_calls[0].function.arguments"},
		{"openai", "no name", `{"tool_calls":[{"id":"c","type":"function","function":{"arguments":"{}"}}]}`, "tool_calls[0].function.name"},
		{"openai", "no id", `{"tool_calls":[{"type":"function","function":{"name":"x","arguments":"{}"}}]}`, "tool_calls[0].id"},
		{"openai", "one id twice", `{"tool_calls":[{"id":"c","function":{"name":"x","arguments":""}},{"id":"c","function":{"name":"y","arguments":""}}]}`, "tool_calls[1].id"},
		{"responses", "one id twice", `{"output":[{"type":"function_call","call_id":"c","name":"x","arguments":""},{"type":"function_call","call_id":"c","name":"x","arguments":""}]}`, "output[1].call_id"},
		{"anthropic", "one id twice", `{"content":[{"type":"tool_use","id":"t","name":"x","input":{}},{"type":"tool_use","id":"t","name":"x","input":{}}]}`, "content[1].id"},
		{"gemini", "one id twice", `{"parts":[{"functionCall":{"id":"f","name":"x"}},{"functionCall":{"id":"f","name":"x"}}]}`, "parts[1].functionCall.id"},
		{"responses", "a call that was cut off", `{"output":[{"type":"function_call","call_id":"c","name":"x","arguments":"{\"sku\":\"a\"}","status":"incomplete"}]}`, "output[0].status"},
		{"responses", "a custom tool", `{"output":[{"type":"custom_tool_call","call_id":"c","name":"x","input":"y"}]}`, "output[0].type"},
		{"responses", "no output", `{}`, "output"},
		{"responses", "no call id", `{"output":[{"type":"function_call","name":"x","arguments":"{}"}]}`, "output[0].call_id"},
		{"anthropic", "no content", `{"role":"assistant"}`, "content"},
		{"anthropic", "text for blocks", `{"content":"Hello."}`, "content"},
		{"anthropic", "two inputs", `{"content":[{"type":"tool_use","id":"t","name":"x","input":{},"input":{"sku":"a"}}]}`, "content[0].input"},
		{"gemini", "a call is no object", `{"parts":[{"functionCall":"x"}]}`, "parts[0].functionCall"},
		{"gemini", "two calls in a part", `{"parts":[{"functionCall":{"name":"x"},"functionCall":{"name":"y"}}]}`, "parts[0].functionCall"},
	} {
		t.Run(row.provider+": "+row.name, func(t *testing.T) {
			t.Parallel()
			calls, err := x[row.provider].Calls(jsontext.Value(row.message))
			form, ok := errors.AsType[*export.FormError](err)
			require.True(t, ok, "%v %v", calls, err)
			require.Equal(t, row.place, form.Place)
			require.NotEmpty(t, form.Error())
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	x := all(t)
	calls := []envelope.Call{call("c1", "get_price_v1", `{}`), call("c2", "get_price_v1", `{}`)}
	results := []envelope.Result{
		{OK: true, Tool: "get_price_v1", RequestID: "req_1", Data: jsontext.Value(`{"cents":499}`)},
		{Tool: "get_price_v1", RequestID: "req_2", Error: envelope.New(envelope.NotFound).At("sku")},
	}
	const good = `{\"ok\":true,\"tool\":\"get_price_v1\",\"request_id\":\"req_1\",\"data\":{\"cents\":499}}`
	bad := `{"ok":false,"tool":"get_price_v1","request_id":"req_2","error":{"code":"NOT_FOUND","message":` + quote(results[1].Error.Message) + `,"retryable":false,"field":"sku"}}`
	for provider, want := range map[string][]string{
		"openai":    {`{"role":"tool","tool_call_id":"c1","content":"` + good + `"}`, `{"role":"tool","tool_call_id":"c2","content":` + quote(bad) + `}`},
		"responses": {`{"type":"function_call_output","call_id":"c1","output":"` + good + `"}`, `{"type":"function_call_output","call_id":"c2","output":` + quote(bad) + `}`},
		"anthropic": {`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"` + good + `"},{"type":"tool_result","tool_use_id":"c2","content":` + quote(bad) + `,"is_error":true}]}`},
		"gemini": {`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"get_price_v1","response":{"output":{"ok":true,"tool":"get_price_v1","request_id":"req_1","data":{"cents":499}}}}},` +
			`{"functionResponse":{"id":"c2","name":"get_price_v1","response":{"error":` + bad + `}}}]}`},
	} {
		got, err := x[provider].Answers(calls, results)
		require.NoError(t, err)
		texts := make([]string, len(got))
		for i := range got {
			texts[i] = string(got[i])
		}
		require.Equal(t, want, texts, provider)
		_, err = x[provider].Answers(calls, results[:1])
		require.Error(t, err, "a call without a result")
		none, err := x[provider].Answers(nil, nil)
		require.NoError(t, err)
		require.Empty(t, none)
	}
}

func TestZeroExport(t *testing.T) {
	t.Parallel()
	for _, x := range []*export.Export{{}, nil} {
		_, err := x.Calls(jsontext.Value(`{}`))
		require.Error(t, err)
		_, err = x.Answers(nil, nil)
		require.Error(t, err)
		require.Nil(t, x.Tools())
		require.Nil(t, x.Losses())
	}
}
