package sshcmd_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/claimctx"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/validate"
	"github.com/toolcontract/toolcontract/validate/upstream"
	"github.com/toolcontract/toolcontract/validate/upstream/sshcmd"
)

type (
	query struct{ Run string }
	state struct {
		Run   string `json:"run" jsonschema:"maxLength=64"`
		State string `json:"state" jsonschema:"enum=running,enum=failed"`
	}
)

var caller = upstream.Caller{Tenant: "t1", Tool: "ask_v1", RequestID: "req_1"}

// remote is a server, a user who may log in, and a script that it runs.
type remote struct {
	*server
	cfg    sshcmd.Config
	script string
}

func newRemote(t *testing.T, script string) remote {
	t.Helper()
	user := signer(t)
	s := listen(t, user)
	path := filepath.Join(t.TempDir(), "jobctl")
	require.NoError(t, os.WriteFile(path, []byte(script+"\n"), 0o600))
	return remote{server: s, script: path, cfg: sshcmd.Config{
		Address: s.address, HostKeys: []string{s.hostKey}, Command: []string{"/bin/sh", path, "show"},
		Client: func(_ context.Context, by upstream.Caller) (*ssh.ClientConfig, error) {
			if by != caller {
				return nil, errors.New("somebody else")
			}
			return &ssh.ClientConfig{User: "agent", Auth: []ssh.AuthMethod{ssh.PublicKeys(user)}}, nil
		},
	}}
}

func (r remote) definition(t *testing.T) upstream.Command[query, state] {
	t.Helper()
	runner, err := sshcmd.New(r.cfg)
	require.NoError(t, err)
	return upstream.Command[query, state]{
		Operation: upstream.Operation[query, state]{
			Name: "ci.show",
			Same: func(asked query, got state) error { return validate.Same("run", asked.Run, got.Run) },
		},
		Runner: runner, Args: func(q query) ([]string, error) { return []string{q.Run}, nil },
	}
}

func (r remote) ask(ctx context.Context, t *testing.T, def upstream.Command[query, state], run string) (state, error) {
	t.Helper()
	c, err := upstream.NewCommand(def)
	require.NoError(t, err)
	return c.Ask(ctx, caller, query{run})
}

const answer = `echo '{"run":"'$2'","state":"running"}'; echo 'warning: a banner' >&2`

func TestAnswer(t *testing.T) {
	t.Parallel()
	r := newRemote(t, answer)
	ctx, mark := claimctx.With(t.Context())
	got, err := r.ask(ctx, t, r.definition(t), "run_1")
	require.NoError(t, err)
	require.Equal(t, state{"run_1", "running"}, got)
	require.True(t, mark.Sent())
	_, commands := r.seen()
	require.Equal(t, []string{"/bin/sh " + r.script + " show run_1"}, commands)
}

func TestOutputRules(t *testing.T) {
	t.Parallel()
	const document = `'{"run":"run_1","state":"running"}'`
	for _, row := range []struct {
		name, why, script string
		code              envelope.Code
		rule              string
	}{
		{"greeting", "text before the document", "echo Welcome; echo " + document, envelope.InvalidResponse, "malformed_json"},
		{"trailer", "text after the document", "echo " + document + "; echo bye", envelope.InvalidResponse, "trailing_data"},
		{"exit status", "the document is not read", "echo " + document + "; exit 3", envelope.UpstreamUnavailable, "exit"},
		{"declared exit", "this one means that there is none", "exit 4", envelope.NotFound, "exit"},
		{"killed", "a signal is no exit", "echo " + document + "; kill -9 $PPID", envelope.UpstreamUnavailable, "transport"},
		{"other run", "bound to the question", `echo '{"run":"run_2","state":"running"}'`, envelope.InvalidResponse, "same"},
		{"nothing", "no document", "true", envelope.InvalidResponse, "malformed_json"},
		{"too much", "counted while it is read", "head -c 1048577 /dev/zero", envelope.InvalidResponse, "limit"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRemote(t, row.script+"\n")
			def := r.definition(t)
			def.Exits = map[int]envelope.Code{4: envelope.NotFound}
			_, err := r.ask(t.Context(), t, def, "run_1")
			var refusal *upstream.Error
			require.ErrorAs(t, err, &refusal, row.why)
			require.Equal(t, row.code, refusal.Code, row.why)
			require.Equal(t, row.rule, refusal.Rule, row.why)
			require.True(t, refusal.Sent)
		})
	}
}

