package mcptool_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/mcptool"
)

func TestTwoTenantsAtOnce(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			server := w.serveHTTP()
			one, two := dialHTTP(t, server, "token-one", protocol, nil), dialHTTP(t, server, "token-two", protocol, nil)
			proposals := map[string]string{}
			var mu sync.Mutex
			var both sync.WaitGroup
			for tenant, c := range map[string]client{"t1": one, "t2": two} {
				both.Go(func() {
					for range 5 {
						_, r := c.call("get_account_v1", `{"account_id":"a1"}`)
						if !r.OK || !strings.Contains(string(r.Data), `"owner":"`+tenant+`"`) {
							t.Errorf("%s read %s", tenant, r.Data)
						}
					}
					proposal, _ := c.preview("preview_limit_v1")
					mu.Lock()
					defer mu.Unlock()
					proposals[tenant] = proposal
				})
			}
			both.Wait()

			w.approve(proposals["t1"])
			_, r := two.call("commit_limit_v1", commitOf(proposals["t1"]))
			require.Equal(t, envelope.NotFound, r.Error.Code, "another tenant's proposal does not exist")
			_, r = one.call("commit_limit_v1", commitOf(proposals["t1"]))
			require.True(t, r.OK, "%+v", r.Error)
			require.Equal(t, 1, w.bank.count())
			operation := operationOf(t, r)
			_, r = two.call("get_operation_v1", `{"operation_id":"`+operation+`"}`)
			require.Equal(t, envelope.NotFound, r.Error.Code, "nor does its operation")
			_, r = one.call("get_operation_v1", `{"operation_id":"`+operation+`"}`)
			require.True(t, r.OK)
		})
	}
}

func operationOf(t *testing.T, r envelope.Result) string {
	t.Helper()
	if r.Error != nil {
		require.NotEmpty(t, r.Error.OperationID)
		return r.Error.OperationID
	}
	out, err := r.Decode[limitOut]()
	require.NoError(t, err)
	return out.OperationID
}

// post sends one message with the headers given.
func post(t *testing.T, server *httptest.Server, message string, headers map[string]string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(message))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	response, err := server.Client().Do(r)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, response.Header, string(body)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

func TestASessionIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	for name, verifier := range map[string]auth.TokenVerifier{
		"the host names users": verify,
		"the host names nobody": func(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
			info, err := verify(ctx, token, r)
			if info != nil {
				info.UserID = ""
			}
			return info, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			server := w.serveHTTP(func(c *mcptool.HTTPConfig) { c.Verify = verifier })
			status, header, body := post(t, server, initialize, map[string]string{"Authorization": "Bearer token-one"})
			require.Equal(t, http.StatusOK, status, body)
			session := header.Get("Mcp-Session-Id")
			require.NotEmpty(t, session)
			read := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_account_v1","arguments":{"account_id":"a1"}}}`
			for token, want := range map[string]int{"token-one": 200, "token-one-b": 200, "token-two": 403, "token-none": 401} {
				status, _, body := post(t, server, read, map[string]string{"Authorization": "Bearer " + token, "Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25"})
				require.Equal(t, want, status, "%s: %s", token, body)
				if want == 200 {
					require.Contains(t, body, `"owner":"t1"`, token)
				}
			}
		})
	}
}

