package upstream_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// unansweredTape plays what came to nothing, when the context is over.
type unansweredTape struct{ wardTape }

func (*unansweredTape) Plays() bool { return true }

func (*unansweredTape) Play(ctx context.Context, _ string, _ jsontext.Value, _ []string) (tape.Exchange, bool) {
	<-ctx.Done()
	return tape.Exchange{Unanswered: true}, true
}

// beginning is told what begins and what comes of it.
type beginning struct {
	wardTape
	mu          sync.Mutex
	begun, came []tape.Exchange
}

func (b *beginning) Ask(_ context.Context, e tape.Exchange) func(tape.Exchange) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun = append(b.begun, e)
	return func(e tape.Exchange) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.came = append(b.came, e)
	}
}

type lateAsk struct {
	ID string `json:"id" redact:"trusted"`
}

type lateAnswer struct {
	Ward string `json:"ward" redact:"trusted"`
}

func lateClient(t *testing.T, origin string, request func(lateAsk) (upstream.Request, error)) *upstream.Client[lateAsk, lateAnswer] {
	t.Helper()
	client, err := upstream.NewHTTP(upstream.HTTP[lateAsk, lateAnswer]{
		Operation: upstream.Operation[lateAsk, lateAnswer]{Name: "ward"}, Origin: origin, Request: request,
	})
	require.NoError(t, err)
	return client
}

func TestWhatCameToNothingIsPlayedAsTheContextsEnd(t *testing.T) {
	t.Parallel()
	client := lateClient(t, "https://ward.example", func(lateAsk) (upstream.Request, error) { return upstream.Request{Method: "GET"}, nil })
	ask := func(ctx context.Context) error {
		_, err := client.Ask(tape.With(ctx, &unansweredTape{}), upstream.Caller{Tenant: "t1"}, lateAsk{"1"})
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := ask(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, upstream.Unsent(err))
	ctx, end := context.WithCancelCause(t.Context())
	end(context.DeadlineExceeded)
	err = ask(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	e, ok := errors.AsType[*envelope.Error](err)
	require.True(t, ok)
	require.Equal(t, envelope.DeadlineExceeded, e.Code)
}

func TestATapeHearsOfAnExchangeAsItBegins(t *testing.T) {
	t.Parallel()
	tp := &beginning{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tp.mu.Lock()
		defer tp.mu.Unlock()
		if len(tp.begun) != 1 || len(tp.came) != 0 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"ward":"live"}`))
	}))
	t.Cleanup(s.Close)
	client := lateClient(t, s.URL, func(q lateAsk) (upstream.Request, error) {
		if q.ID == "2" {
			panic("no request")
		}
		return upstream.Request{Method: "GET"}, nil
	})
	_, err := client.Ask(tape.With(t.Context(), tp), upstream.Caller{Tenant: "t1"}, lateAsk{"1"})
	require.NoError(t, err)
	require.Len(t, tp.came, 1)
	require.JSONEq(t, `{"ward":"live"}`, string(tp.came[0].Answer))
	require.Nil(t, tp.came[0].Failure)

	require.Panics(t, func() {
		_, _ = client.Ask(tape.With(t.Context(), tp), upstream.Caller{Tenant: "t1"}, lateAsk{"2"})
	})
	require.Len(t, tp.came, 2)
	require.NotNil(t, tp.came[1].Failure, "what panicked has failed")
}
