package mcptool_test

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool/mcptool"
)

type proposalView struct {
	ProposalID string `json:"proposal_id"`
	State      string `json:"state"`
}

// preview proposes the limit of 500 for the account a1.
func (c client) preview(name string) (string, *mcp.CallToolResult) {
	c.t.Helper()
	answer, r := c.call(name, `{"account_id":"a1","limit":500}`)
	require.True(c.t, r.OK, "%+v", r.Error)
	var v proposalView
	require.NoError(c.t, json.Unmarshal(r.Data, &v))
	return v.ProposalID, answer
}

func commitOf(proposal string) string { return fmt.Sprintf(`{"proposal_id":%q}`, proposal) }

// texts are what stands beside the envelope in an answer.
func texts(answer *mcp.CallToolResult) []string {
	out := make([]string, 0, len(answer.Content))
	for _, c := range answer.Content[1:] {
		if text, ok := c.(*mcp.TextContent); ok {
			out = append(out, text.Text)
		}
	}
	return out
}

func address(proposal string) []string {
	return []string{"A person decides about this proposal on this page: https://desk.example/approvals/p/" + proposal}
}

func TestAClientWithoutElicitationReadsTheAddress(t *testing.T) {
	t.Parallel()
	everywhere(t, nil, func(w *world, c client) {
		t := w.t
		proposal, answer := c.preview("preview_limit_v1")
		require.Equal(t, address(proposal), texts(answer), "the preview says where it is decided")

		answer, r := c.call("commit_limit_v1", commitOf(proposal))
		require.Equal(t, envelope.ApprovalPending, r.Error.Code)
		require.Equal(t, address(proposal), texts(answer))
		conforms(t, listed(t, c)["commit_limit_v1"], answer)
		require.Zero(t, w.bank.count())

		w.approve(proposal)
		answer, r = c.call("commit_limit_v1", commitOf(proposal))
		require.True(t, r.OK, "%+v", r.Error)
		require.Empty(t, texts(answer))
		conforms(t, listed(t, c)["commit_limit_v1"], answer)
		require.Equal(t, 1, w.bank.count())

		_, r = c.call("commit_limit_v1", commitOf(proposal))
		require.True(t, r.OK && r.Replayed, "the same again is the same")
		require.Equal(t, 1, w.bank.count())
	})
}

// user is a client's user: what was asked of them, and what they answer.
type user struct {
	mu     sync.Mutex
	asked  []*mcp.ElicitParams
	answer *mcp.ElicitResult
	err    error
	before func(*mcp.ElicitParams)
}

func (u *user) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.asked = append(u.asked, req.Params)
			if u.before != nil {
				u.before(req.Params)
			}
			return u.answer, u.err
		},
	}
}

func TestTheClientsOwnAcceptApprovesNothing(t *testing.T) {
	t.Parallel()
	for name, answered := range map[string]*mcp.ElicitResult{
		"accept":  {Action: "accept", Content: map[string]any{"approved": true}},
		"decline": {Action: "decline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, protocol := range protocols {
				for _, transport := range []string{"stdio", "http"} {
					t.Run(transport+"/"+protocol, func(t *testing.T) {
						t.Parallel()
						w, u := newWorld(t), &user{answer: answered}
						c := w.dialOver(transport, protocol, u.options())
						proposal, _ := c.preview("preview_limit_v1")
						require.Empty(t, u.asked, "a preview asks nobody")

						answer, r := c.call("commit_limit_v1", commitOf(proposal))
						require.Equal(t, envelope.ApprovalPending, r.Error.Code, "nobody has decided")
						require.Equal(t, address(proposal), texts(answer))
						require.Zero(t, w.bank.count())
						require.Len(t, u.asked, 1, "once")
						require.Equal(t, "url", u.asked[0].Mode)
						require.Equal(t, "https://desk.example/approvals/p/"+proposal, u.asked[0].URL)
						require.Nil(t, u.asked[0].RequestedSchema, "no form that an accept could fill")
					})
				}
			}
		})
	}
}

