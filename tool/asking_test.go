package tool_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// TestACallThatAsksTheProviderEndsInTime: what became of an operation is asked in the call of whoever wants to know, and
// a provider that takes its time holds none of them beyond theirs. What it says in the end is kept.
func TestACallThatAsksTheProviderEndsInTime(t *testing.T) {
	t.Parallel()
	commit := func(id string) envelope.Call {
		return envelope.Call{Tool: commitTool, Arguments: jsontext.Value(fmt.Sprintf(`{"proposal_id":%q}`, id))}
	}
	operation := func(name string) func(string) envelope.Call {
		return func(id string) envelope.Call {
			return envelope.Call{Tool: name, Arguments: jsontext.Value(fmt.Sprintf(`{"operation_id":%q}`, idem.OperationID("t1", id)))}
		}
	}
	for _, c := range []struct {
		name    string
		call    func(id string) envelope.Call
		running bool          // at the provider; else its outcome is unknown
		within  time.Duration // that the caller waits; zero: the run's Elapsed ends the call
		says    idem.State
	}{
		{"a commit, the run's time", commit, false, 0, idem.Succeeded},
		{"a commit, the caller's", commit, false, time.Second, idem.Succeeded},
		{"a look, the run's time", operation("get_operation_v1"), false, 0, idem.Succeeded},
		{"a look, the caller's", operation("get_operation_v1"), true, time.Second, idem.Succeeded},
		{"a cancellation, the run's time", operation("cancel_operation_v1"), true, 0, idem.Cancelled},
		{"a cancellation, the caller's", operation("cancel_operation_v1"), true, time.Second, idem.Cancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				t := w.t
				w.config.Budgets = tool.NewMemoryBudgets(time.Now)
				w.write.Spec.Timeout, w.write.Contract, w.write.RunFor = time.Minute, idem.StatusQueryable, time.Hour
				var key string
				w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
					key = cmd.ProviderKey
					w.provider.apply(cmd)
					if c.running {
						return limitOut{}, envelope.Running("job-7")
					}
					return limitOut{}, errors.New("EOF")
				}
				w.write.Status = func(context.Context, tool.Approved[limitPlan], string) (limitOut, error) {
					time.Sleep(30 * time.Second)
					return w.provider.status(key)
				}
				w.write.Cancel = func(context.Context, tool.Approved[limitPlan], string) (tool.Stopped, error) {
					time.Sleep(30 * time.Second)
					return tool.StoppedNow, nil
				}
				s := w.timed(w.dispatcher()) // ten seconds in all
				began := time.Now()
				id := s.approved(250)
				require.Error(t, s.commit(id).Err())
				ctx, within := t.Context(), 10*time.Second
				if c.within > 0 {
					end, cancel := context.WithTimeout(ctx, c.within)
					defer cancel()
					ctx, within = end, c.within
				}
				s.run.Call(ctx, c.call(id))
				require.Equal(t, within, time.Since(began))
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, c.says, w.state(id), "what it says in the end is kept")
			})
		})
	}
}
