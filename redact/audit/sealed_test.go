package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
)

// dirQuarantine makes a sealed quarantine in a directory of its own, for three requests.
func dirQuarantine(t *testing.T, b *bench, keys ...redact.Key) (*audit.SealedQuarantine, string) {
	t.Helper()
	dir := filepath.Join(fastDir(t), "quarantine")
	return onDir(t, b, dir, keys...), dir
}

func onDir(t *testing.T, b *bench, dir string, keys ...redact.Key) *audit.SealedQuarantine {
	t.Helper()
	shelf, err := audit.OpenDirShelf(dir, 3)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, shelf.Close()) })
	sealer, err := redact.NewSealer(keys...)
	require.NoError(t, err)
	q, err := audit.NewSealedQuarantine(audit.SealedQuarantineConfig{Shelf: shelf, Sealer: sealer, Audit: b, Retention: time.Hour, Now: func() time.Time { return b.now }})
	require.NoError(t, err)
	return q
}

func ExampleNewSealedQuarantine() {
	dir, _ := os.MkdirTemp("", "quarantine")
	defer func() { _ = os.RemoveAll(dir) }()
	shelf, _ := audit.OpenDirShelf(dir, 0)
	sealer, _ := redact.NewSealer(redact.Key{ID: "2026-07", Secret: []byte("a secret of 32 bytes at the least")})
	q, err := audit.NewSealedQuarantine(audit.SealedQuarantineConfig{Shelf: shelf, Sealer: sealer, Audit: &audit.Recorder{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	_ = q.Keep(ctx, audit.Item{RequestID: "req_1", Tool: "get_customer_v1", Cause: fmt.Errorf("connect: %w", os.ErrDeadlineExceeded)})
	item, err := q.Open(ctx, "operator-7", "req_1")
	fmt.Println(item.Cause, err)
	// Output:
	// connect: i/o timeout <nil>
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestSealedQuarantineShowsNothingOnDisk(t *testing.T) {
	t.Parallel()
	b := quarantines()["dir"](t)
	in := item("req_" + canary)
	in.Tenant, in.Tool, in.Path, in.Owner, in.Cause = canary, canary, canary, canary, errors.New(canary)
	require.NoError(t, b.Keep(t.Context(), in))
	c, err := redact.NewCanary(canary)
	require.NoError(t, err)
	seen := 0
	require.NoError(t, filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "nobody else's to read: %s", path)
		require.Empty(t, c.Search([]byte(path)))
		if !d.IsDir() {
			seen++
			text := read(t, path)
			require.NotContains(t, string(text), canary)
			require.Empty(t, c.Search(text))
		}
		return nil
	}))
	require.Equal(t, 1, seen)
	got, err := b.Open(t.Context(), "staff", "req_"+canary)
	require.NoError(t, err)
	require.NotEmpty(t, c.Search(got.Raw), "the control")
}

func TestSealedQuarantineOpensNothingThatWasTouched(t *testing.T) {
	t.Parallel()
	for name, touch := range map[string]func(t *testing.T, b *bench, path string){
		"changed": func(t *testing.T, _ *bench, path string) {
			t.Helper()
			text := read(t, path)
			text[len(text)/2] ^= 1
			require.NoError(t, os.WriteFile(path, text, 0o600))
		},
		"cut": func(t *testing.T, _ *bench, path string) {
			t.Helper()
			require.NoError(t, os.Truncate(path, 40))
		},
		"empty": func(t *testing.T, _ *bench, path string) {
			t.Helper()
			require.NoError(t, os.Truncate(path, 0))
		},
		"its retention stretched": func(t *testing.T, b *bench, path string) {
			t.Helper()
			expires, rest, _ := strings.Cut(filepath.Base(path), "-")
			require.NoError(t, os.Rename(path, filepath.Join(b.dir, "9"+expires[1:]+"-"+rest)))
			b.now = noon.Add(24 * time.Hour)
		},
		"moved to another request": func(t *testing.T, b *bench, path string) {
			t.Helper()
			require.NoError(t, b.Keep(t.Context(), item("req_2")))
			for _, other := range files(t, b.dir) {
				if other != filepath.Base(path) {
					require.NoError(t, os.Rename(filepath.Join(b.dir, other), path))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := quarantines()["dir"](t)
			require.NoError(t, b.Keep(t.Context(), item("req_1")))
			touch(t, b, filepath.Join(b.dir, files(t, b.dir)[0]))
			got, err := b.Open(t.Context(), "staff", "req_1")
			require.ErrorIs(t, err, redact.ErrSealed)
			require.Equal(t, audit.Item{}, got)
			events := b.events.Events()
			require.Equal(t, "unreadable", events[len(events)-1].Outcome, "the attempt is recorded")
		})
	}
}

func TestSealedQuarantineOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	b := &bench{t: t, now: noon}
	q, dir := dirQuarantine(t, b, key(1))
	in := item("req_1")
	in.Cause = errors.Join(fmt.Errorf("outer: %w", errDisk), &fs.PathError{Op: "read", Path: canary, Err: os.ErrPermission})
	require.NoError(t, q.Keep(t.Context(), in))
	later := key(2)
	later.ID = "later"
	again := onDir(t, b, dir, later, key(1))
	got, err := again.Open(t.Context(), "staff", "req_1")
	require.NoError(t, err, "after a rotation too")
	var cause *audit.StoredError
	require.ErrorAs(t, got.Cause, &cause)
	require.Equal(t, in.Cause.Error(), cause.Text)
	require.Equal(t, []string{"*errors.joinError", "*fmt.wrapError", "*errors.errorString", "*fs.PathError", "*errors.errorString"}, cause.Types)
	b.now = noon.Add(time.Second)
	require.NoError(t, again.Keep(t.Context(), got), "what was opened can be kept again")
	got, err = q.Open(t.Context(), "staff", "req_1")
	require.ErrorIs(t, err, redact.ErrKey, "who lacks the new key cannot")
	require.Empty(t, got)
	got, err = again.Open(t.Context(), "staff", "req_1")
	require.NoError(t, err)
	require.Equal(t, cause, got.Cause)
	require.Len(t, got.Before, 1)
}

func TestSealedQuarantineBoundsACause(t *testing.T) {
	t.Parallel()
	b := quarantines()["dir"](t)
	cause := errors.New(strings.Repeat("x", 100<<10))
	for range 100 {
		cause = fmt.Errorf("%w", cause)
	}
	in := item("req_1")
	in.Cause, in.Raw = cause, bytes.Repeat([]byte{0xff}, audit.MaxRaw)
	require.NoError(t, b.Keep(t.Context(), in))
	got, err := b.Open(t.Context(), "staff", "req_1")
	require.NoError(t, err)
	require.Equal(t, in.Raw, got.Raw)
	var stored *audit.StoredError
	require.ErrorAs(t, got.Cause, &stored)
	require.Len(t, stored.Text, 64<<10)
	require.Len(t, stored.Types, 64)
}

func TestDirShelfLeavesOtherFilesAlone(t *testing.T) {
	t.Parallel()
	b := quarantines()["dir"](t)
	require.NoError(t, b.Keep(t.Context(), item("req_1")))
	name := files(t, b.dir)[0]
	others := []string{"README", "1-2-3-4-5.sealed", name + ".bak", "x" + name, ".sealed"}
	for _, other := range others {
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, other), nil, 0o600))
	}
	stem := name[:len(name)-9]
	half := stem + "00.sealed.tmp" // of a process that died
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, half), []byte("half"), 0o600))
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(b.dir, stem+"x1.sealed")))

	got, err := b.Open(t.Context(), "staff", "req_1")
	require.NoError(t, err)
	require.Empty(t, got.Before, "neither is a parcel")
	b.now = noon.Add(time.Hour)
	n, err := b.Purge(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	left := files(t, b.dir)
	require.NotContains(t, left, name)
	require.NotContains(t, left, half, "the half goes with it, uncounted")
	for _, other := range others {
		require.Contains(t, left, other)
	}
}