func (w *world) dialOver(transport, protocol string, options *mcp.ClientOptions) client {
	if transport == "stdio" {
		return w.dialStdio(protocol, options)
	}
	return dialHTTP(w.t, w.serveHTTP(), "token-one", protocol, options)
}

func TestWhoDecidesWhileTheyAreAskedIsHeard(t *testing.T) {
	t.Parallel()
	var w *world
	u := &user{answer: &mcp.ElicitResult{Action: "accept"}}
	for _, protocol := range protocols {
		for _, transport := range []string{"stdio", "http"} {
			w = newWorld(t)
			u.asked, u.before = nil, func(p *mcp.ElicitParams) { w.approve(p.ElicitationID) }
			c := w.dialOver(transport, protocol, u.options())
			proposal, _ := c.preview("preview_limit_v1")
			answer, r := c.call("commit_limit_v1", commitOf(proposal))
			require.True(t, r.OK, "%s %s: %+v", transport, protocol, r.Error)
			require.Empty(t, texts(answer))
			require.Len(t, u.asked, 1)
			require.Equal(t, 1, w.bank.count())
		}
	}
}

func TestAClientThatFailsToAskReadsTheAddress(t *testing.T) {
	t.Parallel()
	w, u := newWorld(t), &user{err: context.DeadlineExceeded}
	c := w.dialOver("stdio", "2025-11-25", u.options())
	proposal, _ := c.preview("preview_limit_v1")
	answer, r := c.call("commit_limit_v1", commitOf(proposal))
	require.Equal(t, envelope.ApprovalPending, r.Error.Code)
	require.Equal(t, address(proposal), texts(answer))
	require.Len(t, u.asked, 1)
}

// A client of the newest protocol may answer a question that it was never asked. That changes nothing either.
func TestAnAnswerToNoQuestionApprovesNothing(t *testing.T) {
	t.Parallel()
	bothWires(t, func(w *world, send wire) {
		t := w.t
		r := send(t, "preview_limit_v1", callFrame("preview_limit_v1", `{"account_id":"a1","limit":500}`)).envelope(t)
		var v proposalView
		require.NoError(t, json.Unmarshal(r.Data, &v))
		r = send(t, "commit_limit_v1", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"commit_limit_v1","arguments":`+commitOf(v.ProposalID)+
			`,"requestState":"asked","inputResponses":{"decision":{"action":"accept","content":{"approved":true}}},`+meta+`}}`).envelope(t)
		require.Equal(t, envelope.ApprovalPending, r.Error.Code)
		require.Zero(t, w.bank.count())
	})
}

func TestLevelNoneAsksNobody(t *testing.T) {
	t.Parallel()
	everywhere(t, (&user{}).options(), func(w *world, c client) {
		t := w.t
		proposal, answer := c.preview("preview_note_v1")
		require.Empty(t, texts(answer), "the policy has decided")
		answer, r := c.call("commit_note_v1", commitOf(proposal))
		require.True(t, r.OK, "%+v", r.Error)
		require.Empty(t, texts(answer))
		require.Equal(t, 1, w.bank.count())
	})
}

func TestWhatOnlyLooksLikeAProposalHasNoAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer, r := w.dialStdio("2026-07-28", nil).call("get_ticket_v1", `{}`)
	require.JSONEq(t, `{"proposal_id":"p_ticket","state":"pending"}`, string(r.Data))
	require.Empty(t, texts(answer))
}

func TestWithoutAPageThereIsNoAddress(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]func(string) string{"nil": nil, "empty": func(string) string { return "" }, "panics": func(string) string { panic("no page") }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, u := newWorld(t), &user{}
			p := w.serveStdio(mcptool.Config{Name: "desk", Version: "1", Page: page})
			c := dial(t, &mcp.IOTransport{Reader: p.out, Writer: p.in}, protocols[0], u.options())
			defer func() { _ = c.Close() }()
			proposal, answer := c.preview("preview_limit_v1")
			require.Empty(t, texts(answer))
			answer, r := c.call("commit_limit_v1", commitOf(proposal))
			require.Equal(t, envelope.ApprovalPending, r.Error.Code)
			require.Empty(t, texts(answer))
			require.Empty(t, u.asked)
		})
	}
}
