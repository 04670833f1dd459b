package main

import (
	"bufio"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool/mcptool"
)

// session is a client of the SDK's at the running program.
type session struct {
	*mcp.ClientSession
	t *testing.T
}

func connect(t *testing.T, transport mcp.Transport) session {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return session{c, t}
}

// stdio runs the program on two pipes, as a client that starts it does.
func stdio(t *testing.T, args ...string) session {
	t.Helper()
	in, says := io.Pipe()
	hears, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		var notes strings.Builder
		code := command(context.WithoutCancel(t.Context()), args, in, out, &notes)
		_ = out.Close()
		if notes.Len() > 0 {
			code = -1
		}
		ended <- code
	}()
	t.Cleanup(func() { require.Zero(t, <-ended, "it ends in order, without a word") })
	return connect(t, &mcp.IOTransport{Reader: hears, Writer: says})
}

// served is the program over HTTP, as it told of itself.
type served struct {
	t      *testing.T
	origin string
	tokens map[string]string
}

func overHTTP(t *testing.T, args ...string) served {
	t.Helper()
	told, notes := io.Pipe()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan int, 1)
	go func() {
		ended <- command(ctx, append(args, "-http", "127.0.0.1:0"), strings.NewReader(""), io.Discard, notes)
		_ = notes.Close()
	}()
	t.Cleanup(func() {
		go func() { _, _ = io.Copy(io.Discard, told) }()
		stop()
		require.Zero(t, <-ended, "it ends in order")
	})
	s := served{t: t, tokens: map[string]string{}}
	lines := bufio.NewScanner(told)
	require.True(t, lines.Scan())
	s.origin = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text())
	for range 2 {
		require.True(t, lines.Scan())
		m := regexp.MustCompile(`the agent of (\w+) brings Authorization: Bearer (\w+)`).FindStringSubmatch(lines.Text())
		require.Len(t, m, 3, lines.Text())
		s.tokens[m[1]] = m[2]
	}
	return s
}

type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

func (s served) agent(tenant string) session {
	s.t.Helper()
	return connect(s.t, &mcp.StreamableClientTransport{Endpoint: s.origin + "/mcp", HTTPClient: &http.Client{Transport: withToken(s.tokens[tenant])}})
}

