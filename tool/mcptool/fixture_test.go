package mcptool_test

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/mcptool"
)

// The domain of these tests: accounts with a version and a limit, kept by a bank outside the library.

type accountIn struct {
	AccountID string `json:"account_id" jsonschema:"pattern=^a[0-9]{1\\,8}$"`
}

type accountOut struct {
	AccountID string `json:"account_id" jsonschema:"maxLength=16" redact:"trusted"`
	Limit     int64  `json:"limit"`
	Owner     string `json:"owner" jsonschema:"maxLength=64"`
}

type limitIn struct {
	AccountID string `json:"account_id" jsonschema:"pattern=^a[0-9]{1\\,8}$"`
	Limit     int64  `json:"limit" jsonschema:"minimum=0"`
}

type limitOut struct {
	tool.Evidence
	Limit int64 `json:"limit"`
}

type account struct {
	version int
	limit   int64
}

// books are an account's two sides: what is read, and what is changed once for each call, whatever the key.
type books interface {
	wait(ctx context.Context) error // where the test holds it
	find(ctx context.Context, tenant, id string) (account, error)
	change(ctx context.Context, tenant, id, key string, limit int64) (limitOut, error)
	status(ctx context.Context, key string) (limitOut, error)
}

// bank has the effects. It outlives every dispatcher and every client.
type bank struct {
	mu       sync.Mutex
	accounts map[string]account // by tenant/id
	effects  map[string]limitOut
	order    []string // keys, one for each effect

	asked   atomic.Int32  // for what a key did
	slow    chan struct{} // not nil: what is asked for next waits until it is closed
	arrived chan struct{} // gets one for each that waits
	seen    chan error    // gets the context's error of a read that was waiting when its caller went
}

func newBank() *bank {
	return &bank{
		accounts: map[string]account{"t1/a1": {17, 100}, "t2/a1": {1, 9_007_199_254_740_993}}, effects: map[string]limitOut{},
		arrived: make(chan struct{}, 16), seen: make(chan error, 16),
	}
}

func (b *bank) find(_ context.Context, tenant, id string) (account, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a, ok := b.accounts[tenant+"/"+id]
	if !ok {
		return account{}, envelope.New(envelope.NotFound).At("account_id")
	}
	return a, nil
}

func (b *bank) wait(ctx context.Context) error {
	b.mu.Lock()
	slow := b.slow
	b.slow = nil
	b.mu.Unlock()
	if slow == nil {
		return nil
	}
	b.arrived <- struct{}{}
	select {
	case <-slow:
		return nil
	case <-ctx.Done():
		b.seen <- context.Cause(ctx)
		return ctx.Err()
	}
}

// hold makes the next one that asks wait, until let is called.
func (b *bank) hold() (let func()) {
	slow := make(chan struct{})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.slow = slow
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.slow = nil
		close(slow)
	})
}

func (b *bank) change(_ context.Context, tenant, id, key string, limit int64) (limitOut, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.accounts[tenant+"/"+id]
	a.version, a.limit = a.version+1, limit
	b.accounts[tenant+"/"+id] = a
	out := limitOut{Limit: limit}
	out.NewVersion, out.CommittedAt = strconv.Itoa(a.version), time.Date(2026, 8, 14, 16, 25, 0, 0, time.UTC)
	b.effects[key], b.order = out, append(b.order, key)
	return out, nil
}

func (b *bank) status(_ context.Context, key string) (limitOut, error) {
	b.asked.Add(1)
	b.mu.Lock()
	defer b.mu.Unlock()
	out, ok := b.effects[key]
	if !ok {
		return limitOut{}, idem.ErrNotFound
	}
	return out, nil
}

func (b *bank) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.order)
}

// catalogueOf are the tools of these tests.
func catalogueOf(b books) (*tool.Catalog, error) {
	return tool.NewCatalog(readTool(b), ticketTool(), limitTool(b, "limit", tool.Reversible), limitTool(b, "note", tool.Reversible), limitTool(b, "close", tool.Irreversible))
}

func readTool(b books) tool.Definition {
	return tool.Tool[accountIn, accountOut]{
		Spec: tool.Spec{Name: "get_account", Version: 1, Title: "Look an account up", Description: "Reads an account.", Timeout: time.Minute, ClosedWorld: true},
		Handle: func(ctx context.Context, by tool.Caller, in accountIn) (accountOut, error) {
			if err := b.wait(ctx); err != nil {
				return accountOut{}, err
			}
			a, err := b.find(ctx, by.Principal.Tenant, in.AccountID)
			return accountOut{AccountID: in.AccountID, Limit: a.limit, Owner: by.Principal.Tenant}, err
		},
	}
}

type ticketOut struct {
	ProposalID string `json:"proposal_id" jsonschema:"maxLength=16" redact:"trusted"`
	State      string `json:"state" jsonschema:"maxLength=16" redact:"trusted"`
}