func TestNobodyIsLetInWithoutAToken(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.DebugLevel)
	w := newWorld(t)
	server := w.serveHTTP(func(c *mcptool.HTTPConfig) {
		c.Logger = zap.New(core)
		c.Verify = func(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
			switch token {
			case "panics":
				panic("CANARY")
			case "broken":
				return nil, errors.New("CANARY dial tcp 10.1.2.3:443")
			case "nothing":
				return nil, nil //nolint:nilnil // what a careless verifier does
			case "eternal":
				return &auth.TokenInfo{Extra: map[string]any{"tenant": "t1"}}, nil
			case "expired":
				return &auth.TokenInfo{Expiration: time.Now().Add(-time.Minute)}, nil
			case "stranger":
				return &auth.TokenInfo{Expiration: time.Now().Add(time.Minute), Extra: map[string]any{"tenant": "CANARY"}}, nil
			case "panicky":
				return &auth.TokenInfo{Expiration: time.Now().Add(time.Minute), Extra: map[string]any{"tenant": "panic"}}, nil
			case "invalid":
				return &auth.TokenInfo{Expiration: time.Now().Add(time.Minute)}, nil
			}
			return verify(ctx, token, r)
		}
		open := c.Open
		c.Open = func(ctx context.Context, info *auth.TokenInfo) (tool.RunConfig, error) {
			switch info.Extra["tenant"] {
			case "panic":
				panic("CANARY")
			case "CANARY":
				return tool.RunConfig{}, errors.New("CANARY is not a tenant of ours")
			}
			return open(ctx, info)
		}
	})
	for header, want := range map[string]int{
		"": 401, "Basic Zm9vOmJhcg==": 401, "Bearer": 401, "Bearer a b": 401, "Bearer CANARY": 401, "Bearer broken": 500, "Bearer panics": 500, "Bearer panicky": 403, "Bearer nothing": 500,
		"Bearer eternal": 401, "Bearer expired": 401, "Bearer stranger": 403, "Bearer invalid": 403,
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			r, err := http.NewRequestWithContext(t.Context(), method, server.URL, strings.NewReader(callFrame("get_account_v1", `{"account_id":"a1"}`)))
			require.NoError(t, err)
			if header != "" {
				r.Header.Set("Authorization", header)
			}
			response, err := server.Client().Do(r)
			require.NoError(t, err)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, want, response.StatusCode, "%s %q", method, header)
			require.NotContains(t, string(body), "CANARY")
		}
	}
	require.Empty(t, w.lastArguments())
	require.NotZero(t, logs.Len())
	for _, e := range logs.All() {
		require.NotContains(t, e.Message, "CANARY")
		require.NotContains(t, e.ContextMap(), "CANARY")
		for _, v := range e.ContextMap() {
			require.NotContains(t, v, "CANARY")
		}
	}
}

func TestEachTokenHasOneBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.serveHTTP(func(c *mcptool.HTTPConfig) {
		open := c.Open
		c.Open = func(ctx context.Context, info *auth.TokenInfo) (tool.RunConfig, error) {
			rc, err := open(ctx, info)
			rc.Budget.Calls = 4
			return rc, err
		}
	})
	read := func(token, protocol string) envelope.Code {
		_, r := dialHTTP(t, server, token, protocol, nil).call("get_account_v1", `{"account_id":"a1"}`)
		if r.OK {
			return ""
		}
		return r.Error.Code
	}
	require.Empty(t, read("token-one", "2026-07-28"))
	require.Empty(t, read("token-one", "2025-11-25"), "another session, another protocol, the same budget")
	_, err := dialHTTP(t, server, "token-one", "2025-06-18", nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "no_such_v1"})
	require.Error(t, err, "an unknown tool counts")
	require.Empty(t, read("token-one", "2025-06-18"))
	require.Equal(t, envelope.BudgetExhausted, read("token-one", "2025-11-25"))
	require.Equal(t, envelope.BudgetExhausted, read("token-one", "2026-07-28"))
	require.Empty(t, read("token-one-b", "2026-07-28"), "another token of the same person is another run")
}

func TestARunThatTheHostNamesOutlivesItsToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.serveHTTP(func(c *mcptool.HTTPConfig) {
		open := c.Open
		c.Open = func(ctx context.Context, info *auth.TokenInfo) (tool.RunConfig, error) {
			rc, err := open(ctx, info)
			rc.ID = "login-17"
			return rc, err
		}
	})
	proposal, _ := dialHTTP(t, server, "token-one", "2026-07-28", nil).preview("preview_limit_v1")
	w.approve(proposal)
	_, r := dialHTTP(t, server, "token-one-b", "2026-07-28", nil).call("commit_limit_v1", commitOf(proposal))
	require.True(t, r.OK, "the renewed token commits what the first one proposed: %+v", r.Error)
}

func TestEachRoleHasItsOwnList(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			narrow := w.roleOf("get_account_v1")
			server := w.serveHTTP(func(c *mcptool.HTTPConfig) {
				open := c.Open
				c.Open = func(ctx context.Context, info *auth.TokenInfo) (tool.RunConfig, error) {
					rc, err := open(ctx, info)
					if rc.Principal.Tenant == "t2" {
						rc.Role = narrow
					}
					return rc, err
				}
			})
			wide, small := dialHTTP(t, server, "token-one", protocol, nil), dialHTTP(t, server, "token-two", protocol, nil)
			require.Len(t, listed(t, wide), len(w.role.Tools()))
			require.Len(t, listed(t, small), 1)
			_, err := small.CallTool(t.Context(), &mcp.CallToolParams{Name: "preview_limit_v1", Arguments: jsontext.Value(`{}`)})
			require.Error(t, err, "what is not listed is unknown")
			require.Len(t, listed(t, wide), len(w.role.Tools()), "in both")
		})
	}
}

