package audit_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact/audit"
)

// crashFile names, for the child process, the file to write until it is killed.
const crashFile = "TOOLCONTRACT_AUDIT_CRASH_FILE"

// TestFileSurvivesSIGKILL kills a process that writes from several goroutines, again and again over one file: whatever
// it had acknowledged is in the file, which verifies once it is open again.
func TestFileSurvivesSIGKILL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	acknowledged := map[string]bool{}
	for life := range 4 {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashChild$", "-test.v=false")
		child.Env = append(os.Environ(), crashFile+"="+path, fmt.Sprintf("TOOLCONTRACT_AUDIT_CRASH_LIFE=%d", life))
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		lines := bufio.NewScanner(out)
		for n := 0; n < 20+life*7 && lines.Scan(); n++ {
			acknowledged[lines.Text()] = true
		}
		require.NoError(t, child.Process.Kill())
		for lines.Scan() {
			acknowledged[lines.Text()] = true
		}
		require.Error(t, child.Wait(), "killed, not ended")

		f := openFile(t, path)
		text := read(t, path)
		_, err = audit.Inspect(bytes.NewReader(text), f.Head())
		require.NoError(t, err)
		require.GreaterOrEqual(t, f.Head().Events, int64(len(acknowledged)))
		for request := range acknowledged {
			require.Equal(t, 1, bytes.Count(text, fmt.Appendf(nil, `"request_id":%q`, request)), request)
		}
		require.NoError(t, f.Close())
	}
	require.GreaterOrEqual(t, len(acknowledged), 4*20)
}

func TestCrashChild(t *testing.T) {
	path := os.Getenv(crashFile)
	if path == "" {
		t.Skip("runs as the child of TestFileSurvivesSIGKILL alone")
	}
	f, err := audit.OpenFile(path, key(1), func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan string)
	for w := range 3 {
		go func() {
			for i := 0; ; i++ {
				e := event(i)
				e.RequestID = fmt.Sprintf("req_%s_%d_%d", os.Getenv("TOOLCONTRACT_AUDIT_CRASH_LIFE"), w, i)
				if err := f.Record(context.Background(), e); err != nil {
					t.Errorf("record: %v", err)
					return
				}
				out <- e.RequestID
			}
		}()
	}
	for request := range out {
		if _, err := fmt.Fprintln(os.Stdout, request); err != nil {
			return
		}
	}
}