// ticketTool answers what looks like a proposal's view, and is none.
func ticketTool() tool.Definition {
	return tool.Tool[struct{}, ticketOut]{
		Spec: tool.Spec{Name: "get_ticket", Version: 1, Description: "Reads the newest ticket.", Timeout: time.Minute},
		Handle: func(context.Context, tool.Caller, struct{}) (ticketOut, error) {
			return ticketOut{"p_ticket", "pending"}, nil
		},
	}
}

func limitTool(b books, name string, class tool.Class) tool.Definition {
	return tool.Write[limitIn, limitIn, limitOut]{
		Spec: tool.Spec{
			Name: name, Version: 1, Description: "Changes the limit of an account.", Timeout: time.Minute,
			Failures: []envelope.Failure{{Code: "LIMIT_UNCHANGED", Message: "the limit is that already"}},
		},
		Class: class, Contract: idem.StatusQueryable,
		Current: func(ctx context.Context, by tool.Caller, t approval.Target) (string, error) {
			a, err := b.find(ctx, by.Principal.Tenant, t.ID)
			return strconv.Itoa(a.version), err
		},
		Preview: func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitIn], error) {
			a, err := b.find(ctx, by.Principal.Tenant, in.AccountID)
			if err != nil {
				return tool.Draft[limitIn]{}, err
			}
			if a.limit == in.Limit {
				return tool.Draft[limitIn]{}, envelope.New("LIMIT_UNCHANGED")
			}
			return tool.Draft[limitIn]{
				Plan: in, Target: approval.Target{Type: "account", ID: in.AccountID, Version: strconv.Itoa(a.version)},
				Summary: "Change the limit of account " + in.AccountID,
				Diffs:   []approval.Diff{{Field: "limit", Before: strconv.FormatInt(a.limit, 10), After: strconv.FormatInt(in.Limit, 10)}},
			}, nil
		},
		Commit: func(ctx context.Context, cmd tool.Approved[limitIn]) (limitOut, error) {
			envelope.Sent(ctx)
			if err := b.wait(ctx); err != nil {
				return limitOut{}, err
			}
			return b.change(ctx, cmd.By.Principal.Tenant, cmd.Plan.AccountID, cmd.ProviderKey, cmd.Plan.Limit)
		},
		Status: func(ctx context.Context, cmd tool.Approved[limitIn], _ string) (limitOut, error) {
			return b.status(ctx, cmd.ProviderKey)
		},
	}
}

// world is the host's side: one bank, one dispatcher, and what it saw of the calls.
type world struct {
	t          *testing.T
	bank       *bank
	catalog    *tool.Catalog
	approvals  *approval.Memory
	dispatcher *tool.Dispatcher
	role       tool.Role
	run        string // the ID of every run; empty: each its own

	mu        sync.Mutex
	arguments []string // as they reached the boundary
}

// byLead is the policy of these tests: a lead decides about limits, nobody about notes.
func byLead() approval.Table {
	return approval.Table{Version: 1, Rules: []approval.Rule{
		{When: approval.Match{Tools: []string{"commit_limit_v1", "commit_close_v1"}}, Require: approval.Requirement{Level: approval.One, Role: "lead"}},
		{When: approval.Match{Tools: []string{"commit_note_v1"}}, Require: approval.Requirement{Level: approval.None}},
	}}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, bank: newBank(), approvals: approval.NewMemory(nil)}
	var err error
	w.catalog, err = catalogueOf(w.bank)
	require.NoError(t, err)
	digester, err := redact.NewDigester(redact.Key{ID: "test", Secret: bytes.Repeat([]byte{7}, 32)})
	require.NoError(t, err)
	w.dispatcher, err = tool.NewDispatcher(w.catalog, tool.Config{
		Policy: byLead(), Approvals: w.approvals, Authority: approval.ByRole{}, Ledger: idem.NewMemory(nil), Digester: digester, Audit: &audit.Recorder{},
		Middleware: []tool.Middleware{w.note},
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		require.NoError(t, w.dispatcher.Close(ctx))
	})
	w.role = w.roleOf("get_account_v1", "get_ticket_v1", "preview_limit_v1", "commit_limit_v1", "preview_note_v1", "commit_note_v1", "preview_close_v1", "commit_close_v1")
	return w
}

func (w *world) roleOf(names ...string) tool.Role {
	w.t.Helper()
	role, err := w.catalog.Role("desk", names...)
	require.NoError(w.t, err)
	return role
}

// note keeps the arguments of each call as they are when they are about to be parsed.
func (w *world) note(next tool.Handler) tool.Handler {
	return func(ctx context.Context, i tool.Invocation) envelope.Result {
		w.mu.Lock()
		w.arguments = append(w.arguments, string(i.Call.Arguments))
		w.mu.Unlock()
		return next(ctx, i)
	}
}

func (w *world) lastArguments() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.arguments) == 0 {
		return ""
	}
	return w.arguments[len(w.arguments)-1]
}

func agentOf(tenant string) approval.Principal {
	return approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "agent"}
}

