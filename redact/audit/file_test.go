package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
)

func key(fill byte) redact.Key {
	return redact.Key{ID: "k", Secret: bytes.Repeat([]byte{fill}, 32)}
}

func openFile(tb testing.TB, path string) *audit.File {
	tb.Helper()
	f, err := audit.OpenFile(path, key(1), func() time.Time { return noon })
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, f.Close()) })
	return f
}

// event is the nth of a file.
func event(n int) audit.Event {
	e := full()
	e.At, e.RequestID = noon.Add(time.Duration(n)*time.Second), fmt.Sprintf("req_%d", n)
	return e
}

// written returns the bytes of a file with n events, and the head after each.
func written(tb testing.TB, n int) (text []byte, heads []audit.Head) {
	tb.Helper()
	path := filepath.Join(fastDir(tb), "audit.log")
	f := openFile(tb, path)
	heads = append(heads, f.Head())
	for i := range n {
		require.NoError(tb, f.Record(tb.Context(), event(i)))
		heads = append(heads, f.Head())
	}
	return read(tb, path), heads
}

// fastDir is a directory in memory where there is one, for tests that sync a thousand times and learn nothing from a
// disk.
func fastDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "audit") //nolint:usetesting // tb.TempDir is on the disk
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() { require.NoError(tb, os.RemoveAll(dir)) })
	return dir
}

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path)
	require.NoError(tb, err)
	return text
}

func ExampleFile() {
	dir, _ := os.MkdirTemp("", "audit")
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "audit.log")

	sink, err := audit.OpenFile(path, redact.Key{ID: "2026-07", Secret: []byte("a secret of 32 bytes at the least")}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = sink.Record(context.Background(), audit.Event{At: time.Now(), Kind: "admit", Tenant: "t1", Operation: "op_1"})
	_ = sink.Record(context.Background(), audit.Event{At: time.Now(), Kind: "dispatch", Tenant: "t1", Operation: "op_1"})
	_ = sink.Close()

	text, _ := os.ReadFile(path)
	fmt.Println(audit.Verify(bytes.NewReader(text)))
	cut := text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1]
	fmt.Println(audit.Verify(bytes.NewReader(cut)))
	fmt.Println(audit.Verify(bytes.NewReader(bytes.Replace(text, []byte("admit"), []byte("admin"), 1))))
	// Output:
	// <nil>
	// audit: the file is damaged: line 5: the file is cut: the head counts 2 events
	// audit: the file is damaged: line 4: the chain is not the one that was signed (line 2)
}

func TestFileIsReadable(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 2)
	lines := strings.Split(string(text), "\n")
	require.Len(t, lines, 6)
	require.Contains(t, lines[3], `{"seq":1,"prev":"`)
	require.Contains(t, lines[4], `"event":{"at":"2026-07-01T12:00:01Z","kind":"dispatch",`, "one JSON text a line")
	require.Contains(t, lines[4], `"digests":{"action":"hs256:k:01","plan":"hs256:k:00"}`, "in one order")
}

func TestFileGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	notes := make([]audit.Head, 0, 4)
	for i := range 4 {
		f := openFile(t, path)
		notes = append(notes, f.Head())
		require.Equal(t, int64(i), f.Head().Events)
		require.NoError(t, audit.Verify(bytes.NewReader(read(t, path))), "open and idle")
		require.NoError(t, f.Record(t.Context(), event(i)))
		require.NoError(t, f.Close())
		s, err := audit.Inspect(bytes.NewReader(read(t, path)), notes...)
		require.NoError(t, err)
		require.Equal(t, f.Head(), s.Head)
		require.Equal(t, f.PublicKey(), s.PublicKey)
		require.Equal(t, noon, s.From)
		require.Equal(t, event(i).At, s.To)
		require.Equal(t, noon, s.Created)
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "nobody else's to read")
}

func TestFileHasOneWriter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	f := openFile(t, path)
	_, err := audit.OpenFile(path, key(1), nil)
	require.ErrorIs(t, err, audit.ErrBusy)
	require.NoError(t, f.Close())
	_, err = audit.OpenFile(path, key(2), nil)
	require.ErrorIs(t, err, redact.ErrKey, "begun with another key")
	_, err = audit.OpenFile(path, redact.Key{ID: "k"}, nil)
	require.ErrorIs(t, err, redact.ErrKey, "no key at all")
	again := openFile(t, path)
	require.NoError(t, again.Record(t.Context(), event(0)), "who was refused left no lock")
}

