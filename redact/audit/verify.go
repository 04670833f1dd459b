package audit

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrDamaged says that a hash-chained file is not as its writer left it. The error that wraps it names the line and
// what is wrong with it.
var ErrDamaged = errors.New("audit: the file is damaged")

func damaged(line int, what string) error {
	return fmt.Errorf("%w: line %d: %s", ErrDamaged, line, what)
}

// firstEvent is the number of the line after the header and the heads.
const firstEvent = 4

// Summary is what [Inspect] read in a file that is intact.
type Summary struct {
	ID        string    // of the file, made at random when it was begun
	PublicKey string    // under which it is signed; compare it with [File.PublicKey] noted elsewhere
	Created   time.Time // when it was begun
	Head      Head      // how much it holds
	From, To  time.Time // the times of the first and the last event; zero where there is none
}

// Verify proves, without any key, that a hash-chained file (see [File]) is as a writer with the private key of its
// header left it. It finds
//
//   - a file that is cut, at the end, in the middle or at the beginning, by whole lines or by bytes, while it was in use too;
//   - a changed byte, wherever it stands;
//   - events that were moved, doubled or added, also at the end;
//   - a file that was linked anew: events changed or left out, and the chain after them computed again. That needs the
//     private key, which the file does not hold.
//
// What no look at the file alone can find: that all of it was written again under another key (compare
// [Summary].PublicKey with the one that was noted), or that an older copy was put back or the file removed (compare
// with a noted [Head]). Both take a note kept where the one who can write the file cannot; [Inspect] takes them. A
// writer that lies, or an intruder with the key, is beyond any of it.
//
// Damage is an error that wraps [ErrDamaged]; an error of the reader is returned as it is. A file whose writer is at
// work, or died and was not opened again, can hold an event that the head does not count yet: it is reported as
// damaged, since anybody may have added it; [OpenFile] repairs it.
func Verify(r io.Reader) error {
	_, err := Inspect(r)
	return err
}

// Inspect is [Verify] and returns what it read. The file must begin with every state that is given: a noted head that
// it does not pass through, or not reach, is damage.
func Inspect(r io.Reader, noted ...Head) (Summary, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	first := make([]byte, regionBytes)
	if _, err := io.ReadFull(in, first); err != nil {
		return Summary{}, shortRead(err, damaged(1, "the file is cut before its first event"))
	}
	reg, err := readRegion(first)
	if err != nil {
		return Summary{}, err
	}
	if err := reg.intact(); err != nil {
		return Summary{}, err
	}
	newest, _ := reg.newest()
	w := newWalk(reg.headerLine)
	s := Summary{ID: reg.header.ID, PublicKey: reg.header.Key, Created: reg.header.Created, Head: Head{newest.Events, newest.Chain}}
	if err := w.pass(reg.heads[:], noted); err != nil {
		return Summary{}, err
	}
	for {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Summary{}, shortRead(err, damaged(w.line(), "the line is cut, or longer than a line can be"))
		}
		if w.events == newest.Events {
			return Summary{}, damaged(w.line(), fmt.Sprintf("the head counts %d events, and something follows", newest.Events))
		}
		at, err := w.next(line)
		if err != nil {
			return Summary{}, err
		}
		if err := w.pass(reg.heads[:], noted); err != nil {
			return Summary{}, err
		}
		if s.To = at; w.events == 1 {
			s.From = at
		}
	}
	if w.events < newest.Events {
		return Summary{}, damaged(w.line(), fmt.Sprintf("the file is cut: the head counts %d events", newest.Events))
	}
	for _, n := range noted {
		if n.Events > w.events {
			return Summary{}, damaged(w.line(), fmt.Sprintf("the file is an older one: %d events were noted", n.Events))
		}
	}
	return s, nil
}

// shortRead tells the end of the data from a reader that failed.
func shortRead(err, short error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errLine) {
		return short
	}
	return fmt.Errorf("audit: read: %w", err)
}

// readLine reads a line with its end. io.EOF is the end between two lines; errLine is a line without end, or one that
// is too long.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, errLine
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// walk follows the chain.
type walk struct {
	chain  [sha256.Size]byte
	events int64
}

func newWalk(headerLine []byte) *walk { return &walk{chain: sha256.Sum256(headerLine)} }

// line returns the number of the line that comes next.
func (w *walk) line() int { return firstEvent + int(w.events) }

// eventLine is what the chain needs of a line; a later version of an event may have more.
type eventLine struct {
	Seq   int64  `json:"seq"`
	Prev  string `json:"prev"`
	Event struct {
		At time.Time `json:"at"`
	} `json:"event"`
}

// next takes the next line, which must continue the chain, and returns the event's time.
func (w *walk) next(line []byte) (time.Time, error) {
	var e eventLine
	if err := json.Unmarshal(line, &e); err != nil {
		return time.Time{}, damaged(w.line(), "not an event")
	}
	if e.Seq != w.events+1 || e.Prev != hex.EncodeToString(w.chain[:]) {
		return time.Time{}, damaged(w.line(), "it does not continue the chain: it, or the line before it, was changed, added or moved, or one was removed between them")
	}
	w.take(line)
	return e.Event.At, nil
}

func (w *walk) take(line []byte) {
	h := sha256.New()
	h.Write(w.chain[:])
	h.Write(line)
	h.Sum(w.chain[:0])
	w.events++
}

// append adds the line of an event to lines and takes it.
func (w *walk) append(lines []byte, event []byte) []byte {
	from := len(lines)
	lines = fmt.Appendf(lines, `{"seq":%d,"prev":"%x","event":%s}`+"\n", w.events+1, w.chain, event)
	w.take(lines[from:])
	return lines
}

// pass compares the chain with the heads of this length.
func (w *walk) pass(heads []head, noted []Head) error {
	for slot, h := range heads {
		if h.Events == w.events && h.Chain != hex.EncodeToString(w.chain[:]) {
			return damaged(max(1, w.line()-1), fmt.Sprintf("the chain is not the one that was signed (line %d)", 2+slot))
		}
	}
	for _, h := range noted {
		if h.Events == w.events && h.Chain != hex.EncodeToString(w.chain[:]) {
			return damaged(max(1, w.line()-1), "the chain is not the one that was noted")
		}
	}
	return nil
}
