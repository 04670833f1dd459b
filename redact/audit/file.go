package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/redact"
)

// File records events in a hash-chained file of JSON lines, whose integrity [Verify] and the command auditverify prove
// offline.
//
// Each line holds the hash of everything before it; the file's first lines hold, signed with Ed25519, how many events
// there are and the hash after the last. The private key comes from a [redact.Key] by HKDF and is never in the file.
//
// Record returns when the event is on the disk: it writes the line, syncs, writes the signed head, syncs. Events that
// arrive meanwhile go together, so that concurrent writers share the syncs. A crash at any moment loses no event that
// was acknowledged; what was not is dropped when the file is opened again, and the dropping recorded. When a write or a
// sync fails, the sink is broken and refuses every event until the file is opened again.
//
// Safe for concurrent use by one process: a second one is refused where the system has flock. The two heads are written
// in place, so the file cannot live on storage that only appends. To rotate files or keys, close the file and open
// another.
type File struct {
	f          disk
	key        redact.Secret[ed25519.PrivateKey]
	public     string
	headerLine []byte

	mu         sync.Mutex
	walk       walk   // with everything that was accepted
	generation int64  // of the newest head
	written    Head   // what the newest head says
	end        int64  // where the next line goes
	next       *batch // what waits; nil where nothing does
	writing    bool
	idle       *sync.Cond // writing has become false
	broken     error
	closing    bool // no more events are taken
	closed     bool
}

// disk is what a File needs of an *os.File once it is open.
type disk interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
	Truncate(size int64) error
	Close() error
}

// exclusive is a file that lets the next writer in when it is closed.
type exclusive struct{ *os.File }

func (e exclusive) Close() error { return errors.Join(unlock(e.File), e.File.Close()) }

// batch is what is written together.
type batch struct {
	lines []byte
	head  head
	done  chan struct{}
	err   error // once done is closed
}

// EventRecovered is the kind of the event that a File records when it was opened after a crash. Its outcome says how
// many bytes were dropped that no head vouched for, and whether a head was torn. A torn head is what a crash leaves; it
// is also what an intruder leaves who cuts the last events off: compare with a noted [Head].
const EventRecovered = "audit_recovered"

// ErrBusy says that another process, or another File of this one, writes the file.
var ErrBusy = errors.New("audit: another writer has the file")

// ErrBroken says that a File takes no more events: a write failed, or it was closed.
var ErrBroken = errors.New("audit: the file takes no more events")

// OpenFile opens the file for writing, begins it where there is none (or an empty one), and repairs what a crash left.
// now is the clock of the file's beginning and of its repairs; nil is time.Now.
//
// All of the file is read. One that was damaged otherwise is refused with [ErrDamaged]: look at it, keep it, begin
// another. The key must be the one that the file was begun with, otherwise the error wraps [redact.ErrKey]; its secret
// is 32 bytes or more, its ID has no meaning here.
func OpenFile(path string, key redact.Key, now func() time.Time) (*File, error) {
	if now == nil {
		now = time.Now //nolint:forbidigo // the default clock, taken once
	}
	private, err := signingKey(key)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("audit: open: %w", err)
	}
	file := &File{f: exclusive{f}, key: redact.NewSecret(private)}
	file.idle = sync.NewCond(&file.mu)
	if public, ok := private.Public().(ed25519.PublicKey); ok {
		file.public = publicKeyText(public)
	}
	if err := file.open(f, now); err != nil {
		return nil, errors.Join(fmt.Errorf("audit: open: %w", err), file.f.Close())
	}
	return file, nil
}

