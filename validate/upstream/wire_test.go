package upstream_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire is a server that says what it is told to say, byte for byte, to one request after the other.
type wire struct {
	origin string

	mu       sync.Mutex
	requests []*http.Request
}

// script is what the server answers.
type script struct {
	status int
	header http.Header
	body   []byte
	end    string // cut: before HTTP says it is complete; reset_after_length: a reset after all announced bytes
}

// serve starts a server; the answer may depend on the request.
func serve(t *testing.T, answer func(n int, r *http.Request) script) *wire {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{origin: "http://" + l.Addr().String()}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { w.talk(conn, answer) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		served.Wait()
	})
	return w
}

func (w *wire) talk(conn net.Conn, answer func(n int, r *http.Request) script) {
	defer func() { _ = conn.Close() }()
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	w.mu.Lock()
	w.requests = append(w.requests, r)
	n := len(w.requests)
	w.mu.Unlock()
	s := answer(n, r)
	_, _ = conn.Write(s.head())
	for part := range s.framed() {
		if _, err := conn.Write(part); err != nil {
			return
		}
	}
	if tcp, ok := conn.(*net.TCPConn); ok && s.end == "reset_after_length" {
		_ = tcp.SetLinger(0)
	}
}

// seen returns the requests that have arrived.
func (w *wire) seen() []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*http.Request(nil), w.requests...)
}

func (s script) chunked() bool {
	return strings.EqualFold(s.header.Get("Transfer-Encoding"), "chunked")
}

func (s script) head() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d Status\r\n", s.status)
	for name, values := range s.header {
		for _, v := range values {
			fmt.Fprintf(&b, "%s: %s\r\n", name, v)
		}
	}
	length := len(s.body)
	if s.end == "cut" {
		length++
	}
	if !s.chunked() && s.header.Get("Content-Length") == "" && s.status != http.StatusNoContent && s.status != http.StatusNotModified {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", length)
	}
	b.WriteString("Connection: close\r\n\r\n")
	return []byte(b.String())
}

func (s script) framed() func(yield func([]byte) bool) {
	const part = 8 << 10
	return func(yield func([]byte) bool) {
		for rest := s.body; len(rest) > 0; {
			n := min(part, len(rest))
			out := rest[:n]
			if s.chunked() {
				out = append(append(strconv.AppendInt(nil, int64(n), 16), "\r\n"...), append(out[:n:n], "\r\n"...)...)
			}
			if !yield(out) {
				return
			}
			rest = rest[n:]
		}
		if s.chunked() && s.end != "cut" {
			yield([]byte("0\r\n\r\n"))
		}
	}
}
