package upstream_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/claimctx"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

const (
	goodReview = `{"change_id":"CR-4471","decision":"approved","reviewed_by":"harbor-desk"}`
	token      = "Bearer zq7.canary-Kx9.token"
)

var caller = upstream.Caller{Tenant: "t1", Tool: "ask_v1", RequestID: "req_1"}

// vault hands out fixed credentials and counts.
type vault struct {
	give  []upstream.Credential
	err   error
	asked atomic.Int64
}

func (v *vault) For(_ context.Context, by upstream.Caller, operation string) ([]upstream.Credential, error) {
	v.asked.Add(1)
	if by != caller || operation == "" {
		return nil, errors.New("asked for somebody else")
	}
	return v.give, v.err
}

func bearer() *vault {
	return &vault{give: []upstream.Credential{{Name: "Authorization", Value: redact.NewSecret(token)}}}
}

func ok(body string) script {
	return script{status: 200, header: http.Header{"Content-Type": {"application/json"}}, body: []byte(body)}
}

func always(s script) func(int, *http.Request) script {
	return func(int, *http.Request) script { return s }
}

// reviews is a definition that asks for a change's status.
func reviews(origin string) upstream.HTTP[reviewQuery, reviewStatus] {
	op := reviewOperation()
	op.Host.Now = func() time.Time { return recordedAt }
	return upstream.HTTP[reviewQuery, reviewStatus]{
		Operation: op, Origin: origin,
		Request: func(q reviewQuery) (upstream.Request, error) {
			return upstream.Request{Path: []string{"changes", q.ChangeID}}, nil
		},
	}
}

func client(t *testing.T, def upstream.HTTP[reviewQuery, reviewStatus]) *upstream.Client[reviewQuery, reviewStatus] {
	t.Helper()
	c, err := upstream.NewHTTP(def)
	require.NoError(t, err)
	return c
}

// refusalOf asks for CR-4471 and returns both errors of the refusal.
func refusalOf(t *testing.T, c *upstream.Client[reviewQuery, reviewStatus]) (*envelope.Error, *upstream.Error) {
	t.Helper()
	got, err := c.Ask(t.Context(), caller, reviewQuery{"CR-4471"})
	require.Zero(t, got)
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	var r *upstream.Error
	require.ErrorAs(t, err, &r)
	require.Equal(t, e.Code, r.Code)
	return e, r
}

func TestRequest(t *testing.T) {
	t.Parallel()
	w := serve(t, always(ok(goodReview)))
	def := reviews(w.origin)
	v := bearer()
	def.Credentials = v
	def.Request = func(reviewQuery) (upstream.Request, error) {
		return upstream.Request{
			Method: http.MethodPost, Path: []string{"a b", "c/d", "é?#%2e"}, Query: url.Values{"q": {"1&2"}},
			Header: http.Header{"idempotency-key": {"k1"}, "X-Trace": {"t"}}, Body: []byte(`{"x":1}`),
		}, nil
	}
	got, err := client(t, def).Ask(t.Context(), caller, reviewQuery{"CR-4471"})
	require.NoError(t, err)
	require.Equal(t, reviewStatus{"CR-4471", "approved", "harbor-desk"}, got)
	r := w.seen()[0]
	require.Equal(t, "POST /a%20b/c%2Fd/%C3%A9%3F%23%252e?q=1%262", r.Method+" "+r.RequestURI)
	require.Equal(t, []string{token, "k1", "t", "application/json", "application/json", "gzip"}, []string{
		r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"), r.Header.Get("X-Trace"),
		r.Header.Get("Accept"), r.Header.Get("Content-Type"), r.Header.Get("Accept-Encoding"),
	})
	require.Equal(t, int64(7), r.ContentLength)
	require.EqualValues(t, 1, v.asked.Load())
}

func TestRequestThatIsRefusedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why string
		request   upstream.Request
		err       error
		code      envelope.Code
	}{
		{"dots", "a path that climbs", upstream.Request{Path: []string{"..", "admin"}}, nil, envelope.Internal},
		{"dot", "a segment that vanishes", upstream.Request{Path: []string{"a", "."}}, nil, envelope.Internal},
		{"empty segment", "an id that is missing", upstream.Request{Path: []string{"a", ""}}, nil, envelope.Internal},
		{"method", "a method that is not asked with", upstream.Request{Method: "CONNECT"}, nil, envelope.Internal},
		{"small method", "methods have a case", upstream.Request{Method: "get"}, nil, envelope.Internal},
		{"authorization", "credentials are not the adapter's", upstream.Request{Header: http.Header{"authorization": {"x"}}}, nil, envelope.Internal},
		{"cookie", "nor are cookies", upstream.Request{Header: http.Header{"Cookie": {"x"}}}, nil, envelope.Internal},
		{"host", "nor is the host", upstream.Request{Header: http.Header{"Host": {"x"}}}, nil, envelope.Internal},
		{"framing", "nor is the framing", upstream.Request{Header: http.Header{"Transfer-Encoding": {"chunked"}}}, nil, envelope.Internal},
		{"adapter's error", "the adapter cannot make one", upstream.Request{}, errors.New("no such site"), envelope.Internal},
		{"adapter's code", "the adapter knows the answer", upstream.Request{}, envelope.New(envelope.NotFound).At("change_id"), envelope.NotFound},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, always(ok(goodReview)))
			def := reviews(w.origin)
			v := bearer()
			def.Credentials = v
			def.Request = func(reviewQuery) (upstream.Request, error) { return row.request, row.err }
			e, r := refusalOf(t, client(t, def))
			require.Equal(t, row.code, e.Code, row.why)
			require.True(t, upstream.Unsent(e))
			require.Equal(t, "request", r.Rule)
			require.Empty(t, w.seen())
			require.Zero(t, v.asked.Load(), "credentials are asked for after the request is validated")
		})
	}
}

func TestCallerMustBeSomebody(t *testing.T) {
	t.Parallel()
	w := serve(t, always(ok(goodReview)))
	c := client(t, reviews(w.origin))
	for _, by := range []upstream.Caller{{}, {RequestID: "r"}} {
		_, err := c.Ask(t.Context(), by, reviewQuery{"CR-4471"})
		require.ErrorIs(t, err, upstream.ErrCaller)
		require.True(t, upstream.Unsent(err))
	}
	require.Empty(t, w.seen())
}

func TestCredentialsThatFail(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why string
		vault     *vault
		code      envelope.Code
	}{
		{"provider fails", "its words are another system's", &vault{err: errors.New(token)}, envelope.Unavailable},
		{"none", "an upstream that wants some is not asked without", &vault{}, envelope.Unavailable},
		{"empty", "no credential", &vault{give: []upstream.Credential{{Name: "Authorization"}}}, envelope.Internal},
		{"no name", "nowhere to put it", &vault{give: []upstream.Credential{{Value: redact.NewSecret("x")}}}, envelope.Internal},
		{"line break", "a second header", &vault{give: []upstream.Credential{{Name: "A", Value: redact.NewSecret("x\r\nB: y")}}}, envelope.Internal},
	} {
		w := serve(t, always(ok(goodReview)))
		def := reviews(w.origin)
		def.Credentials = row.vault
		e, r := refusalOf(t, client(t, def))
		require.Equal(t, row.code, e.Code, "%s: %s", row.name, row.why)
		require.Equal(t, "credentials", r.Rule)
		require.True(t, upstream.Unsent(e))
		require.NotContains(t, printed(e), "canary")
		require.Empty(t, w.seen())
	}
}

