package tool_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
)

// losing seals nothing, until its key is lost.
type losing struct {
	redact.Sealer
	lost atomic.Bool
}

func (l *losing) Open(ctx context.Context, aad, b []byte) ([]byte, error) {
	if l.lost.Load() {
		return nil, redact.ErrSealed
	}
	return l.Sealer.Open(ctx, aad, b)
}

// TestOperationThatDoesNotOpen: its state is told, an operator can end it, and nothing is sent.
func TestOperationThatDoesNotOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.realTime()
	sealer := &losing{Sealer: redact.Plain()}
	l, err := sqliteledger.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"), sqliteledger.Config{Sealer: sealer})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Shutdown() })
	w.approvals = approval.NewMemory(time.Now)
	w.config.Approvals, w.config.Ledger, w.config.Now = w.approvals, l, time.Now
	sends := 0
	w.write.Commit = func(ctx context.Context, _ tool.Approved[limitPlan]) (limitOut, error) {
		envelope.Sent(ctx)
		sends++
		return limitOut{}, errors.New("EOF")
	}
	d := w.dispatcher()
	s := w.session(d, "run1", agent)
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "lost")
	sealer.lost.Store(true)
	get := func() string {
		r := s.call("get_operation_v1", `{"operation_id":"`+key(id).Operation+`"}`)
		require.True(t, r.OK, "%v", r.Err())
		v, err := r.Decode[operationView]()
		require.NoError(t, err)
		return v.State
	}
	require.Equal(t, "unknown", get())
	_, err = d.Resolve(t.Context(), key(id), operator, idem.Resolution{State: idem.Succeeded, Reason: "the ledger of the bank has it", Evidence: "statement 7"})
	require.NoError(t, err)
	require.Equal(t, "succeeded", get())
	require.Equal(t, 1, sends)
}
