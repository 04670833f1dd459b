package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

const recordedRun = "testdata/run.trace.jsonl"

// The story's run, recorded, is what is kept in testdata, and replays without the service.
func TestRecordedRunReplays(t *testing.T) {
	t.Parallel()
	h, rec := watchedHost(t)
	require.NoError(t, rec.Note("run_monday", trace.Request, "Ines Vogt moved to 4 Harbour Row. Please send her parcels there."))
	tl := &teller{ctx: t.Context(), w: io.Discard, h: h}
	tl.play()
	require.Zero(t, tl.wrong)
	require.NoError(t, rec.Note("run_monday", trace.Answer, "The address of Ines Vogt (cus_9Qm4) is 4 Harbour Row now."))
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, "run_monday"))
	if os.Getenv("TOOLCONTRACT_UPDATE") != "" {
		require.Empty(t, os.Getenv("CI"), "golden files are compared in CI, never rewritten")
		require.NoError(t, os.WriteFile(recordedRun, file.Bytes(), 0o600))
	}
	want, err := os.ReadFile(recordedRun)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, file.Bytes()), "rewrite with TOOLCONTRACT_UPDATE=1 and read the difference")

	h, report := replayed(t, bytes.NewReader(want), nil)
	require.NoError(t, report.Err())
	require.Equal(t, len(report.Calls), report.Count(trace.Same))
	_, requests, err := h.crm.Query(t.Context(), "SELECT count(*) FROM requests")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"0"}}, requests, "the service is not asked in a replay")
}

// An address without its country is another contract, and the version was not counted up.
func TestRecordedRunOfAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	type newChange struct {
		CustomerID string `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
		AddressID  string `json:"address_id"`
	}
	file, err := os.ReadFile(recordedRun)
	require.NoError(t, err)
	_, report := replayed(t, bytes.NewReader(file), func(defs []tool.Definition) {
		old, ok := defs[4].(tool.Write[addressChange, addressPlan, addressChanged])
		require.True(t, ok)
		defs[4] = tool.Write[newChange, addressPlan, addressChanged]{
			Spec: old.Spec, Class: old.Class, Contract: old.Contract, Current: old.Current, Commit: old.Commit, Status: old.Status, Verify: old.Verify,
			Preview: func(context.Context, tool.Caller, newChange) (tool.Draft[addressPlan], error) {
				return tool.Draft[addressPlan]{}, envelope.New(envelope.NotFound)
			},
		}
	})
	require.ErrorIs(t, report.Err(), trace.ErrOldVersion)
	require.NotErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, 1, report.Count(trace.Same), "the look at the customer")
	require.Equal(t, len(report.Calls)-1, report.Count(trace.OldVersion), "every preview, and all that rests on one")
}

// The calls as models really sent them: what is saved holds nothing of them that no schema declares, and meets the same
// verdicts.
func TestRecordedCallsReplay(t *testing.T) {
	t.Parallel()
	h, rec := watchedHost(t)
	calls, err := readCalls(bytes.NewReader(recorded))
	require.NoError(t, err)
	for _, c := range calls {
		h.run.Call(t.Context(), envelope.Call{Tool: c.Tool, Arguments: c.Bytes})
	}
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, "run_monday"))
	_, report := replayed(t, &file, nil)
	require.NoError(t, report.Err())
	require.Len(t, report.Calls, len(calls))
	require.Equal(t, 141, report.Count(trace.Same), "few calls lose their verdict by being redacted, and are left out")
}

// watchedHost is a host whose run is recorded.
func watchedHost(t *testing.T) (*host, *trace.Recorder) {
	t.Helper()
	texts := strings.Split("Ines Vogt|4 Harbour Row|17 Example Lane|3a Mill Court|7 Seestrasse|Lübeck ", "|")
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
	h, err = newHost(t.Context(), 1000, setup{wire: func(cfg *tool.Config) error { rec.Wire(cfg); return nil }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	run, err := rec.Run(plain(t, h.run))
	require.NoError(t, err)
	h.run = run
	return h, rec
}

func replayed(t *testing.T, file io.Reader, definitions func([]tool.Definition)) (*host, *trace.Report) {
	t.Helper()
	recorded, err := trace.Load(file)
	require.NoError(t, err)
	var h *host
	p := trace.NewPlayer(recorded, trace.PlayerConfig{At: func(at time.Time) { h.clock.set(at) }})
	h, err = newHost(t.Context(), 1000, setup{definitions: definitions, wire: p.Wire})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	report, err := p.Play(t.Context(), h.dispatcher, plain(t, h.run))
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
