package upstream

import (
	"net/http"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// Judge holds a whole body to an operation's contract, as every transport does.
func Judge[Q, A any](op Operation[Q, A], q Q, body []byte) (A, *Error, error) {
	judge, err := NewJudge(op)
	if err != nil {
		var none A
		return none, nil, err
	}
	got, refusal := judge(q, body)
	return got, refusal, nil
}

// NewJudge is Judge for many bodies.
func NewJudge[Q, A any](op Operation[Q, A]) (func(q Q, body []byte) (A, *Error), error) {
	c, err := newClient(op)
	return func(q Q, body []byte) (A, *Error) {
		a, f := c.judge(q, reply{body: body})
		if f != nil {
			return a.got, &Error{Code: f.code, Field: f.field, Rule: f.rule}
		}
		return a.got, nil
	}, err
}

// StatusCode is what a status means.
func StatusCode(status int, header http.Header) envelope.Code { return statusCode(status, header) }

// RetryAfter is the time to wait that a header asks for.
func RetryAfter(header http.Header, now time.Time) time.Duration { return retryAfter(header, now) }

// JSONType is jsonType.
func JSONType(header http.Header) bool { return jsonType(header) }
