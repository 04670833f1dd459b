package tool_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/tool"
)

// silent answers nothing.
type silent struct{ plays bool }

func (s silent) Plays() bool { return s.plays }
func (silent) Play(context.Context, string, jsontext.Value, []string) (tape.Exchange, bool) {
	return tape.Exchange{}, false
}

func (silent) Ask(context.Context, tape.Exchange) func(tape.Exchange) { return func(tape.Exchange) {} }

func TestOnlyAReplayIsWorkedByHand(t *testing.T) {
	t.Parallel()
	queued := func(change func(*world)) (*world, *tool.Dispatcher, idem.Key) {
		w := newWorld(t)
		w.write.Queued = true
		change(w)
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "it waits")
		return w, d, idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", id)}
	}
	state := func(w *world, k idem.Key) idem.State {
		rec, err := w.ledger.Find(t.Context(), k)
		require.NoError(t, err)
		return rec.State
	}

	w, d, k := queued(func(*world) {})
	require.ErrorContains(t, d.Replay(t.Context(), silent{true}, k), "does not replay", "a live dispatcher has its workers")
	require.Equal(t, idem.Pending, state(w, k))

	w, d, k = queued(func(w *world) { w.config.Replays(silent{true}) })
	require.Error(t, d.Replay(t.Context(), nil, k))
	require.Error(t, d.Replay(t.Context(), silent{false}, k), "a tape that does not answer lets the question through")
	require.Error(t, d.Replay(t.Context(), silent{true}, idem.Key{Tenant: "t1", Operation: "op_other"}))
	require.Equal(t, idem.Pending, state(w, k))
	_, err := tool.NewWorker(d, tool.WorkerConfig{})
	require.ErrorIs(t, err, tool.ErrNotLive)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, d.Replay(gone, silent{true}, k), "as a worker, it is not stopped halfway")
	require.Equal(t, idem.Succeeded, state(w, k))
	require.NoError(t, d.Close(t.Context()))
	require.Error(t, d.Replay(t.Context(), silent{true}, k))
}

// The place that a handler is just leaving is waited for, as a worker would.
func TestAReplayWaitsForAPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Queued, w.write.Spec.PerRun = true, 1
	w.config.Replays(silent{true})
	busy, leave := make(chan struct{}, 2), make(chan struct{})
	commit := w.write.Commit
	w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		busy <- struct{}{}
		<-leave
		return commit(ctx, cmd)
	}
	d := w.dispatcher()
	s := w.session(d, "run1", agent)
	queue := func(account string) idem.Key {
		v, err := s.call(previewTool, `{"account_id":"`+account+`","limit":9}`).Decode[proposalView]()
		require.NoError(t, err)
		s.decide(v.ProposalID, true)
		refuses(t, s.commit(v.ProposalID), envelope.InProgress, "it waits")
		return idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", v.ProposalID)}
	}
	one, two := queue("a1"), queue("a2")
	done := make(chan error, 2)
	go func() { done <- d.Replay(t.Context(), silent{true}, one) }()
	<-busy
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, d.Replay(gone, silent{true}, two), context.Canceled)
	go func() { done <- d.Replay(t.Context(), silent{true}, two) }()
	close(leave)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	for _, k := range []idem.Key{one, two} {
		rec, err := w.ledger.Find(t.Context(), k)
		require.NoError(t, err)
		require.Equal(t, idem.Succeeded, rec.State)
	}
}

// heardOf takes note of the work on operations.
type heardOf struct {
	silent
	began chan tape.Operation
	ended chan string
	none  bool

	ran    int
	result jsontext.Value
}

func (h *heardOf) Begin(o tape.Operation) tape.Working {
	if h.none {
		return nil
	}
	h.began <- o
	return h
}

func (h *heardOf) Runs() { h.ran++ }

func (h *heardOf) Result(v jsontext.Value) { h.result = v }

func (h *heardOf) Ends(state, code string) { h.ended <- state + code }

func (h *heardOf) Resolved(o tape.Operation, by approval.Principal, r idem.Resolution) {
	h.ended <- o.Run + " " + o.State + ", " + by.Subject + ": " + string(r.State)
}

// The first who records the run hears what is asked for its operation.
func TestOneRecorderHearsTheWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := &heardOf{began: make(chan tape.Operation, 1), ended: make(chan string, 9)}
	w.config.Records(&heardOf{none: true})
	w.config.Records(first)
	w.config.Records(&heardOf{}) // would wait for ever
	w.write.Queued = true
	commit := w.write.Commit
	on := make(chan tape.Tape, 1)
	w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		on <- tape.From(ctx)
		return commit(ctx, cmd)
	}
	d := w.dispatcher()
	s := w.session(d, "run1", agent)
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.InProgress, "it waits")
	stop := w.work(d, tool.WorkerConfig{Poll: time.Millisecond})
	require.Equal(t, tape.Operation{
		Tenant: "t1", Run: "run1", ID: idem.OperationID("t1", id), Tool: "commit_limit_change_v2", State: "pending",
	}, <-first.began)
	require.Equal(t, first, <-on)
	stop()
	require.Equal(t, "succeeded", <-first.ended, "before it is stored")
	require.Equal(t, "succeeded", <-first.ended, "and after")
	require.Equal(t, 1, first.ran)
	rec, err := w.ledger.Find(t.Context(), key(id))
	require.NoError(t, err)
	require.NotEmpty(t, rec.Result)
	require.Equal(t, string(rec.Result), string(first.result))
}

// Whoever records hears an operator's word once the ledger has it.
func TestARecorderHearsAnOperatorsWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	heard := &heardOf{none: true, ended: make(chan string, 9)}
	w.config.Records(heard)
	w.write.Commit = func(context.Context, tool.Approved[limitPlan]) (limitOut, error) {
		return limitOut{}, errors.New("EOF")
	}
	s := w.start()
	id := s.approved(250)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "")
	word := idem.Resolution{State: idem.Succeeded, Reason: "seen in the journal", Evidence: "journal 4711"}
	_, err := s.d.Resolve(t.Context(), key(id), agent, word)
	require.Error(t, err)
	require.Empty(t, heard.ended, "of what is refused nobody hears")
	_, err = s.d.Resolve(t.Context(), key(id), operator, word)
	require.NoError(t, err)
	require.Equal(t, "run1 unknown, olga: succeeded", <-heard.ended)
}
