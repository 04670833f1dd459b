package tool

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/tape"
)

// recorder hears what happens to operations beside every call.
type recorder interface {
	tape.Works
	// Resolved is told of an operator's word on an operation, once it is the ledger's.
	Resolved(o tape.Operation, by approval.Principal, r idem.Resolution)
}

// Records lets package tool/trace hear what workers of the dispatcher ask other systems for an operation, and operators.
func (c *Config) Records(r recorder) { c.records = append(slices.Clip(c.records), r) }

// heard is the context in which an operation is worked: with who listens, where it is of a recorded run.
func (d *Dispatcher) heard(ctx context.Context, op idem.Record) context.Context {
	if d.cfg.replays != nil {
		return ctx
	}
	for _, r := range d.cfg.records {
		if t := r.Begin(worked(op)); t != nil {
			return tape.With(ctx, t)
		}
	}
	return ctx
}

// resolved tells who records the operation's run of an operator's word.
func (d *Dispatcher) resolved(op idem.Record, by approval.Principal, r idem.Resolution) {
	for _, w := range d.cfg.records {
		w.Resolved(worked(op), by, r)
	}
}

// worked names an operation to who listens.
func worked(op idem.Record) tape.Operation {
	cmd := op.Command
	return tape.Operation{Tenant: cmd.Key.Tenant, Run: cmd.Run, ID: cmd.Key.Operation, Tool: cmd.Tool, State: string(op.State)}
}

// runs tells who listens to the work on an operation that its handler runs.
func runs(ctx context.Context) {
	if w, ok := tape.From(ctx).(tape.Working); ok {
		w.Runs()
	}
}

// ends tells who listens to the work on an operation what it comes to: its state, and its result or why it has none.
func ends(ctx context.Context, state idem.State, result jsontext.Value, why *envelope.Error) {
	w, ok := tape.From(ctx).(tape.Working)
	if !ok || state == "" {
		return
	}
	code := ""
	if why != nil {
		code = string(why.Code)
	}
	w.Result(result)
	w.Ends(string(state), code)
}

var (
	errLive   = errors.New("the dispatcher does not replay")
	errClosed = errors.New("the dispatcher is closed")
	errFull   = errors.New("there is no place for its handler")
)

// Replay works one operation once, as a worker would, for package tool/trace: the tape answers in the place of other
// systems. A dispatcher that does not replay ([Config.Replays]) refuses; in shadow it is [ErrNotLive].
func (d *Dispatcher) Replay(ctx context.Context, t tape.Tape, k idem.Key) error {
	if d.cfg.Shadow != nil {
		return fmt.Errorf("tool: replay: %w: it runs in shadow", ErrNotLive)
	}
	if d.cfg.replays == nil || t == nil || !t.Plays() {
		return fmt.Errorf("tool: replay: %w", errLive)
	}
	if !d.begin() {
		return fmt.Errorf("tool: replay: %w", errClosed)
	}
	defer d.working.Done()
	w := &Worker{d: d, cfg: WorkerConfig{Name: d.name}}
	for until := d.mono().Add(storeTime); ; {
		a := contained(tape.With(context.WithoutCancel(ctx), t), func(ctx context.Context) (again, error) {
			op, err := d.cfg.Ledger.Find(ctx, k)
			if err != nil {
				return again{}, err
			}
			return w.work(ctx, idem.Delivery{Key: k, Tool: op.Command.Tool, Attempt: 1})
		})
		switch {
		case a.err != nil:
			return fmt.Errorf("tool: replay: %w", a.err)
		case !a.value.full:
			return nil
		case d.mono().After(until):
			return fmt.Errorf("tool: replay: %w", errFull)
		}
		rest := time.NewTimer(placeRetry) // whoever had its place may just be leaving it
		select {
		case <-rest.C:
		case <-ctx.Done():
			rest.Stop()
			return fmt.Errorf("tool: replay: %w", context.Cause(ctx))
		}
	}
}

// placeRetry is how long a replay waits for a handler's place before it looks again.
const placeRetry = 5 * time.Millisecond
