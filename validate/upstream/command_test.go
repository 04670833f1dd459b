package upstream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/claimctx"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// surroundings is what the command "about" finds.
type surroundings struct {
	Args         []string `json:"args"`
	Dir          string   `json:"dir"`
	Stdin        int      `json:"stdin"`
	Env          []string `json:"env"`
	SecretLength int      `json:"secret_length"`
	ByDescriptor bool     `json:"by_descriptor"`
}

func asked(t *testing.T, def upstream.Command[struct{}, surroundings]) surroundings {
	t.Helper()
	def.Operation.Name = "local.about"
	c, err := upstream.NewCommand(def)
	require.NoError(t, err)
	got, err := c.Ask(t.Context(), caller, struct{}{})
	require.NoError(t, err)
	return got
}

func TestCommandGetsWhatItIsGivenAndNothingElse(t *testing.T) {
	t.Parallel()
	local := command(t, "about")
	words := []string{"$(id)", "; rm -rf /", "a b", "*", "--x", "'", `"`, "\n", ""}
	args := func(struct{}) ([]string, error) { return words, nil }
	got := asked(t, upstream.Command[struct{}, surroundings]{Runner: local, Args: args})
	require.Equal(t, surroundings{Args: words, Dir: "/", Env: []string{helper}}, got, "words as they are, no environment, no input")

	local.Dir = t.TempDir()
	local.Env["LANG"] = "C"
	v := &vault{give: []upstream.Credential{{Name: "TOKEN", Value: redact.NewSecret(token)}}}
	got = asked(t, upstream.Command[struct{}, surroundings]{Runner: local, Args: args, Credentials: v})
	require.Equal(t, surroundings{Args: words, Dir: local.Dir, Env: []string{"LANG", helper, "TOKEN"}, SecretLength: len(token)}, got)

	local.Descriptors = true
	got = asked(t, upstream.Command[struct{}, surroundings]{Runner: local, Args: args, Credentials: v})
	require.True(t, got.ByDescriptor, "the variable says where the credential is, not what")
	require.Equal(t, len("through 3: ")+len(token), got.SecretLength)
}

func reviewCommand(local upstream.Runner) upstream.Command[reviewQuery, reviewStatus] {
	return upstream.Command[reviewQuery, reviewStatus]{
		Operation: reviewOperation(), Runner: local, Args: func(reviewQuery) ([]string, error) { return nil, nil },
	}
}

func commandRefusal(ctx context.Context, t *testing.T, def upstream.Command[reviewQuery, reviewStatus]) (*envelope.Error, *upstream.Error) {
	t.Helper()
	c, err := upstream.NewCommand(def)
	require.NoError(t, err)
	got, err := c.Ask(ctx, caller, reviewQuery{"CR-4471"})
	require.Zero(t, got)
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	var r *upstream.Error
	require.ErrorAs(t, err, &r)
	return e, r
}

func TestExitStatusBeforeOutput(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why string
		stdout    string
		exit      int
		exits     map[int]envelope.Code
		code      envelope.Code
	}{
		{"failed", "what it wrote is not read", goodReview, 1, nil, envelope.UpstreamUnavailable},
		{"declared", "this one means that there is none", "", 4, map[int]envelope.Code{4: envelope.NotFound}, envelope.NotFound},
		{"not declared", "the rule", "", 5, map[int]envelope.Code{4: envelope.NotFound}, envelope.UpstreamUnavailable},
		{"two documents", "exactly one", goodReview + goodReview, 0, nil, envelope.InvalidResponse},
	} {
		def := reviewCommand(emitter(t, []byte(row.stdout), []byte("on stderr"), row.exit))
		def.Exits = row.exits
		e, r := commandRefusal(t.Context(), t, def)
		require.Equal(t, row.code, e.Code, "%s: %s", row.name, row.why)
		require.Equal(t, row.exit, r.Exit)
		require.True(t, r.Sent)
		proof, _, _ := envelope.Proven(upstream.Proof(e, 4))
		require.Equal(t, row.exit == 4, proof == envelope.ProofRefused, row.name)
	}
}

func TestCommandThatWritesTooMuch(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why, kilobytes, exit string
		code                       envelope.Code
		rule                       string
	}{
		{"over the limit", "counted while it is read", "1025", "0", envelope.InvalidResponse, "limit"},
		{"over the limit and failed", "the exit status comes first", "2048", "3", envelope.UpstreamUnavailable, "exit"},
		{"without end", "patience is bounded too", "1000000", "3", envelope.InvalidResponse, "limit"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			e, r := commandRefusal(t.Context(), t, reviewCommand(command(t, "flood", row.kilobytes, row.exit)))
			require.Equal(t, row.code, e.Code, row.why)
			require.Equal(t, row.rule, r.Rule, row.why)
		})
	}
}

