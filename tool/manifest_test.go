package tool_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// TestManifestDoesNotDependOnTheOrderOfDeclarations: a pin breaks over what changed, and over nothing else.
func TestManifestDoesNotDependOnTheOrderOfDeclarations(t *testing.T) {
	t.Parallel()
	failures := []envelope.Failure{{Code: "A_B", Message: "x"}, {Code: "C_D", Message: "y", Retryable: true}}
	tags, on := []string{"a", "b"}, []envelope.Code{envelope.RateLimited, envelope.UpstreamUnavailable}
	manifest := func(turn bool) tool.Manifest {
		w := newWorld(t)
		f, g, o := slices.Clone(failures), slices.Clone(tags), slices.Clone(on)
		if turn {
			slices.Reverse(f)
			slices.Reverse(g)
			slices.Reverse(o)
		}
		w.read.Spec.Failures, w.read.Spec.Tags = f, g
		w.read.Retry = tool.Retry{Attempts: 3, Within: time.Second, On: o}
		c, err := tool.NewCatalog(w.write, w.read)
		require.NoError(t, err)
		names := []string{readTool, previewTool}
		if turn {
			slices.Reverse(names)
		}
		role, err := c.Role("support", names...)
		require.NoError(t, err)
		return c.Manifest(role)
	}
	straight := manifest(false)
	require.Equal(t, straight, manifest(true))
	read := straight.Tools[0]
	require.Equal(t, []string{"A_B", "C_D"}, read.Failures)
	require.Equal(t, []string{"a", "b"}, read.Tags)
	require.Equal(t, &tool.ManifestRetry{Attempts: 3, Within: "1s", On: []string{"RATE_LIMITED", "UPSTREAM_UNAVAILABLE"}}, read.Retry)
	require.Nil(t, read.Write)
	require.Equal(t, previewTool, straight.Tools[1].Name)
}

// TestManifestOfAWrite shows each of its declarations.
func TestManifestOfAWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := func() *tool.ManifestWrite {
		c, err := tool.NewCatalog(w.write)
		require.NoError(t, err)
		role, err := c.Role("support", commitTool)
		require.NoError(t, err)
		m := c.Manifest(role)
		require.Equal(t, commitTool, m.Tools[1].Name)
		return m.Tools[1].Write
	}
	plain := of()
	require.Equal(t, &tool.ManifestWrite{
		Plan: plain.Plan, Contract: "none", Attempts: 5, DedupFor: "0s", Settle: "0s", RunFor: "1m0s", Lifetime: "the policy's",
	}, plain)
	w.runs(time.Hour, func() tool.Stopped { return tool.StoppedNow })
	w.write.Attempts, w.write.Settle, w.write.DedupFor, w.write.Lifetime, w.write.Queued, w.write.Unversioned = 2, time.Second, time.Minute, 2*time.Minute, true, true
	require.Equal(t, &tool.ManifestWrite{
		Plan: plain.Plan, Contract: "status_queryable", Attempts: 2, DedupFor: "1m0s", Settle: "1s", RunFor: "1h0m0s", Lifetime: "2m0s",
		Unversioned: true, Queued: true, Cancellable: true,
	}, of())
	require.Regexp(t, `^sha256:`, plain.Plan)
}
