package upstream_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// recordedResponse is one line of responses.jsonl.
type recordedResponse struct {
	Case        string            `json:"case"`
	Kind        string            `json:"kind"`
	Contract    string            `json:"contract"`
	Request     jsontext.Value    `json:"request"`
	Status      int               `json:"status"`
	Headers     map[string]string `json:"headers"`
	Exit        int               `json:"exit_code"`
	Stderr      string            `json:"stderr"`
	Body        []byte            `json:"body_b64"`
	Generated   *generated        `json:"body_gen"`
	Transport   string            `json:"transport"`
	Select      *expected         `json:"verdict_select"`
	Refuse      []string          `json:"refuse_keys"`
	MustNotLeak []string          `json:"must_not_leak"`
	Why         string            `json:"why"`
	expected
}

type generated struct {
	Prefix    string `json:"prefix"`
	Unit      string `json:"unit"`
	Separator string `json:"separator"`
	Count     int    `json:"count"`
	Suffix    string `json:"suffix"`
}

// expected is a verdict: of the row for the closed contract, and for selecting where that answers otherwise.
type expected struct {
	Verdict     string         `json:"verdict"`
	Code        envelope.Code  `json:"code"`
	Retryable   bool           `json:"retryable"`
	Field       string         `json:"field"`
	FieldsOut   jsontext.Value `json:"fields_out"`
	RetryAfterS float64        `json:"retry_after_s"`
}

// departures are the labels that are not followed, by case, each with its reason. There is none.
var departures = map[string]string{}

func (r recordedResponse) body() []byte {
	g := r.Generated
	if g == nil {
		return r.Body
	}
	return []byte(g.Prefix + strings.Repeat(g.Unit+g.Separator, g.Count-1) + g.Unit + g.Suffix)
}

func (r recordedResponse) want(selecting bool) expected {
	if selecting && r.Select != nil {
		return *r.Select
	}
	return r.expected
}

func recordedResponses(t *testing.T) []recordedResponse {
	t.Helper()
	dir := os.Getenv("TOOLCONTRACT_CASES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "cases")
	}
	text, err := os.ReadFile(filepath.Join(dir, "responses.jsonl"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no recorded responses here; set TOOLCONTRACT_CASES to a folder that has responses.jsonl")
	}
	require.NoError(t, err)
	var rows []recordedResponse
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var r recordedResponse
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		rows = append(rows, r)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, rows)
	return rows
}

// Every recorded response comes over a socket or from a process, through a client, a tool and a dispatcher, and nothing
// of it is found anywhere but in the quarantine.
func TestRecordedResponses(t *testing.T) {
	t.Parallel()
	var met []string
	for _, row := range recordedResponses(t) {
		met = append(met, row.Case)
		if _, ok := departures[row.Case]; ok {
			continue
		}
		for _, selecting := range []bool{false, true} {
			mode := "closed"
			if selecting {
				mode = "select"
			}
			t.Run(row.Case+"/"+mode, func(t *testing.T) {
				t.Parallel()
				replayed(t, row, selecting)
			})
		}
	}
	for name := range departures {
		require.Contains(t, met, name, "a departure from a case that is not there")
	}
}

// replayed plays a row and compares what the agent gets.
func replayed(t *testing.T, row recordedResponse, selecting bool) {
	t.Helper()
	o := newObserved(t)
	var result envelope.Result
	switch row.Contract {
	case "review_status":
		result = play(t, o, row, selecting, reviewOperation())
	case "job_run":
		result = play(t, o, row, selecting, jobOperation())
	case "shipments":
		result = play(t, o, row, selecting, shipmentOperation())
	default:
		t.Fatalf("no contract %q", row.Contract)
	}
	agrees(t, row, row.want(selecting), result)
	o.clean(t, row.MustNotLeak, result)
	if row.want(selecting).Code == envelope.InvalidResponse {
		o.kept(t, row, result.RequestID)
	}
}

func agrees(t *testing.T, row recordedResponse, want expected, got envelope.Result) {
	t.Helper()
	if want.Verdict == "accept" {
		require.NoError(t, got.Err(), row.Why)
		require.Equal(t, canonical(t, want.FieldsOut), canonical(t, got.Data), row.Why)
		return
	}
	require.Equal(t, "refuse", want.Verdict)
	require.NotNil(t, got.Error, row.Why)
	require.Nil(t, got.Data, row.Why)
	require.Equal(t, want.Code, got.Error.Code, row.Why)
	require.Equal(t, want.Field, got.Error.Field, row.Why)
	require.Equal(t, want.Retryable, got.Error.Retryable, row.Why)
	require.InDelta(t, want.RetryAfterS, got.Error.RetryAfter.Seconds(), 0, row.Why)
}

func canonical(t *testing.T, doc jsontext.Value) string {
	t.Helper()
	text, err := redact.Canonical(doc)
	require.NoError(t, err)
	return string(text)
}

// play asks for the row's response through a dispatcher.
func play[Q, A any](t *testing.T, o *observed, row recordedResponse, selecting bool, op upstream.Operation[Q, A]) envelope.Result {
	t.Helper()
	op.Select, op.Host = selecting, o.host
	if selecting {
		op.Refuse = row.Refuse
	}
	var client *upstream.Client[Q, A]
	var err error
	if row.Kind == "command" {
		client, err = upstream.NewCommand(upstream.Command[Q, A]{
			Operation: op, Runner: emitter(t, row.body(), []byte(row.Stderr), row.Exit),
			Args: func(Q) ([]string, error) { return nil, nil },
		})
	} else {
		w := serve(t, func(int, *http.Request) script {
			header := http.Header{}
			for name, value := range row.Headers {
				header.Set(name, value)
			}
			return script{row.Status, header, row.body(), row.Transport}
		})
		client, err = upstream.NewHTTP(upstream.HTTP[Q, A]{
			Operation: op, Origin: w.origin,
			Request: func(Q) (upstream.Request, error) { return upstream.Request{Path: []string{"case"}}, nil },
		})
	}
	require.NoError(t, err)
	return o.call(t, row.Request, tool.Tool[Q, A]{
		Spec: tool.Spec{Name: "ask", Version: 1, Description: "Asks the upstream.", Timeout: 20 * time.Second},
		Handle: func(ctx context.Context, by tool.Caller, q Q) (A, error) {
			a, err := client.Ask(ctx, upstream.Caller{Tenant: by.Principal.Tenant, Tool: by.Tool, RequestID: by.RequestID}, q)
			o.errs = append(o.errs, err)
			return a, err
		},
	})
}

// emitter is a command that writes the given bytes and ends with the given status.
func emitter(t *testing.T, stdout, stderr []byte, exit int) upstream.Local {
	t.Helper()
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "stdout"), filepath.Join(dir, "stderr")}
	for i, text := range [][]byte{stdout, stderr} {
		require.NoError(t, os.WriteFile(files[i], text, 0o600))
	}
	c := command(t, slices.Concat([]string{"emit"}, files, []string{strconv.Itoa(exit)})...)
	if testing.CoverMode() != "" {
		c.Env["GOCOVERDIR"] = dir // otherwise the binary complains on standard error
	}
	return c
}

// command is the test binary as a command.
func command(t *testing.T, args ...string) upstream.Local {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return upstream.Local{Path: self, Args: args, Env: map[string]string{helper: "1"}}
}
