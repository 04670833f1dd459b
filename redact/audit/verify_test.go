package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact/audit"
)

func requireDamaged(t *testing.T, text []byte, why string, args ...any) {
	t.Helper()
	require.ErrorIs(t, audit.Verify(bytes.NewReader(text)), audit.ErrDamaged, append([]any{why}, args...)...)
}

func TestVerifyFindsAChangedByte(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 3)
	require.NoError(t, audit.Verify(bytes.NewReader(text)), "the control")
	for i := 0; i < len(text); i += 1 + 4*min(1, i/768) { // each byte of the heads, every fifth of the events
		broken := bytes.Clone(text)
		broken[i] ^= 1 << (i % 8)
		requireDamaged(t, broken, "byte %d", i)
	}
}

func TestVerifyFindsACut(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 2)
	for i := 0; i < len(text); i += 5 {
		requireDamaged(t, text[:i], "cut at %d", i)
		requireDamaged(t, text[i+1:], "begun at %d", i+1)
	}
	text, _ = written(t, 4)
	lines := bytes.SplitAfter(text, []byte{'\n'})
	lines = lines[:len(lines)-1]
	for from := range lines {
		for to := from + 1; to <= len(lines); to++ {
			requireDamaged(t, bytes.Join(slices.Delete(slices.Clone(lines), from, to), nil), "without the lines %d to %d", from, to-1)
		}
	}
	require.ErrorContains(t, audit.Verify(bytes.NewReader(bytes.Join(lines[:5], nil))), "line 6: the file is cut: the head counts 4 events", "the place is told")
	require.ErrorContains(t, audit.Verify(bytes.NewReader(bytes.Join(slices.Delete(slices.Clone(lines), 4, 5), nil))), "line 5: it does not continue the chain")
}

func TestVerifyFindsAnotherOrder(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 4)
	lines := bytes.SplitAfter(text, []byte{'\n'})
	lines = lines[:len(lines)-1]
	for i := range lines {
		for j := range lines {
			if i == j {
				continue
			}
			swapped := slices.Clone(lines)
			swapped[i], swapped[j] = swapped[j], swapped[i]
			requireDamaged(t, bytes.Join(swapped, nil), "lines %d and %d swapped", i, j)
			doubled := slices.Insert(slices.Clone(lines), i, lines[j])
			requireDamaged(t, bytes.Join(doubled, nil), "line %d once more before line %d", j, i)
		}
	}
}

// forger writes files by the documented form, without the writer's code and, unless it is given, without its key.
type forger struct {
	header string
	events []string
	public string
}

func takeApart(t *testing.T, text []byte) forger {
	t.Helper()
	lines := strings.SplitAfter(string(text), "\n")
	f := forger{header: lines[0]}
	for _, line := range lines[3 : len(lines)-1] {
		_, event, ok := strings.Cut(line, `,"event":`)
		require.True(t, ok)
		f.events = append(f.events, strings.TrimSuffix(event, "}\n"))
	}
	_, public, _ := strings.Cut(f.header, `"key":"`)
	f.public, _, _ = strings.Cut(public, `"`)
	return f
}

// chained returns the lines of the events and the chain after each.
func (f forger) chained() (lines string, chain []string) {
	sum := sha256.Sum256([]byte(f.header))
	chain = append(chain, fmt.Sprintf("%x", sum))
	for i, e := range f.events {
		line := fmt.Sprintf(`{"seq":%d,"prev":"%x","event":%s}`+"\n", i+1, sum, e)
		sum = sha256.Sum256(append(sum[:], line...))
		lines += line
		chain = append(chain, fmt.Sprintf("%x", sum))
	}
	return lines, chain
}

// write puts a file together whose heads are signed with the key, or bear the given signatures.
func (f forger) write(key ed25519.PrivateKey, signatures ...string) []byte {
	return f.writeHeads(key, [2]int{max(0, len(f.events)-1), len(f.events)}, signatures...)
}

// writeHeads is write with heads that count so many events.
func (f forger) writeHeads(key ed25519.PrivateKey, counts [2]int, signatures ...string) []byte {
	lines, chain := f.chained()
	out := f.header
	for generation, n := range counts {
		unsigned := fmt.Sprintf(`{"generation":%d,"events":%d,"chain":"%s"`, generation, n, chain[n])
		signature := ""
		if key != nil {
			signature = base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, []byte("toolcontract/audit/head/1\n"+f.header+unsigned+"}")))
		} else {
			signature = signatures[generation]
		}
		line := unsigned + `,"signature":"` + signature + `"}`
		out += line + strings.Repeat(" ", 255-len(line)) + "\n"
	}
	return []byte(out + lines)
}

