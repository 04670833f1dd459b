package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The program, as a newcomer runs it: exit status 0 says that each transfer had one effect and one was asked for twice.
func TestOneEffectEachWithAKilledWorker(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "worker")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err = exec.CommandContext(ctx, bin).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == noServer && os.Getenv("CI") == "" {
		t.Skip(string(out))
	}
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "✓ one effect each")
}
