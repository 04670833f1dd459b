package main

import (
	"bytes"
	"encoding/json/v2"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
)

// inspectorVersion is what .ci/run installs.
const inspectorVersion = "2.12.0"

// inspector is the command line of the protocol's own inspector: a client that shares no line with the SDK.
type inspector struct {
	node, script string
	server       []string // the arguments that name the server
	era          string   // legacy or modern
}

// eras are the protocols that the inspector speaks: 2025-11-25 and 2026-07-28.
var eras = []string{"legacy", "modern"}

// findInspector looks in the folder that TOOLCONTRACT_INSPECTOR names, otherwise where .ci/run installs it.
func findInspector(t *testing.T) (node, script string) {
	t.Helper()
	dir := os.Getenv("TOOLCONTRACT_INSPECTOR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		require.NoError(t, err)
		dir = filepath.Join(cache, "toolcontract", "inspector")
	}
	node = filepath.Join(dir, "node_modules", "node", "bin", "node")
	pkg := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "inspector")
	var manifest struct {
		Version string `json:"version"`
	}
	text, err := os.ReadFile(filepath.Join(pkg, "package.json"))
	if err == nil {
		require.NoError(t, json.Unmarshal(text, &manifest))
		_, err = os.Stat(node)
	}
	if err != nil || manifest.Version != inspectorVersion {
		hint := "no MCP inspector " + inspectorVersion + " in " + dir + ": npm install --prefix " + dir + " @modelcontextprotocol/inspector@" + inspectorVersion + " node@22"
		if os.Getenv("CI") != "" {
			t.Fatal(hint)
		}
		t.Skip(hint)
	}
	return node, filepath.Join(pkg, "clients", "launcher", "build", "index.js")
}

// run asks the inspector for one method, and returns its exit status and what it printed.
func (i inspector) run(t *testing.T, args ...string) (code int, out, complaints string) {
	t.Helper()
	args = append(append([]string{i.script, "--cli", "--protocol-era", i.era, "--format", "json", "--stored-auth-only"}, args...), i.server...)
	cmd := exec.CommandContext(t.Context(), i.node, args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + filepath.Dir(i.node)}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// call calls a tool, and returns the envelope and the inspector's exit status.
func (i inspector) call(t *testing.T, name, arguments string) (int, envelope.Result) {
	t.Helper()
	code, out, complaints := i.run(t, "--method", "tools/call", "--tool-name", name, "--tool-args-json", arguments)
	var answer struct {
		Result struct {
			StructuredContent envelope.Result `json:"structuredContent"`
			IsError           bool            `json:"isError"`
			Meta              map[string]any  `json:"_meta"`
		} `json:"result"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &answer), "%d %s %s", code, out, complaints)
	_, modern := answer.Result.Meta["io.modelcontextprotocol/serverInfo"] // every answer of 2026-07-28 says whose it is, no earlier one does
	require.Equal(t, i.era == "modern", modern)
	require.Equal(t, !answer.Result.StructuredContent.OK, answer.Result.IsError)
	return code, answer.Result.StructuredContent
}

// The exit statuses of the inspector.
const (
	exitFine    = 0
	exitNoAuth  = 3
	exitIsError = 5
)

func TestInspector(t *testing.T) {
	t.Parallel()
	node, script := findInspector(t)
	program := filepath.Join(t.TempDir(), "mcpserver")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	s := overHTTP(t)
	for _, era := range eras {
		t.Run("stdio/"+era, func(t *testing.T) {
			t.Parallel()
			inspect(t, inspector{node, script, []string{program}, era})
		})
		t.Run("http/"+era, func(t *testing.T) {
			t.Parallel()
			at := []string{"--transport", "http", "--server-url", s.origin + "/mcp", "--header", "Authorization: Bearer " + s.tokens[acme]}
			inspect(t, inspector{node, script, at, era})

			stranger := inspector{node, script, []string{"--transport", "http", "--server-url", s.origin + "/mcp", "--header", "Authorization: Bearer x"}, era}
			code, out, _ := stranger.run(t, "--method", "tools/list")
			require.Equal(t, exitNoAuth, code)
			require.Empty(t, out)
		})
	}
}

func inspect(t *testing.T, i inspector) {
	t.Helper()
	code, out, complaints := i.run(t, "--method", "tools/list", "--strict")
	require.Equal(t, exitFine, code, "%s%s", out, complaints)
	require.Empty(t, complaints, "no schema is found fault with, strictly")
	require.NotContains(t, out, "schemaFindings")
	var list struct {
		Result struct {
			Tools []struct {
				Name, Title string
				Annotations struct {
					ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint bool
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &list, json.MatchCaseInsensitiveNames(true)))
	names := make([]string, 0, len(list.Result.Tools))
	for _, tl := range list.Result.Tools {
		names = append(names, tl.Name)
		if tl.Name == "commit_parcel_reroute_v1" {
			require.Equal(t, "Commit: Reroute a parcel", tl.Title)
			require.True(t, tl.Annotations.DestructiveHint)
			require.False(t, tl.Annotations.ReadOnlyHint)
		}
	}
	require.Equal(t, strings.Fields(`cancel_operation_v1 commit_address_change_v1 commit_customer_note_v1 commit_parcel_reroute_v1 get_customer_v1
		get_operation_v1 get_parcel_v1 preview_address_change_v1 preview_customer_note_v1 preview_parcel_reroute_v1`), names)

	code, r := i.call(t, "get_parcel_v1", `{"parcel_id":"par_77"}`)
	require.Equal(t, exitFine, code)
	require.JSONEq(t, `{"parcel_id":"par_77","version":4,"destination":"to the door"}`, string(r.Data))
	code, r = i.call(t, "get_parcel_v1", `{"parcel_id":"par_77","carrier":"fast"}`)
	require.Equal(t, exitIsError, code)
	require.Equal(t, envelope.UnknownField, r.Error.Code)
}
