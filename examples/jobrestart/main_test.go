package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

const golden = "testdata/output.golden"

// The test binary is jobctl as well, as the program is.
func TestMain(m *testing.M) {
	if code, ok := jobctl(os.Args[1:], os.Stdout, os.Stderr); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestOutput(t *testing.T) {
	t.Parallel()
	var out, complaints bytes.Buffer
	code := command(t.Context(), &out, &complaints)
	if os.Getenv("TOOLCONTRACT_UPDATE") != "" {
		require.Empty(t, os.Getenv("CI"), "golden files are compared in CI, never rewritten")
		require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String(), "rewrite with TOOLCONTRACT_UPDATE=1 and read the difference")
	require.Empty(t, complaints.String())
	require.Zero(t, code)
	require.NotContains(t, out.String(), "✗")
}

// The story must be able to fail: where jobctl answers otherwise than the story says.
func TestStoryNoticesWhatDiffers(t *testing.T) {
	t.Parallel()
	h, err := newHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	var out bytes.Buffer
	tl := &teller{ctx: t.Context(), w: &out, h: h}
	h.tape.play("show", "running")
	tl.refused(tl.preview("run_A7d93mQz41Lp"), "PRECONDITION_FAILED", "only a failed run can be restarted")
	require.Zero(t, tl.wrong, out.String())
	tl.operators("req_of_nobody")
	require.Equal(t, 2, tl.wrong, "nothing is kept of a request that nobody made\n"+out.String())
	require.Contains(t, out.String(), "✗ standard error")
}
