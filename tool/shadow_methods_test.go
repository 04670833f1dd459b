package tool_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// watchedApprovals and watchedLedger note the name of whatever changes what they keep.
type (
	watchedApprovals struct {
		approval.Store
		wrote *[]string
	}
	watchedLedger struct {
		idem.Ledger
		wrote *[]string
	}
)

func (w watchedApprovals) Create(ctx context.Context, p approval.Proposal) (approval.Record, error) {
	*w.wrote = append(*w.wrote, "approvals.Create")
	return w.Store.Create(ctx, p)
}

func (w watchedApprovals) Decide(ctx context.Context, tenant, id string, d approval.Decision) (approval.Record, error) {
	*w.wrote = append(*w.wrote, "approvals.Decide")
	return w.Store.Decide(ctx, tenant, id, d)
}

func (w watchedApprovals) Withdraw(ctx context.Context, tenant, id, decision string, by approval.Principal) (approval.Record, error) {
	*w.wrote = append(*w.wrote, "approvals.Withdraw")
	return w.Store.Withdraw(ctx, tenant, id, decision, by)
}

func (w watchedApprovals) Consume(ctx context.Context, tenant, id, digest, operation string) (approval.Record, bool, error) {
	*w.wrote = append(*w.wrote, "approvals.Consume")
	return w.Store.Consume(ctx, tenant, id, digest, operation)
}

func (w watchedLedger) Admit(ctx context.Context, c idem.Command, before bool) (idem.Record, idem.Admission, error) {
	*w.wrote = append(*w.wrote, "ledger.Admit")
	return w.Ledger.Admit(ctx, c, before)
}

func (w watchedLedger) Claim(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	*w.wrote = append(*w.wrote, "ledger.Claim")
	return w.Ledger.Claim(ctx, k, worker, lease)
}

func (w watchedLedger) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	*w.wrote = append(*w.wrote, "ledger.Finish")
	return w.Ledger.Finish(ctx, c, o)
}

func (w watchedLedger) Close(ctx context.Context, k idem.Key, to idem.State, reason envelope.Code) (idem.Record, error) {
	*w.wrote = append(*w.wrote, "ledger.Close")
	return w.Ledger.Close(ctx, k, to, reason)
}

func (w watchedLedger) ClaimOpen(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	*w.wrote = append(*w.wrote, "ledger.ClaimOpen")
	return w.Ledger.ClaimOpen(ctx, k, worker, lease)
}

func (w watchedLedger) Resolve(ctx context.Context, k idem.Key, r idem.Resolution) (idem.Record, error) {
	*w.wrote = append(*w.wrote, "ledger.Resolve")
	return w.Ledger.Resolve(ctx, k, r)
}

// shadowed is a shadow over the stores of a live host that has a proposal which waits, a queued operation and an unknown one.
type shadowed struct {
	*world
	d                       *tool.Dispatcher
	run                     *tool.Run
	waits, pending, unknown string // proposals
	wrote                   []string
	audited                 int // events of the live host
}

func newShadowed(t *testing.T) *shadowed {
	t.Helper()
	w := newWorld(t)
	x := &shadowed{world: w}
	w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) { return limitOut{}, context.Canceled }
	s := w.start()
	x.unknown = s.approved(250)
	refuses(t, s.commit(x.unknown), envelope.OutcomeUnknown, "its answer is lost")
	w.clock.add(2 * time.Minute)
	w.write.Queued = true
	live := w.session(w.dispatcher(), "run1", agent)
	other := func(limit int) string {
		v, err := live.call(previewTool, fmt.Sprintf(`{"account_id":"a2","limit":%d}`, limit)).Decode[proposalView]()
		require.NoError(t, err)
		return v.ProposalID
	}
	x.waits, x.pending = other(8), other(9)
	live.decide(x.pending, true)
	refuses(t, live.commit(x.pending), envelope.InProgress, "it is queued")
	x.audited = len(w.audit.events)

	w.config.Approvals = watchedApprovals{w.approvals, &x.wrote}
	w.config.Ledger = watchedLedger{w.ledger, &x.wrote}
	w.config.Shadow = &tool.Shadow{Stubs: shadowStubs()}
	x.d = w.dispatcher()
	x.run = w.session(x.d, "run1", agent).run
	return x
}

func (x *shadowed) proposal(ctx context.Context, id string) approval.Proposal {
	rec, err := x.approvals.Find(ctx, "t1", id)
	require.NoError(x.t, err)
	return rec.Proposal
}

