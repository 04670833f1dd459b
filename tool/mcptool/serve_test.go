package mcptool_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	oracle "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
)

// protocols are all that the SDK speaks.
var protocols = mcp.SupportedProtocolVersions()

// everywhere runs a test over both transports, in every protocol.
func everywhere(t *testing.T, options *mcp.ClientOptions, test func(w *world, c client)) {
	t.Helper()
	require.Equal(t, "2026-07-28", protocols[0])
	require.Contains(t, protocols, "2024-11-05")
	for _, protocol := range protocols {
		t.Run("stdio/"+protocol, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			test(w, w.dialStdio(protocol, options))
		})
		t.Run("http/"+protocol, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			test(w, dialHTTP(t, w.serveHTTP(), "token-one", protocol, options))
		})
	}
}

// enveloped reads the envelope of an answer: structured and as text, the same.
func enveloped(t *testing.T, answer *mcp.CallToolResult) envelope.Result {
	t.Helper()
	structured, err := json.Marshal(answer.StructuredContent)
	require.NoError(t, err)
	require.NotEmpty(t, answer.Content)
	text, ok := answer.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	require.JSONEq(t, text.Text, string(structured))
	var r envelope.Result
	require.NoError(t, json.Unmarshal([]byte(text.Text), &r))
	require.Equal(t, !r.OK, answer.IsError)
	return r
}

// conforms asks a second library whether an answer is what the tool's published schema says.
func conforms(t *testing.T, published *mcp.Tool, answer *mcp.CallToolResult) {
	t.Helper()
	text, err := json.Marshal(published.OutputSchema)
	require.NoError(t, err)
	doc, err := oracle.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	compiler := oracle.NewCompiler()
	require.NoError(t, compiler.AddResource("mem:///output", doc))
	schema, err := compiler.Compile("mem:///output")
	require.NoError(t, err)
	content, ok := answer.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	instance, err := oracle.UnmarshalJSON(strings.NewReader(content.Text))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(instance))
	require.Error(t, schema.Validate(map[string]any{"ok": true}), "the schema refuses something")
}

func listed(t *testing.T, c client) map[string]*mcp.Tool {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	tools := map[string]*mcp.Tool{}
	for _, tl := range list.Tools {
		tools[tl.Name] = tl
	}
	require.Len(t, tools, len(list.Tools))
	return tools
}

func TestListCallAndRefusal(t *testing.T) {
	t.Parallel()
	everywhere(t, nil, func(w *world, c client) {
		t := w.t
		tools := listed(t, c)

		answer, r := c.call("get_account_v1", `{"account_id":"a1"}`)
		require.True(t, r.OK)
		require.JSONEq(t, `{"account_id":"a1","limit":100,"owner":"t1"}`, string(r.Data))
		require.Equal(t, []string{"owner"}, r.Untrusted, "what must not be obeyed is named")
		conforms(t, tools["get_account_v1"], answer)

		answer, r = c.call("get_account_v1", `{"account_id":"a1","limits":3}`)
		require.Equal(t, envelope.UnknownField, r.Error.Code)
		require.Equal(t, "limits", r.Error.Field)
		conforms(t, tools["get_account_v1"], answer)

		answer, r = c.call("preview_limit_v1", `{"account_id":"a1","limit":100}`)
		require.Equal(t, envelope.Code("LIMIT_UNCHANGED"), r.Error.Code, "the tool's own code")
		conforms(t, tools["preview_limit_v1"], answer)

		_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_secret_v1", Arguments: jsontext.Value(`{}`)})
		var wire *jsonrpc.Error
		require.ErrorAs(t, err, &wire)
		require.EqualValues(t, jsonrpc.CodeInvalidParams, wire.Code, "a protocol error, not a result")
		require.NotContains(t, wire.Message, "get_secret", "nothing of the request is repeated")
		var unknown envelope.Result
		require.NoError(t, json.Unmarshal(wire.Data, &unknown))
		require.Equal(t, envelope.UnknownTool, unknown.Error.Code)
	})
}

func TestTheListIsTheCatalogues(t *testing.T) {
	t.Parallel()
	everywhere(t, nil, func(w *world, c client) {
		t := w.t
		list, err := c.ListTools(t.Context(), nil)
		require.NoError(t, err)
		names := make([]string, 0, len(list.Tools))
		for _, tl := range list.Tools {
			names = append(names, tl.Name)
		}
		require.Equal(t, w.role.Tools(), names, "the role's, by name")
		if protocol := c.InitializeResult().ProtocolVersion; protocol >= "2026-07-28" {
			require.Equal(t, "private", list.CacheScope, "a list is one role's")
		}

		type hints struct {
			title                                        string
			readOnly, destructive, idempotent, openWorld bool
		}
		want := map[string]hints{
			"get_account_v1":      {"Look an account up", true, false, true, false},
			"preview_limit_v1":    {"Preview: Limit", false, false, true, true},
			"commit_limit_v1":     {"Commit: Limit", false, false, true, true},
			"commit_close_v1":     {"Commit: Close", false, true, true, true},
			"get_operation_v1":    {"Get operation", true, false, true, true},
			"cancel_operation_v1": {"Cancel operation", false, false, true, true},
		}
		run, err := w.dispatcher.Start(w.runConfig("t1"))
		require.NoError(t, err)
		for _, p := range run.Tools() {
			got := listed(t, c)[p.Name]
			input, err := json.Marshal(got.InputSchema)
			require.NoError(t, err)
			require.JSONEq(t, string(p.Input), string(input))
			require.Equal(t, p.Description, got.Description)
			h, ok := want[p.Name]
			if !ok {
				continue
			}
			a := got.Annotations
			require.Equal(t, h, hints{got.Title, a.ReadOnlyHint, *a.DestructiveHint, a.IdempotentHint, *a.OpenWorldHint}, p.Name)
		}
	})
}
