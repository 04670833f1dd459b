package mcptool_test

import (
	"bufio"
	"encoding/json/v2"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestWhatIsNotOfTheProtocolIsAnsweredAndTheNextMessageIsRead(t *testing.T) {
	t.Parallel()
	const idWords = "the id must be a text, or an integer from -(2^53-1) to 2^53-1 without a fraction or an exponent"
	const answerWords = "an answer must have either a result, which is an object, or an error with an integer code and a message"
	cases := []struct {
		message string
		code    int
		id      string
		says    string
	}{
		{`{}`, -32600, `null`, `the member jsonrpc must be "2.0"`},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600, `1`, `the member jsonrpc must be "2.0"`},
		{`{"jsonrpc":2.0,"id":1,"method":"ping"}`, -32600, `1`, `the member jsonrpc must be "2.0"`},
		{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, `null`, idWords},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, `null`, idWords},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, `null`, idWords},
		{`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, -32600, `null`, idWords},
		{`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, -32600, `null`, idWords},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, `null`, idWords},
		{`{"jsonrpc":"2.0","id":1e2,"method":"ping"}`, -32600, `null`, idWords},
		{`{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`, -32600, `null`, idWords},
		{`{"jsonrpc":"2.0","id":-9007199254740993,"method":"ping"}`, -32600, `null`, idWords},
		{`{"jsonrpc":"2.0","id":99999999999999999999999,"method":"ping"}`, -32600, `null`, idWords},
		{`{"jsonrpc":"2.0","id":"SECRET` + "\xff" + `","method":"ping"}`, -32600, `null`, "the id is not valid Unicode"},
		{`{"jsonrpc":"2.0","id":"SECRET\ud800","method":"ping"}`, -32600, `null`, "the id is not valid Unicode"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"SECRET\ud800"}}`, -32600, `1`, "a text of the message is not valid Unicode"},
		{`{"jsonrpc":"2.0","id":1,"method":5}`, -32600, `1`, "the method must be a text"},
		{`{"jsonrpc":"2.0","id":1,"method":null}`, -32600, `1`, "the method must be a text"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":"SECRET"}`, -32600, `1`, "the params must be an object"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, -32600, `1`, "the params must be an object"},
		{`{"jsonrpc":"2.0","method":"tools/list"}`, -32600, `null`, "a request must have an id"},
		{`{"jsonrpc":"2.0","result":{}}`, -32600, `null`, "the message is not a JSON-RPC message of this protocol"},
		{`{"jsonrpc":"2.0","id":1}`, -32600, `null`, answerWords},
		{`{"jsonrpc":"2.0","id":1,"result":"SECRET"}`, -32600, `null`, answerWords},
		{`{"jsonrpc":"2.0","id":1,"error":"SECRET"}`, -32600, `null`, answerWords},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":"SECRET","message":"x"}}`, -32600, `null`, answerWords},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}`, -32600, `null`, answerWords},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":["SECRET"]}}`, -32600, `null`, answerWords},
		{`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}`, -32600, `null`, answerWords},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}`, -32600, `null`, strings.Replace(idWords, "id", "requestId", 1)},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}`, -32600, `null`, strings.Replace(idWords, "id", "requestId", 1)},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, `null`, "the protocol of this session has no batches"},
	}
	bothWires(t, func(w *world, send wire) {
		for _, c := range cases {
			got := send(w.t, "get_account_v1", c.message)
			require.NotNil(w.t, got.Error, c.message)
			require.Equal(w.t, c.code, got.Error.Code, c.message)
			require.Equal(w.t, c.id, string(got.ID), c.message)
			require.Equal(w.t, c.says, got.Error.Message, c.message)
		}
		require.True(w.t, send(w.t, "get_account_v1", callFrame("get_account_v1", `{"account_id":"a1"}`)).envelope(w.t).OK)
	})
}

func TestIDsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	bothWires(t, func(w *world, send wire) {
		for _, id := range []string{`0`, `-1`, `9007199254740991`, `-9007199254740991`, `""`, `"9007199254740993"`, `"a\"é"`} {
			got := send(w.t, "get_account_v1", strings.Replace(callFrame("get_account_v1", `{"account_id":"a1"}`), `"id":7`, `"id":`+id, 1))
			require.True(w.t, got.envelope(w.t).OK)
			require.Equal(w.t, id, string(got.ID))
		}
	})
}

// opened is a session over stdio in one protocol.
func opened(w *world, protocol string) (pipes, *bufio.Reader) {
	w.t.Helper()
	p := w.serveStdio(serverConfig)
	lines := bufio.NewReader(p.out)
	_, err := io.WriteString(p.in, strings.ReplaceAll(initialize, "2025-11-25", protocol)+"\n")
	require.NoError(w.t, err)
	_, err = lines.ReadBytes('\n')
	require.NoError(w.t, err)
	return p, lines
}

func TestBatches(t *testing.T) {
	t.Parallel()
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, c := range map[string]struct{ protocol, send, says string }{
		"newer protocol":          {"2025-06-18", `[` + ping + `]`, "the protocol of this session has no batches"},
		"unknown protocol":        {"1999-01-01", `[` + ping + `]`, "the protocol of this session has no batches"},
		"empty":                   {"2025-03-26", `[]`, "a batch must hold 1 to 64 messages, and none that initializes"},
		"one id twice":            {"2025-03-26", `[` + ping + `,` + ping + `]`, "the id is that of another request that has no answer so far"},
		"one id twice as text":    {"2024-11-05", `[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"\u0061","method":"ping"}]`, "the id is that of another request that has no answer so far"},
		"an item of another kind": {"2025-03-26", `[` + ping + `,5]`, "the message is not a JSON-RPC message of this protocol"},
		"an item of JSON-RPC 1.0": {"2025-03-26", `[{"jsonrpc":"1.0","id":1,"method":"ping"}]`, `the member jsonrpc must be "2.0"`},
		"one that initializes":    {"2025-03-26", `[` + initialize + `]`, "a batch must hold 1 to 64 messages, and none that initializes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p, lines := opened(w, c.protocol)
			_, err := io.WriteString(p.in, c.send+"\n"+ping+"\n")
			require.NoError(t, err)
			line, err := lines.ReadBytes('\n')
			require.NoError(t, err)
			a := parsed(t, line)
			require.Equal(t, c.says, a.Error.Message)
			require.Equal(t, "null", string(a.ID))
			line, err = lines.ReadBytes('\n')
			require.NoError(t, err)
			require.Equal(t, "1", string(parsed(t, line).ID), "the next message is answered")
		})
	}
}

func TestABatchWithNotificationsIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, lines := opened(w, "2025-03-26")
	const notice = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	_, err := io.WriteString(p.in, `[`+notice+`,{"jsonrpc":"2.0","id":1,"method":"ping"},`+notice+`,{"jsonrpc":"2.0","method":"notifications/unheard"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`+"\n")
	require.NoError(t, err)
	line, err := lines.ReadBytes('\n')
	require.NoError(t, err)
	var answers []answer
	require.NoError(t, json.Unmarshal(line, &answers))
	require.Len(t, answers, 2)
}

func TestAnIDThatIsUnderWayIsNotTakenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, lines := opened(w, "2025-03-26")
	read := func() answer {
		line, err := lines.ReadBytes('\n')
		require.NoError(t, err)
		return parsed(t, line)
	}
	let := w.bank.hold()
	call := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"get_account_v1","arguments":{"account_id":"a1"}}}`
	}
	_, err := io.WriteString(p.in, call("1")+"\n")
	require.NoError(t, err)
	<-w.bank.arrived
	for _, again := range []string{call("1"), `[` + call("2") + `,` + call("1") + `]`, strings.Replace(call("1"), `"arguments"`, `"arguments":1,"arguments"`, 1)} {
		_, err = io.WriteString(p.in, again+"\n")
		require.NoError(t, err)
		got := read()
		require.Equal(t, -32600, got.Error.Code)
		require.Equal(t, "null", string(got.ID), "an answer to 1 would be taken for the first one's")
	}
	let()
	got := read()
	require.Equal(t, "1", string(got.ID))
	require.True(t, got.envelope(t).OK)
	_, err = io.WriteString(p.in, call("1")+"\n")
	require.NoError(t, err)
	require.True(t, read().envelope(t).OK, "an id that has its answer may be used again")
}

