package upstream_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

type echoQuery struct {
	ID string `json:"id"`
}

type echoAnswer struct {
	Text string `json:"text"`
}

type one upstream.Credential

func (o one) For(context.Context, upstream.Caller, string) ([]upstream.Credential, error) {
	return []upstream.Credential{upstream.Credential(o)}, nil
}

func echoed(t *testing.T, secret string, change func(*upstream.HTTP[echoQuery, echoAnswer]), h http.HandlerFunc) (string, error) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	def := upstream.HTTP[echoQuery, echoAnswer]{
		Operation: upstream.Operation[echoQuery, echoAnswer]{Name: "echo"}, Origin: s.URL,
		Credentials: one{"Authorization", redact.NewSecret(secret)},
		Request:     func(echoQuery) (upstream.Request, error) { return upstream.Request{Method: http.MethodGet}, nil },
	}
	if change != nil {
		change(&def)
	}
	c, err := upstream.NewHTTP(def)
	require.NoError(t, err)
	got, err := c.Ask(t.Context(), upstream.Caller{Tenant: "t1"}, echoQuery{"1"})
	return got.Text, err
}

func sends(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}
}

func TestACredentialIsFoundHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("ada:correct horse"))
	for _, row := range []struct {
		name, secret, body string
		passes             bool
	}{
		{"plain", "Bearer abcd/efgh", `{"text":"it was abcd/efgh"}`, false},
		{"an escaped slash", "Bearer abcd/efgh", `{"text":"it was abcd\/efgh"}`, false},
		{"an escaped letter", "Bearer abcd/efgh", `{"text":"it was \u0061bcd/efgh"}`, false},
		{"an escaped sign", "Bearer abcd<efgh", `{"text":"it was abcd\u003cefgh"}`, false},
		{"a quote in it", `Bearer abcd"efgh`, `{"text":"it was abcd\"efgh"}`, false},
		{"a short one", "s3cret", `{"text":"s3cret"}`, false},
		{"a short one within", "user", `{"text":"the user is in"}`, true},
		{"a pair", basic, `{"text":"ada:correct horse"}`, false},
		{"a password", basic, `{"text":"with correct horse"}`, false},
		{"a name", basic, `{"text":"ada"}`, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := echoed(t, row.secret, nil, sends(row.body))
			if row.passes {
				require.NoError(t, err)
				return
			}
			e := new(envelope.Error)
			require.ErrorAs(t, err, &e)
			require.Equal(t, "credential", e.Rule)
		})
	}
}

// Where another origin sends us back to is its choice, and no place for credentials.
func TestCredentialsDoNotComeBackWithARedirect(t *testing.T) {
	t.Parallel()
	var home string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, home+"/back", http.StatusFound)
	}))
	t.Cleanup(other.Close)
	got, err := echoed(t, "Bearer abcd/efgh", func(def *upstream.HTTP[echoQuery, echoAnswer]) {
		home, def.Redirects, def.RedirectTo = def.Origin, 2, []string{other.URL}
	}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/back" {
			http.Redirect(w, r, other.URL+"/there", http.StatusFound)
			return
		}
		if r.Header.Get("Authorization") != "" {
			sends(`{"text":"with"}`)(w, r)
			return
		}
		sends(`{"text":"without"}`)(w, r)
	})
	require.NoError(t, err)
	require.Equal(t, "without", got)
}

func TestNothingMayFollowACompressedBody(t *testing.T) {
	t.Parallel()
	for _, tail := range []string{"", "x"} {
		var body bytes.Buffer
		z := zlib.NewWriter(&body)
		_, _ = z.Write([]byte(`{"text":"x"}`))
		require.NoError(t, z.Close())
		body.WriteString(tail)
		_, err := echoed(t, "Bearer abcd/efgh", nil, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "deflate")
			sends(body.String())(w, r)
		})
		require.Equal(t, tail == "", err == nil)
	}
}

func TestOfSeveralRetryTimesTheLongestCounts(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusForbidden} {
		_, err := echoed(t, "Bearer abcd/efgh", nil, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Retry-After"] = []string{"", "1", "60"}
			w.WriteHeader(status)
		})
		e := new(envelope.Error)
		require.ErrorAs(t, err, &e)
		require.Equal(t, envelope.RateLimited, e.Code)
		require.Equal(t, time.Minute, e.RetryAfter)
	}
}
