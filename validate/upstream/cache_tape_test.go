package upstream_test

import (
	"context"
	"encoding/json/jsontext"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// ward's tape answers with what it has, or listens.
type wardTape struct {
	answer string
	kept   atomic.Int32
}

func (w *wardTape) Plays() bool { return w.answer != "" }
func (w *wardTape) Ask(context.Context, tape.Exchange) func(tape.Exchange) {
	return func(tape.Exchange) { w.kept.Add(1) }
}

func (w *wardTape) Play(context.Context, string, jsontext.Value, []string) (tape.Exchange, bool) {
	return tape.Exchange{Answer: jsontext.Value(w.answer), Sent: true}, true
}

// A recording has every exchange, whatever the cache holds, and what is played stays in the replay.
func TestATapeGoesRoundTheCache(t *testing.T) {
	t.Parallel()
	type ask struct {
		ID string `json:"id" redact:"trusted"`
	}
	type answer struct {
		Ward string `json:"ward" redact:"trusted"`
	}
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"ward":"live"}`))
	}))
	t.Cleanup(s.Close)
	client, err := upstream.NewHTTP(upstream.HTTP[ask, answer]{
		Operation: upstream.Operation[ask, answer]{Name: "ward"}, Origin: s.URL,
		Request: func(ask) (upstream.Request, error) { return upstream.Request{Method: "GET"}, nil },
	})
	require.NoError(t, err)
	cache, err := upstream.NewCache(client, upstream.CacheConfig{TTL: time.Hour})
	require.NoError(t, err)
	by := upstream.Caller{Tenant: "t1"}
	had := func(tp tape.Tape) string {
		ctx := t.Context()
		if tp != nil {
			ctx = tape.With(ctx, tp)
		}
		got, err := cache.Ask(ctx, by, ask{"1"})
		require.NoError(t, err)
		return got.Ward
	}
	require.Equal(t, "played", had(&wardTape{answer: `{"ward":"played"}`}))
	require.Equal(t, "live", had(nil), "what was played is not kept")
	require.Equal(t, "played", had(&wardTape{answer: `{"ward":"played"}`}), "what is kept is not played")
	listening := &wardTape{}
	require.Equal(t, "live", had(listening))
	require.EqualValues(t, 1, listening.kept.Load(), "a hit would be missing in the recording")
	require.EqualValues(t, 2, asked.Load())
}
