package mcptool_test

import (
	"bufio"
	"bytes"
	v1 "encoding/json"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool/mcptool"
)

// answer is a JSON-RPC response as it stands on the wire.
type answer struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data,omitzero"`
	} `json:"error,omitzero"`
}

// envelope returns the structured content of a result.
func (a answer) envelope(t *testing.T) envelope.Result {
	t.Helper()
	require.Nil(t, a.Error)
	var result struct {
		StructuredContent envelope.Result `json:"structuredContent"`
		IsError           bool            `json:"isError"`
	}
	require.NoError(t, json.Unmarshal(a.Result, &result))
	require.Equal(t, !result.StructuredContent.OK, result.IsError)
	return result.StructuredContent
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// callFrame is a call as a client of the newest protocol sends it.
func callFrame(name, arguments string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `,` + meta + `}}`
}

// wire sends one message as it is, and returns the answer.
type wire func(t *testing.T, name, message string) answer

func rawHTTP(server *httptest.Server, token string) wire {
	return func(t *testing.T, name, message string) answer {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(message))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", name)
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := server.Client().Do(r)
		require.NoError(t, err)
		defer func() { require.NoError(t, response.Body.Close()) }()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		for line := range bytes.Lines(body) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				body = data
			}
		}
		return parsed(t, body)
	}
}

func rawStdio(p pipes) wire {
	lines := bufio.NewReader(p.out)
	return func(t *testing.T, _, message string) answer {
		t.Helper()
		_, err := io.WriteString(p.in, message+"\n")
		require.NoError(t, err)
		line, err := lines.ReadBytes('\n')
		require.NoError(t, err)
		return parsed(t, line)
	}
}

func parsed(t *testing.T, body []byte) answer {
	t.Helper()
	var a answer
	require.NoError(t, json.Unmarshal(body, &a), "%s", body)
	require.Equal(t, "2.0", a.JSONRPC)
	return a
}

// bothWires runs a test over each transport.
func bothWires(t *testing.T, test func(w *world, send wire)) {
	t.Helper()
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		test(w, rawStdio(w.serveStdio(serverConfig)))
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		test(w, rawHTTP(w.serveHTTP(), "token-one"))
	})
}

func TestArgumentsReachTheBoundaryAsSent(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 300) + `1` + strings.Repeat(`}`, 300)
	cases := []struct {
		name, tool, arguments string
		want                  envelope.Code
		why                   string
	}{
		{"fine", "get_account_v1", `{"account_id":"a1"}`, "", "the plain case"},
		{"spacing", "get_account_v1", "{ \t\"account_id\" :\r \"a1\" }", "", "every byte arrives"},
		{"twice", "get_account_v1", `{"account_id":"a1","account_id":"a2"}`, envelope.DuplicateMember, "the SDK would keep the last"},
		{"twice, escaped", "get_account_v1", `{"account_id":"a1","account\u005fid":"a2"}`, envelope.DuplicateMember, "the same name after unescaping"},
		{"other case", "get_account_v1", `{"Account_ID":"a1"}`, envelope.UnknownField, "names are compared as they are"},
		{"big integer", "preview_limit_v1", `{"account_id":"a1","limit":9007199254740993}`, "", "2^53 + 1 keeps its last digit"},
		{"exponent", "preview_limit_v1", `{"account_id":"a1","limit":1E2}`, envelope.InvalidArgument, "not rewritten to 100"},
		{"text for a number", "preview_limit_v1", `{"account_id":"a1","limit":"5"}`, envelope.InvalidArgument, "not converted"},
		{"null", "get_account_v1", `null`, envelope.InvalidArgument, "not taken for no arguments"},
		{"array", "get_account_v1", `[]`, envelope.InvalidArgument, "the boundary's to refuse"},
		{"text", "get_account_v1", `"{\"account_id\":\"a1\"}"`, envelope.InvalidArgument, "JSON in a string is a string"},
		{"lone surrogate", "get_account_v1", `{"account_id":"\ud800"}`, envelope.MalformedJSON, "not replaced by U+FFFD"},
		{"bad UTF-8", "get_account_v1", "{\"account_id\":\"a\xff\"}", envelope.MalformedJSON, "not replaced by U+FFFD"},
		{"deep", "get_account_v1", deep, envelope.TooDeep, "the boundary's limit, not the SDK's"},
	}
	bothWires(t, func(w *world, send wire) {
		for _, c := range cases {
			r := send(w.t, c.tool, callFrame(c.tool, c.arguments)).envelope(w.t)
			require.Equal(w.t, c.arguments, w.lastArguments(), "%s: %s", c.name, c.why)
			if c.want == "" {
				require.True(w.t, r.OK, "%s: %+v", c.name, r.Error)
				continue
			}
			require.False(w.t, r.OK, c.name)
			require.Equal(w.t, c.want, r.Error.Code, "%s: %s", c.name, c.why)
		}
	})
}

