package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Request is what an adapter makes of a question: data alone. The origin is the definition's, and credentials are put
// in later.
type Request struct {
	Method string     // empty: GET
	Path   []string   // the segments, escaped here; a segment that is empty, "." or ".." is refused. None: "/"
	Query  url.Values // escaped here
	// Header holds what is neither a credential nor the transport's own: an Idempotency-Key, an Accept other than
	// application/json.
	Header http.Header
	Body   []byte // empty: none. application/json unless the header says otherwise
}

var errRequest = errors.New("the adapter's request")

// reserved are the headers that an adapter does not set: credentials, and what frames or routes a message.
var reserved = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"Authorization": true, "Proxy-Authorization": true, "Proxy-Connection": true, "Cookie": true, "Cookie2": true, "Host": true,
	"Connection": true, "Keep-Alive": true, "Transfer-Encoding": true, "Content-Length": true, "Content-Encoding": true, "Te": true, "Trailer": true,
	"Upgrade": true, "Expect": true, "Accept-Encoding": true, "X-Api-Key": true, "Forwarded": true, "X-Forwarded-Host": true,
}

// target returns the address, below the origin.
func (r Request) target(origin *url.URL) (*url.URL, error) {
	u := *origin
	var escaped strings.Builder
	for _, segment := range r.Path {
		if segment == "" || segment == "." || segment == ".." {
			return nil, fmt.Errorf("%w: a path segment is empty or a dot", errRequest)
		}
		escaped.WriteByte('/')
		escaped.WriteString(url.PathEscape(segment))
	}
	if len(r.Path) == 0 {
		escaped.WriteByte('/')
	}
	u.RawPath = escaped.String()
	path, err := url.PathUnescape(u.RawPath)
	if err != nil {
		return nil, fmt.Errorf("%w: its path", errRequest)
	}
	u.Path, u.RawQuery = path, r.Query.Encode()
	return &u, nil
}

func (r Request) method() (string, error) {
	switch r.Method {
	case "", http.MethodGet:
		return http.MethodGet, nil
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return r.Method, nil
	}
	return "", fmt.Errorf("%w: its method is none of GET, POST, PUT, PATCH and DELETE", errRequest)
}

// build returns the request without credentials, checked.
func (r Request) build(ctx context.Context, origin *url.URL) (*http.Request, error) {
	method, err := r.method()
	if err != nil {
		return nil, err
	}
	target, err := r.target(origin)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if len(r.Body) > 0 {
		body = bytes.NewReader(bytes.Clone(r.Body))
	}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), body)
	if err != nil {
		return nil, fmt.Errorf("%w: its address", errRequest)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range r.Header {
		canonical := http.CanonicalHeaderKey(name)
		if reserved[canonical] {
			return nil, fmt.Errorf("%w: %s is not an adapter's header", errRequest, canonical)
		}
		req.Header[canonical] = append([]string(nil), values...)
	}
	// Said here, the transport leaves the encoding alone and the bytes are counted before they are decoded.
	req.Header.Set("Accept-Encoding", "gzip")
	req.GetBody = nil // what was sent is not sent again: whether it is, the ledger says
	return req, nil
}