// decide opens the address that an answer told and approves what is there, as a person with a browser would.
func (s served) decide(told string) {
	s.t.Helper()
	_, path, found := strings.Cut(told, s.origin)
	require.True(s.t, found, told)
	address := s.origin + path
	page := s.do(http.MethodGet, address, nil)
	form := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`).FindAllStringSubmatch(page, -1) {
		form.Set(m[1], m[2])
	}
	require.Contains(s.t, s.do(http.MethodPost, address+"/approve", form), "pproved")
}

func (s served) do(method, address string, form url.Values) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, address, strings.NewReader(form.Encode()))
	require.NoError(s.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, answer.Body.Close()) }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, answer.StatusCode, string(body))
	return string(body)
}

// call returns the envelope, and what stands beside it.
func (s session) call(name, arguments string) (envelope.Result, string) {
	s.t.Helper()
	answer, err := s.CallTool(s.t.Context(), &mcp.CallToolParams{Name: name, Arguments: jsontext.Value(arguments)})
	require.NoError(s.t, err)
	texts := make([]string, 2)
	for n, content := range answer.Content {
		text, ok := content.(*mcp.TextContent)
		require.True(s.t, ok)
		texts[n] = text.Text
	}
	var r envelope.Result
	require.NoError(s.t, json.Unmarshal([]byte(texts[0]), &r))
	return r, texts[1]
}

// data calls and returns one text member of what was answered, with what stands beside it.
func (s session) data(name, arguments, member string) (value, beside string) {
	s.t.Helper()
	r, beside := s.call(name, arguments)
	require.True(s.t, r.OK, "%+v", r.Error)
	var m map[string]any
	require.NoError(s.t, json.Unmarshal(r.Data, &m))
	value, _ = m[member].(string)
	return value, beside
}

func commitOf(proposal string) string { return `{"proposal_id":"` + proposal + `"}` }

func TestOverHTTPAChangeIsDecidedOnThePage(t *testing.T) {
	t.Parallel()
	s := overHTTP(t)
	acmes, globexs := s.agent(acme), s.agent(globex)
	proposal, beside := acmes.data("preview_address_change_v1", `{"customer_id":"cus_1842","address":"4 Harbour Row, Lübeck"}`, "proposal_id")
	r, again := acmes.call("commit_address_change_v1", commitOf(proposal))
	require.Equal(t, envelope.ApprovalPending, r.Error.Code)
	require.Equal(t, beside, again, "the address stands in both answers")
	s.decide(beside)
	r, _ = acmes.call("commit_address_change_v1", commitOf(proposal))
	require.True(t, r.OK, "%+v", r.Error)
	address, _ := acmes.data("get_customer_v1", `{"customer_id":"cus_1842"}`, "address")
	require.Equal(t, "4 Harbour Row, Lübeck", address)
	address, _ = globexs.data("get_customer_v1", `{"customer_id":"cus_1842"}`, "address")
	require.Equal(t, "9 Quay Street, Rotterdam", address, "the other tenant's customer of the same id is another")
}

func TestEachTenantHasItsLead(t *testing.T) {
	t.Parallel()
	s := overHTTP(t)
	c := s.agent(globex)
	proposal, beside := c.data("preview_address_change_v1", `{"customer_id":"cus_1842","address":"1 Pier"}`, "proposal_id")
	s.decide(beside)
	r, _ := c.call("commit_address_change_v1", commitOf(proposal))
	require.True(t, r.OK, "%+v", r.Error)
}

func TestATokensRunIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	h, err := newHost(t.Context(), "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	first, err := h.open(t.Context(), &auth.TokenInfo{UserID: globex})
	require.NoError(t, err)
	again, err := h.open(t.Context(), &auth.TokenInfo{UserID: globex})
	require.NoError(t, err)
	require.Equal(t, first.Deadline, again.Deadline)
	require.Equal(t, first.ID, again.ID)
}

func TestTwoProcessesShareADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := overHTTP(t, "-dir", dir)
	first := stdio(t, "-dir", dir, "-page", s.origin)
	proposal, beside := first.data("preview_address_change_v1", `{"customer_id":"cus_1842","address":"1 Pier"}`, "proposal_id")
	s.decide(beside)
	require.NoError(t, first.Close())
	r, _ := stdio(t, "-dir", dir, "-page", s.origin).call("commit_address_change_v1", commitOf(proposal))
	require.True(t, r.OK, "a later start commits what an earlier one proposed: %+v", r.Error)
}

func TestANoteNeedsNobody(t *testing.T) {
	t.Parallel()
	c := stdio(t)
	proposal, beside := c.data("preview_customer_note_v1", `{"customer_id":"cus_1842","note":"likes to be called"}`, "proposal_id")
	require.Empty(t, beside)
	operation, _ := c.data("commit_customer_note_v1", commitOf(proposal), "operation_id")
	state, _ := c.data("get_operation_v1", `{"operation_id":"`+operation+`"}`, "state")
	require.Equal(t, "succeeded", state)
	note, _ := c.data("get_customer_v1", `{"customer_id":"cus_1842"}`, "note")
	require.Equal(t, "likes to be called", note)
}

func TestARerouteIsAskedFor(t *testing.T) {
	t.Parallel()
	h, err := newHost(t.Context(), "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	var through atomic.Bool // the carrier, when the test says so
	h.desk.now = func() time.Time {
		if through.Load() {
			return time.Date(2026, time.March, 3, 9, 0, 0, 0, time.UTC)
		}
		return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	}
	run, err := h.dispatcher.Start(h.run(acme))
	require.NoError(t, err)
	in, says := io.Pipe()
	hears, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcptool.ServeStdio(context.WithoutCancel(t.Context()), run, h.config("http://127.0.0.1:1"), in, out)
	}()
	c := connect(t, &mcp.IOTransport{Reader: hears, Writer: says})
	proposal, _ := c.data("preview_parcel_reroute_v1", `{"parcel_id":"par_77","destination":"shop 12"}`, "proposal_id")
	rec, err := h.approvals.Find(t.Context(), acme, proposal)
	require.NoError(t, err)
	by, err := lead(acme)(nil)
	require.NoError(t, err)
	_, err = h.dispatcher.Decide(t.Context(), acme, proposal, approval.Decision{Approved: true, By: by, Digest: rec.Proposal.Digest})
	require.NoError(t, err)

	r, _ := c.call("commit_parcel_reroute_v1", commitOf(proposal))
	require.Equal(t, envelope.InProgress, r.Error.Code, "the carrier has it")
	operation := r.Error.OperationID
	state, _ := c.data("get_operation_v1", `{"operation_id":"`+operation+`"}`, "state")
	require.Equal(t, "running", state)
	through.Store(true)
	require.Equal(t, "succeeded", c.finally(operation))
	require.NoError(t, c.Close())
	require.NoError(t, <-ended)
}

// finally asks for the operation, as often as it was told to, until it is no longer under way.
func (s session) finally(operation string) string {
	s.t.Helper()
	for {
		r, _ := s.call("get_operation_v1", `{"operation_id":"`+operation+`"}`)
		require.True(s.t, r.OK, "%+v", r.Error)
		var v struct {
			State        string `json:"state"`
			RetryAfterMS int64  `json:"retry_after_ms"`
		}
		require.NoError(s.t, json.Unmarshal(r.Data, &v))
		if v.State != "running" {
			return v.State
		}
		select {
		case <-time.After(time.Duration(v.RetryAfterMS) * time.Millisecond):
		case <-s.t.Context().Done():
			return "the test is over"
		}
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, 0, "-http"},
		{[]string{"-port", "1"}, 2, "flag provided but not defined"},
		{[]string{"serve"}, 2, "takes no arguments"},
		{[]string{"-http", "0.0.0.0:0"}, 1, "must be a loopback address"},
		{[]string{"-http", "8750"}, 1, "missing port"},
	} {
		var notes strings.Builder
		require.Equal(t, c.code, command(t.Context(), c.args, strings.NewReader(""), io.Discard, &notes), c.args)
		require.Contains(t, notes.String(), c.says)
	}
}
