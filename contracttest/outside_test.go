package contracttest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAUsersModule builds a module outside this one, with the library replaced by this checkout and no network, and runs
// its tests: a tool of its own, and stores of its own.
func TestAUsersModule(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds a module of its own")
	}
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/usersmodule")))
	for _, name := range []string{"shop.go", "shop_test.go"} {
		require.NoError(t, os.Rename(filepath.Join(dir, name+".txt"), filepath.Join(dir, name)))
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	text := strings.Replace(string(mod), "module github.com/toolcontract/toolcontract", "module example.com/shop", 1)
	text += "\nrequire github.com/toolcontract/toolcontract v0.0.0\nreplace github.com/toolcontract/toolcontract => " + root + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600))
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "ok")
}