func TestNoParameterIsRepeated(t *testing.T) {
	t.Parallel()
	bothWires(t, func(w *world, send wire) {
		for message, code := range map[string]int{
			`"method":"tools/list","params":{"cursor":["SECRET"]}`:                                                    -32602,
			`"method":"tools/list","params":{"_meta":"SECRET"}`:                                                       -32602,
			`"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-SECRET"}}`:            -32602,
			`"method":"subscriptions/listen","params":{"notifications":"SECRET"}`:                                     -32602,
			`"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":"SECRET"}}`: -32602,
			`"method":"initialize","params":{"protocolVersion":["SECRET"],"capabilities":{}}`:                         -32602,
			`"method":"completion/complete","params":{"ref":"SECRET"}`:                                                -32601,
			`"method":"SECRET"`: -32601,
		} {
			got := send(w.t, "get_account_v1", `{"jsonrpc":"2.0","id":1,`+message+`}`)
			require.NotNil(w.t, got.Error, message)
			require.Equal(w.t, code, got.Error.Code, message)
			require.NotContains(w.t, got.Error.Message+string(got.Error.Data), "SECRET", message)
		}
	})
}

func TestHeadersThatDoNotMatchAreNotRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := rawHTTP(w.serveHTTP(), "token-one")
	got := send(t, "get_account_v1", callFrame("SECRET", `{"account_id":"a1"}`))
	require.NotNil(t, got.Error)
	require.Equal(t, "7", string(got.ID))
	require.Equal(t, mcp.CodeHeaderMismatch, got.Error.Code)
	require.Equal(t, "the headers of the request do not match its message", got.Error.Message)
}