func TestFileRefusesAfterClose(t *testing.T) {
	t.Parallel()
	f := openFile(t, filepath.Join(t.TempDir(), "audit.log"))
	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
	err := f.Record(t.Context(), event(0))
	require.ErrorIs(t, err, audit.ErrBroken)
	require.ErrorIs(t, err, os.ErrClosed)
}

// held waits in Sync until it is released, and knows whether it was closed.
type held struct {
	audit.Disk
	release chan struct{}
	closed  atomic.Bool
}

func (d *held) Sync() error {
	<-d.release
	return d.Disk.Sync()
}

func (d *held) Close() error {
	d.closed.Store(true)
	return d.Disk.Close()
}

// Whoever closes the file may open it again, though somebody else closed it first and waits still.
func TestFileIsClosedWhenCloseReturns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	synctest.Test(t, func(t *testing.T) {
		f := openFile(t, path)
		disk := &held{release: make(chan struct{})}
		f.Tap(func(d audit.Disk) audit.Disk { disk.Disk = d; return disk })
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, f.Record(t.Context(), event(0))) })
		synctest.Wait()
		for range 2 {
			all.Go(func() {
				assert.NoError(t, f.Close())
				assert.True(t, disk.closed.Load())
			})
			synctest.Wait()
		}
		close(disk.release)
		all.Wait()
	})
}

func TestFileThatFailedIsBroken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	f, err := audit.OpenFile(path, key(1), nil)
	require.NoError(t, err)
	require.NoError(t, f.Record(t.Context(), event(0)))
	f.Tap(func(d audit.Disk) audit.Disk { return &failingOnce{Disk: d} })
	err = f.Record(t.Context(), event(1))
	require.ErrorIs(t, err, audit.ErrBroken)
	require.ErrorIs(t, err, errDisk)
	require.ErrorIs(t, f.Record(t.Context(), event(2)), audit.ErrBroken, "for good: what is on the disk is not known")
	require.Equal(t, int64(1), f.Head().Events, "what was acknowledged")
	require.NoError(t, f.Close())
	require.Equal(t, int64(2), openFile(t, path).Head().Events, "and the repair")
}

// failingOnce fails the first sync and no other.
type failingOnce struct {
	audit.Disk
	failed bool
}

func (d *failingOnce) Sync() error {
	if !d.failed {
		d.failed = true
		return errDisk
	}
	return d.Disk.Sync()
}

func TestFileRefusesEventsThatItCannotKeep(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	f := openFile(t, path)
	for why, change := range map[string]func(*audit.Event){
		"no time":       func(e *audit.Event) { e.At = time.Time{} },
		"no kind":       func(e *audit.Event) { e.Kind = "" },
		"invalid UTF-8": func(e *audit.Event) { e.Subject = canary + "\xff" },
		"too large":     func(e *audit.Event) { e.Subject = strings.Repeat("x", 256<<10) },
		"no RFC 3339":   func(e *audit.Event) { e.At = noon.AddDate(9000, 0, 0) },
	} {
		e := event(0)
		change(&e)
		err := f.Record(t.Context(), e)
		require.ErrorIs(t, err, audit.ErrEvent, why)
		require.NotContains(t, err.Error(), canary)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, f.Record(ctx, event(0)), context.Canceled)
	require.Equal(t, int64(0), f.Head().Events)
	large := event(0)
	large.Subject = strings.Repeat("x", 250<<10)
	require.NoError(t, f.Record(t.Context(), large))
	require.NoError(t, audit.Verify(bytes.NewReader(read(t, path))))
}

func TestFileTakesEventsFromMany(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	f := openFile(t, path)
	const writers, each = 8, 25
	seen := make(chan audit.Head, writers*each)
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range each {
				if err := f.Record(t.Context(), event(w*each+i)); err != nil {
					t.Errorf("record: %v", err)
				}
				h := f.Head()
				if h.Events < int64(i+1) {
					t.Errorf("acknowledged, and the head counts %d", h.Events)
				}
				seen <- h
			}
		})
	}
	wait.Wait()
	text := read(t, path)
	close(seen)
	notes := slices.Collect(func(yield func(audit.Head) bool) {
		for h := range seen {
			yield(h)
		}
	})
	s, err := audit.Inspect(bytes.NewReader(text), notes...)
	require.NoError(t, err, "every head that was seen is one that the file passed through")
	require.Equal(t, int64(writers*each), s.Head.Events)
	for i := range writers * each {
		require.Equal(t, 1, bytes.Count(text, fmt.Appendf(nil, `"request_id":"req_%d"`, i)), "each once")
	}
}