func TestAnswerThatCarriesTheCredential(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why, body string
		refused         bool
	}{
		{"whole", "as it was sent", strings.Replace(goodReview, "harbor-desk", token, 1), true},
		{"without its scheme", "the part that is secret", strings.Replace(goodReview, "harbor-desk", "seen zq7.canary-Kx9.token!", 1), true},
		{"elsewhere", "in what is left out", `{"echo":"` + token + `",` + goodReview[1:], false},
	} {
		w := serve(t, always(ok(row.body)))
		def := reviews(w.origin)
		def.Operation.Select, def.Credentials = true, bearer()
		_, err := client(t, def).Ask(t.Context(), caller, reviewQuery{"CR-4471"})
		require.Equal(t, row.refused, err != nil, "%s: %s", row.name, row.why)
		require.NotContains(t, printed(err), "canary")
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status int
		header http.Header
		want   envelope.Code
	}{
		{200, nil, envelope.InvalidResponse}, // where another one means success
		{201, nil, envelope.InvalidResponse},
		{202, nil, envelope.UpstreamUnavailable},
		{204, nil, envelope.InvalidResponse},
		{206, nil, envelope.InvalidResponse},
		{301, nil, envelope.InvalidResponse},
		{304, nil, envelope.InvalidResponse},
		{400, nil, envelope.UpstreamRejected},
		{401, nil, envelope.UpstreamDenied},
		{401, http.Header{"Retry-After": {"1"}}, envelope.UpstreamDenied},
		{403, nil, envelope.UpstreamDenied},
		{403, http.Header{"Retry-After": {"1"}}, envelope.RateLimited},
		{403, http.Header{"Retry-After": {"soon"}}, envelope.RateLimited},
		{403, http.Header{"X-Ratelimit-Remaining": {"0"}}, envelope.RateLimited},
		{403, http.Header{"X-Ratelimit-Remaining": {"10"}}, envelope.UpstreamDenied},
		{404, nil, envelope.NotFound},
		{408, nil, envelope.UpstreamUnavailable},
		{409, nil, envelope.UpstreamRejected},
		{410, nil, envelope.NotFound},
		{422, nil, envelope.UpstreamRejected},
		{425, nil, envelope.UpstreamUnavailable},
		{429, nil, envelope.RateLimited},
		{451, nil, envelope.UpstreamRejected},
		{500, nil, envelope.UpstreamUnavailable},
		{503, nil, envelope.UpstreamUnavailable},
		{599, nil, envelope.UpstreamUnavailable},
		{600, nil, envelope.InvalidResponse},
		{999, nil, envelope.InvalidResponse},
	} {
		require.Equal(t, row.want, upstream.StatusCode(row.status, row.header), "%d %v", row.status, row.header)
	}
}

func TestDeclaredStatuses(t *testing.T) {
	t.Parallel()
	w := serve(t, func(n int, _ *http.Request) script {
		return script{status: []int{204, 409, 418, 409}[n-1], header: http.Header{"Retry-After": {"7"}}}
	})
	def := reviews(w.origin)
	def.Statuses = map[int]envelope.Code{204: envelope.NotFound, 409: envelope.RateLimited, 418: "TEAPOT"}
	c := client(t, def)
	e, _ := refusalOf(t, c)
	require.Equal(t, envelope.NotFound, e.Code)
	require.Zero(t, e.RetryAfter, "what is not there is not there in seven seconds")
	e, r := refusalOf(t, c)
	require.Equal(t, envelope.RateLimited, e.Code)
	require.Equal(t, 7*time.Second, e.RetryAfter)
	require.Equal(t, 409, r.Status)
	e, _ = refusalOf(t, c)
	require.Equal(t, envelope.Code("TEAPOT"), e.Code, "a domain code")
	_, err := c.Ask(t.Context(), caller, reviewQuery{"CR-4471"})
	proof, refused, _ := envelope.Proven(upstream.Proof(err, 409))
	require.Equal(t, envelope.ProofRefused, proof)
	require.Equal(t, envelope.RateLimited, refused.Code)
}

func TestDeclaredSuccess(t *testing.T) {
	t.Parallel()
	w := serve(t, func(n int, _ *http.Request) script {
		s := ok(goodReview)
		s.status = []int{201, 200}[n-1]
		return s
	})
	def := reviews(w.origin)
	def.Success = http.StatusCreated
	c := client(t, def)
	_, err := c.Ask(t.Context(), caller, reviewQuery{"CR-4471"})
	require.NoError(t, err)
	e, _ := refusalOf(t, c)
	require.Equal(t, envelope.InvalidResponse, e.Code, "exactly one status means that there is an answer")
	for _, status := range []int{199, 204, 205, 300, 404} {
		def.Success = status
		_, err := upstream.NewHTTP(def)
		require.ErrorContains(t, err, "success:", status)
	}
}

