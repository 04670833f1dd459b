package tool_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// spilling are parts of the host that burst with the canary once they are told to.
type spilling struct {
	approval.Authority
	tool.BudgetStore
	budgets, settling, authority, middleware atomic.Bool
}

func (s *spilling) Reserve(ctx context.Context, tenant, run string, want, limit tool.Budget, until time.Time) error {
	if s.budgets.Load() {
		return errors.New(theCanary().String())
	}
	return s.BudgetStore.Reserve(ctx, tenant, run, want, limit, until)
}

func (s *spilling) Settle(ctx context.Context, tenant, run string, reserved, used tool.Budget) error {
	err := s.BudgetStore.Settle(ctx, tenant, run, reserved, used)
	if s.settling.Load() {
		panic(theCanary())
	}
	return err
}

func (s *spilling) MayRequest(ctx context.Context, by approval.Principal, name string, t approval.Target) error {
	if s.authority.Load() {
		return fmt.Errorf("directory: %s", theCanary())
	}
	return s.Authority.MayRequest(ctx, by, name, t)
}

func (s *spilling) wrap(next tool.Handler) tool.Handler {
	return func(ctx context.Context, i tool.Invocation) envelope.Result {
		r := next(ctx, i)
		if s.middleware.Load() {
			e := envelope.New(envelope.RateLimited).At(canaryName).WithCause(errors.New(theCanary().String()))
			e.Message, e.Reason, e.OperationID = canaryText, canaryToken, canaryName
			return envelope.Result{Error: e, Untrusted: []string{canaryName}}
		}
		return r
	}
}

// What the worker calls, what asks a provider afterwards, and the host's own parts are held to the same: nothing of what
// they burst with leaves, and the work goes on as if they had said nothing.
func TestNothingOfTheCanaryLeavesAWorkerOrAHostsPart(t *testing.T) {
	bubble(t, func(w *world) {
		t := w.t
		o, spill := w.observe(), theCanary()
		host := &spilling{Authority: w.config.Authority, BudgetStore: tool.NewMemoryBudgets(time.Now)}
		w.config.Authority, w.config.Budgets, w.config.Middleware = host, host, []tool.Middleware{host.wrap}
		w.read.Handle = func(_ context.Context, _ tool.Caller, in accountIn) (accountOut, error) {
			return accountOut{AccountID: in.AccountID, Owner: control}, nil
		}
		w.write.Queued, w.write.Contract, w.write.RunFor = true, idem.StatusQueryable, time.Hour
		preview := w.write.Preview
		w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
			d, err := preview(ctx, by, in)
			d.Resource = fmt.Sprint("limit ", in.Limit) // one write does not wait for another
			return d, err
		}
		var changed atomic.Bool
		w.write.Current = func(context.Context, tool.Caller, approval.Target) (string, error) {
			if changed.Load() {
				return canaryToken, fmt.Errorf("current: %s", spill)
			}
			return "17", nil
		}
		w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			switch cmd.Plan.Limit {
			case 1:
				return limitOut{}, errors.New(spill.String())
			case 2:
				panic(spill)
			case 3:
				return limitOut{}, envelope.NotSent(errors.New(spill.String()))
			}
			return limitOut{}, envelope.Running(canaryToken)
		}
		w.write.Status = func(_ context.Context, cmd tool.Approved[limitPlan], _ string) (limitOut, error) {
			if cmd.Plan.Limit%2 == 0 {
				panic(spill)
			}
			return limitOut{tool.Evidence{OperationID: canaryName, ResourceID: canaryToken}, 1}, fmt.Errorf("status: %s", spill)
		}
		w.write.Cancel = func(_ context.Context, cmd tool.Approved[limitPlan], _ string) (tool.Stopped, error) {
			if cmd.Plan.Limit%2 == 0 {
				panic(spill)
			}
			return tool.Stopped(canaryName), errors.New(spill.String())
		}
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		var results []envelope.Result
		keep := func(r envelope.Result) envelope.Result {
			results = append(results, r)
			return r
		}
		late := s.approved(6)
		refuses(t, keep(s.commit(late)), envelope.InProgress, "queued")
		changed.Store(true)
		stop := w.work(d, tool.WorkerConfig{})
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, idem.Pending, w.state(late), "a target that cannot be asked for is no answer")
		refuses(t, keep(s.commit(s.approved(7))), envelope.Unavailable, "nor to a call")
		changed.Store(false)
		var ids []string
		for limit := 1; limit <= 5; limit++ {
			ids = append(ids, s.approved(limit))
			refuses(t, keep(s.commit(ids[limit-1])), envelope.InProgress, "queued")
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		for n, want := range []idem.State{idem.Unknown, idem.Unknown, idem.Denied, idem.Running, idem.Running} {
			require.Equal(t, want, w.state(ids[n]), "limit %d", n+1)
			keep(s.commit(ids[n]))
			keep(s.call("get_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, idem.OperationID("t1", ids[n]))))
			keep(s.cancel(ids[n]))
		}
		for _, part := range []*atomic.Bool{&host.budgets, &host.settling, &host.authority, &host.middleware} {
			part.Store(true)
			keep(s.call(readTool, `{"account_id":"a1"}`))
			keep(s.call(previewTool, fmt.Sprintf(`{"account_id":"a1","limit":%d}`, 8+len(results))))
			keep(s.commit(ids[0]))
			part.Store(false)
		}
		require.NoError(t, keep(s.call(readTool, `{"account_id":"a1"}`)).Err())
		stop()

		sinks := w.spilled(o, results, "no trace")
		for _, text := range []string{canaryName, canaryToken, canaryText} {
			require.Empty(t, found(t, text, sinks))
		}
		require.NotEmpty(t, found(t, control, map[string]string{"transcript": sinks["transcript"]}), "what the contract declares comes through")
		operators := make([]string, 0, len(w.kept.items))
		for _, i := range w.kept.items {
			operators = append(operators, fmt.Sprintf("%s %v", i.Raw, i.Cause))
		}
		require.NotEmpty(t, found(t, canaryText, map[string]string{"quarantine": fmt.Sprint(operators)}), "and the operators have it")
	})
}