func TestFileClosesBehindWhatWasAccepted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	f := openFile(t, path)
	var wait sync.WaitGroup
	acknowledged := make(chan struct{}, 1000)
	for w := range 4 {
		wait.Go(func() {
			for i := 0; ; i++ {
				err := f.Record(context.Background(), event(w*1000+i))
				if err != nil {
					if !errors.Is(err, audit.ErrBroken) || !errors.Is(err, os.ErrClosed) {
						t.Errorf("after the end: %v", err)
					}
					return
				}
				acknowledged <- struct{}{}
			}
		})
	}
	<-acknowledged
	require.NoError(t, f.Close())
	wait.Wait()
	s, err := audit.Inspect(bytes.NewReader(read(t, path)))
	require.NoError(t, err)
	require.Equal(t, int64(1+len(acknowledged)), s.Head.Events, "what was acknowledged, no more and no less")
}

// The states that a crash can leave between two events: lines half written, a head half written, the tail full of
// zeros.
func TestFileSurvivesACrashAtAnyByte(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	f := openFile(t, path)
	require.NoError(t, f.Record(t.Context(), event(0)))
	before := read(t, path)
	require.NoError(t, f.Record(t.Context(), event(1)))
	after := read(t, path)
	require.NoError(t, f.Close())

	var states [][]byte
	for k := len(before); k <= len(after); k = min(k+29, max(len(after), k+1)) {
		half := append(bytes.Clone(before), after[len(before):k]...) // the line is on its way
		states = append(states, half, append(half, make([]byte, 13)...))
	}
	for k := 0; k < 768; k += 13 {
		states = append(states, append(append([]byte{}, after[:k]...), append(bytes.Clone(before[k:768]), after[768:]...)...)) // the head is
	}
	for i, state := range states {
		crashed := filepath.Join(fastDir(t), "audit.log")
		require.NoError(t, os.WriteFile(crashed, state, 0o600))
		g, err := audit.OpenFile(crashed, key(1), func() time.Time { return noon })
		require.NoError(t, err, "state %d", i)
		require.NoError(t, g.Record(t.Context(), event(2)))
		require.NoError(t, g.Close())
		text := read(t, crashed)
		_, err = audit.Inspect(bytes.NewReader(text), g.Head())
		require.NoError(t, err, "state %d", i)
		require.Contains(t, string(text), `"request_id":"req_0"`, "what was acknowledged stays")
		require.Contains(t, string(text), `"request_id":"req_2"`)
		untouched := bytes.Equal(state, before) || bytes.Equal(state, after)
		require.Equal(t, !untouched, strings.Contains(string(text), audit.EventRecovered), "state %d: a repair is recorded, and only that", i)
		require.Equal(t, bytes.Equal(state, after), strings.Contains(string(text), `"request_id":"req_1"`), "state %d: what no head counts was never acknowledged", i)
	}
}

func TestFileBeginsInAnEmptyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, openFile(t, path).Record(t.Context(), event(0)))
	require.NoError(t, audit.Verify(bytes.NewReader(read(t, path))))
	_, err := audit.OpenFile(filepath.Join(t.TempDir(), "no", "such", "directory"), key(1), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFileDoesNotGoOnAfterDamage(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 3)
	dir := fastDir(t)
	refused := func(state []byte, why string, at int) {
		path := filepath.Join(dir, "audit.log")
		require.NoError(t, os.WriteFile(path, state, 0o600))
		_, err := audit.OpenFile(path, key(1), nil)
		require.True(t, errors.Is(err, audit.ErrDamaged) || errors.Is(err, redact.ErrKey), "%s at %d: %v", why, at, err)
		require.Equal(t, state, read(t, path), "and is left as it is")
	}
	for i := 0; i < len(text); i += 11 {
		if i >= 256 && i < 768 {
			continue // one torn head is repaired
		}
		broken := bytes.Clone(text)
		broken[i] ^= 1
		refused(broken, "changed", i)
	}
	for i := 1; i < len(text); i += 11 {
		refused(text[:i], "cut", i)
	}
	both := bytes.Clone(text)
	both[300], both[600] = 'x', 'x'
	refused(both, "both heads", 0)
	older, _ := written(t, 1)
	mixed := append(append(bytes.Clone(text[:256]), older[256:768]...), text[768:]...)
	refused(mixed, "another file's heads", 0)
	swapped := append(append(append(bytes.Clone(text[:256]), text[512:768]...), text[256:512]...), text[768:]...)
	refused(swapped, "heads in each other's place", 0)
}