// A session lists what its first token could call; each call asks what its own token may.
func TestASessionLendsNoRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	narrow := w.roleOf("get_account_v1")
	var wide atomic.Bool
	server := w.serveHTTP(func(c *mcptool.HTTPConfig) {
		open := c.Open
		c.Open = func(ctx context.Context, info *auth.TokenInfo) (tool.RunConfig, error) {
			rc, err := open(ctx, info)
			if !wide.Load() {
				rc.Role = narrow
			}
			return rc, err
		}
	})
	small := dialHTTP(t, server, "token-one", "2025-11-25", nil)
	wide.Store(true)
	_, r := small.call("get_ticket_v1", `{}`)
	require.True(t, r.OK, "the role is wider now than the session's list")
	big := dialHTTP(t, server, "token-one", "2025-11-25", nil)
	wide.Store(false)
	_, r = big.call("get_ticket_v1", `{}`)
	require.Equal(t, envelope.NotPermitted, r.Error.Code, "and now it is narrower")
}

func TestForeignPagesMayNotCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.serveHTTP(func(c *mcptool.HTTPConfig) { c.Origins = []string{"https://app.example"} })
	for origin, want := range map[string]int{"https://evil.example": 403, "https://app.example": 200, "": 200} {
		headers := map[string]string{
			"Authorization": "Bearer token-one", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "get_account_v1",
		}
		if origin != "" {
			headers["Origin"] = origin
			headers["Sec-Fetch-Site"] = "cross-site"
		}
		status, _, body := post(t, server, callFrame("get_account_v1", `{"account_id":"a1"}`), headers)
		require.Equal(t, want, status, "%q: %s", origin, body)
	}
}

func TestConfigurationsThatDoNotStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fine := func() mcptool.HTTPConfig {
		return mcptool.HTTPConfig{Config: serverConfig, Verify: verify, Open: func(context.Context, *auth.TokenInfo) (tool.RunConfig, error) { return tool.RunConfig{}, nil }}
	}
	_, err := mcptool.NewHandler(w.dispatcher, fine())
	require.NoError(t, err)
	for place, spoil := range map[string]func(*mcptool.HTTPConfig){
		"name":            func(c *mcptool.HTTPConfig) { c.Name = "" },
		"version":         func(c *mcptool.HTTPConfig) { c.Version = "1\x00" },
		"title":           func(c *mcptool.HTTPConfig) { c.Title = strings.Repeat("x", 129) },
		"instructions":    func(c *mcptool.HTTPConfig) { c.Instructions = strings.Repeat("x", 4097) },
		"max_message":     func(c *mcptool.HTTPConfig) { c.MaxMessage = -1 },
		"verify":          func(c *mcptool.HTTPConfig) { c.Verify = nil },
		"open":            func(c *mcptool.HTTPConfig) { c.Open = nil },
		"session_timeout": func(c *mcptool.HTTPConfig) { c.SessionTimeout = -1 },
		"origins":         func(c *mcptool.HTTPConfig) { c.Origins = []string{"https://a.example/path"} },
	} {
		cfg := fine()
		spoil(&cfg)
		_, err := mcptool.NewHandler(w.dispatcher, cfg)
		require.ErrorContains(t, err, "mcptool: config: "+place+": ")
	}
	_, err = mcptool.NewHandler(nil, mcptool.HTTPConfig{})
	for _, place := range []string{"name", "version", "dispatcher", "verify", "open"} {
		require.ErrorContains(t, err, "config: "+place+": ", "all faults at once")
	}
	require.ErrorContains(t, mcptool.ServeStdio(t.Context(), nil, serverConfig, strings.NewReader(""), io.Discard), "run: must be set")
	run, err := w.dispatcher.Start(w.runConfig("t1"))
	require.NoError(t, err)
	require.ErrorContains(t, mcptool.ServeStdio(t.Context(), run, mcptool.Config{}, strings.NewReader(""), io.Discard), "config: name")
}

func TestANameThatStandsTwiceDoesNotStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, err := w.dispatcher.Start(w.runConfig("t1"))
	require.NoError(t, err)
	tools := run.Tools()
	require.NoError(t, mcptool.BuildServer(tools))
	require.ErrorContains(t, mcptool.BuildServer(append(tools, tools[0])), `tool "cancel_operation_v1": stands twice`, "the SDK would keep the last")
}
