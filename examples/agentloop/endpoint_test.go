package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool/export/exporttest"
	"github.com/toolcontract/toolcontract/tool/trace"
)

const secretKey = "sk-test-canary-91"

// said is one call as a model writes it: the bytes of the arguments, whatever they are.
type said struct{ name, arguments string }

// wire is one provider's documented form, from the endpoint's side.
type wire struct {
	provider, path string
	key            string // the environment variable
	head           map[string]string
	judge          func(tools jsontext.Value) []string
	turn           func(calls ...said) string // an answer with these calls
	last           func(text string) string   // an answer that ends
	reason         string                     // what stands in last for the end, to be replaced
	cutOff         string
	answers        func(t *testing.T, message map[string]jsontext.Value) []string // the results in a message of the request
}

func text(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func wires() []wire {
	return []wire{
		{
			provider: openAI, path: "/v1/chat/completions", key: "OPENAI_API_KEY", judge: exporttest.OpenAI,
			head: map[string]string{"Authorization": "Bearer " + secretKey, "Content-Type": "application/json"},
			turn: func(calls ...said) string {
				list := make([]string, 0, len(calls))
				for i, c := range calls {
					list = append(list, `{"id":"call_`+string(rune('a'+i))+`","type":"function","function":{"name":`+text(c.name)+`,"arguments":`+text(c.arguments)+`}}`)
				}
				return `{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` +
					strings.Join(list, ",") + `]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
			},
			last: func(s string) string {
				return `{"choices":[{"index":0,"message":{"role":"assistant","content":` + text(s) + `,"refusal":null},"finish_reason":"stop"}],"usage":{"total_tokens":15}}`
			},
			reason: `"stop"`, cutOff: `"length"`,
			answers: func(t *testing.T, m map[string]jsontext.Value) []string {
				t.Helper()
				if string(m["role"]) != `"tool"` {
					return nil
				}
				var content string
				require.NoError(t, json.Unmarshal(m["content"], &content))
				require.NotEmpty(t, m["tool_call_id"])
				return []string{content}
			},
		},
		{
			provider: anthropic, path: "/v1/messages", key: "ANTHROPIC_API_KEY", judge: exporttest.Anthropic,
			head: map[string]string{"X-Api-Key": secretKey, "Anthropic-Version": "2023-06-01", "Content-Type": "application/json"},
			turn: func(calls ...said) string {
				list := append(make([]string, 0, 1+len(calls)), `{"type":"text","text":"I look."}`)
				for i, c := range calls {
					input := c.arguments
					if input == "" {
						input = "{}"
					}
					list = append(list, `{"type":"tool_use","id":"toolu_`+string(rune('a'+i))+`","name":`+text(c.name)+`,"input":`+input+`}`)
				}
				return `{"id":"msg_1","type":"message","role":"assistant","content":[` + strings.Join(list, ",") + `],"stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":5}}`
			},
			last: func(s string) string {
				return `{"id":"msg_2","type":"message","role":"assistant","content":[{"type":"text","text":` + text(s) + `}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5}}`
			},
			reason: `"end_turn"`, cutOff: `"max_tokens"`,
			answers: func(t *testing.T, m map[string]jsontext.Value) []string {
				t.Helper()
				var blocks []struct {
					Type    string `json:"type"`
					ID      string `json:"tool_use_id"`
					Content string `json:"content"`
					IsError bool   `json:"is_error"`
				}
				if json.Unmarshal(m["content"], &blocks) != nil {
					return nil // text
				}
				var list []string
				for _, b := range blocks {
					if b.Type == "tool_result" {
						require.NotEmpty(t, b.ID)
						require.Equal(t, b.IsError, strings.HasPrefix(b.Content, `{"ok":false`))
						list = append(list, b.Content)
					}
				}
				return list
			},
		},
	}
}

// staged is an endpoint that speaks a provider's form: it gives the answers one after another and keeps the requests.
type staged struct {
	*httptest.Server
	mu       sync.Mutex
	requests []map[string]jsontext.Value
}

func stage(t *testing.T, w wire, answers ...string) *staged {
	t.Helper()
	s := &staged{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		var request map[string]jsontext.Value
		if err != nil || json.Unmarshal(body, &request, jsontext.AllowDuplicateNames(true)) != nil || r.URL.Path != w.path || r.Method != http.MethodPost || len(s.requests) == len(answers) {
			http.Error(rw, "not as documented", http.StatusBadRequest)
			return
		}
		for name, want := range w.head {
			if r.Header.Get(name) != want {
				http.Error(rw, "not signed", http.StatusUnauthorized)
				return
			}
		}
		s.requests = append(s.requests, request)
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, answers[len(s.requests)-1])
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *staged) run(t *testing.T, w wire, args ...string) (code int, out, complaints string) {
	t.Helper()
	var o, c bytes.Buffer
	environment := func(name string) string { return map[string]string{w.key: secretKey}[name] }
	code = command(t.Context(), append([]string{"-provider", w.provider, "-endpoint", s.URL + "/v1", "-model", "m"}, args...), environment, &o, &c)
	require.NotContains(t, o.String()+c.String(), secretKey)
	return code, o.String(), c.String()
}

// results are all that the tools answered, in the order in which the endpoint was told.
func (s *staged) results(t *testing.T, w wire) []string {
	t.Helper()
	var messages []map[string]jsontext.Value
	last := s.requests[len(s.requests)-1]
	require.NoError(t, json.Unmarshal(last["messages"], &messages, jsontext.AllowDuplicateNames(true)))
	list := make([]string, 0, len(messages))
	for _, m := range messages {
		list = append(list, w.answers(t, m)...)
	}
	return list
}

// Whatever a model writes, each call is answered, and nothing that breaks the contract reaches a tool.
func TestHostileOutput(t *testing.T) {
	t.Parallel()
	const lamp = `"sku":"A-77"`
	for _, w := range wires() {
		for _, row := range []struct {
			name  string
			calls []said
			want  map[string][]string // by provider: what each answer holds
		}{
			{"two calls in one turn", []said{{"find_articles_v1", `{"text":"lamp"}`}, {"find_articles_v1", `{"text":"kettle"}`}}, map[string][]string{"": {lamp, `"sku":"B-12"`}}},
			{"unknown tool", []said{{"rm_rf_v1", `{}`}}, map[string][]string{"": {"UNKNOWN_TOOL"}}},
			{"a tool of nobody's role beside a good one", []said{{"delete_all", `{}`}, {"find_articles_v1", `{"text":"lamp"}`}}, map[string][]string{"": {"UNKNOWN_TOOL", lamp}}},
			{"duplicate members", []said{{"find_articles_v1", `{"text":"lamp","text":"kettle"}`}}, map[string][]string{"": {"DUPLICATE_MEMBER"}}},
			{"duplicate null", []said{{"find_articles_v1", `{"text":"lamp","limit":null,"limit":1}`}}, map[string][]string{"": {"DUPLICATE_MEMBER"}}},
			{"empty arguments", []said{{"find_articles_v1", ``}}, map[string][]string{"": {`"field":"text"`}}},
			{"null for optional", []said{{"find_articles_v1", `{"text":"lamp","limit":null}`}}, map[string][]string{openAI: {lamp}, anthropic: {`"field":"limit"`}}},
			{"null for required", []said{{"find_articles_v1", `{"text":null}`}}, map[string][]string{"": {`"field":"text"`}}},
			{"text for a number", []said{{"find_articles_v1", `{"text":"lamp","limit":"1"}`}}, map[string][]string{"": {"INVALID_ARGUMENT"}}},
			{"an approval of its own making", []said{{"commit_set_price_v1", `{"proposal_id":"p_0000000000"}`}}, map[string][]string{"": {"NOT_FOUND"}}},
			{"a tenant of its choice", []said{{"find_articles_v1", `{"text":"lamp","tenant":"other"}`}}, map[string][]string{"": {"UNKNOWN_FIELD"}}},
			{"the operation of nobody", []said{{"get_operation_v1", `{"operation_id":"op_00000000"}`}}, map[string][]string{"": {"NOT_FOUND"}}},
		} {
			t.Run(w.provider+": "+row.name, func(t *testing.T) {
				t.Parallel()
				s := stage(t, w, w.turn(row.calls...), w.last("Done."))
				code, out, complaints := s.run(t, w)
				require.Zero(t, code, complaints)
				require.Contains(t, out, "model    Done.")
				want := row.want[w.provider]
				if want == nil {
					want = row.want[""]
				}
				got := s.results(t, w)
				require.Len(t, got, len(want))
				for i := range want {
					require.Contains(t, got[i], want[i])
				}
				require.Empty(t, w.judge(s.requests[0]["tools"]))
				require.Equal(t, `"m"`, string(s.requests[0]["model"]))
			})
		}
	}
}

// The conversation goes back as it was, message by message, the model's words to the byte.
func TestTheConversationIsKept(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		t.Run(w.provider, func(t *testing.T) {
			t.Parallel()
			first := w.turn(said{"find_articles_v1", `{"text":"lamp","text":"x", "n":1.0}`})
			s := stage(t, w, first, w.turn(said{"find_articles_v1", `{"text":"lamp"}`}), w.last("Done."))
			code, _, complaints := s.run(t, w, "-ask", "Find the lamp.")
			require.Zero(t, code, complaints)
			last := string(s.requests[2]["messages"])
			require.Contains(t, last, "Find the lamp.")
			require.Contains(t, last, map[string]string{
				openAI: text(`{"text":"lamp","text":"x", "n":1.0}`), anthropic: `{"text":"lamp","text":"x","n":1.0}`,
			}[w.provider])
			require.Len(t, s.results(t, w), 2)
		})
	}
}

// What an endpoint does wrong ends the run, and not a word of it is repeated.
func TestEndpointsThatFail(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		for _, row := range []struct{ name, answer, says string }{
			{"no JSON", `<html>canary-text</html>`, "documented form"},
			{"another form", `{"choices":"canary-text","content":7}`, "no answer"},
			{"cut off", strings.Replace(w.last("half a sen"), w.reason, w.cutOff, 1), "cut off"},
			{"cut off in a call", strings.NewReplacer(`"tool_calls"}]`, w.cutOff+`}]`, `"stop_reason":"tool_use"`, `"stop_reason":`+w.cutOff).Replace(w.turn(said{"find_articles_v1", `{"text":"lamp"}`})), "cut off"},
			{"arguments of another form", strings.NewReplacer(`"arguments":"{}"`, `"arguments":{"canary":"text"}`, `"input":{}`, `"input":{},"input":{"canary":"text"}`).Replace(w.turn(said{"find_articles_v1", `{}`})), "export: "},
		} {
			t.Run(w.provider+": "+row.name, func(t *testing.T) {
				t.Parallel()
				s := stage(t, w, row.answer)
				code, out, complaints := s.run(t, w)
				require.Equal(t, 1, code)
				require.Contains(t, complaints, row.says)
				require.NotContains(t, complaints+out, "canary")
				require.NotContains(t, out, "find_articles_v1", "nothing of it was run")
			})
		}
		t.Run(w.provider+": status", func(t *testing.T) {
			t.Parallel()
			s := stage(t, w)
			code, _, complaints := s.run(t, w)
			require.Equal(t, 1, code)
			require.Contains(t, complaints, "status 400")
			require.NotContains(t, complaints, "documented")
		})
		t.Run(w.provider+": a redirection", func(t *testing.T) {
			t.Parallel()
			reached := false
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
			t.Cleanup(other.Close)
			s := &staged{Server: httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))}
			t.Cleanup(s.Close)
			code, _, complaints := s.run(t, w)
			require.Equal(t, 1, code)
			require.Contains(t, complaints, "status 307")
			require.False(t, reached, "the key went elsewhere")
		})
		t.Run(w.provider+": nobody there", func(t *testing.T) {
			t.Parallel()
			s := stage(t, w)
			s.Close()
			code, _, complaints := s.run(t, w)
			require.Equal(t, 1, code)
			require.Contains(t, complaints, "was not reached")
		})
		t.Run(w.provider+": an answer without end", func(t *testing.T) {
			t.Parallel()
			s := stage(t, w, w.last(strings.Repeat("a", answerBytes)))
			code, _, complaints := s.run(t, w)
			require.Equal(t, 1, code)
			require.Contains(t, complaints, "too large")
		})
	}
}

// An endpoint that is busy is asked again, as often as is said, and no oftener.
func TestABusyEndpoint(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		for _, row := range []struct {
			name         string
			status, busy int // answered so many times
			asked, code  int
		}{
			{"once", http.StatusTooManyRequests, 1, 2, 0},
			{"broken down twice", http.StatusServiceUnavailable, 2, 3, 0},
			{"always", 529, 9, tries, 1},
			{"refused", http.StatusUnauthorized, 1, 1, 1},
		} {
			t.Run(w.provider+": "+row.name, func(t *testing.T) {
				t.Parallel()
				var mu sync.Mutex
				asked := 0
				s := &staged{Server: httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
					mu.Lock()
					defer mu.Unlock()
					if asked++; asked <= row.busy {
						rw.Header().Set("Retry-After", "0")
						http.Error(rw, "canary-text", row.status)
						return
					}
					_, _ = io.WriteString(rw, w.last("Done."))
				}))}
				t.Cleanup(s.Close)
				code, out, complaints := s.run(t, w)
				require.Equal(t, row.code, code, complaints)
				require.Equal(t, row.asked, asked)
				require.NotContains(t, out+complaints, "canary")
				if row.code != 0 {
					require.Contains(t, complaints, "status "+strconv.Itoa(row.status))
				}
			})
		}
	}
}

// An endpoint is never asked earlier than it said: where that is too late, the run ends and says so.
func TestAnEndpointThatAsksToBeLeftAlone(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ after, patience, says string }{
		"long":                 {"3000", "10m", "50m0s"},
		"longer than any time": {strings.Repeat("9", 40), "10m", "try again later"},
		"a date":               {"Wed, 21 Oct 2099 07:28:00 GMT", "10m", "try again later"},
		"longer than there is": {"25", "20s", "25s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			asked := 0
			s := &staged{Server: httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				asked++
				rw.Header().Set("Retry-After", row.after)
				http.Error(rw, "busy", http.StatusTooManyRequests)
			}))}
			t.Cleanup(s.Close)
			code, _, complaints := s.run(t, wires()[0], "-patience", row.patience)
			require.Equal(t, 1, code)
			require.Equal(t, 1, asked)
			require.Contains(t, complaints, "status 429")
			require.Contains(t, complaints, row.says)
		})
	}
	now := time.Date(2026, 11, 30, 4, 0, 0, 500, time.UTC)
	for asked, want := range map[string]time.Duration{
		"": -1, "soon": -1, "-1": -1, "0": 0, "7": 7 * time.Second, "Mon, 30 Nov 2026 04:00:09 GMT": 9 * time.Second, "Mon, 30 Nov 2026 03:00:00 GMT": 0,
	} {
		require.Equal(t, want, pause(http.Header{"Retry-After": {asked}}, now), asked)
	}
}

// An endpoint that sends the key back has it neither shown nor saved, and what is saved is its owner's alone.
func TestAnEndpointThatSendsTheKeyBack(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		for name, row := range map[string]struct {
			says  string
			saved bool
		}{
			"whole":     {"Your key is " + secretKey + ".", true},
			"in base64": {"Your key is " + base64.StdEncoding.EncodeToString([]byte(secretKey)), true},
			"in a part": {"Your key begins with " + secretKey[:12], true},
		} {
			t.Run(w.provider+": "+name, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "run.jsonl")
				require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("before ", 10_000)), 0o644))
				s := stage(t, w, w.turn(said{"find_articles_v1", `{"text":` + text(secretKey) + `}`}), w.last(row.says))
				_, out, complaints := s.run(t, w, "-record", file, "-ask", "Pay with 4111 1111 1111 1111, says ada@example.com.")
				doc, err := os.ReadFile(file)
				require.NoError(t, err)
				for _, shown := range []string{out, complaints, string(doc)} {
					require.Empty(t, newSecrets(secretKey).canary[0].Search([]byte(shown)), shown)
				}
				require.Equal(t, row.saved, !strings.HasPrefix(string(doc), "before"), complaints)
				require.NotContains(t, string(doc), "4111")
				require.NotContains(t, string(doc), "ada@")
				require.Contains(t, string(doc), "Pay with [number], says [address]")
				_, err = trace.Load(bytes.NewReader(doc))
				require.NoError(t, err)
				is, err := os.Stat(file)
				require.NoError(t, err)
				require.Equal(t, fs.FileMode(0o600), is.Mode().Perm())
			})
		}
	}
}

// A program that is told to end writes what it has recorded.
func TestToldToEnd(t *testing.T) { //nolint:paralleltest // a signal is for the whole program
	file := filepath.Join(t.TempDir(), "run.jsonl")
	asked := 0
	endpoint := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			_, _ = io.WriteString(rw, wires()[0].turn(said{"find_articles_v1", `{"text":"lamp"}`}))
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		<-r.Context().Done()
	}))
	t.Cleanup(endpoint.Close)
	ctx, stop := untilStopped(t.Context())
	defer stop()
	var out, complaints bytes.Buffer
	args := []string{"-provider", "openai", "-endpoint", endpoint.URL + "/v1", "-model", "m", "-record", file}
	require.Equal(t, 1, command(ctx, args, none, &out, &complaints), complaints.String())
	f, err := os.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	recorded, err := trace.Load(f)
	require.NoError(t, err)
	require.Equal(t, 1, recorded.Calls())
}

// A model that only ever calls comes to the end of its budget, not of anybody's patience.
func TestAModelThatNeverEnds(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		t.Run(w.provider, func(t *testing.T) {
			t.Parallel()
			again := make([]string, 10)
			for i := range again {
				again[i] = w.turn(said{"find_articles_v1", `{"text":"lamp"}`})
			}
			code, _, complaints := stage(t, w, again...).run(t, w, "-calls", "4")
			require.Equal(t, 1, code)
			require.Contains(t, complaints, "BUDGET_EXHAUSTED")
		})
	}
}