// Two heads that are the writer's and were never in the file together are no crash.
func TestFileDoesNotGoOnWithAHeadThatWasKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	f := openFile(t, path)
	early := read(t, path)
	for i := range 4 {
		require.NoError(t, f.Record(t.Context(), event(i)))
	}
	require.NoError(t, f.Close())
	now := read(t, path)
	require.NoError(t, os.WriteFile(path, append(append(bytes.Clone(now[:512]), early[512:768]...), now[768:]...), 0o600))
	_, err := audit.OpenFile(path, key(1), nil)
	require.ErrorIs(t, err, audit.ErrDamaged)
}

// A torn head and nothing else amiss is what an intruder leaves who cuts the last event off; it is repaired like a
// crash, and shows.
func TestFileRecordsATornHead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	f := openFile(t, path)
	require.NoError(t, f.Record(t.Context(), event(0)))
	before := read(t, path)
	require.NoError(t, f.Record(t.Context(), event(1)))
	noted := f.Head()
	require.NoError(t, f.Close())
	cut := read(t, path)[:len(before)]
	cut[512+20] ^= 1 // the newest head
	require.NoError(t, os.WriteFile(path, cut, 0o600))
	requireDamaged(t, cut, "found before anybody opens it")
	openFile(t, path)
	text := read(t, path)
	require.Contains(t, string(text), `"kind":"audit_recovered","outcome":"torn head, dropped bytes: 0"`)
	require.NoError(t, audit.Verify(bytes.NewReader(text)))
	_, err := audit.Inspect(bytes.NewReader(text), noted)
	require.ErrorIs(t, err, audit.ErrDamaged, "and the note tells which it was")
}

// tapped notes what is written, and between which syncs.
type tapped struct {
	audit.Disk
	ops []op
}

// op is a write, or a sync where it has no data.
type op struct {
	at   int64
	data []byte
}

func (d *tapped) WriteAt(p []byte, at int64) (int, error) {
	d.ops = append(d.ops, op{at, bytes.Clone(p)})
	return d.Disk.WriteAt(p, at)
}

func (d *tapped) Sync() error {
	d.ops = append(d.ops, op{})
	return d.Disk.Sync()
}

// A disk keeps what was synced; of what was not it keeps whatever it likes, in any order.
func TestFileTrustsNothingButSync(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	f := openFile(t, path)
	require.NoError(t, f.Record(t.Context(), event(0)))
	before := read(t, path)
	tap := &tapped{}
	f.Tap(func(d audit.Disk) audit.Disk { tap.Disk = d; return tap })
	require.NoError(t, f.Record(t.Context(), event(1)))
	after := read(t, path)

	synced, pending := before, []op(nil)
	states := 0
	for _, o := range tap.ops {
		for kept := range 1 << len(pending) {
			state := bytes.Clone(synced)
			for i, p := range pending {
				if kept>>i&1 == 1 {
					state = patched(state, p)
				}
			}
			crashed := filepath.Join(fastDir(t), "audit.log")
			require.NoError(t, os.WriteFile(crashed, state, 0o600))
			g := openFile(t, crashed)
			require.Contains(t, string(read(t, crashed)), `"request_id":"req_0"`, "acknowledged before")
			require.NoError(t, g.Close())
			states++
		}
		if o.data == nil {
			for _, p := range pending {
				synced = patched(synced, p)
			}
			pending = nil
			continue
		}
		pending = append(pending, o)
	}
	require.Greater(t, states, 5)
	require.Empty(t, pending)
	require.Equal(t, after, synced, "when Record returns, all of it is synced")
}

func patched(text []byte, o op) []byte {
	out := bytes.Clone(text)
	if missing := int(o.at) + len(o.data) - len(out); missing > 0 {
		out = append(out, make([]byte, missing)...)
	}
	copy(out[o.at:], o.data)
	return out
}