func signaturesOf(text []byte) []string {
	out := make([]string, 0, 2)
	for _, line := range strings.Split(string(text), "\n")[1:3] {
		_, s, _ := strings.Cut(line, `"signature":"`)
		s, _, _ = strings.Cut(s, `"`)
		out = append(out, s)
	}
	return out
}

func TestVerifyFindsAFileThatWasLinkedAnew(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 4)
	intruder := ed25519.NewKeyFromSeed(make([]byte, 32))
	for name, edit := range map[string]func(*forger){
		"one left out":     func(f *forger) { f.events = slices.Delete(f.events, 1, 2) },
		"the first":        func(f *forger) { f.events = f.events[1:] },
		"the last":         func(f *forger) { f.events = f.events[:3] },
		"all":              func(f *forger) { f.events = nil },
		"one changed":      func(f *forger) { f.events[1] = strings.Replace(f.events[1], "u1", "u2", 1) },
		"the last changed": func(f *forger) { f.events[3] = strings.Replace(f.events[3], "refused", "allowed", 1) },
		"two swapped":      func(f *forger) { f.events[1], f.events[2] = f.events[2], f.events[1] },
		"one added":        func(f *forger) { f.events = append(f.events, f.events[0]) },
	} {
		f := takeApart(t, text)
		edit(&f)
		requireDamaged(t, f.write(nil, signaturesOf(text)...), "%s, with the old signatures", name)
		requireDamaged(t, f.write(nil, "", ""), "%s, without signatures", name)
		requireDamaged(t, f.write(intruder), "%s, signed with another key", name)
		lines, _ := f.chained()
		requireDamaged(t, append(bytes.Clone(text[:768]), lines...), "%s, behind the old heads", name)
	}
}

func TestVerifyFindsAnAddedEvent(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 2)
	f := takeApart(t, text)
	f.events = append(f.events, f.events[0])
	lines, _ := f.chained()
	added := append(bytes.Clone(text[:768]), lines...)
	require.ErrorContains(t, audit.Verify(bytes.NewReader(added)), "line 6: the head counts 2 events, and something follows")
}

func TestVerifyFindsAnotherFilesHeads(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 2)
	other, _ := written(t, 2)
	require.NoError(t, audit.Verify(bytes.NewReader(other)))
	requireDamaged(t, append(bytes.Clone(other[:768]), text[768:]...), "all three lines")
	requireDamaged(t, append(append(bytes.Clone(text[:256]), other[256:768]...), text[768:]...), "the heads, under the same key")
	older, _ := written(t, 1)
	requireDamaged(t, append(append(bytes.Clone(text[:256]), older[256:768]...), text[768:]...), "older ones")
}

// One head from now and one from long ago were never in the file together.
func TestVerifyFindsAHeadThatWasKept(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/audit.log"
	w := openFile(t, path)
	early := read(t, path)
	for i := range 4 {
		require.NoError(t, w.Record(t.Context(), event(i)))
	}
	now := read(t, path)
	mixed := append(append(bytes.Clone(now[:512]), early[512:768]...), now[768:]...)
	requireDamaged(t, mixed, "the heads do not follow each other")
	lines := bytes.SplitAfter(now[768:], []byte{'\n'})
	requireDamaged(t, append(bytes.Clone(mixed[:768]), bytes.Join(lines[:3], nil)...), "nor with a cut file")
}

// A writer that breaks the form is found out even with its key: there is one way to write a file.
func TestVerifyFindsAnotherForm(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 3)
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	public, ok := key.Public().(ed25519.PublicKey)
	require.True(t, ok)
	own := takeApart(t, text)
	own.header = strings.Replace(own.header, own.public, "ed25519:"+base64.RawURLEncoding.EncodeToString(public), 1)
	require.NoError(t, audit.Verify(bytes.NewReader(own.write(key))), "the control")
	requireDamaged(t, own.writeHeads(key, [2]int{3, 2}), "the newer head counts less than the older")
	fewer := own
	fewer.events = own.events[:2]
	requireDamaged(t, append(own.writeHeads(key, [2]int{3, 2})[:768], fewer.write(key)[768:]...), "and the file follows it")
	other := own
	other.header = strings.Replace(own.header, "toolcontract/1", "toolcontract/2", 1)
	requireDamaged(t, other.write(key), "a form that this version does not know")
	for _, at := range []int{250, 510, 766} {
		padding := bytes.Clone(text)
		require.Equal(t, byte(' '), padding[at])
		padding[at] = '\t'
		requireDamaged(t, padding, "white space is white space, and not the writer's")
	}
}

func TestVerifyTellsTheLine(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 4)
	changed := bytes.Replace(text, []byte(`"subject":"u1"`), []byte(`"subject":"u2"`), 1)
	require.ErrorContains(t, audit.Verify(bytes.NewReader(changed)), "line 5: it does not continue the chain: it, or the line before it, was changed")
}