func TestStderrIsForTheOperators(t *testing.T) {
	t.Parallel()
	r := newRemote(t, "echo canary-on-stderr >&2; echo canary-on-stdout")
	q := audit.NewMemoryQuarantine(audit.MemoryQuarantineConfig{Audit: &audit.Recorder{}})
	def := r.definition(t)
	def.Operation.Host.Quarantine = q
	_, err := r.ask(t.Context(), t, def, "run_1")
	require.NotContains(t, err.Error()+errors.Unwrap(err).Error(), "canary")
	item, err := q.Open(t.Context(), "staff", caller.RequestID)
	require.NoError(t, err)
	require.Equal(t, "canary-on-stdout\n", string(item.Raw))
	require.Equal(t, "canary-on-stderr\n", string(item.Before[0].Raw))
}

// Nothing of a hostile argument reaches a shell: it is refused, not quoted, and nobody connects.
func TestHostileArguments(t *testing.T) {
	t.Parallel()
	r := newRemote(t, answer)
	file := filepath.Join(t.TempDir(), "pwned")
	for _, arg := range []string{
		"", " ", "a b", "a\tb", "a\nb", "a;touch " + file, "$(touch " + file + ")", "`touch " + file + "`", "a|b", "a&b", "a&&b", "a>b", "a<b",
		"'", `"`, `\`, `a\ b`, "$HOME", "${HOME}", "~", "~root", "*", "?", "[a]", "{a,b}", "#a", "!a", "a!b", "^a", "=ls", "a\x00b", "a\x1bb", "é", "\u202e", "a%b", "(a)",
		strings.Repeat("a", 257),
	} {
		ctx, mark := claimctx.With(t.Context())
		_, err := r.ask(ctx, t, r.definition(t), arg)
		var e *envelope.Error
		require.ErrorAs(t, err, &e, "%q", arg)
		require.Equal(t, envelope.Internal, e.Code, "%q", arg)
		require.True(t, upstream.Unsent(err), "%q", arg)
		require.False(t, mark.Sent(), "%q", arg)
		if strings.TrimSpace(arg) != "" && len(arg) > 3 {
			require.NotContains(t, errors.Unwrap(err).Error(), arg)
		}
	}
	logins, commands := r.seen()
	require.Zero(t, logins)
	require.Empty(t, commands)
	require.NoFileExists(t, file)
	for _, arg := range []string{"run_1", "--format=json", "-v", "a@b.example", "2026-08-14T16:25:00+02:00", "/a/b,c", strings.Repeat("a", 256), "--", "_"} {
		runner, err := sshcmd.New(r.cfg)
		require.NoError(t, err)
		require.NoError(t, runner.Check([]string{arg}), "%q", arg)
	}
	runner, err := sshcmd.New(r.cfg)
	require.NoError(t, err)
	many := slices.Repeat([]string{"a"}, 64-len(r.cfg.Command)+1)
	require.NoError(t, runner.Check(many[1:]))
	require.Error(t, runner.Check(many), "64 words in all")
	exit, err := runner.Run(t.Context(), upstream.Job{Caller: caller, Args: []string{"a;b"}})
	require.Equal(t, -1, exit)
	require.ErrorIs(t, err, upstream.ErrNotStarted, "also where nobody has checked before")
}

func TestHostKey(t *testing.T) {
	t.Parallel()
	r := newRemote(t, answer)
	other := publicLine(signer(t))
	for _, row := range []struct {
		name, why string
		keys      []string
		good      bool
	}{
		{"pinned", "the machine's own", []string{r.hostKey}, true},
		{"in change", "one of two", []string{other, r.hostKey}, true},
		{"with a comment", "as files have it", []string{r.hostKey + " root@ci-1"}, true},
		{"another's", "somebody stands in between", []string{other}, false},
	} {
		cfg := r.cfg
		cfg.HostKeys = row.keys
		before, _ := r.seen()
		_, err := remote{r.server, cfg, r.script}.ask(t.Context(), t, remote{r.server, cfg, r.script}.definition(t), "run_1")
		require.Equal(t, row.good, err == nil, "%s: %s", row.name, row.why)
		after, _ := r.seen()
		require.Equal(t, row.good, after > before, "no one logs in to a machine that is not known")
		if err != nil {
			require.True(t, upstream.Unsent(err))
		}
	}
}

func TestClientThatTrustsAnybody(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why string
		change    func(*ssh.ClientConfig) *ssh.ClientConfig
	}{
		{"insecure", "any key is welcome", func(c *ssh.ClientConfig) *ssh.ClientConfig {
			c.HostKeyCallback = ssh.InsecureIgnoreHostKey()
			return c
		}},
		{"of its own", "a second opinion is one too many", func(c *ssh.ClientConfig) *ssh.ClientConfig {
			c.HostKeyCallback = func(string, net.Addr, ssh.PublicKey) error { return nil }
			return c
		}},
		{"algorithms", "which the pins decide", func(c *ssh.ClientConfig) *ssh.ClientConfig {
			c.HostKeyAlgorithms = []string{ssh.KeyAlgoRSA}
			return c
		}},
		{"none", "nobody logs in", func(*ssh.ClientConfig) *ssh.ClientConfig { return nil }},
	} {
		r := newRemote(t, answer)
		inner := r.cfg.Client
		r.cfg.Client = func(ctx context.Context, by upstream.Caller) (*ssh.ClientConfig, error) {
			c, err := inner(ctx, by)
			return row.change(c), err
		}
		_, err := r.ask(t.Context(), t, r.definition(t), "run_1")
		require.True(t, upstream.Unsent(err), "%s: %s", row.name, row.why)
		logins, _ := r.seen()
		require.Zero(t, logins)
	}
}

func TestNothingIsSentWithoutLogin(t *testing.T) {
	t.Parallel()
	r := newRemote(t, answer)
	stranger := signer(t)
	r.cfg.Client = func(context.Context, upstream.Caller) (*ssh.ClientConfig, error) {
		return &ssh.ClientConfig{User: "agent", Auth: []ssh.AuthMethod{ssh.PublicKeys(stranger)}}, nil
	}
	ctx, mark := claimctx.With(t.Context())
	_, err := r.ask(ctx, t, r.definition(t), "run_1")
	require.True(t, upstream.Unsent(err))
	require.False(t, mark.Sent())
	r.cfg.Client = func(context.Context, upstream.Caller) (*ssh.ClientConfig, error) {
		return nil, errors.New("vault sealed")
	}
	_, err = r.ask(t.Context(), t, r.definition(t), "run_1")
	require.True(t, upstream.Unsent(err))
	_, commands := r.seen()
	require.Empty(t, commands)
}

type vault []upstream.Credential

func (v vault) For(context.Context, upstream.Caller, string) ([]upstream.Credential, error) {
	return v, nil
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	r := newRemote(t, `test "$TOKEN" = s3cret-value && `+answer)
	def := r.definition(t)
	def.Credentials = vault{{Name: "TOKEN", Value: redact.NewSecret("s3cret-value")}}
	_, err := r.ask(t.Context(), t, def, "run_1")
	require.NoError(t, err)
	r.refuses = true
	ctx, mark := claimctx.With(t.Context())
	_, err = r.ask(ctx, t, def, "run_1")
	require.True(t, upstream.Unsent(err), "a server that takes no variables")
	require.False(t, mark.Sent())
	_, commands := r.seen()
	require.Len(t, commands, 1)
}

func TestLostConnection(t *testing.T) {
	t.Parallel()
	r := newRemote(t, answer)
	r.drop = true
	_, err := r.ask(t.Context(), t, r.definition(t), "run_1")
	var refusal *upstream.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, envelope.UpstreamUnavailable, refusal.Code)
	require.True(t, refusal.Sent, "what the command did, nobody knows")
}

func TestContextThatEnds(t *testing.T) {
	t.Parallel()
	r := newRemote(t, "exec sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := r.ask(ctx, t, r.definition(t), "run_1")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(began), 30*time.Second)
}

// A machine that takes the connection and says nothing does not hold anybody.
func TestSilentMachine(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	r := newRemote(t, answer)
	r.cfg.Address, r.cfg.Timeout = l.Addr().String(), 100*time.Millisecond
	_, err = r.ask(t.Context(), t, r.definition(t), "run_1")
	require.True(t, upstream.Unsent(err))
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, envelope.UpstreamUnavailable, e.Code, "its time was up, not the caller's")
}

func TestConfigsThatAreWrong(t *testing.T) {
	t.Parallel()
	_, err := sshcmd.New(sshcmd.Config{Timeout: -1, HostKeys: []string{"ssh-ed25519 AAAA", `command="x" ` + publicLine(signer(t))}})
	for _, fault := range []string{"address:", "host_keys[0]", "host_keys[1]", "command: must be set", "client:", "timeout:"} {
		require.ErrorContains(t, err, fault)
	}
	_, err = sshcmd.New(sshcmd.Config{Address: "h:22", Command: []string{"sh -c x"}})
	require.ErrorContains(t, err, "host_keys: the machine must be known")
	require.ErrorContains(t, err, "command: sshcmd: an argument is more to a shell")
	_, err = sshcmd.New(sshcmd.Config{Command: []string{"-rf"}})
	require.ErrorContains(t, err, "command: sshcmd", "a program is no option")
}