// What a certificate says is the upstream's text as well.
func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	o := newObserved(t)
	def := reviews(s.URL)
	def.Operation.Host = o.host
	ctx, mark := claimctx.With(t.Context())
	_, err := client(t, def).Ask(ctx, caller, reviewQuery{"CR-4471"})
	require.EqualError(t, err, "UPSTREAM_UNAVAILABLE")
	require.True(t, upstream.Unsent(err), "no byte of the request leaves before the handshake is done")
	require.False(t, mark.Sent())
	require.NotContains(t, printed(err), "certificate")
	item, err := o.quarantine.Open(t.Context(), "staff", caller.RequestID)
	require.NoError(t, err)
	require.ErrorContains(t, item.Cause, "certificate")

	def.Transport = s.Client().Transport
	e, r := refusalOf(t, client(t, def))
	require.Equal(t, envelope.NotFound, e.Code, "with the host's own roots")
	require.True(t, r.Sent)
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text, why string
		want      time.Duration
	}{
		{"", "none", 0},
		{"30", "seconds", 30 * time.Second},
		{" 30 ", "white space around a value is no part of it", 30 * time.Second},
		{"0", "at once", 0},
		{"-1", "not a number of seconds", 0},
		{"1.5", "seconds are whole", 0},
		{"86401", "no longer than a day", 24 * time.Hour},
		{"99999999999999999999", "nor than an integer holds", 24 * time.Hour},
		{"Fri, 14 Aug 2026 16:27:00 GMT", "a date", 2 * time.Minute},
		{"Friday, 14-Aug-26 16:27:00 GMT", "in the form of RFC 850", 2 * time.Minute},
		{"Fri Aug 14 16:27:00 2026", "in the form of asctime", 2 * time.Minute},
		{"Fri, 14 Aug 2026 16:00:00 GMT", "a date that is over", 0},
		{"Fri, 14 Aug 2099 16:00:00 GMT", "a date too far away", 24 * time.Hour},
		{"soon", "neither", 0},
	} {
		require.Equal(t, row.want, upstream.RetryAfter(http.Header{"Retry-After": {row.text}}, recordedAt), "%q: %s", row.text, row.why)
	}
	w := serve(t, func(n int, _ *http.Request) script {
		return script{status: []int{503, 429, 202}[n-1], header: http.Header{"Retry-After": {"Fri, 14 Aug 2026 16:26:00 GMT"}}}
	})
	c := client(t, reviews(w.origin))
	for range 3 {
		e, _ := refusalOf(t, c)
		require.True(t, e.Retryable)
		require.Equal(t, time.Minute, e.RetryAfter)
	}
}

func TestMediaType(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		values []string
		want   bool
	}{
		{[]string{"application/json"}, true},
		{[]string{"Application/JSON; charset=ISO-8859-1"}, true},
		{[]string{" application/json ;x"}, true},
		{[]string{"application/problem+json"}, true},
		{[]string{"application/vnd.a.b+JSON"}, true},
		{[]string{"application/+json"}, false},
		{[]string{"application/jsonp"}, false},
		{[]string{"application/json, text/html"}, false},
		{[]string{"application/json/x+json"}, false},
		{[]string{"text/json"}, false},
		{[]string{"application/x-ndjson"}, false},
		{[]string{"application/json-seq"}, false},
		{[]string{""}, false},
		{[]string{"application/json", "text/html"}, false},
		{nil, false},
	} {
		require.Equal(t, row.want, upstream.JSONType(http.Header{"Content-Type": row.values}), "%q", row.values)
	}
}

// A document of the right form under another name is not looked at.
func TestMediaTypeOfAGoodDocument(t *testing.T) {
	t.Parallel()
	s := ok(goodReview)
	s.header = http.Header{"Content-Type": {"text/html"}}
	e, r := refusalOf(t, client(t, reviews(serve(t, always(s)).origin)))
	require.Equal(t, envelope.InvalidResponse, e.Code)
	require.Equal(t, "media_type", r.Rule)
}