// TestShadowWritesToNoStore: whatever is called on the dispatcher of a shadow, the live host's proposals and operations
// stay as they are. A method that is new needs its row.
func TestShadowWritesToNoStore(t *testing.T) {
	t.Parallel()
	key := func(proposal string) idem.Key {
		return idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", proposal)}
	}
	rows := []struct {
		method string
		why    string
		do     func(ctx context.Context, x *shadowed) error
		want   error // nil: none
	}{
		{"Dispatcher.Catalog", "is what was given", func(_ context.Context, x *shadowed) error { x.d.Catalog(); return nil }, nil},
		{"Dispatcher.Start", "a run is this process's own", func(_ context.Context, x *shadowed) error {
			x.session(x.d, "another", agent)
			return nil
		}, nil},
		{"Dispatcher.Decide", "a decision made here would let the live host run the write", func(ctx context.Context, x *shadowed) error {
			_, err := x.d.Decide(ctx, "t1", x.waits, approval.Decision{Approved: true, By: lead, Digest: x.proposal(ctx, x.waits).Digest})
			return err
		}, tool.ErrNotLive},
		{"Dispatcher.Resolve", "a resource would be opened to other writes", func(ctx context.Context, x *shadowed) error {
			_, err := x.d.Resolve(ctx, key(x.unknown), operator, idem.Resolution{State: idem.Failed, Reason: "not there", Evidence: "a call"})
			return err
		}, tool.ErrNotLive},
		{"Dispatcher.Fresh", "Current is a function of the write", func(ctx context.Context, x *shadowed) error {
			return x.d.Fresh(ctx, x.proposal(ctx, x.waits))
		}, tool.ErrNotLive},
		{"Dispatcher.Replay", "a queued write would be run", func(ctx context.Context, x *shadowed) error {
			return x.d.Replay(ctx, silent{true}, key(x.pending))
		}, tool.ErrNotLive},
		{"Dispatcher.Await", "only looks", func(ctx context.Context, x *shadowed) error {
			_, err := x.d.Await(ctx, "t1", x.pending)
			return err
		}, nil},
		{"Dispatcher.Close", "ends what this process does", func(ctx context.Context, x *shadowed) error { return x.d.Close(ctx) }, nil},
		{"Run.Call", "stubs answer, the views look", func(ctx context.Context, x *shadowed) error {
			for name, args := range map[string]string{
				previewTool: `{"account_id":"a1","limit":1}`, commitTool: fmt.Sprintf(`{"proposal_id":%q}`, x.pending),
				"get_operation_v1":    fmt.Sprintf(`{"operation_id":%q}`, key(x.unknown).Operation),
				"cancel_operation_v1": fmt.Sprintf(`{"operation_id":%q}`, key(x.pending).Operation),
			} {
				x.run.Call(ctx, envelope.Call{Tool: name, Arguments: []byte(args)})
			}
			return nil
		}, nil},
		{"Run.Cancel", "the run that ends is the shadow's, the operations are the live host's", func(_ context.Context, x *shadowed) error {
			x.run.Cancel("over") //nolint:contextcheck // it has a time of its own
			return nil
		}, nil},
		{"Run.Spend", "is the budget's", func(ctx context.Context, x *shadowed) error {
			_ = x.run.Spend(ctx, 1)
			return nil
		}, nil},
		{"Run.ID", "reads", func(_ context.Context, x *shadowed) error { x.run.ID(); return nil }, nil},
		{"Run.Role", "reads", func(_ context.Context, x *shadowed) error { x.run.Role(); return nil }, nil},
		{"Run.Principal", "reads", func(_ context.Context, x *shadowed) error { x.run.Principal(); return nil }, nil},
		{"Run.Tools", "reads", func(_ context.Context, x *shadowed) error { x.run.Tools(); return nil }, nil},
	}
	for _, tt := range rows {
		t.Run(tt.method, func(t *testing.T) {
			t.Parallel()
			x := newShadowed(t)
			err := tt.do(t.Context(), x)
			if tt.want == nil {
				require.NoError(t, err, tt.why)
			} else {
				require.ErrorIs(t, err, tt.want, tt.why)
				require.Len(t, x.audit.events, x.audited, "what does not happen is not recorded as if it did")
			}
			require.Empty(t, x.wrote, tt.why)
			require.Equal(t, approval.Pending, x.approvalState(x.waits))
			require.Equal(t, approval.Approved, x.approvalState(x.pending))
			require.Equal(t, idem.Pending, x.state(x.pending))
			require.Equal(t, idem.Unknown, x.state(x.unknown))
		})
	}
	tested := map[string]bool{}
	for _, tt := range rows {
		tested[tt.method] = true
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[*tool.Dispatcher](), reflect.TypeFor[*tool.Run]()} {
		for m := range typ.Methods() {
			require.True(t, tested[typ.Elem().Name()+"."+m.Name], "%s has no row", m.Name)
		}
	}
}
