package tool_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// TestRetriedReadAnswersWhatItRead: with the data of the try that succeeded, each try within the tool's own time, all of
// them within the declared time.
func TestRetriedReadAnswersWhatItRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.Now, w.clock.now = nil, time.Now()
		var fails, tries atomic.Int64 // a try that is given up is left behind
		w.read.Spec.Timeout = time.Second
		w.read.Retry = tool.Retry{Attempts: 99, Within: 10 * time.Second, On: []envelope.Code{envelope.DeadlineExceeded, envelope.RateLimited}}
		w.read.Handle = func(ctx context.Context, _ tool.Caller, in accountIn) (accountOut, error) {
			n := tries.Add(1)
			if n <= fails.Load() {
				<-ctx.Done()
				return accountOut{}, ctx.Err()
			}
			return accountOut{AccountID: in.AccountID, Limit: n}, nil
		}
		s := w.start()
		for lost := range int64(3) {
			fails.Store(lost)
			tries.Store(0)
			r := s.call(readTool, `{"account_id":"a1"}`)
			out, err := r.Decode[accountOut]()
			require.NoError(t, err)
			require.Equal(t, accountOut{AccountID: "a1", Limit: lost + 1}, out)
		}
		fails.Store(999)
		tries.Store(0)
		began := time.Now()
		refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.DeadlineExceeded, "the last error is the answer")
		require.Less(t, time.Since(began), 11*time.Second, "Within, and the try that was under way")
		require.Greater(t, tries.Load(), int64(3))
	})
}