// The cap acts while reading: an answer that never ends is refused all the same.
func TestEndlessBody(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for {
			if _, err := io.WriteString(w, strings.Repeat(" ", 64<<10)); err != nil {
				return
			}
		}
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	e, r := refusalOf(t, client(t, reviews("http://"+l.Addr().String())))
	require.Equal(t, envelope.InvalidResponse, e.Code)
	require.Equal(t, "limit", r.Rule)
}

func squeezed(t *testing.T, w io.WriteCloser, b *bytes.Buffer, text []byte) []byte {
	t.Helper()
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	return squeezed(t, gzip.NewWriter(&b), &b, []byte(text))
}

func TestContentEncoding(t *testing.T) {
	t.Parallel()
	var z bytes.Buffer
	deflated := squeezed(t, zlib.NewWriter(&z), &z, []byte(goodReview))
	whole := gzipped(t, goodReview)
	for _, row := range []struct {
		name, why, coding string
		body              []byte
		code              envelope.Code
		rule              string
	}{
		{"gzip", "as asked for", "gzip", whole, "", ""},
		{"x-gzip", "its older name", "X-GZip", whole, "", ""},
		{"deflate", "the zlib format", "deflate", deflated, "", ""},
		{"identity", "none", "identity", []byte(goodReview), "", ""},
		{"unknown", "nobody here decodes it", "br", []byte(goodReview), envelope.InvalidResponse, "encoding"},
		{"twice", "nor a chain", "gzip, gzip", gzipped(t, string(whole)), envelope.InvalidResponse, "encoding"},
		{"undeclared", "nothing is sniffed", "", whole, envelope.InvalidResponse, "malformed_json"},
		{"not encoded", "declared and not done", "gzip", []byte(goodReview), envelope.InvalidResponse, "encoding"},
		{"cut inside", "whole for HTTP, not for gzip", "gzip", whole[:len(whole)-6], envelope.InvalidResponse, "encoding"},
		{"wrong sum", "the checksum says so", "gzip", append(append([]byte{}, whole[:len(whole)-8]...), 0, 0, 0, 0, whole[len(whole)-4], whole[len(whole)-3], 0, 0), envelope.InvalidResponse, "encoding"},
		{"bomb", "bytes are counted while they are decoded", "gzip", gzipped(t, goodReview+strings.Repeat(" ", 64<<20)), envelope.InvalidResponse, "limit"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := ok("")
			s.body = row.body
			if row.coding != "" {
				s.header = http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {row.coding}}
			}
			c := client(t, reviews(serve(t, always(s)).origin))
			if row.code == "" {
				_, err := c.Ask(t.Context(), caller, reviewQuery{"CR-4471"})
				require.NoError(t, err, row.why)
				return
			}
			e, r := refusalOf(t, c)
			require.Equal(t, row.code, e.Code, row.why)
			require.Equal(t, row.rule, r.Rule, row.why)
		})
	}
}

