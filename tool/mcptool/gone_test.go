package mcptool_test

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
)

// leaver is a client that can leave in the middle of a call: by saying so, or by being gone.
type leaver struct {
	name string
	// begin makes the call and returns how to leave it; a new client is made by dial.
	begin func(w *world, protocol, name, arguments string) (leave func())
	dial  func(w *world, protocol string) client
}

// cancels leaves by the protocol: a notification, or the end of the request in the newest one over HTTP.
func cancels(dial func(w *world, protocol string) client) func(*world, string, string, string) func() {
	return func(w *world, protocol, name, arguments string) func() {
		c := dial(w, protocol)
		ctx, cancel := context.WithCancel(w.t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: jsontext.Value(arguments)})
			ended <- err
		}()
		return func() {
			cancel()
			require.Error(w.t, <-ended)
		}
	}
}

func leavers() []leaver {
	stdio := func(w *world, protocol string) client { return w.dialStdio(protocol, nil) }
	overHTTP := func(w *world, protocol string) client {
		return dialHTTP(w.t, w.serveHTTP(), "token-one", protocol, nil)
	}
	return []leaver{
		{"cancelled over stdio", cancels(stdio), stdio},
		{"cancelled over HTTP", cancels(overHTTP), overHTTP},
		{"stdio closed", stdioClosed, stdio},
		{"HTTP connection closed", connectionClosed, overHTTP},
	}
}

func stdioClosed(w *world, protocol, name, arguments string) func() {
	p := w.serveStdio(serverConfig)
	c := dial(w.t, &mcp.IOTransport{Reader: p.out, Writer: p.in}, protocol, nil)
	go func() {
		_, _ = c.CallTool(w.t.Context(), &mcp.CallToolParams{Name: name, Arguments: jsontext.Value(arguments)})
	}()
	return func() {
		require.NoError(w.t, p.in.Close())
		_ = p.out.Close()
	}
}

// connectionClosed drops the TCP connection, and says nothing.
func connectionClosed(w *world, protocol, name, arguments string) func() {
	server := w.serveHTTP()
	headers := map[string]string{"Authorization": "Bearer token-one", "Mcp-Protocol-Version": protocol, "Mcp-Method": "tools/call", "Mcp-Name": name}
	message := callFrame(name, arguments)
	if protocol < "2026-07-28" {
		_, header, _ := post(w.t, server, strings.ReplaceAll(initialize, "2025-11-25", protocol), headers)
		headers["Mcp-Session-Id"] = header.Get("Mcp-Session-Id")
		message = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(message))
	require.NoError(w.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	transport := &http.Transport{}
	go func() {
		response, err := (&http.Client{Transport: transport}).Do(r)
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
	}()
	return func() {
		cancel()
		transport.CloseIdleConnections()
	}
}

// eachLeaver runs a test for each way to leave, in the newest protocol and in an older one.
func eachLeaver(t *testing.T, test func(w *world, protocol string, l leaver)) {
	t.Helper()
	for _, l := range leavers() {
		for _, protocol := range []string{"2026-07-28", "2025-06-18"} {
			t.Run(l.name+"/"+protocol, func(t *testing.T) {
				t.Parallel()
				test(newWorld(t), protocol, l)
			})
		}
	}
}

func TestALeftReadEnds(t *testing.T) {
	t.Parallel()
	eachLeaver(t, func(w *world, protocol string, l leaver) {
		let := w.bank.hold()
		defer let()
		leave := l.begin(w, protocol, "get_account_v1", `{"account_id":"a1"}`)
		<-w.bank.arrived
		leave()
		require.Error(w.t, <-w.bank.seen, "the handler's context ended")
		let()
		_, r := l.dial(w, protocol).call("get_account_v1", `{"account_id":"a1"}`)
		require.True(w.t, r.OK)
	})
}

func TestALeftCommitIsDoneOnceAndTold(t *testing.T) {
	t.Parallel()
	eachLeaver(t, func(w *world, protocol string, l leaver) {
		t := w.t
		// The proposal, the commit and what comes after are of one run: that of the token, as over HTTP.
		w.run = "login-17"
		proposal, _ := l.dial(w, protocol).preview("preview_limit_v1")
		w.approve(proposal)
		let := w.bank.hold()
		defer let()
		leave := l.begin(w, protocol, "commit_limit_v1", commitOf(proposal))
		<-w.bank.arrived
		leave()

		next := l.dial(w, protocol)
		_, r := next.call("commit_limit_v1", commitOf(proposal))
		require.Equal(t, envelope.InProgress, r.Error.Code, "what was claimed goes on")
		operation := operationOf(t, r)
		require.Equal(t, "running", next.stateOf(operation))
		let()
		require.Equal(t, "succeeded", next.finally(operation))
		require.Equal(t, 1, w.bank.count(), "one effect")
		require.Empty(t, w.bank.seen, "the handler was not disturbed")
		_, r = next.call("commit_limit_v1", commitOf(proposal))
		require.True(t, r.OK && r.Replayed, "and it replays")
		require.Equal(t, operation, operationOf(t, r))
		require.Equal(t, 1, w.bank.count())
	})
}

func (c client) stateOf(operation string) string {
	c.t.Helper()
	_, r := c.call("get_operation_v1", `{"operation_id":"`+operation+`"}`)
	require.True(c.t, r.OK, "%+v", r.Error)
	var v struct {
		State string `json:"state"`
	}
	require.NoError(c.t, json.Unmarshal(r.Data, &v))
	return v.State
}

// finally asks until the operation has ended.
func (c client) finally(operation string) string {
	c.t.Helper()
	for {
		switch state := c.stateOf(operation); state {
		case "queued", "running", "unknown":
		default:
			return state
		}
	}
}
