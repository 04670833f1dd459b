package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// written makes a file of two events and returns its path, its key and the head after the first.
func written(t *testing.T) (path, key string, head audit.Head) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "audit.log")
	f, err := audit.OpenFile(path, redact.Key{ID: "k", Secret: make([]byte, 32)}, func() time.Time { return noon })
	require.NoError(t, err)
	require.NoError(t, f.Record(t.Context(), audit.Event{At: noon, Kind: "call"}))
	head = f.Head()
	require.NoError(t, f.Record(t.Context(), audit.Event{At: noon.Add(time.Hour), Kind: "call"}))
	require.NoError(t, f.Close())
	return path, f.PublicKey(), head
}

func TestRun(t *testing.T) {
	t.Parallel()
	path, key, head := written(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	broken := filepath.Join(t.TempDir(), "broken.log")
	require.NoError(t, os.WriteFile(broken, bytes.Replace(text, []byte("13:00"), []byte("14:00"), 1), 0o600))
	other := "ed25519:" + strings.Repeat("A", 43)
	wrong := audit.Head{Events: 1, Chain: strings.Repeat("0", 64)}

	for _, c := range []struct {
		name   string
		args   []string
		stdin  []byte
		status int
		says   string
	}{
		{"intact", []string{path}, nil, 0, "events 2, 2026-07-01T12:00:00Z to 2026-07-01T13:00:00Z"},
		{"says what it did not compare", []string{path}, nil, 0, "not compared"},
		{"as noted", []string{"-key", key, "-head", head.String(), path}, nil, 0, ": intact\n"},
		{"standard input", []string{"-"}, text, 0, "-: intact\n"},
		{"changed", []string{broken}, nil, 1, "DAMAGED"},
		{"another key", []string{"-key", other, path}, nil, 1, "signed with another key: " + key},
		{"another past", []string{"-head", head.String(), "-head", wrong.String(), path}, nil, 1, "not the one that was noted"},
		{"no such file", []string{path + ".none"}, nil, 2, "no such file"},
		{"a directory", []string{filepath.Dir(path)}, nil, 2, "auditverify: audit: read"},
		{"no file", nil, nil, 2, "usage:"},
		{"two files", []string{path, path}, nil, 2, "usage:"},
		{"no head", []string{"-head", "x", path}, nil, 2, "not a head"},
		{"no flag", []string{"-nosuch", path}, nil, 2, "usage:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			require.Equal(t, c.status, run(c.args, bytes.NewReader(c.stdin), &stdout, &stderr))
			out := &stdout
			if c.status == 2 {
				out = &stderr
				require.Empty(t, stdout.String())
			}
			require.Contains(t, out.String(), c.says)
		})
	}
}