func lead(tenant string) approval.Principal {
	return approval.Principal{Kind: approval.Person, Tenant: tenant, Subject: "lea", Roles: []string{"lead"}}
}

func (w *world) runConfig(tenant string) tool.RunConfig {
	return tool.RunConfig{ID: w.run, Principal: agentOf(tenant), Role: w.role, Budget: tool.Budget{Calls: 100_000}, Deadline: time.Now().Add(time.Hour)}
}

// approve is what a lead of t1 does on the page.
func (w *world) approve(proposal string) {
	w.t.Helper()
	approve(w.t, w.approvals, w.dispatcher, proposal)
}

func approve(t *testing.T, store approval.Store, d *tool.Dispatcher, proposal string) {
	t.Helper()
	const tenant = "t1"
	rec, err := store.Find(t.Context(), tenant, proposal)
	require.NoError(t, err)
	_, err = d.Decide(t.Context(), tenant, proposal, approval.Decision{Approved: true, By: lead(tenant), Digest: rec.Proposal.Digest})
	require.NoError(t, err)
}

var serverConfig = mcptool.Config{
	Name: "desk", Version: "1.2.3", Title: "The desk", Instructions: "Reads accounts and changes limits.",
	Page: func(proposal string) string { return "https://desk.example/approvals/p/" + proposal },
}

// tokens are what the tests' verifier knows: the tenant that each proves.
var tokens = map[string]string{"token-one": "t1", "token-one-b": "t1", "token-two": "t2"}

func verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	tenant, ok := tokens[token]
	if !ok {
		return nil, errors.Join(errors.New("CANARY of the verifier"), auth.ErrInvalidToken)
	}
	return &auth.TokenInfo{UserID: "agent", Expiration: time.Now().Add(time.Hour), Extra: map[string]any{"tenant": tenant}}, nil
}

// serveHTTP serves the world on a loopback address.
func (w *world) serveHTTP(change ...func(*mcptool.HTTPConfig)) *httptest.Server {
	w.t.Helper()
	cfg := mcptool.HTTPConfig{
		Config: serverConfig, Verify: verify,
		Open: func(_ context.Context, token *auth.TokenInfo) (tool.RunConfig, error) {
			tenant, ok := token.Extra["tenant"].(string)
			if !ok || len(token.Extra) != 1 {
				return tool.RunConfig{}, errors.New("the host sees something that its verifier did not say")
			}
			return w.runConfig(tenant), nil
		},
	}
	for _, f := range change {
		f(&cfg)
	}
	h, err := mcptool.NewHandler(w.dispatcher, cfg)
	require.NoError(w.t, err)
	server := httptest.NewServer(h)
	w.t.Cleanup(server.Close)
	return server
}

// bearer adds a token to every request.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// client is a client of the SDK's, in one protocol.
type client struct {
	*mcp.ClientSession
	t *testing.T
}

func dial(t *testing.T, transport mcp.Transport, protocol string, options *mcp.ClientOptions) client {
	t.Helper()
	if options == nil {
		options = &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	require.NoError(t, err)
	require.Equal(t, protocol, session.InitializeResult().ProtocolVersion)
	return client{session, t}
}

func dialHTTP(t *testing.T, server *httptest.Server, token, protocol string, options *mcp.ClientOptions) client {
	t.Helper()
	c := dial(t, &mcp.StreamableClientTransport{
		Endpoint: server.URL, HTTPClient: &http.Client{Transport: bearer{token, server.Client().Transport}}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, protocol, options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// pipes is a client and a server that talk over two pipes, as over standard input and output.
type pipes struct {
	in    *io.PipeWriter // what the client says
	out   *io.PipeReader // what it reads
	ended chan error     // what ServeStdio returned
}

func (w *world) serveStdio(cfg mcptool.Config) pipes {
	w.t.Helper()
	run, err := w.dispatcher.Start(w.runConfig("t1"))
	require.NoError(w.t, err)
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	p := pipes{in: clientOut, out: clientIn, ended: make(chan error, 1)}
	go func() {
		err := mcptool.ServeStdio(context.WithoutCancel(w.t.Context()), run, cfg, serverIn, serverOut)
		_ = serverOut.Close()
		p.ended <- err
	}()
	w.t.Cleanup(func() { _ = clientOut.Close() })
	return p
}

func (w *world) dialStdio(protocol string, options *mcp.ClientOptions) client {
	w.t.Helper()
	p := w.serveStdio(serverConfig)
	c := dial(w.t, &mcp.IOTransport{Reader: p.out, Writer: p.in}, protocol, options)
	w.t.Cleanup(func() {
		_ = c.Close()
		require.NoError(w.t, <-p.ended, "the server ends when its client has gone")
	})
	return c
}

func (c client) call(name, arguments string) (*mcp.CallToolResult, envelope.Result) {
	c.t.Helper()
	answer, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: name, Arguments: jsontext.Value(arguments)})
	require.NoError(c.t, err)
	return answer, enveloped(c.t, answer)
}
