package trace_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

type guestIn struct {
	ID   string `json:"id" jsonschema:"pattern=^[a-z0-9]{1\\,9}$"`
	Name string `json:"name" jsonschema:"maxLength=40" redact:"personal"`
}

type guestOut struct {
	ID string `json:"id" jsonschema:"pattern=^[a-z0-9]{1\\,9}$"`
}

var encoded = regexp.MustCompile(`"arguments_b64":"([^"]*)"`)

// Names of any script go, out of arguments that are no JSON and, however short, out of notes.
func TestNamesOfAnyScriptGo(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, func(*registry) []tool.Definition {
		return []tool.Definition{tool.Tool[guestIn, guestOut]{
			Spec:   tool.Spec{Name: "get_guest", Version: 1, Description: "Read a guest.", Timeout: time.Second},
			Handle: func(_ context.Context, _ tool.Caller, in guestIn) (guestOut, error) { return guestOut{in.ID}, nil },
		}}
	}, "get_guest_v1")
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	for _, refused := range []string{
		`{"id":"a1","name":"山田太郎 東京都`, `{"id":"a1","name":"Влади́мир","name":"Влади́мир"}`, `{"id":"a1","name":"Müller"} Jörg`,
		"{\"id\":\"a1\",\"name\":\"bad\xff Петр\"}",
	} {
		require.Error(t, run.Call(t.Context(), call("get_guest_v1", refused)).Err())
	}
	for _, name := range []string{"山田", "山田太郎", "Ida", "Eve"} {
		require.NoError(t, run.Call(t.Context(), call("get_guest_v1", `{"id":"a1","name":"`+name+`"}`)).Err())
	}
	require.NoError(t, rec.Note(run.ID(), trace.Answer, "Ida and お客様山田様 and 山田太郎 met Eve. In Idaho; Evening."))
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	text := file.String()
	found := encoded.FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, found, "something is saved of what is no JSON")
	for _, b64 := range found {
		doc, err := base64.StdEncoding.DecodeString(b64[1])
		require.NoError(t, err)
		text += string(doc)
	}
	for _, name := range []string{"山", "田", "太郎", "東", "ладими", "мир", "üller", "ö", "Петр", "Ida and", "Eve."} {
		require.NotContains(t, text, name)
	}
	require.Contains(t, text, "In Idaho; Evening.", "part of another word is another word")
}

// A provider's receipt goes from the exchange, and wherever a note tells of it.
func TestAReceiptGoes(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, func(*registry) []tool.Definition {
		return []tool.Definition{tool.Tool[struct{}, struct{}]{
			Spec: tool.Spec{Name: "ask", Version: 1, Description: "Ask.", Timeout: time.Second},
			Handle: func(ctx context.Context, _ tool.Caller, _ struct{}) (struct{}, error) {
				return trace.Do(ctx, "other.system", struct{}{}, func(context.Context) (struct{}, error) {
					return struct{}{}, envelope.Running("rcpt_brandvold_77")
				})
			},
		}}
	}, "ask_v1")
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	run.Call(t.Context(), call("ask_v1", `{}`))
	require.NoError(t, rec.Note(run.ID(), trace.Answer, "It runs as rcpt_brandvold_77."))
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	require.Contains(t, file.String(), `"receipt":"`)
	require.NotContains(t, file.String(), "brandvold")
}