func TestBigIntegersComeBackDigitForDigit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := rawHTTP(w.serveHTTP(), "token-two")(t, "get_account_v1", callFrame("get_account_v1", `{"account_id":"a1"}`))
	require.Contains(t, string(got.Result), `"limit":9007199254740993`)
}

func TestAbsentArgumentsAreNone(t *testing.T) {
	t.Parallel()
	bothWires(t, func(w *world, send wire) {
		t := w.t
		r := send(t, "get_account_v1", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_account_v1",`+meta+`}}`).envelope(t)
		require.Equal(t, envelope.InvalidArgument, r.Error.Code)
		require.Equal(t, "required", r.Error.Rule)
		require.Equal(t, `{}`, w.lastArguments())
	})
}

func TestTheMessageIsReadStrictly(t *testing.T) {
	t.Parallel()
	const fine = `"name":"get_account_v1","arguments":{"account_id":"a1"},` + meta
	cases := []struct {
		name, message string
		code          int
		id            string
		why           string
	}{
		{"not JSON", `{"jsonrpc":"2.0","id":7,`, -32700, `null`, "nothing can be said of it"},
		{"two texts", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{` + fine + `}}{}`, -32700, `null`, "a message is one"},
		{"not an object", `"tools/call"`, -32600, `null`, "a message is an object"},
		{"method twice", `{"jsonrpc":"2.0","id":7,"method":"tools/list","method":"tools/call","params":{` + fine + `}}`, -32600, `null`, "two readers would read two methods"},
		{"params twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{},"params":{` + fine + `}}`, -32600, `null`, "the last would win"},
		{"name twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"commit_limit_v1",` + fine + `}}`, -32600, `7`, "the last would win"},
		{"arguments twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{},` + fine + `}}`, -32600, `7`, "the last would win"},
		{"arguments twice, escaped", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"\u0061rguments":{},` + fine + `}}`, -32600, `7`, "the same name after unescaping"},
		{"meta twice within", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_account_v1","_meta":{"a":1,"a":2}}}`, -32600, `7`, "all but the arguments is strict"},
		{"twice in an answer", `{"jsonrpc":"2.0","id":7,"result":{"action":"decline","action":"accept"}}`, -32600, `null`, "an answer is read strictly too, and is no question to answer"},
		{"id not an id", `{"jsonrpc":"2.0","id":{"a":1,"a":1},"method":"tools/call","params":{` + fine + `}}`, -32600, `null`, "nothing to answer to"},
		{"name not text", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["CANARY"],"arguments":{"account_id":"CANARY"}}}`, -32602, `7`, "the SDK would quote the parameters"},
		{"meta not an object", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_account_v1","_meta":"CANARY"}}`, -32602, `7`, "the SDK would quote the parameters"},
		{"state not text", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"requestState":["CANARY"],` + fine + `}}`, -32602, `7`, "the SDK would quote the parameters"},
		{"answers not an object", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"inputResponses":"CANARY",` + fine + `}}`, -32602, `7`, "the SDK would quote the parameters"},
		{"answer without an action", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"inputResponses":{"CANARY":{}},` + fine + `}}`, -32602, `7`, "the SDK would quote the name"},
		{"answer with bad content", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"inputResponses":{"x":{"action":"accept","content":"CANARY"}},` + fine + `}}`, -32602, `7`, "the SDK would quote it"},
		{"params not an object", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":["get_account_v1"]}`, -32602, `7`, "parameters are by name"},
		{"empty batch", `[]`, -32600, `null`, "the SDK would index it"},
		{"bad batch", `[{"jsonrpc":"2.0","id":7,"method":"tools/call","method":"x","params":{` + fine + `}}]`, -32600, `null`, "each of a batch is read"},
		{"nested beyond reason", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_account_v1","arguments":` + strings.Repeat(`[`, 2000) + strings.Repeat(`]`, 2000) + `}}`, -32600, `null`, "the SDK would drop the connection"},
		{"too large", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_account_v1","arguments":"` + strings.Repeat("x", 1<<20) + `"}}`, -32600, `null`, "over MaxMessage"},
	}
	bothWires(t, func(w *world, send wire) {
		for _, c := range cases {
			got := send(w.t, "get_account_v1", c.message)
			require.NotNil(w.t, got.Error, "%s: %s", c.name, c.why)
			require.Equal(w.t, c.code, got.Error.Code, "%s: %s", c.name, c.why)
			require.Equal(w.t, c.id, string(got.ID), c.name)
			require.NotContains(w.t, got.Error.Message, "CANARY", c.name)
			require.Empty(w.t, w.lastArguments(), "%s: no call was made of it", c.name)
		}
		after := send(w.t, "get_account_v1", callFrame("get_account_v1", `{"account_id":"a1"}`))
		require.True(w.t, after.envelope(w.t).OK, "the next message is answered")
	})
}

func TestStdioHasLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serveStdio(mcptool.Config{Name: "desk", Version: "1", MaxMessage: 400})
	send := rawStdio(p)
	frame := callFrame("get_account_v1", `{"account_id":"a1"}`)
	require.Less(t, len(frame), 400)
	require.True(t, send(t, "", "\r\n  \n"+frame+"\r").envelope(t).OK, "empty lines and CRLF are no messages")
	exact := frame + strings.Repeat(" ", 400-len(frame))
	require.True(t, send(t, "", exact).envelope(t).OK, "the limit itself is allowed")
	require.Equal(t, -32600, send(t, "", exact+" ").Error.Code, "one byte more is not")

	require.NoError(t, p.in.Close())
	require.NoError(t, <-p.ended)
}

