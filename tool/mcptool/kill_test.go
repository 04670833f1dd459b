package mcptool_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/sqlitestore"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/mcptool"
)

// The tests of this file kill processes. The test's binary runs again as a server, over stdio or HTTP, and as a client; the bank is
// the test's own process and outlives them all, as do the SQLite files of the stores.

// childVariable marks a child and holds its part, its arguments in JSON.
const childVariable = "TOOLCONTRACT_MCPTOOL_CHILD"

type part struct {
	Play     string // stdio, http, client
	Dir      string // of the stores
	Bank     string // its address
	Server   string // of a client over HTTP; empty: it starts a server of its own
	Protocol string
	Proposal string
}

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(childVariable); ok {
		signal.Ignore(syscall.SIGPIPE)
		var p part
		err := json.Unmarshal([]byte(text), &p)
		if err == nil {
			err = p.run()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// command runs the part in a process of its own. What it complains of goes to stderr, which its own children inherit.
func (p part) command(ctx context.Context, stderr *os.File) *exec.Cmd {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	cmd.Stderr = stderr
	return cmd
}

func (p part) run() error {
	ctx := context.Background()
	if p.Play == "client" {
		return p.commit(ctx)
	}
	d, _, role, closing, err := openKept(ctx, p.Dir, remote{p.Bank})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.Dir, "pid"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	if p.Play == "stdio" {
		run, err := d.Start(keptRun(role))
		if err != nil {
			return err
		}
		return errors.Join(mcptool.ServeStdio(ctx, run, serverConfig, os.Stdin, os.Stdout), closing())
	}
	h, err := mcptool.NewHandler(d, mcptool.HTTPConfig{
		Config: serverConfig, Verify: verify, Open: func(context.Context, *auth.TokenInfo) (tool.RunConfig, error) { return keptRun(role), nil },
	})
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(listener) }()
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test is over
	return errors.Join(server.Close(), closing())
}

// commit is the client that is killed: it commits and never gets to read the answer.
func (p part) commit(ctx context.Context) error {
	session, err := mcp.NewClient(&mcp.Implementation{Name: "victim", Version: "1"}, nil).Connect(ctx, p.transport(ctx, os.Stderr), &mcp.ClientSessionOptions{ProtocolVersion: p.Protocol})
	if err != nil {
		return err
	}
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "commit_limit_v1", Arguments: jsontext.Value(commitOf(p.Proposal))})
	return err
}

func (p part) transport(ctx context.Context, stderr *os.File) mcp.Transport {
	if p.Server == "" {
		p.Play = "stdio"
		return &mcp.CommandTransport{Command: p.command(ctx, stderr)}
	}
	return &mcp.StreamableClientTransport{
		Endpoint: p.Server, HTTPClient: &http.Client{Transport: bearer{"token-one", http.DefaultTransport}}, MaxRetries: -1, DisableStandaloneSSE: true,
	}
}

// keptRun is the run of everybody in these tests: its proposals outlive a process.
func keptRun(role tool.Role) tool.RunConfig {
	return tool.RunConfig{ID: "login-17", Principal: agentOf("t1"), Role: role, Budget: tool.Budget{Calls: 100_000}, Deadline: time.Now().Add(time.Hour)}
}

// openKept opens a dispatcher on the files of dir.
func openKept(ctx context.Context, dir string, b books) (_ *tool.Dispatcher, _ approval.Store, role tool.Role, closing func() error, err error) {
	catalog, err := catalogueOf(b)
	if err != nil {
		return nil, nil, role, nil, err
	}
	if role, err = catalog.Role("desk", "preview_limit_v1", "commit_limit_v1"); err != nil {
		return nil, nil, role, nil, err
	}
	digester, err := redact.NewDigester(redact.Key{ID: "test", Secret: bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		return nil, nil, role, nil, err
	}
	approvals, err := sqlitestore.Open(ctx, filepath.Join(dir, "approvals.db"), redact.Plain())
	if err != nil {
		return nil, nil, role, nil, err
	}
	ledger, err := sqliteledger.Open(ctx, filepath.Join(dir, "ledger.db"), sqliteledger.Config{Sealer: redact.Plain()})
	if err != nil {
		return nil, nil, role, nil, err
	}
	d, err := tool.NewDispatcher(catalog, tool.Config{
		Policy: byLead(), Approvals: approvals, Authority: approval.ByRole{}, Ledger: ledger, Digester: digester, Audit: &audit.Recorder{}, Lease: time.Second,
	})
	return d, approvals, role, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return errors.Join(d.Close(ctx), ledger.Shutdown(), approvals.Close())
	}, err
}

// remote is the bank as another process sees it.
type remote struct{ address string }

func (remote) wait(context.Context) error { return nil } // the bank's side waits

func (r remote) ask(ctx context.Context, path string, query url.Values, answer any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.address+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusNotFound {
		return idem.ErrNotFound
	}
	return json.UnmarshalRead(response.Body, answer)
}

func (r remote) find(ctx context.Context, tenant, id string) (account, error) {
	var a struct{ Version, Limit int64 }
	err := r.ask(ctx, "/find", url.Values{"tenant": {tenant}, "id": {id}}, &a)
	return account{int(a.Version), a.Limit}, err
}

func (r remote) change(ctx context.Context, tenant, id, key string, limit int64) (out limitOut, err error) {
	return out, r.ask(ctx, "/change", url.Values{"tenant": {tenant}, "id": {id}, "key": {key}, "limit": {strconv.FormatInt(limit, 10)}}, &out)
}

