package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// HTTP defines an operation that is asked over HTTP. It is plain data; NewHTTP checks it.
type HTTP[Q, A any] struct {
	Operation Operation[Q, A]
	Origin    string // scheme, host and port: "https://ci.example.com"; http is for loopback addresses alone unless Plain is set
	Plain     bool   // plain HTTP to any host; the answer may then be anybody's
	// Request makes the request for a question, without credentials. It calls no one. An *envelope.Error is answered as
	// it is.
	Request func(q Q) (Request, error)
	// Credentials are put into the headers of the request, for Origin alone. Nil: the upstream wants none.
	Credentials Credentials
	// Success is the one status whose body is the answer: 201 where something is made, 202 where it is only begun.
	// Zero: 200.
	Success int
	// Statuses declares what a status means at this upstream, before the rule: {409: RATE_LIMITED}, {204: NOT_FOUND}.
	// 200 cannot be declared.
	Statuses map[int]envelope.Code
	// Redirects is how many are followed, of a GET alone, to Origin or one of RedirectTo. Zero: a redirect is
	// INVALID_RESPONSE.
	Redirects  int
	RedirectTo []string // other origins, which get the address of the redirect and no credentials, nor does Origin after them
	// Transport sends; nil: one of the client's own, without a proxy. With a transport other than *http.Transport every
	// request counts as sent once it is handed over.
	Transport http.RoundTripper
}

// httpClient is the part that knows HTTP.
type httpClient[Q, A any] struct {
	def     HTTP[Q, A]
	origin  *url.URL
	others  map[string]bool
	limit   int
	now     func() time.Time
	writes  http.RoundTripper // for all but GET
	traced  bool              // the transport tells when it has a connection
	timeOut time.Duration
}

// NewHTTP returns a client for the operation; the error joins all faults of the definition.
func NewHTTP[Q, A any](def HTTP[Q, A]) (*Client[Q, A], error) {
	c, err := newClient(def.Operation)
	faults := []error{err}
	h := &httpClient[Q, A]{def: def, others: map[string]bool{}, limit: c.contract.accepted.Bytes, now: c.op.Host.Now, timeOut: errorBodyTime}
	if h.origin, err = originOf(def.Origin, def.Plain); err != nil {
		faults = append(faults, fmt.Errorf("origin: %w", err))
	}
	for i, text := range def.RedirectTo {
		u, err := originOf(text, def.Plain)
		if err != nil {
			faults = append(faults, fmt.Errorf("redirect_to[%d]: %w", i, err))
			continue
		}
		h.others[originKey(u)] = true
	}
	if def.Request == nil {
		faults = append(faults, errors.New("request: must be set"))
	}
	if def.Redirects < 0 || def.Redirects > 10 || def.Redirects == 0 && len(def.RedirectTo) > 0 {
		faults = append(faults, errors.New("redirects: 0 to 10, and above 0 beside redirect_to"))
	}
	if h.def.Success == 0 {
		h.def.Success = http.StatusOK
	}
	if s := h.def.Success; s < 200 || s > 299 || s == http.StatusNoContent || s == http.StatusResetContent {
		faults = append(faults, errors.New("success: a status of the 2xx whose answer has a body"))
	}
	faults = append(faults, declaredCodes("statuses", def.Statuses, h.def.Success))
	if h.def.Transport == nil {
		h.def.Transport = newTransport()
	}
	h.writes = h.def.Transport
	if t, ok := h.def.Transport.(*http.Transport); ok {
		h.traced = true
		// A write gets a connection of its own: one from the pool may be dead, and then nobody knows whether the request
		// arrived; and only on such a one does net/http send a request with an idempotency key twice.
		fresh := t.Clone()
		fresh.DisableKeepAlives = true
		h.writes = fresh
	}
	c.exchange = h.exchange
	if err := errors.Join(faults...); err != nil {
		return nil, named(def.Operation.Name, err)
	}
	return c, nil
}

// declaredCodes checks what a definition says of statuses; one of them always means success.
func declaredCodes(place string, codes map[int]envelope.Code, success int) error {
	var faults []error
	for status, code := range codes {
		switch {
		case status == success:
			faults = append(faults, fmt.Errorf("%s: %d means that there is an answer", place, status))
		case !envelope.ValidCode(code):
			faults = append(faults, fmt.Errorf("%s: %d: not a code", place, status))
		}
	}
	return errors.Join(faults...)
}

func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

func originOf(text string, plain bool) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.User != nil, u.RawQuery != "", u.Fragment != "", u.Path != "" && u.Path != "/", u.Opaque != "":
		return nil, errors.New("must be a scheme, a host and at most a port")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("must be https")
	case u.Scheme == "http" && !plain && !loopback(u.Hostname()):
		return nil, errors.New("plain HTTP beyond this machine must be asked for by plain")
	}
	return &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host)}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// originKey spells an origin with its port (RFC 6454 section 4).
