package mcptool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
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
	w := &lineWriter{w: out}
	r := &lineReader{r: bufio.NewReader(in), limit: cfg.MaxMessage, answer: w}
	err = server.Run(ctx, &mcp.IOTransport{Reader: r, Writer: w, MaxLineLength: -1})
	if err == nil || (ctx.Err() == nil && w.deserted()) {
		return nil
	}
	return fmt.Errorf("mcptool: stdio: %w", err)
}

// lineWriter keeps the lines of the SDK and of this package apart: each is one Write.
type lineWriter struct {
	mu   sync.Mutex
	w    io.Writer
	gone bool // nobody reads any longer
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.w.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		w.gone = true
	}
	return n, err
}

func (w *lineWriter) deserted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone
}

// Close leaves the stream to whom it belongs.
func (*lineWriter) Close() error { return nil }

// lineReader hands the SDK whole messages that may pass, and answers the others.
type lineReader struct {
	r      *bufio.Reader
	limit  int
	answer io.Writer
	rest   []byte // of the message that is being read
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.line()
		if err != nil && !errors.Is(err, errTooLarge) {
			return 0, err
		}
		if err == nil && len(line) == 0 {
			continue
		}
		var id jsontext.Value
		if err == nil {
			id, err = checkFrame(line)
		}
		if err == nil {
			line = append(line, '\n')
			r.rest = line
			break
		}
		if _, err := r.answer.Write(append(refusal(id, err), '\n')); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
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