func TestDirShelfIsShared(t *testing.T) {
	t.Parallel()
	b := &bench{t: t, now: noon}
	q, dir := dirQuarantine(t, b, key(1))
	other := onDir(t, b, dir, key(1))
	require.NoError(t, q.Keep(t.Context(), item("req_1")))
	b.now = noon.Add(time.Second)
	short := item("req_1")
	short.For = time.Second
	require.NoError(t, other.Keep(t.Context(), short))
	got, err := q.Open(t.Context(), "staff", "req_1")
	require.NoError(t, err)
	require.Len(t, got.Before, 1)
	require.Equal(t, b.now, got.KeptAt)
}

func TestDirShelfRefuses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := audit.OpenDirShelf(path, 0)
	require.Error(t, err, "a file is no directory")
	shelf, err := audit.OpenDirShelf(filepath.Join(t.TempDir(), "a", "b"), 0)
	require.NoError(t, err, "made with its parents")
	require.ErrorIs(t, shelf.Put(t.Context(), audit.Parcel{Request: strings.Repeat("0", 64)}), audit.ErrItem, "the names could not spell it")
	require.NoError(t, shelf.Close())
	require.Error(t, shelf.Put(t.Context(), audit.Parcel{Request: strings.Repeat("0", 64), Kept: noon, Expires: noon}), "closed")
	_, err = shelf.Purge(t.Context(), noon)
	require.Error(t, err)
	_, err = shelf.Parcels(t.Context(), "")
	require.Error(t, err)
}

type brokenShelf struct{}

func (brokenShelf) Put(context.Context, audit.Parcel) error                 { return errDisk }
func (brokenShelf) Parcels(context.Context, string) ([]audit.Parcel, error) { return nil, errDisk }
func (brokenShelf) Purge(context.Context, time.Time) (int, error)           { return 3, errDisk }

func TestSealedQuarantineTellsWhatItsShelfCannot(t *testing.T) {
	t.Parallel()
	var events audit.Recorder
	q, err := audit.NewSealedQuarantine(audit.SealedQuarantineConfig{Shelf: brokenShelf{}, Sealer: redact.Plain(), Audit: &events})
	require.NoError(t, err)
	require.ErrorIs(t, q.Keep(t.Context(), item("req_1")), errDisk)
	_, err = q.Open(t.Context(), "staff", "req_1")
	require.ErrorIs(t, err, errDisk)
	require.NotErrorIs(t, err, audit.ErrNotFound)
	require.Equal(t, "unreadable", events.Events()[0].Outcome)
	n, err := q.Purge(t.Context())
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, 3, n)
}

func TestSealedQuarantineConfig(t *testing.T) {
	t.Parallel()
	_, err := audit.NewSealedQuarantine(audit.SealedQuarantineConfig{Retention: -1})
	require.ErrorIs(t, err, audit.ErrConfig)
	for _, fault := range []string{"no shelf", "no sealer", "no sink", "a negative retention"} {
		require.ErrorContains(t, err, fault, "all at once")
	}
}
