package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const golden = "testdata/output.golden"

// run is the program with the given arguments and standard input.
func run(ctx context.Context, in string, args ...string) (code int, out, complaints string) {
	var stdout, stderr bytes.Buffer
	code = command(ctx, args, strings.NewReader(in), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestMainJob(t *testing.T) {
	t.Parallel()
	code, out, complaints := run(t.Context(), "")
	if os.Getenv("TOOLCONTRACT_UPDATE") != "" {
		require.Empty(t, os.Getenv("CI"), "golden files are compared in CI, never rewritten")
		require.NoError(t, os.WriteFile(golden, []byte(out), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out, "rewrite with TOOLCONTRACT_UPDATE=1 and read the difference")
	require.Empty(t, complaints)
	require.Zero(t, code)
	require.NotContains(t, out, "✗")
}

func TestOwnCalls(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why, in string
		code          int
		out, not      []string
	}{
		{
			name: "plain arguments", why: "a value in the line is sent as it stands",
			in:  `{"tool":"get_customer_v1","arguments":{"customer_id": "cus_9Qm4"}}`,
			out: []string{`{"customer_id": "cus_9Qm4"}`, "accept", "ran", "1 calls: 1 accepted", "All 0 expected"},
		},
		{
			name: "exact bytes", why: "base64 carries what no JSON can: ff",
			in:  `{"tool":"get_customer_v1","arguments_b64":"/w==","verdict":"refuse","code":"MALFORMED_JSON"}`,
			out: []string{`\xFF`, "MALFORMED_JSON", "All 1 expected"},
		},
		{
			name: "nothing sent", why: "no arguments are no bytes, not an empty object",
			in: `{"tool":"list_warehouses_v1"}`, out: []string{"(nothing)", "refuse", "MALFORMED_JSON"},
		},
		{
			name: "a terminal is not driven by a tool name", why: "the escape character is shown by its number",
			in: `{"tool":"\u001b[2Jx","arguments":{}}`, out: []string{`\u{1B}[2Jx`, "UNKNOWN_TOOL"}, not: []string{"\x1b"},
		},
		{
			name: "other verdict", why: "an accepted call was expected to be refused", code: 1,
			in:  `{"case":"mine","tool":"list_warehouses_v1","arguments":{},"verdict":"refuse","code":"INVALID_ARGUMENT"}`,
			out: []string{"✗   1", "1 differ:", `mine: expected refuse INVALID_ARGUMENT at "", was accept  at "", handler ran`},
		},
		{
			name: "other code", why: "refused for another reason than expected", code: 1,
			in:  `{"tool":"list_warehouses_v1","arguments":[],"verdict":"refuse","code":"UNKNOWN_FIELD"}`,
			out: []string{"✗   1", "call 1: expected refuse UNKNOWN_FIELD"},
		},
		{
			name: "other field", why: "refused at another place than expected", code: 1,
			in:  `{"tool":"get_customer_v1","arguments":{},"verdict":"refuse","code":"INVALID_ARGUMENT","field":"id"}`,
			out: []string{"✗   1"},
		},
		{
			name: "expected to pass", why: "a refused call was expected to be accepted", code: 1,
			in: `{"tool":"get_customer_v1","arguments":{},"verdict":"accept"}`, out: []string{"✗   1"},
		},
		{
			name: "blank lines", why: "a file may end as editors end files",
			in: "\n" + `{"tool":"list_warehouses_v1","arguments":{}}` + "\n\n", out: []string{"1 calls: 1 accepted"},
		},
		{
			name: "domain code", why: "the tool's own answer to an accepted call",
			in:  `{"tool":"get_customer_v1","arguments":{"customer_id":"nobody"},"verdict":"accept"}`,
			out: []string{"(NOT_FOUND)", "customer_id", "ran", "All 1 expected"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			code, out, complaints := run(t.Context(), row.in, "-calls", "-")
			require.Empty(t, complaints)
			require.Equal(t, row.code, code, row.why)
			for _, want := range row.out {
				require.Contains(t, out, want, row.why)
			}
			for _, not := range row.not {
				require.NotContains(t, out, not, row.why)
			}

			file := filepath.Join(t.TempDir(), "calls.jsonl")
			require.NoError(t, os.WriteFile(file, []byte(row.in), 0o600))
			again, same, _ := run(t.Context(), "", "-calls", file)
			require.Equal(t, code, again)
			require.Equal(t, out, same, "a file and standard input are one")
		})
	}
}

func TestProgramThatCannotRun(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why, in string
		args          []string
		complaint     string
	}{
		{"unknown flag", "a typing error must not start anything", "", []string{"-call", "x"}, "-call"},
		{"stray argument", "a file without its flag", "", []string{"calls.jsonl"}, "no arguments but its flags"},
		{"missing file", "nothing to run", "", []string{"-calls", filepath.Join("testdata", "absent.jsonl")}, "absent.jsonl"},
		{"line that is no JSON", "its number is told", "\n{", []string{"-calls", "-"}, "line 2"},
		{"unknown member", "a misspelt expectation would never fail", `{"tool":"x","verdikt":"accept"}`, []string{"-calls", "-"}, "line 1"},
		{"every bad line", "all faults at once", "{\n[", []string{"-calls", "-"}, "line 2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			code, out, complaints := run(t.Context(), row.in, row.args...)
			require.Equal(t, 2, code, row.why)
			require.Empty(t, out)
			require.Contains(t, complaints, row.complaint, row.why)
		})
	}
	code, _, complaints := run(t.Context(), "", "-h")
	require.Zero(t, code)
	require.Contains(t, complaints, "-calls")
}

// The story must be able to fail: on a service that nobody has changed, its last scene finds other rows.
func TestStoryNoticesWhatDiffers(t *testing.T) {
	t.Parallel()
	h := start(t)
	var out bytes.Buffer
	tl := &teller{ctx: t.Context(), w: &out, h: h}
	require.NoError(t, tl.accounts())
	require.Equal(t, 4, tl.wrong, "three accounts without the changes, and an audit trail without an event")
	require.Contains(t, out.String(), "✗ as it must be")
}

func start(t *testing.T) *host {
	t.Helper()
	h, err := newHost(t.Context(), 1000)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(context.Background())) })
	return h
}

// Killed again and again at any moment and started again, the program goes on where it was, and the change is made once.
func TestKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "addresschange")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	dir, killed := t.TempDir(), 0
	for i := range 12 {
		cmd := exec.CommandContext(t.Context(), bin, "-dir", dir)
		require.NoError(t, cmd.Start())
		die := time.AfterFunc(time.Duration(10+15*i)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		if cmd.Wait() != nil {
			killed++
		}
		die.Stop()
	}
	require.Positive(t, killed, "none was killed")
	out, err = exec.CommandContext(t.Context(), bin, "-dir", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	again, err := exec.CommandContext(t.Context(), bin, "-dir", dir).CombinedOutput()
	require.NoError(t, err, string(again))
	h, err := keptHost(t.Context(), dir, 10)
	require.NoError(t, err)
	tl := &teller{ctx: t.Context(), w: io.Discard, h: h}
	require.LessOrEqual(t, tl.changes(), 1, string(out))
	require.LessOrEqual(t, tl.requests("cus_9Qm4"), 1, "nothing is sent twice")
	require.NoError(t, h.close(context.Background()))
}
