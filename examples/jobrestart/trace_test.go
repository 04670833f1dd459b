package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/examples/internal/recordtest"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// The run that is kept in testdata replays without jobctl, and is the story's, recorded now.
func TestRecordedRunReplays(t *testing.T) {
	t.Parallel()
	replays := func() {
		h, report := replayed(t, nil)
		require.NoError(t, report.Err())
		require.Equal(t, 27, report.Count(trace.Same))
		require.Empty(t, h.tape.ran, "jobctl is not asked in a replay")
	}
	if !recordtest.Updating() {
		replays() // first: of a contract that is broken it tells more than the story does
	}
	var file bytes.Buffer
	record(t, &file)
	recordtest.Keep(t, file.Bytes())
	require.True(t, bytes.Equal(recordtest.Kept(t), file.Bytes()), "rewrite with TOOLCONTRACT_UPDATE=1 and read the difference")
	replays()
}

// A version that nobody counted up: the recorded calls no longer fit, and say so.
func TestRecordedRunOfAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	type newQuery struct {
		ProjectID string `json:"project_id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{2\\,62}$"`
		RunID     string `json:"run_id" jsonschema:"pattern=^run_[0-9]{12}$"`
	}
	_, report := replayed(t, func(defs []tool.Definition) {
		old, ok := defs[0].(tool.Tool[runQuery, jobRun])
		require.True(t, ok)
		defs[0] = tool.Tool[newQuery, jobRun]{Spec: old.Spec, Handle: unreachable[newQuery, jobRun](t)}
	})
	recordtest.Refused(t, report, 13) // every look at a run
	require.Equal(t, 14, report.Count(trace.Same), "the restarts have not changed")
}

// Another name in what a restart answers: the answered commits are refused, and their operations are no difference.
func TestAnotherNameInTheAnswerIsRefused(t *testing.T) {
	t.Parallel()
	type renamed struct {
		tool.Evidence
		ProjectID string `json:"project_id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{2\\,62}$"`
		RunID     string `json:"run_id" jsonschema:"pattern=^run_[A-Za-z0-9]{12\\,48}$"`
		Tries     int    `json:"tries" jsonschema:"minimum=2"`
	}
	h, report := replayed(t, func(defs []tool.Definition) {
		for i, def := range defs {
			was, ok := def.(tool.Write[runQuery, restartPlan, jobRestarted])
			if !ok {
				continue
			}
			as := func(out jobRestarted, err error) (renamed, error) {
				return renamed{out.Evidence, out.ProjectID, out.RunID, out.Attempt}, err
			}
			defs[i] = tool.Write[runQuery, restartPlan, renamed]{
				Spec: was.Spec, Class: was.Class, Contract: was.Contract, Preview: was.Preview, Current: was.Current,
				Commit: func(ctx context.Context, cmd tool.Approved[restartPlan]) (renamed, error) {
					return as(was.Commit(ctx, cmd))
				},
				Status: func(ctx context.Context, cmd tool.Approved[restartPlan], receipt string) (renamed, error) {
					return as(was.Status(ctx, cmd, receipt))
				},
				Verify: func(ctx context.Context, cmd tool.Approved[restartPlan], out renamed) error {
					return was.Verify(ctx, cmd, jobRestarted{out.Evidence, out.ProjectID, out.RunID, out.Tries})
				},
			}
		}
	})
	recordtest.Refused(t, report, 3) // the commits that were answered
	require.ErrorContains(t, report.Err(), `UNKNOWN_FIELD at "attempt"`)
	require.Empty(t, h.tape.ran)
}

// unreachable is the handler of a tool that no recorded call reaches.
func unreachable[In, Out any](t *testing.T) func(context.Context, tool.Caller, In) (Out, error) {
	t.Helper()
	return func(context.Context, tool.Caller, In) (Out, error) {
		t.Error("a call of an old version reached the handler")
		var none Out
		return none, errors.New("unreachable")
	}
}

func record(t *testing.T, file io.Writer) {
	t.Helper()
	texts := []string{"builder@ci.example", "no matching run", "Authorised staff only"}
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
	h, err = newHost(setup{recorded: true, wire: func(cfg *tool.Config) error { rec.Wire(cfg); return nil }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	h.run, err = rec.Run(plain(t, h.run))
	require.NoError(t, err)
	require.NoError(t, rec.Note("run_monday", trace.Request, "Which of last night's runs failed, and can they be restarted?"))
	require.True(t, h.story(t.Context(), io.Discard))
	require.NoError(t, rec.Note("run_monday", trace.Answer, "run_C7d93mQz41Lp is restarted; somebody was faster with run_D7d93mQz41Lp."))
	require.NoError(t, rec.Save(file, "run_monday"))
}

func replayed(t *testing.T, definitions func([]tool.Definition)) (*host, *trace.Report) {
	t.Helper()
	recorded, err := trace.Load(bytes.NewReader(recordtest.Kept(t)))
	require.NoError(t, err)
	var h *host
	p := trace.NewPlayer(recorded, trace.PlayerConfig{At: func(at time.Time) { h.clock.set(at) }})
	h, err = newHost(setup{definitions: definitions, wire: p.Wire})
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
