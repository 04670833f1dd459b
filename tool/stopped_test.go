package tool_test

import (
	"context"
	"encoding/json/jsontext"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// A commit whose client hung up holds its place until its handler has returned.
func TestAnAbandonedCommitHoldsItsPlace(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.write.Spec.PerRun = 1
		commit := w.write.Commit
		w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			time.Sleep(5 * time.Second)
			return commit(ctx, cmd)
		}
		s := w.start()
		id := s.approved(250)
		args := jsontext.Value(`{"proposal_id":"` + id + `"}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		refuses(t, s.run.Call(ctx, envelope.Call{Tool: commitTool, Arguments: args}), envelope.InProgress, "it goes on")
		refuses(t, s.commit(id), envelope.RateLimited, "the handler still runs")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		success(t, s.commit(id), "the place is free")
	})
}

// A run or caller that stops in the wait between two tries is told that, not to ask again.
func TestStoppedBetweenTries(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		w.read.Retry = tool.Retry{Attempts: 5, On: []envelope.Code{envelope.RateLimited}}
		w.read.Handle = func(context.Context, tool.Caller, accountIn) (accountOut, error) {
			return accountOut{}, envelope.New(envelope.RateLimited).After(2 * time.Second)
		}
		s := w.start()
		call := envelope.Call{Tool: readTool, Arguments: jsontext.Value(`{"account_id":"a1"}`)}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		refuses(t, s.run.Call(ctx, call), envelope.Cancelled, "the caller hung up")
		time.AfterFunc(time.Second, func() { s.run.Cancel("enough") })
		require.Equal(t, envelope.Cancelled, s.run.Call(t.Context(), call).Error.Code)
	})
}