func TestCutTransportBeforeAllElse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why string
		script    script
		rule      string
	}{
		{"length", "announced bytes are missing", script{200, http.Header{"Content-Type": {"application/json"}}, []byte(goodReview), "cut"}, "transport"},
		{"chunks", "no last chunk", script{200, http.Header{"Content-Type": {"application/json"}, "Transfer-Encoding": {"chunked"}}, []byte(goodReview), "cut"}, "transport"},
		{"other media type", "the end is looked at first", script{200, http.Header{"Content-Type": {"text/html"}}, []byte(goodReview), "cut"}, "transport"},
		{"error status", "the status before the end", script{404, nil, []byte("x"), "cut"}, "status"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			e, r := refusalOf(t, client(t, reviews(serve(t, always(row.script)).origin)))
			require.Equal(t, row.rule, r.Rule, row.why)
			if row.rule == "transport" {
				require.Equal(t, envelope.UpstreamUnavailable, e.Code, row.why)
			}
			require.True(t, r.Sent)
		})
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	to := func(status int, location string) script {
		return script{status: status, header: http.Header{"Location": {location}}}
	}
	other := serve(t, always(ok(goodReview)))
	for _, row := range []struct {
		name, why string
		hops      int
		elsewhere []string
		method    string
		answers   []script
		rule      string // "": accepted
		requests  int
	}{
		{name: "off", why: "none unless allowed", answers: []script{to(302, "/b"), ok(goodReview)}, rule: "status", requests: 1},
		{name: "same origin", why: "allowed", hops: 1, answers: []script{to(302, "/b"), ok(goodReview)}, requests: 2},
		{name: "bounded", why: "one, not two", hops: 1, answers: []script{to(302, "/b"), to(307, "/c"), ok(goodReview)}, rule: "status", requests: 2},
		{name: "loop", why: "bounded as well", hops: 3, answers: []script{to(301, "/"), to(301, "/"), to(301, "/"), to(301, "/"), ok(goodReview)}, rule: "status", requests: 4},
		{name: "other origin", why: "not one of those", hops: 3, answers: []script{to(302, other.origin+"/b")}, rule: "status", requests: 1},
		{name: "declared origin", why: "followed without the credential", hops: 3, elsewhere: []string{other.origin}, answers: []script{to(302, other.origin+"/b")}, requests: 1},
		{name: "post", why: "a write is not sent to a second place", hops: 3, method: http.MethodPost, answers: []script{to(307, "/b"), ok(goodReview)}, rule: "status", requests: 1},
		{name: "no location", why: "nowhere to go", hops: 3, answers: []script{{status: 302}}, rule: "status", requests: 1},
		{name: "with a user", why: "credentials in an address", hops: 3, answers: []script{to(302, "http://u:p@127.0.0.1/")}, rule: "status", requests: 1},
		{name: "not modified", why: "no redirect", hops: 3, answers: []script{to(304, "/b"), ok(goodReview)}, rule: "status", requests: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, func(n int, _ *http.Request) script { return row.answers[n-1] })
			def := reviews(w.origin)
			def.Redirects, def.RedirectTo, def.Credentials = row.hops, row.elsewhere, bearer()
			def.Request = func(reviewQuery) (upstream.Request, error) {
				return upstream.Request{Method: row.method, Header: http.Header{"X-Case": {"internal"}}}, nil
			}
			c := client(t, def)
			if row.rule == "" {
				_, err := c.Ask(t.Context(), caller, reviewQuery{"CR-4471"})
				require.NoError(t, err, row.why)
			} else {
				e, r := refusalOf(t, c)
				require.Equal(t, envelope.InvalidResponse, e.Code, row.why)
				require.Equal(t, row.rule, r.Rule)
			}
			require.Len(t, w.seen(), row.requests)
			for _, r := range w.seen() {
				require.Equal(t, token, r.Header.Get("Authorization"), "the origin's own requests carry it")
			}
		})
	}
	t.Cleanup(func() {
		require.Len(t, other.seen(), 1)
		require.Empty(t, other.seen()[0].Header["Authorization"])
		require.Empty(t, other.seen()[0].Header["X-Case"], "nor anything else of the adapter's")
	})
}