func signingKey(key redact.Key) (ed25519.PrivateKey, error) {
	if _, err := redact.NewDigester(key); err != nil { // the same rules for every key
		return nil, err
	}
	seed, err := hkdf.Key(sha256.New, key.Secret, nil, "toolcontract/audit/1", ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("audit: key: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

func (f *File) open(opened *os.File, now func() time.Time) error {
	if err := lock(opened); err != nil {
		return err
	}
	info, err := opened.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return errors.Join(f.begin(now()), syncDir(filepath.Dir(opened.Name())))
	}
	return f.resume(info.Size(), now())
}

// begin writes the header and two heads of no events.
func (f *File) begin(now time.Time) error {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return err
	}
	line, err := padded(header{Audit: fileFormat, ID: hex.EncodeToString(id), Key: f.public, Created: now.UTC()})
	if err != nil {
		return err
	}
	f.headerLine, f.walk, f.end = line, *newWalk(line), regionBytes
	first := bytes.Clone(line)
	for f.generation = range int64(2) {
		h, err := f.head().line(f.headerLine, f.key.Reveal())
		if err != nil {
			return err
		}
		first = append(first, h...)
	}
	f.written = Head{0, hex.EncodeToString(f.walk.chain[:])}
	if _, err := f.f.WriteAt(first, 0); err != nil {
		return err
	}
	return f.f.Sync()
}

// head is the head of the present state.
func (f *File) head() head {
	return head{Generation: f.generation, Events: f.walk.events, Chain: hex.EncodeToString(f.walk.chain[:])}
}

// resume reads a file that was begun before, up to where its newest head vouches for it, and drops the rest.
func (f *File) resume(size int64, now time.Time) error {
	in := bufio.NewReaderSize(io.NewSectionReader(f.f, 0, size), 64<<10)
	first := make([]byte, regionBytes)
	if _, err := io.ReadFull(in, first); err != nil {
		return shortRead(err, damaged(1, "the file is cut before its first event"))
	}
	reg, err := readRegion(first)
	if err != nil {
		return err
	}
	if reg.header.Key != f.public {
		return fmt.Errorf("%w: the file was begun with another one", redact.ErrKey)
	}
	newest, ok := reg.newest()
	if !ok {
		return damaged(2, "neither head is the writer's")
	}
	torn := reg.intact() != nil
	if torn && reg.headErrs[0] == nil && reg.headErrs[1] == nil {
		return reg.intact() // both are whole: that is no crash
	}
	f.headerLine, f.walk, f.end = reg.headerLine, *newWalk(reg.headerLine), regionBytes
	if err := f.follow(in, newest, reg); err != nil {
		return err
	}
	f.generation, f.written = newest.Generation, Head{newest.Events, newest.Chain}
	if size == f.end && !torn {
		return nil
	}
	if err := f.f.Truncate(f.end); err != nil {
		return err
	}
	outcome := "dropped bytes: " + strconv.FormatInt(size-f.end, 10)
	if torn {
		outcome = "torn head, " + outcome
	}
	return f.Record(context.Background(), Event{At: now, Kind: EventRecovered, Source: "audit", Outcome: outcome})
}

// follow reads the events that the newest head counts.
func (f *File) follow(in *bufio.Reader, newest head, reg region) error {
	var whole []head
	for slot, err := range reg.headErrs {
		if err == nil {
			whole = append(whole, reg.heads[slot])
		}
	}
	for {
		if err := f.walk.pass(whole, nil); err != nil {
			return err
		}
		if f.walk.events == newest.Events {
			return nil
		}
		line, err := readLine(in)
		if err != nil {
			return shortRead(err, damaged(f.walk.line(), fmt.Sprintf("the file is cut: the head counts %d events", newest.Events)))
		}
		if _, err := f.walk.next(line); err != nil {
			return err
		}
		f.end += int64(len(line))
	}
}

// Record implements [Sink]. The event is on the disk when it returns nil. An event that is none, does not encode or
// exceeds 256 KiB is [ErrEvent]; the file then stays as it is. Once the event is accepted, the end of ctx changes
// nothing.
func (f *File) Record(ctx context.Context, e Event) error {
	if err := e.check(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("audit: record: %w", err)
	}
	e.At = e.At.UTC()
	event, err := json.Marshal(e, json.Deterministic(true))
	if err != nil || len(event) > maxLine-1024 {
		return fmt.Errorf("%w: it does not encode, or is too large", ErrEvent)
	}
	b, err := f.accept(event)
	if err != nil {
		return err
	}
	<-b.done
	return b.err
}

// accept puts the event into the batch that is written next, and sees to it that it is.
func (f *File) accept(event []byte) (*batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closing {
		return nil, fmt.Errorf("%w: %w", ErrBroken, os.ErrClosed)
	}
	if f.broken != nil {
		return nil, f.broken
	}
	if f.next == nil {
		f.next = &batch{done: make(chan struct{})}
	}
	b := f.next
	b.lines = f.walk.append(b.lines, event)
	if !f.writing {
		f.writing = true
		go f.flush()
	}
	return b, nil
}

// flush writes batches until none waits.
func (f *File) flush() {
	for {
		f.mu.Lock()
		b := f.next
		if b == nil {
			f.writing = false
			f.idle.Broadcast()
			f.mu.Unlock()
			return
		}
		f.next = nil
		f.generation++
		b.head, b.err = f.head(), f.broken
		end := f.end
		f.mu.Unlock()

		if b.err == nil {
			b.err = f.write(b, end)
		}

		f.mu.Lock()
		if b.err != nil {
			f.broken = b.err
		} else {
			f.end, f.written = end+int64(len(b.lines)), Head{b.head.Events, b.head.Chain}
		}
		f.mu.Unlock()
		close(b.done)
	}
}

// write puts the lines on the disk before the head that counts them.
func (f *File) write(b *batch, at int64) error {
	line, err := b.head.line(f.headerLine, f.key.Reveal())
	if err == nil {
		_, err = f.f.WriteAt(b.lines, at)
	}
	if err == nil {
		err = f.f.Sync()
	}
	if err == nil {
		_, err = f.f.WriteAt(line, lineBytes*(1+b.head.Generation%2))
	}
	if err == nil {
		err = f.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return nil
}

// Head returns the state that is on the disk: note it, from time to time, where whoever can write the file cannot.
func (f *File) Head() Head {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.written
}

// PublicKey returns the key that the file's heads are verified with, as the file's header and [Summary] spell it.
func (f *File) PublicKey() string { return f.public }

// Close waits for the events that were accepted and closes the file; later events are refused with [ErrBroken]. To close it
// again does nothing, but for the waiting.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
	for f.writing {
		f.idle.Wait()
	}
	if f.closed {
		return nil
	}
	f.closed = true
	return f.f.Close()
}

// syncDir makes a new name in the directory last.
func syncDir(dir string) error {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
