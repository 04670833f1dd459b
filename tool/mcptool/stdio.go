package mcptool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcontract/toolcontract/tool"
)

// ServeStdio serves one run to one client over in and out, a message a line, until the client has gone (nil: in is at its end, or
// nobody reads out any longer), ctx ends (then its error is returned), or a stream breaks in another way. A message that is not
// one of the protocol is answered with an error, and the next one is read.
//
// When it returns, no call is under way for the client; what was claimed goes on, and the dispatcher's Close waits for it. Two
// things are the process's own: nothing but the protocol may be written to its standard output, and it must ignore SIGPIPE
// (signal.Ignore), or a client that is killed can end it in the middle of a commit.
func ServeStdio(ctx context.Context, run *tool.Run, cfg Config, in io.Reader, out io.Writer) error {
	if run == nil {
		return errors.New("mcptool: run: must be set")
	}
	if err := cfg.check(); err != nil {
		return err
	}
	cfg = cfg.withDefaults()
	server, err := newServer(cfg, run.Tools(), func(*mcp.RequestExtra) (*request, error) { return &request{run: run}, nil })
	if err != nil {
		return err
	}
	asked := &unanswered{ids: map[string]bool{}}
	w := &lineWriter{w: out, asked: asked}
	r := &lineReader{r: bufio.NewReader(in), limit: cfg.MaxMessage, answer: w, asked: asked, batches: true}
	err = server.Run(ctx, &mcp.IOTransport{Reader: r, Writer: w, MaxLineLength: -1})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("mcptool: stdio: %w", ctx.Err())
	case w.deserted():
		return nil
	}
	if broken := errors.Join(r.broken(), w.broken()); broken != nil {
		return fmt.Errorf("mcptool: stdio: %w", broken)
	}
	cfg.failed("stdio", err)
	return errSession
}

// errSession stands for an error of the SDK's, whose text may hold what the client sent.
var errSession = errors.New("mcptool: stdio: the session ended with an error of the protocol's")

// fate keeps the first error of a stream, which is the process's and not the client's.
type fate struct {
	mu  sync.Mutex
	err error
}

func (f *fate) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil && err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
}

func (f *fate) broken() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// lineWriter keeps the lines of the SDK and of this package apart: each is one Write.
type lineWriter struct {
	fate
	writing sync.Mutex
	w       io.Writer
	asked   *unanswered
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.asked.answered(p)
	return w.line(p)
}

func (w *lineWriter) line(p []byte) (int, error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	n, err := w.w.Write(p)
	w.note(err)
	return n, err
}

// deserted reports whether nobody reads any longer.
func (w *lineWriter) deserted() bool {
	err := w.broken()
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// Close leaves the stream to whom it belongs.
func (*lineWriter) Close() error { return nil }

// lineReader hands the SDK whole messages that may pass, and answers the others.
type lineReader struct {
	fate
	r      *bufio.Reader
	limit  int
	answer *lineWriter
	asked  *unanswered
	rest   []byte // of the message that is being read

	opened  bool // by an initialize
	batches bool // in every protocol that was asked for
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.line()
		if err != nil && !errors.Is(err, errTooLarge) {
			r.note(err)
			return 0, err
		}
		if err == nil && len(line) == 0 {
			continue
		}
		var id jsontext.Value
		if err == nil {
			r.rest, id, err = r.checked(line)
		}
		if err == nil || errors.Is(err, errNotice) {
			continue
		}
		if r.asked.open(id) { // the other request with that id is the one to be answered
			id = nil
		}
		if _, err := r.answer.line(append(refusal(id, err), '\n')); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// checked returns the lines that the SDK may read. A batch reaches it as its requests alone, with the other messages beside it:
// the SDK counts a notification for a request, and never answers.
func (r *lineReader) checked(line []byte) ([]byte, jsontext.Value, error) {
	f, id, err := checkFrame(line, r.opened && r.batches)
	if err != nil {
		return nil, id, err
	}
	if !r.asked.ask(f.messages) { // an answer to that id would be taken for the other request's
		return nil, nil, errIDTwice
	}
	if !f.batch {
		if m := f.messages[0]; m.method == methodInitialize {
			r.opened, r.batches = true, r.batches && hasBatches(m.opens)
		}
		return append(line, '\n'), nil, nil
	}
	var before, requests, after []byte
	for _, m := range f.messages {
		switch {
		case m.key != "":
			requests = append(append(requests, ','), m.text...)
		case requests == nil:
			before = append(append(before, m.text...), '\n')
		default:
			after = append(append(after, m.text...), '\n')
		}
	}
	if requests != nil {
		requests[0] = '['
		requests = append(requests, "]\n"...)
	}
	return slices.Concat(before, requests, after), nil, nil
}

// line reads up to the next line feed, and drops it and the white space around the message. Of a line over the limit nothing is kept. The last line may lack its end.
func (r *lineReader) line() ([]byte, error) {
	var line []byte
	tooLarge := false
	for {
		part, err := r.r.ReadSlice('\n')
		if len(line)+len(part) > r.limit+1 {
			tooLarge, line = true, nil
		}
		if !tooLarge {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		case tooLarge:
			return nil, errTooLarge
		}
		return bytes.Trim(line, " \t\r\n"), nil // of JSON; the SDK takes a blank after the text for another text
	}
}

// Close leaves the stream to whom it belongs.
func (*lineReader) Close() error { return nil }

// refusal is the answer to a message that did not reach the SDK.
func refusal(id jsontext.Value, err error) []byte {
	f := errForm
	errors.As(err, &f)
	if id == nil {
		id = jsontext.Value("null")
	}
	return []byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":` + strconv.Itoa(f.code) + `,"message":` + strconv.Quote(f.message) + `}}`)
}
