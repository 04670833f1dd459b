package upstream_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// cached is a cache in front of a server, with a clock.
type cached struct {
	*upstream.Cache[jobQuery, jobRun]
	now    *atomic.Int64 // seconds after recordedAt
	server *wire
}

func by(tenant string) upstream.Caller {
	return upstream.Caller{Tenant: tenant, RequestID: "req_" + tenant}
}

func job(run string) jobQuery { return jobQuery{"orchard-build", "run_" + strings.Repeat(run, 12)} }

// caching answers the run that was asked for, observed at recordedAt.
func caching(t *testing.T, cfg upstream.CacheConfig, answer func(n int, r *http.Request) script) cached {
	t.Helper()
	if answer == nil {
		answer = func(_ int, r *http.Request) script {
			run := r.RequestURI[strings.LastIndexByte(r.RequestURI, '/')+1:]
			return ok(`{"project_id":"orchard-build","run_id":"` + run + `","state":"running","observed_at":"2026-08-14T16:25:00Z"}`)
		}
	}
	c := cached{now: &atomic.Int64{}, server: serve(t, answer)}
	op := jobOperation()
	op.Host.Now = func() time.Time { return recordedAt.Add(time.Duration(c.now.Load()) * time.Second) }
	jobs, err := upstream.NewHTTP(upstream.HTTP[jobQuery, jobRun]{
		Operation: op, Origin: c.server.origin,
		Request: func(q jobQuery) (upstream.Request, error) {
			return upstream.Request{Path: []string{"runs", q.RunID}}, nil
		},
	})
	require.NoError(t, err)
	c.Cache, err = upstream.NewCache(jobs, cfg)
	require.NoError(t, err)
	return c
}

func (c cached) ask(t *testing.T, tenant, run string) {
	t.Helper()
	got, err := c.Ask(t.Context(), by(tenant), job(run))
	require.NoError(t, err)
	require.Equal(t, job(run).RunID, got.RunID)
}

func TestCacheKeys(t *testing.T) {
	t.Parallel()
	c := caching(t, upstream.CacheConfig{TTL: time.Hour}, nil)
	c.ask(t, "t1", "a")
	c.ask(t, "t1", "a")
	require.Len(t, c.server.seen(), 1, "a hit")
	c.ask(t, "t2", "a")
	require.Len(t, c.server.seen(), 2, "another tenant's answer is nobody else's")
	c.ask(t, "t1", "b")
	require.Len(t, c.server.seen(), 3, "another question")
	_, err := c.Ask(t.Context(), upstream.Caller{RequestID: "r"}, job("a"))
	require.ErrorIs(t, err, upstream.ErrCaller, "no tenant, no cache")
}

func TestCacheForgets(t *testing.T) {
	t.Parallel()
	c := caching(t, upstream.CacheConfig{TTL: 60 * time.Second}, nil)
	c.ask(t, "t1", "a")
	c.now.Store(59)
	c.ask(t, "t1", "a")
	require.Len(t, c.server.seen(), 1)
	c.now.Store(60)
	c.ask(t, "t1", "a")
	require.Len(t, c.server.seen(), 2, "its time is over")

	c = caching(t, upstream.CacheConfig{TTL: time.Hour}, nil)
	c.ask(t, "t1", "a")
	c.now.Store(300)
	c.ask(t, "t1", "a")
	require.Len(t, c.server.seen(), 1, "five minutes are fresh")
	c.now.Store(301)
	_, err := c.Ask(t.Context(), by("t1"), job("a"))
	require.EqualError(t, err, "INVALID_RESPONSE at observed_at", "asked again, and the upstream says the same")
	require.Len(t, c.server.seen(), 2, "what is no longer fresh is not served, however long it may be kept")
}

func TestCacheBounds(t *testing.T) {
	t.Parallel()
	c := caching(t, upstream.CacheConfig{TTL: time.Hour, Entries: 2}, nil)
	for _, run := range []string{"a", "b", "a", "c", "a", "b"} {
		c.ask(t, "t1", run)
	}
	require.Len(t, c.server.seen(), 4, "b gave way to c, since a was used later")
	c = caching(t, upstream.CacheConfig{TTL: time.Hour, Bytes: 250}, nil)
	for _, run := range []string{"a", "b", "a", "b"} {
		c.ask(t, "t1", run)
	}
	require.Len(t, c.server.seen(), 2)
	c.ask(t, "t1", "c")
	c.ask(t, "t1", "a")
	require.Len(t, c.server.seen(), 4, "bytes are bounded")
	c = caching(t, upstream.CacheConfig{TTL: time.Hour, Bytes: 10}, nil)
	c.ask(t, "t1", "a")
	c.ask(t, "t1", "a")
	require.Len(t, c.server.seen(), 2, "too large to keep")
}

func TestCacheDoesNotKeepErrors(t *testing.T) {
	t.Parallel()
	c := caching(t, upstream.CacheConfig{TTL: time.Hour}, func(n int, _ *http.Request) script {
		if n == 1 {
			return script{status: 404}
		}
		return ok(`{"project_id":"orchard-build","run_id":"run_aaaaaaaaaaaa","state":"running","observed_at":"2026-08-14T16:25:00Z"}`)
	})
	_, err := c.Ask(t.Context(), by("t1"), job("a"))
	require.EqualError(t, err, "NOT_FOUND")
	c.ask(t, "t1", "a")
}

