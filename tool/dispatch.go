package tool

import (
	"context"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/claimctx"
	"github.com/toolcontract/toolcontract/internal/crashpoint"
)

// dispatch is one claim on its way through the handler.
type dispatch struct {
	def       *definition
	claim     idem.Claim
	proposal  approval.Proposal
	leaseEnds time.Time // monotonic
	attempt   int
	body      body
	slots     *slots // that the handler holds
}

var (
	errLeaseLost = errors.New("tool: the claim was lost")
	errNotOutput = errors.New("tool: what the handler wants to store is not the write's output, or proves nothing")
	errNoProof   = errors.New("tool: the answer proves nothing")
)

// dispatch runs the handler in the background and waits for its stored outcome, or for ctx: then the handler goes on and
// the record says that the operation is under way.
func (d *Dispatcher) dispatch(ctx context.Context, s dispatch) idem.Record {
	own := context.WithoutCancel(ctx)
	return apart(ctx, d, s.slots, idem.Record{Command: s.claim.Command, State: idem.Dispatching}, func() idem.Record {
		// Where a part of the host panics, the lease will end, and the reader put it right.
		return d.contained(own, idem.Record{Command: s.claim.Command, State: idem.Unknown}, func(ctx context.Context) idem.Record { return d.run(ctx, s) })
	})
}

// apart runs f, which the caller's end does not stop, and waits for it, or for ctx: then f goes on, and what was known
// before is the answer. The slots are held until f has returned.
func apart[T any](ctx context.Context, d *Dispatcher, held *slots, before T, f func() T) T {
	done := make(chan T, 1)
	d.working.Add(1) // the caller's own work is counted
	held.take()
	go func() {
		defer d.working.Done()
		defer held.drop()
		done <- f()
	}()
	if v, ok := awaited(ctx, done); ok {
		return v
	}
	return before
}

// contained returns the record that f returns, or where a part of the host panics in it, the other one.
func (d *Dispatcher) contained(ctx context.Context, otherwise idem.Record, f func(context.Context) idem.Record) idem.Record {
	a := contained(ctx, func(ctx context.Context) (idem.Record, error) { return f(ctx), nil })
	if a.err != nil {
		d.log("dispatch_failed", "", a.err)
		return otherwise
	}
	return a.value
}

func (d *Dispatcher) run(ctx context.Context, s dispatch) (rec idem.Record) {
	ctx, end := d.meter.span(ctx, spanDispatch, s.claim.Command.Tool, s.claim.Command.Meta[traceparent])
	defer func() { came(end, rec.State) }()
	b, err := readBody(s.claim.Command.Body)
	if err == nil {
		err = d.verify(b, s.claim.Command, s.proposal)
	}
	if err != nil { // altered since it was admitted: nothing is sent
		d.log("command_altered", "", err)
		return d.deny(ctx, d.store(ctx, s, idem.Outcome{State: idem.Pending}), envelope.ApprovalMismatch)
	}
	s.body = b
	rec = d.store(ctx, s, d.handle(ctx, s))
	if rec.State == idem.Pending && len(rec.Attempts) >= rec.Command.Attempts && rec.Command.Attempts > 0 {
		return d.deny(ctx, rec, envelope.Unavailable)
	}
	return rec
}

// handle runs Commit under the claim, which is renewed meanwhile, and says what it came to. A claim whose time was over
// before, be it a ledger or a key service that took long to hand it out, sends nothing.
func (d *Dispatcher) handle(own context.Context, s dispatch) idem.Outcome {
	if !d.mono().Before(s.leaseEnds) {
		d.log("claim_came_late", s.body.RequestID, errLeaseLost)
		return idem.Outcome{State: idem.Pending, RetryAfter: backOff(s.attempt)}
	}
	runs(own)
	ctx, cancel := context.WithCancelCause(own)
	defer cancel(nil)
	ctx, mark := claimctx.With(ctx)
	stop := d.keep(ctx, s, cancel)
	defer stop()
	cmd := s.body.command(s.claim.Command, s.attempt)
	if d.cfg.Entered != nil {
		if err := shielded(func() error { d.cfg.Entered(ctx, s.def.write.wire, cmd.Plan); return nil }); err != nil {
			d.log("entered_failed", cmd.By.RequestID, err)
		}
	}
	ctx = idem.WithHolder(ctx, idem.Holder{Ledger: d.cfg.Ledger, Claim: s.claim, Check: d.checker(s, cmd)})
	late := func(a answer[product]) { d.late(own, s, cmd, a) }
	ctx, end := d.meter.span(ctx, spanExecute, s.def.write.wire, "")
	p, err := abandonable(ctx, s.slots, s.def.spec.Timeout, late, func(ctx context.Context) (product, error) { return s.def.write.run(ctx, cmd) })
	o := d.outcome(own, s, cmd, p, err, mark.Sent())
	came(end, o.State)
	return o
}

