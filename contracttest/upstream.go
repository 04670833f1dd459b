package contracttest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
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
	LandsLate                          // the answer is lost, and the request arrives just before the operation's next one
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
	case LandsLate:
		return "lands-late"
	}
	return "none"
}

// Upstream stands between an adapter and the provider that a test plays: it makes faults, and counts effects where they
// happen, which is what the suites assert on. An operation is named by the commit's wire name, its status by [StatusOf];
// every effect of a write is counted once, under the commit's name. A fault that never met its request fails the case.
// Safe for concurrent use. Make it with [NewUpstream].
type Upstream struct {
	mu      sync.Mutex
	scripts map[string][]Fault
	effects map[string]int
	met     map[string]int      // requests of an operation
	held    map[string][]func() // of requests that land late
	before  map[string]func()   // called once, when a request arrives, before the provider sees it
	arrived chan struct{}       // of a slow answer
	release chan struct{}
	story   *story
}

// NewUpstream returns an upstream without faults.
func NewUpstream() *Upstream {
	return &Upstream{
		scripts: map[string][]Fault{}, effects: map[string]int{}, met: map[string]int{}, held: map[string][]func(){}, before: map[string]func(){},
		arrived: make(chan struct{}, 64), release: make(chan struct{}),
	}
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

// next is what becomes of a request that has arrived. What was held lands before it.
func (u *Upstream) next(op string) Fault {
	u.mu.Lock()
	var f Fault
	if len(u.scripts[op]) > 0 {
		f = u.scripts[op][0]
		u.scripts[op] = u.scripts[op][1:]
	}
	u.met[op]++
	late, hook := u.held[op], u.before[op]
	delete(u.held, op)
	delete(u.before, op)
	told := u.story
	u.mu.Unlock()
	for _, land := range late {
		told.add("a request held back lands: %s", op)
		land()
	}
	if hook != nil {
		told.add("the target is changed before the request lands")
		hook()
	}
	if f == 0 {
		told.add("%s", asked(op))
	} else {
		told.add("%s; fault %s", asked(op), f)
	}
	return f
}

// requests is how many requests of the operation came through.
func (u *Upstream) requests(op string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.met[op]
}

// hold keeps a request back until the operation's next one.
func (u *Upstream) hold(op string, land func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.held[op] = append(u.held[op], land)
}

// arriving calls hook when the operation's next request arrives, before the provider sees it.
func (u *Upstream) arriving(op string, hook func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.before[op] = hook
}

// all is every effect so far, whatever it was counted under.
func (u *Upstream) all() (n int) {
	if u == nil {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, k := range u.effects {
		n += k
	}
	return n
}

// asked says what a request to the provider is for.
func asked(op string) string {
	if commit, ok := strings.CutSuffix(op, StatusOf("")); ok {
		return "Status asks the provider what became of " + commit
	}
	return "the provider is asked for " + op
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
	case LandsLate:
		u.hold(op, func() { _ = once() }) // nobody waits for its answer
		return errLost
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
	ctx := r.Context()
	send := func() (*http.Response, []byte, error) {
		again := r.Clone(ctx)
		again.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := t.next.RoundTrip(again)
		if err != nil {
			return nil, nil, err
		}
		text, err := io.ReadAll(resp.Body)
		return resp, text, errors.Join(err, resp.Body.Close())
	}
	fault := t.u.next(name)
	if fault == LandsLate {
		ctx = context.WithoutCancel(ctx)            // it is under way, whoever waits
		t.u.hold(name, func() { _, _, _ = send() }) //nolint:bodyclose // send closes it
		return nil, errLost
	}
	return t.fault(r, fault, send)
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
	case LandsLate: // held back before
		return nil, errLost
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
