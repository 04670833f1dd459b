package trace_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

type wardNotes struct {
	Infectious bool  `json:"infectious" redact:"personal"`
	Consented  *bool `json:"consented,omitempty" redact:"internal"`
	Flagged    bool  `json:"flagged" redact:"secret"`
	Open       bool  `json:"open"`
}

type wardAnswer struct {
	Infectious bool  `json:"infectious" redact:"personal"`
	Consented  *bool `json:"consented,omitempty" redact:"personal"`
	Open       bool  `json:"open"`
}

// asking is a house whose one tool asks for notes and hands them on.
func asking(t *testing.T, wire func(*tool.Config) error, asked *int) *house {
	t.Helper()
	return newHouse(t, wire, func(*registry) []tool.Definition {
		return []tool.Definition{tool.Tool[wardAnswer, wardAnswer]{
			Spec: tool.Spec{Name: "ask", Version: 1, Description: "Ask.", Timeout: 5 * time.Second},
			Handle: func(ctx context.Context, _ tool.Caller, in wardAnswer) (wardAnswer, error) {
				_, err := trace.Do(ctx, "ward.notes", in, func(context.Context) (wardNotes, error) {
					*asked++
					return wardNotes{in.Infectious, in.Consented, true, in.Open}, nil
				})
				return in, err
			},
		}}
	}, "ask_v1")
}

// A hidden boolean is false in a saved trace, whatever it was, and a replay does not take that for a difference.
func TestAHiddenBooleanGoes(t *testing.T) {
	t.Parallel()
	asked := 0
	rec := newRecorder(t, trace.Config{})
	h := asking(t, func(c *tool.Config) error { rec.Wire(c); return nil }, &asked)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, run.Call(t.Context(), call("ask_v1", `{"infectious":true,"consented":true,"open":true}`)).Err())
	for _, refused := range []string{
		`{"infectious":true,"consented":true,"open":true,"deaf":true}`, `{"infectious":true,"consented":true`,
	} {
		require.Error(t, run.Call(t.Context(), call("ask_v1", refused)).Err())
	}
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	text := file.String()
	for _, b64 := range encoded.FindAllStringSubmatch(text, -1) {
		text += unbase64(t, b64[1])
	}
	for _, name := range []string{"infectious", "consented", "flagged"} {
		require.NotContains(t, text, `"`+name+`":true`)
	}
	require.NotContains(t, text, `"deaf"`)
	require.Equal(t, 4, strings.Count(text, `"open":true`), "what no class hides stays, of accepted arguments, question and answers")

	asked = 0
	tr, err := trace.Load(&file)
	require.NoError(t, err)
	player := trace.NewPlayer(tr, trace.PlayerConfig{})
	again := asking(t, player.Wire, &asked)
	report, err := player.Play(t.Context(), again.dispatcher, again.run)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.Zero(t, asked)
}

// consent is a boolean whose schema admits one value alone.
type consent bool

func (consent) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "boolean", Const: true}
}

type consented struct {
	Consent consent `json:"consent" redact:"personal"`
}

// Where the schema admits true alone nothing can stand for it: of an answer the trace is not saved, of arguments they are
// left out.
func TestABooleanThatMustBeTrueIsNotSaved(t *testing.T) {
	t.Parallel()
	saved := func(tl tool.Definition, arguments string) (string, error) {
		rec := newRecorder(t, trace.Config{})
		h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, func(*registry) []tool.Definition { return []tool.Definition{tl} }, "ask_v1")
		run, err := rec.Run(h.run)
		require.NoError(t, err)
		require.NoError(t, run.Call(t.Context(), call("ask_v1", arguments)).Err())
		var file bytes.Buffer
		err = rec.Save(&file, run.ID())
		return file.String(), err
	}
	spec := tool.Spec{Name: "ask", Version: 1, Description: "Ask.", Timeout: 5 * time.Second}
	text, err := saved(tool.Tool[struct{}, consented]{
		Spec:   spec,
		Handle: func(context.Context, tool.Caller, struct{}) (consented, error) { return consented{true}, nil },
	}, `{}`)
	require.ErrorIs(t, err, trace.ErrStandIn)
	require.ErrorContains(t, err, "call-1 of ask_v1: output.consent")
	require.NotContains(t, err.Error(), "true")
	require.Empty(t, text)

	text, err = saved(tool.Tool[struct{}, struct{}]{
		Spec: spec,
		Handle: func(ctx context.Context, _ tool.Caller, _ struct{}) (struct{}, error) {
			_, err := trace.Do(ctx, "ward.notes", struct{}{}, func(context.Context) (consented, error) { return consented{true}, nil })
			return struct{}{}, err
		},
	}, `{}`)
	require.ErrorIs(t, err, trace.ErrStandIn)
	require.ErrorContains(t, err, "call-1 of ask_v1: ward.notes")
	require.Empty(t, text)

	text, err = saved(tool.Tool[consented, struct{}]{
		Spec: spec, Handle: func(context.Context, tool.Caller, consented) (struct{}, error) { return struct{}{}, nil },
	}, `{"consent":true}`)
	require.NoError(t, err)
	require.Contains(t, text, `"left_out":true`)
	require.NotContains(t, text, `"consent":true`)
}

func unbase64(t *testing.T, text string) string {
	t.Helper()
	doc, err := base64.StdEncoding.DecodeString(text)
	require.NoError(t, err)
	return string(doc)
}
