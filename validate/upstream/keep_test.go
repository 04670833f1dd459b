package upstream_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why string
		script    script
		kept      bool
		rule      string
	}{
		{"broken", "the contract was broken", ok(`{"change_id":"CR-4471"}`), true, "required"},
		{"rejected", "our request was at fault", script{status: 400, body: []byte("no such column")}, true, "status"},
		{"denied", "somebody must look at the credentials", script{status: 401, body: []byte("expired")}, true, "status"},
		{"failed", "what it says helps its operators", script{status: 500, body: []byte("stack")}, true, "status"},
		{"cut", "what came", script{200, http.Header{"Content-Type": {"application/json"}}, []byte("{"), "cut"}, true, "transport"},
		{"not found", "an ordinary answer", script{status: 404, body: []byte("none")}, false, ""},
		{"limited", "an ordinary answer", script{status: 429, body: []byte("slow")}, false, ""},
		{"good", "nothing is refused", ok(goodReview), false, ""},
		{"long error", "only its beginning", script{status: 400, body: []byte(strings.Repeat("x", 20<<10))}, true, "status"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			o := newObserved(t)
			def := reviews(serve(t, always(row.script)).origin)
			def.Operation.Host = o.host
			_, err := client(t, def).Ask(t.Context(), caller, reviewQuery{"CR-4471"})
			require.Equal(t, row.name == "good", err == nil)
			item, err := o.quarantine.Open(t.Context(), "staff", caller.RequestID)
			if !row.kept {
				require.ErrorIs(t, err, audit.ErrNotFound, row.why)
				return
			}
			require.NoError(t, err, row.why)
			require.Equal(t, row.rule, item.Rule)
			require.Equal(t, row.script.status, item.Status)
			require.Equal(t, "reviews.status", item.Source)
			require.Equal(t, "team reviews", item.Owner)
			require.Equal(t, string(row.script.body[:min(len(row.script.body), 16<<10)]), string(item.Raw), row.why)
			require.NoError(t, o.host.Digester.Verify("t1", item.Raw, item.Digest))
		})
	}
}

// Why nothing could be reached is for the operators: names and addresses are no text for the agent's side.
func TestTransportErrorIsKept(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	o := newObserved(t)
	def := reviews("http://" + l.Addr().String())
	def.Operation.Host = o.host
	_, err = client(t, def).Ask(t.Context(), caller, reviewQuery{"CR-4471"})
	require.NotContains(t, printed(err), "refused")
	item, err := o.quarantine.Open(t.Context(), "staff", caller.RequestID)
	require.NoError(t, err)
	require.ErrorContains(t, item.Cause, "refused")
	require.Empty(t, item.Digest)
}

// A check before a dispatch has no request of its own; what it is answered with is kept all the same.
func TestKeptWithoutARequest(t *testing.T) {
	t.Parallel()
	o := newObserved(t)
	def := reviews(serve(t, always(ok("{}"))).origin)
	def.Operation.Host = o.host
	_, err := client(t, def).Ask(t.Context(), upstream.Caller{Tenant: "t1"}, reviewQuery{"CR-4471"})
	require.ErrorContains(t, errors.Unwrap(err), "rule required")
	item, err := o.quarantine.Open(t.Context(), "staff", "reviews.status")
	require.NoError(t, err)
	require.Equal(t, "{}", string(item.Raw))
}

// A quarantine that fails changes no answer, and is told.
func TestQuarantineThatFails(t *testing.T) {
	t.Parallel()
	lost := errors.New("disk full")
	q := &brokenQuarantine{err: lost}
	def := reviews(serve(t, always(ok(goodReview))).origin)
	def.Operation.Host.Quarantine = q
	ctx, cancel := context.WithCancel(t.Context())
	def.Operation.Same = func(reviewQuery, reviewStatus) error {
		cancel() // the caller goes while the answer is looked at
		return errors.New("another")
	}
	e, r := func() (*envelope.Error, string) {
		defer cancel()
		_, err := client(t, def).Ask(ctx, caller, reviewQuery{"CR-4471"})
		var e *envelope.Error
		require.ErrorAs(t, err, &e)
		require.ErrorIs(t, err, lost)
		return e, errors.Unwrap(e).Error()
	}()
	require.Equal(t, envelope.InvalidResponse, e.Code)
	require.Contains(t, r, "not kept")
	require.NoError(t, q.ctx, "the caller's end does not reach the quarantine")
}

type brokenQuarantine struct {
	audit.Quarantine
	err, ctx error
}

func (q *brokenQuarantine) Keep(ctx context.Context, _ audit.Item) error {
	q.ctx = ctx.Err()
	return q.err
}