func TestCommandThatDoesNotBegin(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why string
		change    func(*upstream.Local)
		args      []string
		code      envelope.Code
		rule      string
	}{
		{"missing", "no such program", func(l *upstream.Local) { l.Path = "/nonexistent/tool" }, nil, envelope.UpstreamUnavailable, "transport"},
		{"a directory", "nothing to run", func(l *upstream.Local) { l.Path = "/" }, nil, envelope.UpstreamUnavailable, "transport"},
		{"relative", "found by nobody's PATH", func(l *upstream.Local) { l.Path = "tool" }, nil, envelope.Internal, "request"},
		{"relative directory", "wherever the process happens to be", func(l *upstream.Local) { l.Dir = "x" }, nil, envelope.Internal, "request"},
		{"environment", "two variables in one", func(l *upstream.Local) { l.Env = map[string]string{"A=B": "c"} }, nil, envelope.Internal, "request"},
		{"NUL", "an argument that would end early", func(*upstream.Local) {}, []string{"a\x00b"}, envelope.Internal, "request"},
		{"too many", "bounded", func(*upstream.Local) {}, make([]string, 257), envelope.Internal, "request"},
		{"too long", "bounded", func(*upstream.Local) {}, []string{strings.Repeat("a", 64<<10)}, envelope.Internal, "request"},
	} {
		local := command(t, "emit")
		row.change(&local)
		def := reviewCommand(local)
		def.Args = func(reviewQuery) ([]string, error) { return row.args, nil }
		v := &vault{give: []upstream.Credential{{Name: "TOKEN", Value: redact.NewSecret(token)}}}
		def.Credentials = v
		ctx, mark := claimctx.With(t.Context())
		e, r := commandRefusal(ctx, t, def)
		require.Equal(t, row.code, e.Code, "%s: %s", row.name, row.why)
		require.Equal(t, row.rule, r.Rule)
		require.True(t, upstream.Unsent(e), row.name)
		require.False(t, mark.Sent(), row.name)
		require.Equal(t, row.rule != "request", v.asked.Load() > 0, "credentials are asked for after the arguments are checked")
		require.NotContains(t, printed(e), local.Path+"/")
	}
	ctx, mark := claimctx.With(t.Context())
	_, _ = commandRefusal(ctx, t, reviewCommand(emitter(t, nil, nil, 1)))
	require.True(t, mark.Sent())
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// eventually waits for what another process does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 10*time.Second, 5*time.Millisecond, what)
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(text))
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

func TestChildrenDoNotOutliveTheCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	c, err := upstream.NewCommand(reviewCommand(command(t, "child", file)))
	require.NoError(t, err)
	got, err := c.Ask(t.Context(), caller, reviewQuery{"CR-4471"})
	require.NoError(t, err, "the command has ended; its child only held the pipe")
	require.Equal(t, "harbor-desk", got.ReviewedBy)
	pid := pidIn(t, file)
	eventually(t, "the child is killed", func() bool { return gone(pid) || zombie(pid) })

	file = filepath.Join(t.TempDir(), "pid")
	e, r := commandRefusal(t.Context(), t, reviewCommand(command(t, "child", file, "escape")))
	require.Equal(t, envelope.UpstreamUnavailable, e.Code, "who left the group holds the pipe: nobody knows whether there is more")
	require.Equal(t, "transport", r.Rule)
	_ = pidIn(t, file)
}

// zombie reports whether a process has ended and nobody has asked how.
func zombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(text), ") Z ")
}

func TestCommandEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	e, _ := commandRefusal(ctx, t, reviewCommand(command(t, "wait")))
	require.Equal(t, envelope.DeadlineExceeded, e.Code)
	require.Less(t, time.Since(began), 30*time.Second)

	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	c, err := upstream.NewCommand(reviewCommand(command(t, "wait")))
	require.NoError(t, err)
	_, err = c.Ask(ctx, caller, reviewQuery{"CR-4471"})
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, upstream.Unsent(err))
}

func TestNoEnvironmentIsAnEmptyOne(t *testing.T) {
	t.Parallel()
	const env = "/usr/bin/env"
	if _, err := os.Stat(env); err != nil {
		t.Skip("no " + env + " here to print an environment")
	}
	var out bytes.Buffer
	exit, err := upstream.Local{Path: env}.Run(t.Context(), upstream.Job{Caller: caller, Stdout: &out, Stderr: io.Discard})
	require.NoError(t, err)
	require.Zero(t, exit)
	require.Empty(t, out.String(), "nothing is inherited")
}

func TestStderrIsBounded(t *testing.T) {
	t.Parallel()
	o := newObserved(t)
	def := reviewCommand(emitter(t, nil, bytes.Repeat([]byte("x"), 100<<10), 0))
	def.Operation.Host = o.host
	_, _ = commandRefusal(t.Context(), t, def)
	item, err := o.quarantine.Open(t.Context(), "staff", caller.RequestID)
	require.NoError(t, err)
	require.Len(t, item.Before[0].Raw, 64<<10, "its beginning; the command is not stopped for it")
}