func TestCacheSharesNothingThatCanBeChanged(t *testing.T) {
	t.Parallel()
	w := serve(t, always(ok(`{"items":[{"shipment_ref":"ship_AAAAAAAA","status":"created","version":1}]}`)))
	c, err := upstream.NewHTTP(upstream.HTTP[shipmentQuery, shipments]{
		Operation: shipmentOperation(), Origin: w.origin, Request: func(shipmentQuery) (upstream.Request, error) { return upstream.Request{}, nil },
	})
	require.NoError(t, err)
	cache, err := upstream.NewCache(c, upstream.CacheConfig{TTL: time.Hour})
	require.NoError(t, err)
	for range 3 {
		got, err := cache.Ask(t.Context(), caller, shipmentQuery{})
		require.NoError(t, err)
		require.Equal(t, int64(1), got.Items[0].Version)
		got.Items[0].Version = 99
	}
	require.Len(t, w.seen(), 1)
}

func TestOneFlight(t *testing.T) {
	t.Parallel()
	release, arrived := make(chan struct{}), make(chan struct{}, 8)
	var status atomic.Int64
	status.Store(200)
	c := caching(t, upstream.CacheConfig{TTL: time.Hour}, func(int, *http.Request) script {
		arrived <- struct{}{}
		<-release
		s := ok(`{"project_id":"orchard-build","run_id":"run_aaaaaaaaaaaa","state":"running","observed_at":"2026-08-14T16:25:00Z"}`)
		s.status = int(status.Load())
		return s
	})
	errs := make(chan error, 8)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := c.Ask(t.Context(), by("t1"), job("a"))
			errs <- err
		})
	}
	<-arrived
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Ask(impatient, by("t1"), job("a"))
	require.ErrorIs(t, err, context.Canceled, "each waits no longer than its own context")
	require.True(t, upstream.Unsent(err))
	close(release)
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, c.server.seen(), 1)
}

func TestLeaderThatGivesUp(t *testing.T) {
	t.Parallel()
	release, arrived := make(chan struct{}), make(chan struct{}, 2)
	c := caching(t, upstream.CacheConfig{TTL: time.Hour}, func(n int, _ *http.Request) script {
		arrived <- struct{}{}
		if n == 1 {
			<-release
		}
		return ok(`{"project_id":"orchard-build","run_id":"run_aaaaaaaaaaaa","state":"running","observed_at":"2026-08-14T16:25:00Z"}`)
	})
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	led := make(chan error, 1)
	go func() {
		_, err := c.Ask(ctx, by("t1"), job("a"))
		led <- err
	}()
	<-arrived
	followed := make(chan error, 1)
	go func() {
		_, err := c.Ask(t.Context(), by("t1"), job("a"))
		followed <- err
	}()
	cancel()
	require.ErrorIs(t, <-led, context.Canceled)
	require.NoError(t, <-followed, "another's end is not one's own")
}

func TestFollowersGetTheLeadersRefusal(t *testing.T) {
	t.Parallel()
	release, arrived := make(chan struct{}), make(chan struct{}, 9)
	c := caching(t, upstream.CacheConfig{TTL: time.Hour}, func(n int, _ *http.Request) script {
		arrived <- struct{}{}
		if n == 1 {
			<-release
		}
		return script{status: 500 + n}
	})
	errs := make(chan error, 2)
	go func() { _, err := c.Ask(t.Context(), by("t1"), job("a")); errs <- err }()
	<-arrived
	go func() {
		_, err := c.Ask(t.Context(), upstream.Caller{Tenant: "t1", RequestID: "req_follower"}, job("a"))
		errs <- err
	}()
	close(release)
	for range 2 {
		var r *upstream.Error
		err := <-errs
		require.ErrorAs(t, err, &r)
		require.Equal(t, envelope.UpstreamUnavailable, r.Code)
		if r.Status == 501 {
			require.Equal(t, "req_t1", r.RequestID, "under which the response is kept")
		}
	}
}

type secretive struct{ id string }

type hidden struct {
	ID string `json:"-"`
}

type anything struct {
	ID any `json:"id"`
}

func refuseCache[Q any](t *testing.T, why string, cfg upstream.CacheConfig, fault string) {
	t.Helper()
	c, err := upstream.NewCommand(upstream.Command[Q, reviewStatus]{
		Operation: upstream.Operation[Q, reviewStatus]{Name: "a"}, Runner: upstream.Local{}, Args: func(Q) ([]string, error) { return nil, nil },
	})
	require.NoError(t, err)
	_, err = upstream.NewCache(c, cfg)
	require.ErrorContains(t, err, fault, why)
}

func TestCachesThatAreWrong(t *testing.T) {
	t.Parallel()
	good := upstream.CacheConfig{TTL: time.Second}
	refuseCache[reviewQuery](t, "kept for no time", upstream.CacheConfig{}, "ttl")
	refuseCache[reviewQuery](t, "fewer than none", upstream.CacheConfig{TTL: 1, Entries: -1}, "entries")
	refuseCache[secretive](t, "all questions would be {}", good, "the question.id")
	refuseCache[hidden](t, "the same", good, "the question.ID")
	refuseCache[[]map[string]*anything](t, "found at any depth", good, "the question.ID")
	_, err := upstream.NewCache[reviewQuery, reviewStatus](nil, good)
	require.ErrorContains(t, err, "no client")
	_ = secretive{id: strconv.Itoa(1)}.id
}