func TestVerifyBoundsALine(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 1)
	endless := &endlessReader{}
	require.ErrorIs(t, audit.Verify(io.MultiReader(bytes.NewReader(text[:800]), endless)), audit.ErrDamaged)
	require.Less(t, endless.read, 1<<20)
}

type endlessReader struct{ read int }

func (r *endlessReader) Read(p []byte) (int, error) {
	if r.read > 64<<20 {
		return 0, io.EOF
	}
	r.read += len(p)
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// What no look at the file alone finds, and a note finds.
func TestInspectComparesWithNotes(t *testing.T) {
	t.Parallel()
	text, heads := written(t, 4)
	s, err := audit.Inspect(bytes.NewReader(text), heads...)
	require.NoError(t, err)

	forged := takeApart(t, text)
	intruder := ed25519.NewKeyFromSeed(make([]byte, 32))
	public, ok := intruder.Public().(ed25519.PublicKey)
	require.True(t, ok)
	own := "ed25519:" + base64.RawURLEncoding.EncodeToString(public)
	forged.header = strings.Replace(forged.header, forged.public, own, 1)
	forged.events = slices.Delete(forged.events, 1, 2)
	rewritten := forged.write(intruder)
	again, err := audit.Inspect(bytes.NewReader(rewritten))
	require.NoError(t, err, "all of it written again, under another key")
	require.NotEqual(t, s.PublicKey, again.PublicKey, "which shows here")
	_, err = audit.Inspect(bytes.NewReader(rewritten), heads[1])
	require.ErrorIs(t, err, audit.ErrDamaged, "and here")

	path := t.TempDir() + "/audit.log"
	w := openFile(t, path)
	require.NoError(t, w.Record(t.Context(), event(0)))
	older := read(t, path)
	require.NoError(t, w.Record(t.Context(), event(1)))
	require.NoError(t, audit.Verify(bytes.NewReader(older)), "an older copy")
	_, err = audit.Inspect(bytes.NewReader(older), w.Head())
	require.ErrorIs(t, err, audit.ErrDamaged, "which does not reach what was noted")
	for i := range heads {
		wrong := heads[i]
		wrong.Chain = strings.Repeat("0", 64)
		_, err = audit.Inspect(bytes.NewReader(text), wrong)
		require.ErrorIs(t, err, audit.ErrDamaged, "head %d", i)
	}
}

func TestInspectTellsAReaderThatFailed(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 2)
	for _, at := range []int{0, 100, 768, 900, len(text)} {
		r := iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(text)))
		_, err := audit.Inspect(r)
		require.ErrorIs(t, err, iotest.ErrTimeout)
		require.NotErrorIs(t, err, audit.ErrDamaged)
		_, err = audit.Inspect(&failAfter{text[:at]})
		require.ErrorIs(t, err, errDisk, "after %d bytes", at)
		require.NotErrorIs(t, err, audit.ErrDamaged)
	}
	require.NoError(t, audit.Verify(iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(text)))), "however it reads")
}

type failAfter struct{ rest []byte }

func (f *failAfter) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		return 0, errDisk
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func TestVerifyErrorsTellNothing(t *testing.T) {
	t.Parallel()
	text, _ := written(t, 2)
	for i := 0; i < len(text); i += 9 {
		err := audit.Verify(bytes.NewReader(append(append(bytes.Clone(text[:i]), canary...), text[i:]...)))
		require.ErrorIs(t, err, audit.ErrDamaged)
		require.NotContains(t, err.Error(), canary[:6])
	}
}

func TestHeadText(t *testing.T) {
	t.Parallel()
	_, heads := written(t, 2)
	for _, h := range heads {
		back, err := audit.ParseHead(h.String())
		require.NoError(t, err)
		require.Equal(t, h, back)
	}
	chain := strings.Repeat("a", 64)
	for _, text := range []string{"", "1", "1:", ":" + chain, "-1:" + chain, "01:" + chain, "+1:" + chain, "1:" + chain[1:], "1:" + chain + "a", "1:" + strings.Repeat("g", 64), "1:" + chain + "\n"} {
		_, err := audit.ParseHead(text)
		require.ErrorIs(t, err, audit.ErrDamaged, text)
	}
}

func FuzzInspect(f *testing.F) {
	text, heads := written(f, 2)
	f.Add([]byte(nil))
	f.Add(text[:800])
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := audit.Inspect(bytes.NewReader(text), heads[0])
		if err == nil {
			require.Equal(t, heads[0].Chain, s.Head.Chain, "nothing else is signed")
		} else if !errors.Is(err, audit.ErrDamaged) {
			t.Fatal(err)
		}
	})
}
