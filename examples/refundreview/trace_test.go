package main

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/internal/recordtest"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// The run that is kept in testdata replays without billing, and so does the story's, recorded now: the references in them
// are other ones each time.
func TestRecordedRunReplays(t *testing.T) {
	t.Parallel()
	replays := func(recorded []byte) {
		h, report := replayed(t, recorded, nil)
		require.NoError(t, report.Err())
		require.Equal(t, len(report.Calls), report.Count(trace.Same))
		asked, _ := h.billing.seen()
		require.Empty(t, asked, "billing is not asked in a replay")
	}
	if !recordtest.Updating() {
		replays(recordtest.Kept(t)) // first: of a contract that is broken it tells more than the story does
	}
	var file bytes.Buffer
	record(t, &file)
	recordtest.Keep(t, file.Bytes())
	replays(file.Bytes())
}

// A field more in the answer breaks every reader of the closed contract, unless it is a new version.
func TestRecordedRunOfAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	type newView struct {
		Stage string `json:"stage" jsonschema:"enum=settled,enum=disputed,enum=refunded"`
	}
	_, report := replayed(t, recordtest.Kept(t), func(defs []tool.Definition) {
		old, ok := defs[2].(tool.Tool[statusQuery, statusView])
		require.True(t, ok)
		defs[2] = tool.Tool[statusQuery, newView]{Spec: old.Spec, Handle: func(context.Context, tool.Caller, statusQuery) (newView, error) {
			return newView{}, envelope.New(envelope.NotFound)
		}}
	})
	require.ErrorIs(t, report.Err(), trace.ErrOldVersion)
	require.NotErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, 1, report.Count(trace.OldVersion), "the one status that was answered")
}

func record(t *testing.T, file io.Writer) {
	t.Helper()
	texts := []string{
		"Marit Okonkwo-Lund", "marit.okonkwo@post.example", "GB33 BUKB 2020 1555 5555 55", "ntk_77Zq0xP4wLdV", "bc-2207", "internal.example", billingToken,
	}
	canaries := make([]redact.Canary, 0, len(texts))
	for _, text := range texts {
		c, err := redact.NewCanary(text)
		require.NoError(t, err)
		canaries = append(canaries, c)
	}
	var h *host
	rec, err := trace.NewRecorder(trace.Config{
		Canaries: canaries, Key: bytes.Repeat([]byte{1}, 32), Now: func() time.Time { return h.clock.now() },
	})
	require.NoError(t, err)
	h, err = newHost(t.Context(), setup{wire: func(cfg *tool.Config) error { rec.Wire(cfg); return nil }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	run, err := rec.Run(plain(t, h.runs[dayDesk]))
	require.NoError(t, err)
	h.runs[dayDesk] = run
	require.NoError(t, rec.Note(run.ID(), trace.Request, "Which of the open cases qualify for a review?"))
	require.True(t, h.story(t.Context(), io.Discard))
	require.NoError(t, rec.Note(run.ID(), trace.Answer, "The first case qualifies; billing did not answer for the others."))
	require.NoError(t, rec.Save(file, run.ID()))
}

func replayed(t *testing.T, file []byte, definitions func([]tool.Definition)) (*host, *trace.Report) {
	t.Helper()
	recorded, err := trace.Load(bytes.NewReader(file))
	require.NoError(t, err)
	var h *host
	p := trace.NewPlayer(recorded, trace.PlayerConfig{At: func(at time.Time) { h.clock.set(at) }})
	h, err = newHost(t.Context(), setup{definitions: definitions, wire: p.Wire})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	report, err := p.Play(t.Context(), h.dispatcher, plain(t, h.runs[dayDesk]))
	require.NoError(t, err)
	require.Len(t, report.Calls, recorded.Calls())
	return h, report
}

// plain is the run itself.
func plain(t *testing.T, c caller) *tool.Run {
	t.Helper()
	run, ok := c.(*tool.Run)
	require.True(t, ok)
	return run
}