// checker lets an adapter whose business data share the ledger's database store its result in the business transaction:
// only what the dispatcher itself would believe.
func (d *Dispatcher) checker(s dispatch, cmd command) func(context.Context, any) (idem.Outcome, error) {
	return func(ctx context.Context, out any) (idem.Outcome, error) {
		p, ok := s.def.write.typed(cmd, out)
		if !ok {
			return idem.Outcome{}, errNotOutput
		}
		o := d.produced(ctx, s, cmd, p)
		if o.State != idem.Succeeded || o.Failure != nil {
			return idem.Outcome{}, errNotOutput
		}
		return o, nil
	}
}

// late keeps what a handler returned after its time as evidence: the ledger knows that its claim is over.
func (d *Dispatcher) late(ctx context.Context, s dispatch, cmd command, a answer[product]) {
	o := d.outcome(ctx, s, cmd, a.value, a.err, true)
	if o.State == idem.Unknown {
		return
	}
	if _, err := d.finish(ctx, s, o); err != nil && !errors.Is(err, idem.ErrFenced) {
		d.log("evidence_lost", s.body.RequestID, err)
	}
}

// keep renews the claim until stop is called. When it is lost, or its time is over because it was not renewed, the
// handler's context ends: at the end of the lease at the latest, whatever the ledger is doing.
func (d *Dispatcher) keep(ctx context.Context, s dispatch, lost context.CancelCauseFunc) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	over := time.AfterFunc(s.leaseEnds.Sub(d.mono()), func() { lost(errLeaseLost) })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		claim, ends := s.claim, s.leaseEnds
		for {
			wait := time.NewTimer(ends.Sub(d.mono()) / 3)
			select {
			case <-ctx.Done():
				wait.Stop()
				return
			case <-wait.C:
			}
			before := d.mono()
			if !before.Before(ends) {
				return
			}
			limit, done := context.WithTimeout(ctx, ends.Sub(before)/2)
			err := shielded(func() (err error) {
				renewed, err := d.cfg.Ledger.Renew(limit, claim, d.cfg.Lease)
				if err == nil {
					claim, ends = renewed, before.Add(renewed.Lease)
					over.Reset(ends.Sub(d.mono()))
				}
				return err
			})
			done()
			switch {
			case err == nil:
			case ctx.Err() != nil:
				return
			case errors.Is(err, idem.ErrFenced), ends.Sub(d.mono()) < d.cfg.Lease/10:
				lost(errLeaseLost)
				return
			}
		}
	}()
	return func() {
		cancel()
		over.Stop()
		<-ended
	}
}

// store finishes the claim. Where the ledger does not take it now, the outcome is kept and tried again until the lease
// ends, and the answer is unknown.
func (d *Dispatcher) store(ctx context.Context, s dispatch, o idem.Outcome) idem.Record {
	crashpoint.Hit(crashpoint.BeforeFinish)
	ends(ctx, o.State, o.Result, o.Failure)
	rec, err := d.finish(ctx, s, o)
	if err == nil {
		crashpoint.Hit(crashpoint.AfterFinish)
		d.finished(ctx, rec)
		return rec
	}
	unknown := idem.Record{Command: s.claim.Command, State: idem.Unknown}
	if errors.Is(err, idem.ErrFenced) {
		if rec, err := d.cfg.Ledger.Find(ctx, s.claim.Key); err == nil {
			return rec
		}
		return unknown
	}
	d.log("outcome_not_stored", s.body.RequestID, err)
	d.storing.add(1)
	d.working.Go(func() { // the caller's own work is counted
		defer d.storing.add(-1)
		d.finishLater(ctx, s, o)
	})
	return unknown
}

func (d *Dispatcher) finish(ctx context.Context, s dispatch, o idem.Outcome) (rec idem.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	err = shielded(func() (err error) {
		rec, err = d.cfg.Ledger.Finish(ctx, s.claim, o)
		return err
	})
	return rec, err
}

// finishEvery is how long the process waits between two tries to store an outcome.
const finishEvery = 500 * time.Millisecond

func (d *Dispatcher) finishLater(ctx context.Context, s dispatch, o idem.Outcome) {
	tick := time.NewTicker(finishEvery)
	defer tick.Stop()
	for s.leaseEnds.After(d.mono()) {
		select {
		case <-d.ctx.Done():
			return
		case <-tick.C:
		}
		rec, err := d.finish(ctx, s, o)
		switch {
		case err == nil:
			ends(ctx, rec.State, rec.Result, rec.Failure)
			d.finished(ctx, rec)
			return
		case errors.Is(err, idem.ErrFenced):
			return
		}
	}
}

// finished tells audit and counters what an operation came to.
func (d *Dispatcher) finished(ctx context.Context, rec idem.Record) {
	ctx = context.WithoutCancel(ctx)
	d.meter.operation(ctx, rec)
	e := event{kind: eventFinish, run: rec.Command.Run, tool: rec.Command.Tool, operation: rec.Command.Key.Operation, proposal: rec.Command.Proposal, outcome: string(rec.State)}
	e.who.Tenant = rec.Command.Key.Tenant
	if rec.Failure != nil {
		e.code = rec.Failure.Code
	}
	d.note(ctx, e)
}
