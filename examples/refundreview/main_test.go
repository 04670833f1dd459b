package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

const golden = "testdata/output.golden"

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

// The story must be able to fail: where billing never answered, and where the customer's name has crossed.
func TestStoryNoticesWhatDiffers(t *testing.T) {
	t.Parallel()
	h, err := newHost(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	var out bytes.Buffer
	tl := &teller{w: &out, h: h, names: map[string]string{}}
	tl.review(t.Context())
	require.Zero(t, tl.wrong, out.String())

	h.answers.WriteString(`{"note":"about Marit Okonkwo-Lund"}`)
	tl.search("Zq7-canary-Kx9")
	require.Equal(t, 3, tl.wrong, "the name, the address that shares six characters with it, and a control that is not there\n"+out.String())

	h.desk.cases = nil
	tl.wrong = 0
	tl.operators(t.Context(), "req_of_nobody")
	require.Equal(t, 1, tl.wrong, "nothing is kept of a request that was not refused\n"+out.String())
}
