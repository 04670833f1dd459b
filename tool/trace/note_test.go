package trace_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/v2"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

type accountOut struct {
	Mail    string  `json:"mail" jsonschema:"maxLength=60" redact:"personal"`
	Name    string  `json:"name" jsonschema:"maxLength=60" redact:"personal"`
	Nick    string  `json:"nick" jsonschema:"maxLength=60" redact:"personal"`
	Cents   int64   `json:"cents" redact:"personal"`
	Rate    float64 `json:"rate" redact:"personal"`
	Kids    int     `json:"kids" redact:"personal"`
	Opening string  `json:"opening" jsonschema:"maxLength=60" redact:"personal"`
}

// account is what the tool of these tests answers.
func account() accountOut {
	return accountOut{"jane@example.org", `Zoë "Zo" O'Neil-Straße`, "Ida", 1234567, 12.5, 7, "see §4/b"}
}

func noted(t *testing.T, text string) string {
	t.Helper()
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, func(*registry) []tool.Definition {
		return []tool.Definition{tool.Tool[struct{}, accountOut]{
			Spec:   tool.Spec{Name: "ask", Version: 1, Description: "Ask.", Timeout: 5 * time.Second},
			Handle: func(context.Context, tool.Caller, struct{}) (accountOut, error) { return account(), nil },
		}}
	}, "ask_v1")
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, run.Call(t.Context(), call("ask_v1", `{}`)).Err())
	require.NoError(t, rec.Note(run.ID(), trace.Answer, text))
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	var note struct {
		Text string `json:"text"`
	}
	for line := range strings.Lines(file.String()) {
		if strings.Contains(line, `"step":"note"`) {
			require.NoError(t, json.Unmarshal([]byte(line), &note))
		}
	}
	return note.Text
}

func escapedAll(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

func percentAll(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02x", c)
	}
	return b.String()
}

// What is hidden goes out of a note in whatever form the model wrote it there.
func TestANoteHidesEveryForm(t *testing.T) {
	t.Parallel()
	inJSON := func(s string) string {
		b, err := json.Marshal(map[string]string{"v": s})
		require.NoError(t, err)
		return string(b)
	}
	forms := map[string]func(string) string{
		"as it is": func(s string) string { return s }, "upper case": strings.ToUpper, "lower case": strings.ToLower,
		"JSON": inJSON, "JSON in JSON": func(s string) string { return inJSON(inJSON(s)) }, "all escaped": escapedAll, "Go": strconv.QuoteToASCII,
		"base64":         func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64 of more": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(`x {"who":"` + s + `"} y`)) },
		"base64 of JSON": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(inJSON(s))) },
		"hex":            func(s string) string { return hex.EncodeToString([]byte(s)) },
		"upper hex":      func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
		"query":          url.QueryEscape, "path": url.PathEscape, "all percent": percentAll,
		"lower query":       func(s string) string { return strings.ToLower(url.QueryEscape(s)) },
		"bytes":             func(s string) string { return fmt.Sprintf("%d", []byte(s)) },
		"base64, escaped":   func(s string) string { return escapedAll(base64.StdEncoding.EncodeToString([]byte(s))) },
		"base64, lowercase": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(strings.ToLower(s))) },
	}
	who := account()
	for _, value := range []string{who.Mail, who.Name, who.Nick, who.Opening} {
		for name, form := range forms {
			t.Run(name+" of "+strconv.Itoa(len(value)), func(t *testing.T) {
				t.Parallel()
				written := form(value)
				got := noted(t, "It is "+written+" as they say.")
				require.NotContains(t, got, written)
				require.True(t, strings.HasPrefix(got, "It is "), got)
				require.True(t, strings.HasSuffix(got, " as they say."), got)
				require.NotContains(t, strings.ToLower(got), strings.ToLower(value))
				if strings.HasPrefix(name, "base64") {
					require.NotContains(t, got, written[len(written)/2:], "nor a half of it")
				}
			})
		}
	}
}

// A hidden number goes as it is written: grouped, as an amount of the minor unit, in an encoding.
func TestANoteHidesNumbers(t *testing.T) {
	t.Parallel()
	for _, written := range []string{
		"1234567", "1,234,567", "1.234.567", "1 234 567", "1'234'567", "12345.67", "12,345.67", "12.345,67", "EUR1234567", "-1234567", "12.5", "12.50", "12,5", "7",
		base64.StdEncoding.EncodeToString([]byte("1234567")), hex.EncodeToString([]byte("1234567")), percentAll("1234567"),
	} {
		got := noted(t, "It is "+written+" as they say.")
		require.NotContains(t, got, written)
		require.True(t, strings.HasPrefix(got, "It is ") && strings.HasSuffix(got, " as they say."), got)
	}
	text := "In 2026, 17 of 70 houses, A7 and 7b; Idaho, janes; base64 and deadbeef, 100% sure + \\o/."
	require.Equal(t, text, noted(t, text), "what is not hidden stays")
}