func TestAStreamThatBreaks(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk of the pipe is on fire")
	for name, c := range map[string]struct {
		close func(p pipes)
		want  error
	}{
		"the reader goes":   {func(p pipes) { _ = p.out.Close() }, nil},
		"the reader breaks": {func(p pipes) { _ = p.out.CloseWithError(broken) }, broken},
		"the writer goes":   {func(p pipes) { _ = p.in.Close() }, nil},
		"the writer breaks": {func(p pipes) { _ = p.in.CloseWithError(broken) }, broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.serveStdio(serverConfig)
			c.close(p)
			go func() { _, _ = io.WriteString(p.in, callFrame("get_account_v1", `{"account_id":"a1"}`)+"\n") }()
			require.ErrorIs(t, <-p.ended, c.want)
		})
	}
}

func TestABatchIsAnsweredWhereTheProtocolHasThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serveStdio(serverConfig)
	send := rawStdio(p)
	require.Nil(t, send(t, "", strings.ReplaceAll(initialize, "2025-11-25", "2025-03-26")).Error)
	call := func(id, arguments string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"get_account_v1","arguments":` + arguments + `}}`
	}
	_, err := io.WriteString(p.in, "["+call("1", `{"account_id":"a1"}`)+","+call("2", `{"account_id":"a1","account_id":"a1"}`)+"]\n")
	require.NoError(t, err)
	var answers []answer
	require.NoError(t, json.Unmarshal(firstLine(t, p.out), &answers))
	require.Len(t, answers, 2)
	require.True(t, answers[0].envelope(t).OK)
	require.Equal(t, envelope.DuplicateMember, answers[1].envelope(t).Error.Code, "the second is the boundary's to refuse")
}

func firstLine(t *testing.T, r io.Reader) []byte {
	t.Helper()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	require.NoError(t, err)
	return line
}

func FuzzMessage(f *testing.F) {
	for _, seed := range []string{callFrame("get_account_v1", `{"account_id":"a1"}`), `[]`, `[{}]`, `{"params":{"name":1}}`, `{"method":"tools/call","params":{"inputResponses":{"a":{"action":"x"}}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		id, err := mcptool.CheckFrame(message)
		if id != nil {
			require.True(t, id.IsValid())
		}
		if err != nil {
			return
		}
		m, err := jsonrpc.DecodeMessage(message)
		if call, ok := m.(*jsonrpc.Request); err == nil && ok && call.Method == "tools/call" && call.Params != nil {
			require.NoError(t, v1.Unmarshal(call.Params, new(mcp.CallToolParamsRaw)), "what passes can be decoded, so that nothing of it is quoted")
		}
	})
}