func originKey(u *url.URL) string {
	port := u.Port()
	if port == "" && u.Scheme == "https" {
		port = "443"
	} else if port == "" {
		port = "80"
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// exchange makes the request, sends it, and reads what comes back.
func (h *httpClient[Q, A]) exchange(ctx context.Context, by Caller, q Q) (reply, *fault) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked, err := h.def.Request(q)
	if err != nil {
		return reply{}, unmade(err)
	}
	req, err := asked.build(ctx, h.origin)
	if err != nil {
		return reply{}, unmade(err)
	}
	secrets, f := issue(ctx, h.def.Credentials, by, h.def.Operation.Name)
	if f != nil {
		return reply{}, f
	}
	r := reply{secrets: secrets}
	resp, f := h.send(ctx, req, secrets)
	if f != nil {
		return r, f
	}
	defer func() { _ = resp.Body.Close() }() // read, or not wanted
	r.status = resp.StatusCode
	if f := h.fault(resp.StatusCode, resp.Header); f != nil {
		r.body = h.errorBody(resp.Body, cancel)
		return r, f
	}
	return h.read(ctx, r, resp)
}

// unmade is the fault of an adapter that could not make its request. Nothing was sent.
func unmade(err error) *fault {
	f := &fault{code: envelope.Internal, rule: "request", cause: err, unsent: true}
	if e, ok := errors.AsType[*envelope.Error](err); ok {
		f.code, f.field, f.wait = e.Code, e.Field, e.RetryAfter
	}
	return f
}

// issue asks for the credentials, last of all before sending.
func issue(ctx context.Context, from Credentials, by Caller, operation string) ([]Credential, *fault) {
	if from == nil {
		return nil, nil
	}
	secrets, err := from.For(ctx, by, operation)
	switch {
	case err != nil:
		// The provider's error may be of another system, and quote it.
		return nil, &fault{code: envelope.Unavailable, rule: "credentials", hidden: err, unsent: true}
	case len(secrets) == 0:
		return nil, &fault{code: envelope.Unavailable, rule: "credentials", unsent: true}
	}
	for _, s := range secrets {
		if s.Name == "" || s.Value.Reveal() == "" || strings.ContainsAny(s.Value.Reveal(), "\r\n\x00") {
			return nil, &fault{code: envelope.Internal, rule: "credentials", unsent: true}
		}
	}
	return secrets, nil
}

// send follows redirects as far as the definition allows.
func (h *httpClient[Q, A]) send(ctx context.Context, req *http.Request, secrets []Credential) (*http.Response, *fault) {
	var sent atomic.Bool
	for followed := 0; ; followed++ {
		resp, err := h.roundTrip(ctx, req, secrets, &sent)
		if err != nil {
			f := ended(ctx, err)
			if f == nil {
				f = &fault{code: envelope.UpstreamUnavailable, rule: "transport", hidden: err}
			}
			f.unsent = !sent.Load()
			return nil, f
		}
		next := h.redirected(ctx, req, resp, followed)
		if next == nil {
			return resp, nil
		}
		_ = resp.Body.Close() // its text is not wanted
		if originKey(next.URL) != originKey(h.origin) {
			secrets = nil // for good: where another origin sends us back to is its choice
		}
		req = next
	}
}

func (h *httpClient[Q, A]) roundTrip(ctx context.Context, req *http.Request, secrets []Credential, sent *atomic.Bool) (*http.Response, error) {
	mark := func() {
		envelope.Sent(ctx)
		sent.Store(true)
	}
	if h.traced {
		trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { mark() }}
		ctx = httptrace.WithClientTrace(ctx, trace)
	} else {
		mark()
	}
	req = req.Clone(ctx)
	if originKey(req.URL) == originKey(h.origin) {
		for _, s := range secrets {
			req.Header.Set(s.Name, s.Value.Reveal())
		}
	}
	if req.Method == http.MethodGet {
		return h.def.Transport.RoundTrip(req)
	}
	return h.writes.RoundTrip(req)
}

// redirected returns the request that follows, nil where the response is to be taken as it is.
func (h *httpClient[Q, A]) redirected(ctx context.Context, req *http.Request, resp *http.Response, followed int) *http.Request {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil
	}
	if followed >= h.def.Redirects || req.Method != http.MethodGet || req.Body != nil {
		return nil
	}
	target, err := req.URL.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" || target.User != nil {
		return nil
	}
	if key := originKey(target); key != originKey(h.origin) && !h.others[key] {
		return nil
	}
	next := req.Clone(ctx)
	next.URL, next.Host = target, ""
	if originKey(target) != originKey(h.origin) { // another origin gets the address and nothing of the adapter's
		next.Header = http.Header{"Accept": req.Header["Accept"], "Accept-Encoding": req.Header["Accept-Encoding"]}
	}
	return next
}

// read takes the whole body of a success before anything looks at it: a transport that ended early is told only by its
// end.
func (h *httpClient[Q, A]) read(ctx context.Context, r reply, resp *http.Response) (reply, *fault) {
	wire, err := io.ReadAll(io.LimitReader(resp.Body, int64(h.limit)+1))
	r.body = wire
	switch {
	case len(wire) > h.limit:
		r.body = wire[:h.limit]
		return r, refused(envelope.InvalidResponse, "", "limit")
	case err != nil:
		if f := ended(ctx, err); f != nil {
			return r, f
		}
		return r, &fault{code: envelope.UpstreamUnavailable, rule: "transport", hidden: err}
	case !jsonType(resp.Header):
		return r, refused(envelope.InvalidResponse, "", "media_type")
	}
	plain, f := decoded(resp.Header, wire, h.limit)
	if f == nil {
		r.body = plain
	}
	return r, f
}

// What of an error's body is kept for the operators, and how long it may take to come.
const (
	errorBodyBytes = 16 << 10
	errorBodyTime  = time.Second
)

// errorBody reads what the operators may want to see. It decides nothing, and waits for no one.
func (h *httpClient[Q, A]) errorBody(body io.Reader, cancel context.CancelFunc) []byte {
	timer := time.AfterFunc(h.timeOut, cancel)
	defer timer.Stop()
	text, _ := io.ReadAll(io.LimitReader(body, errorBodyBytes)) // what came before it broke
	return text
}
