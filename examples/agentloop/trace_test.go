package main

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/examples/internal/recordtest"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

const recordedRun = "testdata/run.trace.jsonl"

// The run that is kept in testdata replays by the program's own flag: without the model, the person and the shop.
func TestKeptRunReplays(t *testing.T) {
	t.Parallel()
	var out, complaints bytes.Buffer
	if os.Getenv("TOOLCONTRACT_UPDATE") != "" {
		require.Empty(t, os.Getenv("CI"), "golden files are compared in CI, never rewritten")
		require.Zero(t, command(t.Context(), []string{"-record", recordedRun}, none, &out, &complaints), complaints.String())
		out.Reset()
	}
	require.Zero(t, command(t.Context(), []string{"-replay", recordedRun}, none, &out, &complaints), complaints.String())
	require.Equal(t, 7, bytes.Count(out.Bytes(), []byte(": same\n")), out.String())
}

// A search by another member breaks every caller of the closed contract, unless it is a new version; the rest of the run,
// which does not hang on it, is as it was.
func TestKeptRunOfAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	type words struct {
		Words string `json:"words" jsonschema:"minLength=1,maxLength=80"`
	}
	recorded, err := trace.Load(bytes.NewReader(recordtest.Kept(t)))
	require.NoError(t, err)
	h := &host{}
	h.shop = newShop(h.clock.now)
	was := h.shop.find()
	catalogue, err := tool.NewCatalog(h.shop.setPrice(), tool.Tool[words, found]{
		Spec: was.Spec,
		Handle: func(ctx context.Context, by tool.Caller, in words) (found, error) {
			return was.Handle(ctx, by, query{Text: in.Words})
		},
	})
	require.NoError(t, err)
	cfg, err := h.config()
	require.NoError(t, err)
	player := trace.NewPlayer(recorded, trace.PlayerConfig{At: func(at time.Time) { h.clock.set(at) }})
	require.NoError(t, player.Wire(&cfg))
	d, err := tool.NewDispatcher(catalogue, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close(context.WithoutCancel(t.Context()))) })
	role, err := clerk(catalogue)
	require.NoError(t, err)
	run, err := d.Start(tool.RunConfig{
		Principal: agent(), Role: role, Budget: tool.Budget{Calls: 20, Tokens: 100_000}, Deadline: h.clock.now().Add(time.Minute),
	})
	require.NoError(t, err)
	report, err := player.Play(t.Context(), d, run)
	require.NoError(t, err)
	recordtest.Refused(t, report, 1)
}
