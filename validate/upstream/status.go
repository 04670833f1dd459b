package upstream

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// longestWait bounds what an upstream may ask to wait.
const longestWait = 24 * time.Hour

// fault says what an HTTP status means, nil for success. A status that the definition declares means that.
func (h *httpClient[Q, A]) fault(status int, header http.Header) *fault {
	if status == h.def.Success {
		return nil
	}
	code, ok := h.def.Statuses[status]
	if !ok {
		code = statusCode(status, header)
	}
	f := refused(code, "", "status")
	if d, ok := envelope.Declared(code); !ok || d.Retryable {
		f.wait = retryAfter(header, h.now())
	}
	return f
}

// statusCode is the rule for a status that is neither success nor declared.
func statusCode(status int, header http.Header) envelope.Code {
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusForbidden && limited(header):
		return envelope.RateLimited
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return envelope.UpstreamDenied
	case status == http.StatusNotFound, status == http.StatusGone:
		return envelope.NotFound
	case status >= 500 && status <= 599, status == http.StatusAccepted, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return envelope.UpstreamUnavailable
	case status >= 400 && status <= 499:
		return envelope.UpstreamRejected
	}
	return envelope.InvalidResponse
}

// limited reports whether a 403 is a limit by its headers: a time to come again, or nothing left of a quota.
func limited(header http.Header) bool {
	return strings.Join(header.Values("Retry-After"), "") != "" || strings.TrimSpace(header.Get("X-RateLimit-Remaining")) == "0"
}

// retryAfter reads both forms of Retry-After (RFC 9110 section 10.2.3), seconds and a date; zero where there is none,
// or none that lies ahead. Of several the longest counts.
func retryAfter(header http.Header, now time.Time) (longest time.Duration) {
	for _, text := range header.Values("Retry-After") {
		longest = max(longest, waitOf(strings.TrimSpace(text), now))
	}
	return longest
}

func waitOf(text string, now time.Time) time.Duration {
	if text == "" {
		return 0
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(longestWait/time.Second) {
			return longestWait
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), longestWait)
}