func TestSentBeforeTheFirstByte(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := "http://" + l.Addr().String()
	require.NoError(t, l.Close())

	ctx, mark := claimctx.With(t.Context())
	_, err = client(t, reviews(nobody)).Ask(ctx, caller, reviewQuery{"CR-4471"})
	require.True(t, upstream.Unsent(err), "nobody listens")
	require.False(t, mark.Sent())
	proof, _, _ := envelope.Proven(upstream.Proof(err))
	require.Equal(t, envelope.ProofNotSent, proof)
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, envelope.UpstreamUnavailable, e.Code)
	require.NotContains(t, printed(err), "127.0.0.1", "an address is no text for logs")

	ctx, mark = claimctx.With(t.Context())
	w := serve(t, func(int, *http.Request) script {
		if !mark.Sent() {
			return script{status: 500}
		}
		return ok(goodReview)
	})
	_, err = client(t, reviews(w.origin)).Ask(ctx, caller, reviewQuery{"CR-4471"})
	require.NoError(t, err, "the claim was marked before the server had the request")
	require.True(t, mark.Sent())

	ctx, mark = claimctx.With(t.Context())
	def := reviews(w.origin)
	def.Transport = failing{errors.New("of a transport that tells nothing")}
	_, err = client(t, def).Ask(ctx, caller, reviewQuery{"CR-4471"})
	require.False(t, upstream.Unsent(err))
	require.True(t, mark.Sent(), "with another transport nobody can know")
	require.NotContains(t, printed(err), "tells nothing")
	require.NoError(t, upstream.Proof(nil))
	require.False(t, upstream.Unsent(nil))
	foreign := errors.New("of another package")
	require.Same(t, foreign, upstream.Proof(foreign, 409))
	require.False(t, upstream.Unsent(foreign))
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestProof(t *testing.T) {
	t.Parallel()
	w := serve(t, func(n int, _ *http.Request) script {
		if n == 4 {
			return ok(`{}`)
		}
		return script{status: []int{409, 409, 500}[n-1]}
	})
	c := client(t, reviews(w.origin))
	ask := func() error {
		_, err := c.Ask(t.Context(), caller, reviewQuery{"CR-4471"})
		return err
	}
	proof, refused, _ := envelope.Proven(upstream.Proof(ask(), 409, 422))
	require.Equal(t, envelope.ProofRefused, proof)
	require.Equal(t, envelope.UpstreamRejected, refused.Code)
	proof, _, _ = envelope.Proven(upstream.Proof(ask(), 422))
	require.Equal(t, envelope.ProofNothing, proof, "a status that is not declared final proves nothing")
	proof, _, _ = envelope.Proven(upstream.Proof(ask(), 409))
	require.Equal(t, envelope.ProofNothing, proof)
	proof, _, _ = envelope.Proven(upstream.Proof(ask(), 200))
	require.Equal(t, envelope.ProofNothing, proof, "a success that broke its contract is no refusal, whatever is declared")
}

// A connection that dies under a request is not a reason for net/http to send it again.
func TestNoSecondRequest(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var requests atomic.Int64
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, goodReview)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close() // the same connection, now dead after the request has come
		}
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	def := reviews("http://" + l.Addr().String())
	def.Request = func(reviewQuery) (upstream.Request, error) {
		return upstream.Request{Method: http.MethodPost, Header: http.Header{"Idempotency-Key": {"k"}, "X-Idempotency-Key": {"k"}}}, nil
	}
	c := client(t, def)
	_, err = c.Ask(t.Context(), caller, reviewQuery{"CR-4471"})
	require.NoError(t, err)
	e, r := refusalOf(t, c)
	require.Equal(t, envelope.UpstreamUnavailable, e.Code)
	require.True(t, r.Sent)
	require.EqualValues(t, 2, requests.Load())
}

func TestContextThatEnds(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	arrived := make(chan struct{}, 2)
	w := serve(t, func(int, *http.Request) script {
		arrived <- struct{}{}
		<-release
		return ok(goodReview)
	})
	c := client(t, reviews(w.origin))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := c.Ask(ctx, caller, reviewQuery{"CR-4471"})
	require.ErrorIs(t, err, context.Canceled)
	var e *envelope.Error
	require.False(t, errors.As(err, &e), "the caller's own doing has no code of an upstream")
	require.False(t, upstream.Unsent(err))

	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = c.Ask(ctx, caller, reviewQuery{"CR-4471"})
	require.ErrorAs(t, err, &e)
	require.Equal(t, envelope.DeadlineExceeded, e.Code)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// An error's body is for the operators, and its slowness is nobody's trouble.
func TestSlowErrorBody(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, "first part")
		_ = http.NewResponseController(w).Flush()
		<-release
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { close(release); require.NoError(t, s.Close()) })
	o := newObserved(t)
	def := reviews("http://" + l.Addr().String())
	def.Operation.Host = o.host
	began := time.Now()
	e, _ := refusalOf(t, client(t, def))
	require.Equal(t, envelope.UpstreamUnavailable, e.Code)
	require.Less(t, time.Since(began), 30*time.Second)
	kept, err := o.quarantine.Open(t.Context(), "staff", caller.RequestID)
	require.NoError(t, err)
	require.Equal(t, "first part", string(kept.Raw))
	require.Equal(t, 500, kept.Status)
}
