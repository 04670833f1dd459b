package tool_test

import (
	"context"
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
		fails, tries := 0, 0
		w.read.Spec.Timeout = time.Second
		w.read.Retry = tool.Retry{Attempts: 99, Within: 10 * time.Second, On: []envelope.Code{envelope.DeadlineExceeded, envelope.RateLimited}}
		w.read.Handle = func(ctx context.Context, _ tool.Caller, in accountIn) (accountOut, error) {
			if tries++; tries <= fails {
				<-ctx.Done()
				return accountOut{}, ctx.Err()
			}
			return accountOut{AccountID: in.AccountID, Limit: int64(tries)}, nil
		}
		s := w.start()
		for _, fails = range []int{0, 1, 2} {
			tries = 0
			r := s.call(readTool, `{"account_id":"a1"}`)
			out, err := r.Decode[accountOut]()
			require.NoError(t, err)
			require.Equal(t, accountOut{AccountID: "a1", Limit: int64(fails + 1)}, out)
		}
		fails, tries = 999, 0
		began := time.Now()
		refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.DeadlineExceeded, "the last error is the answer")
		require.Less(t, time.Since(began), 11*time.Second, "Within, and the try that was under way")
		require.Greater(t, tries, 3)
	})
}