func (r remote) status(ctx context.Context, key string) (out limitOut, err error) {
	return out, r.ask(ctx, "/status", url.Values{"key": {key}}, &out)
}

// ServeHTTP lets other processes reach the bank. A request that has arrived is carried out, whoever is still there to hear of it.
func (b *bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, q := context.WithoutCancel(r.Context()), r.URL.Query()
	var answer any
	var err error
	switch r.URL.Path {
	case "/find":
		var a account
		a, err = b.find(ctx, q.Get("tenant"), q.Get("id"))
		answer = struct{ Version, Limit int64 }{int64(a.version), a.limit}
	case "/change":
		limit, _ := strconv.ParseInt(q.Get("limit"), 10, 64)
		_ = b.wait(ctx)
		answer, err = b.change(ctx, q.Get("tenant"), q.Get("id"), q.Get("key"), limit)
	case "/status":
		answer, err = b.status(ctx, q.Get("key"))
	}
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_ = json.MarshalWrite(w, answer)
}

// scene is one killing: the part that everybody plays, and the test's own hand on the stores.
type scene struct {
	t    *testing.T
	bank *bank
	part part
	errs *os.File // where every process of the scene complains; its other end ends when the last of them has
}

func newScene(t *testing.T, protocol string) *scene {
	t.Helper()
	s := &scene{t: t, bank: newBank()}
	server := httptest.NewServer(s.bank)
	t.Cleanup(server.Close)
	s.part = part{Dir: t.TempDir(), Bank: server.URL, Protocol: protocol}
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	s.errs = writer
	t.Cleanup(func() { // before the directory goes
		require.NoError(t, writer.Close())
		complaints, err := io.ReadAll(reader)
		require.NoError(t, err)
		require.Empty(t, string(complaints))
	})
	d, approvals, role, closing, err := openKept(t.Context(), s.part.Dir, s.bank)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, closing()) })
	run, err := d.Start(keptRun(role))
	require.NoError(t, err)
	r := run.Call(t.Context(), envelope.Call{Tool: "preview_limit_v1", Arguments: jsontext.Value(`{"account_id":"a1","limit":500}`)})
	require.True(t, r.OK, "%+v", r.Error)
	var v proposalView
	require.NoError(t, json.Unmarshal(r.Data, &v))
	s.part.Proposal = v.ProposalID
	approve(t, approvals, d, v.ProposalID)
	return s
}

// serve starts a server over HTTP, to which the part's clients go.
func (s *scene) serve() {
	s.t.Helper()
	p := s.part
	p.Play = "http"
	cmd := p.command(s.t.Context(), s.errs)
	in, err := cmd.StdinPipe()
	require.NoError(s.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(s.t, err)
	s.part.Server = strings.TrimSpace(line)
}

// killMidCommit starts a client that commits, and kills it while the bank works.
func (s *scene) killMidCommit() {
	s.t.Helper()
	p := s.part
	p.Play = "client"
	cmd := p.command(s.t.Context(), s.errs)
	require.NoError(s.t, cmd.Start())
	<-s.bank.arrived
	require.NoError(s.t, cmd.Process.Kill())
	_ = cmd.Wait()
}

// killServer kills the process that wrote its id into the directory last.
func (s *scene) killServer() {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.part.Dir, "pid"))
	require.NoError(s.t, err)
	pid, err := strconv.Atoi(string(text))
	require.NoError(s.t, err)
	process, err := os.FindProcess(pid)
	require.NoError(s.t, err)
	require.NoError(s.t, process.Kill())
}

// next is a new session, with a new process where the transport is stdio.
func (s *scene) next() client {
	s.t.Helper()
	c := dial(s.t, s.part.transport(context.WithoutCancel(s.t.Context()), s.errs), s.part.Protocol, nil)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestAKilledClientLeavesOneEffectAndAnOperation(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"2026-07-28", "2025-06-18"} {
		for _, transport := range []string{"stdio", "http"} {
			for _, dead := range []string{"client", "client and server"} {
				t.Run(transport+"/"+protocol+"/"+dead+" killed", func(t *testing.T) {
					t.Parallel()
					s := newScene(t, protocol)
					if transport == "http" {
						s.serve()
					}
					let := s.bank.hold()
					defer let()
					s.killMidCommit()
					if dead != "client" {
						s.killServer()
						if transport == "http" {
							s.serve()
						}
					}

					c := s.next()
					_, r := c.call("commit_limit_v1", commitOf(s.part.Proposal))
					// Where the server is dead too, its lease may have ended by now: then nobody knows, until the bank is asked.
					underWay := []envelope.Code{envelope.InProgress, envelope.OutcomeUnknown}
					if dead == "client" {
						underWay = underWay[:1]
					}
					require.False(t, r.OK)
					require.Contains(t, underWay, r.Error.Code, "the operation is there, and is not begun again")
					operation := operationOf(t, r)
					require.Zero(t, s.bank.count())
					let()
					require.Equal(t, "succeeded", c.finally(operation), "the ledger tells the truth to whoever asks next")
					require.Equal(t, 1, s.bank.count(), "one effect")
					if dead == "client" {
						require.Zero(t, s.bank.asked.Load(), "its server went on, and nobody had to ask the bank")
					}

					_, r = s.next().call("commit_limit_v1", commitOf(s.part.Proposal))
					require.True(t, r.OK && r.Replayed, "%+v", r.Error)
					require.Equal(t, operation, operationOf(t, r))
					require.Equal(t, 1, s.bank.count())
				})
			}
		}
	}
}
