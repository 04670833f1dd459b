package contracttest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/toolcontract/toolcontract/idem"
)

// Fault is what goes wrong between an adapter and its provider. The zero value is none.
type Fault int

// The faults. An operation's faults are used up in order; after them all goes well.
const (
	LostAfterCommit   Fault = iota + 1 // the provider did it, its answer is lost
	LostBeforeCommit                   // the request is lost on the way: the provider did nothing
	MalformedSuccess                   // the provider did it and answers what cannot be read
	TruncatedSuccess                   // the provider did it, half of its answer arrives
	StatusDown                         // the provider cannot be asked
	StatusStale                        // the provider's copy does not know of it yet: not found
	SlowThenCancel                     // the provider did it, and answers when the suite says so
	DuplicateDelivery                  // the network delivers the request twice
)

// String names the fault.
func (f Fault) String() string {
	switch f {
	case LostAfterCommit:
		return "lost-after-commit"
	case LostBeforeCommit:
		return "lost-before-commit"
	case MalformedSuccess:
		return "malformed-success"
	case TruncatedSuccess:
		return "truncated-success"
	case StatusDown:
		return "status-down"
	case StatusStale:
		return "status-stale"
	case SlowThenCancel:
		return "slow-then-cancel"
	case DuplicateDelivery:
		return "duplicate-delivery"
	}
	return "none"
}

// Upstream stands between an adapter and the provider that a test plays: it makes faults, and counts effects where they
// happen, which is what the suites assert on. An operation is named by the commit's wire name, its status by [StatusOf].
// Safe for concurrent use. Make it with [NewUpstream].
type Upstream struct {
	mu      sync.Mutex
	scripts map[string][]Fault
	effects map[string]int
	arrived chan struct{} // of a slow answer
	release chan struct{}
	story   *story
}

// NewUpstream returns an upstream without faults.
func NewUpstream() *Upstream {
	return &Upstream{scripts: map[string][]Fault{}, effects: map[string]int{}, arrived: make(chan struct{}, 64), release: make(chan struct{})}
}

// StatusOf names the operation that asks what became of a commit.
func StatusOf(commit string) string { return commit + "/status" }

// Script adds faults to those that the operation will meet.
func (u *Upstream) Script(op string, faults ...Fault) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.scripts[op] = append(u.scripts[op], faults...)
}

// Effects returns how often the operation changed something.
func (u *Upstream) Effects(op string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.effects[op]
}

// Count notes one effect: for providers that are called over [Upstream.Transport].
func (u *Upstream) Count(op string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.effects[op]++
	u.story.add("the provider did %s, effect %d", op, u.effects[op])
}

func (u *Upstream) tell(s *story) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.story = s
}

func (u *Upstream) next(op string) Fault {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.scripts[op]) == 0 {
		u.story.add("the provider is asked: %s", op)
		return 0
	}
	f := u.scripts[op][0]
	u.scripts[op] = u.scripts[op][1:]
	u.story.add("the provider is asked: %s; fault %s", op, f)
	return f
}

// secretInFaults stands in the text of every fault, as credentials do in those of real clients.
const secretInFaults = "Zq7-Bearer-kX9vW3pRt-Canary" //nolint:gosec // planted to be looked for

var (
	errLost       = errors.New("contracttest: connection reset by peer (authorization: " + secretInFaults + ")")
	errUnreadable = errors.New("contracttest: unexpected end of the answer after " + secretInFaults)
	errDown       = errors.New("contracttest: 503 from the status page with " + secretInFaults)
)

// Do is one request of the adapter: effect plays the provider, and says whether it changed anything. The error is the
// scripted fault, as a client would see it, or effect's own.
func (u *Upstream) Do(ctx context.Context, op string, effect func() (changed bool, err error)) error {
	once := func() error {
		changed, err := effect()
		if changed {
			u.Count(op)
		}
		return err
	}
	switch fault := u.next(op); fault {
	case LostBeforeCommit:
		return errLost
	case StatusDown:
		return errDown
	case StatusStale:
		return fmt.Errorf("contracttest: %s: %w", secretInFaults, idem.ErrNotFound)
	case DuplicateDelivery:
		return cmp.Or(once(), once())
	case LostAfterCommit:
		return cmp.Or(once(), errLost)
	case MalformedSuccess, TruncatedSuccess:
		return cmp.Or(once(), errUnreadable)
	case SlowThenCancel:
		if err := once(); err != nil {
			return err
		}
		return u.wait(ctx)
	}
	return once()
}

func (u *Upstream) wait(ctx context.Context) error {
	u.arrived <- struct{}{}
	select {
	case <-u.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Transport puts the faults around an HTTP client. op names the operation of a request, "" for none. The provider behind
// it says what it did with [Upstream.Count].
func (u *Upstream) Transport(next http.RoundTripper, op func(r *http.Request) string) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return transport{u, next, op}
}

type transport struct {
	u    *Upstream
	next http.RoundTripper
	op   func(r *http.Request) string
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	name := t.op(r)
	if name == "" {
		return t.next.RoundTrip(r)
	}
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
	}
	send := func() (*http.Response, []byte, error) {
		again := r.Clone(r.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := t.next.RoundTrip(again)
		if err != nil {
			return nil, nil, err
		}
		text, err := io.ReadAll(resp.Body)
		return resp, text, errors.Join(err, resp.Body.Close())
	}
	return t.fault(r, t.u.next(name), send)
}

func (t transport) fault(r *http.Request, f Fault, send func() (*http.Response, []byte, error)) (*http.Response, error) {
	var text []byte
	var resp *http.Response
	var err error
	switch f {
	case LostBeforeCommit:
		return nil, errLost
	case StatusDown:
		return answer(r, http.StatusServiceUnavailable, []byte(secretInFaults)), nil
	case StatusStale:
		return answer(r, http.StatusNotFound, []byte(secretInFaults)), nil
	case LostAfterCommit:
		_, _, err = send()
		return nil, cmp.Or(err, errLost)
	case MalformedSuccess:
		resp, _, err = send()
		text = []byte("<html>" + secretInFaults + "</html>")
	case TruncatedSuccess:
		resp, text, err = send()
		text = text[:len(text)/2]
	case SlowThenCancel:
		if resp, text, err = send(); err == nil {
			err = t.u.wait(r.Context())
		}
	case DuplicateDelivery:
		if _, _, err = send(); err == nil {
			resp, text, err = send()
		}
	default:
		resp, text, err = send()
	}
	if err != nil {
		return nil, err
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return resp, nil
}

func answer(r *http.Request, status int, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}
