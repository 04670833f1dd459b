package tool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/toolcontract/toolcontract/idem"
)

// WorkerConfig says how a worker works. The zero value is a good one.
type WorkerConfig struct {
	Name     string        // stands in attempts; empty: one is made
	Parallel int           // operations at once; zero: 4
	Poll     time.Duration // how often it looks when nobody wakes it; zero: 2 seconds
	Sweep    time.Duration // how often it closes what is over its time and purges; zero: 30 seconds
	// Bodies is how long plans and results are kept after an operation's end, Tombstones how long it is known that it was:
	// at least as long as any proposal, deduplication window or client may come back. Zero: 30 days, and a year.
	Bodies, Tombstones time.Duration
}

// The defaults of WorkerConfig.
const (
	workerParallel   = 4
	workerPoll       = 2 * time.Second
	workerSweep      = 30 * time.Second
	workerBodies     = 30 * 24 * time.Hour
	workerTombstones = 366 * 24 * time.Hour
	workerPause      = time.Second // after the ledger could not be asked

	// An operation whose tool has no place for it is looked at again after about fullRetry, and fullEach more for each other
	// that is put off: many of them do not keep the ledger busy. At most after fullMost.
	fullRetry = 250 * time.Millisecond
	fullEach  = 10 * time.Millisecond
	fullMost  = 10 * time.Second
)

// Worker runs what waits in the outbox, finds out what unknown and running operations came to, and sweeps. Any number
// of them may run, on any number of machines; the ledger lets each operation through once. What the tool's PerRun or
// PerTenant has no place for waits in the outbox, and other work goes on.
type Worker struct {
	d     *Dispatcher
	cfg   WorkerConfig
	tools []string
	full  atomic.Int64  // operations that are put off, for want of a place
	due   chan struct{} // one of them is due
}

// ErrNotLive says that a dispatcher does not reach the systems of its writes.
var ErrNotLive = errors.New("the dispatcher is not live")

// NewWorker returns a worker for the writes of the dispatcher's catalogue; without one it is an error, and so is a
// dispatcher whose writes are not real ([ErrNotLive]).
func NewWorker(d *Dispatcher, cfg WorkerConfig) (*Worker, error) {
	if d == nil || !d.catalog.hasWrite() {
		return nil, errors.New("tool: a worker needs a dispatcher whose catalogue has a write")
	}
	if d.cfg.Shadow != nil || d.cfg.replays != nil {
		return nil, fmt.Errorf("tool: worker: %w: it runs in shadow, or replays", ErrNotLive)
	}
	if cfg.Parallel < 0 || cfg.Poll < 0 || cfg.Sweep < 0 || cfg.Bodies < 0 || cfg.Tombstones < 0 {
		return nil, errors.New("tool: worker: nothing may be negative")
	}
	setDefault(&cfg.Parallel, workerParallel)
	setDefault(&cfg.Poll, workerPoll)
	setDefault(&cfg.Sweep, workerSweep)
	setDefault(&cfg.Bodies, workerBodies)
	setDefault(&cfg.Tombstones, max(workerTombstones, cfg.Bodies))
	if cfg.Tombstones < cfg.Bodies {
		return nil, errors.New("tool: worker: tombstones: must be kept at least as long as bodies")
	}
	if cfg.Name == "" {
		cfg.Name = d.id("worker_")
	}
	w := &Worker{d: d, cfg: cfg, due: make(chan struct{}, 1)}
	for _, def := range d.catalog.writes() {
		w.tools = append(w.tools, def.write.wire)
	}
	return w, nil
}

func setDefault[T int | time.Duration](v *T, otherwise T) {
	if *v == 0 {
		*v = otherwise
	}
}

// Run works until ctx ends or the dispatcher is closed, then waits for what it has begun, outcomes included that the
// ledger does not take: these it waits for until their lease is over. It returns nil, or what kept it from starting.
// Errors of the stores are logged and waited out.
func (w *Worker) Run(ctx context.Context) error {
	var wake <-chan struct{}
	if waker, ok := w.d.cfg.Ledger.(idem.Waker); ok {
		ch, err := waker.Wake(ctx)
		if err != nil {
			return fmt.Errorf("tool: worker: %w", err)
		}
		wake = ch
	}
	p := pool{places: make(chan struct{}, w.cfg.Parallel)}
	defer w.d.storing.wait()
	defer p.working.Wait()
	p.working.Go(func() { w.sweeping(ctx) })
	poll := time.NewTicker(w.cfg.Poll)
	defer poll.Stop()
	for {
		w.drain(ctx, &p)
		select {
		case <-ctx.Done():
			return nil
		case <-w.d.closing:
			return nil
		case _, open := <-wake:
			if !open {
				wake = nil // polling goes on
			}
		case <-poll.C:
		case <-w.due:
		}
	}
}

// sweeping sweeps now and then, however much there is to do in the outbox.
func (w *Worker) sweeping(ctx context.Context) {
	tick := time.NewTicker(w.cfg.Sweep)
	defer tick.Stop()
	for {
		w.sweep(ctx)
		select {
		case <-ctx.Done():
			return
		case <-w.d.closing:
			return
		case <-tick.C:
		}
	}
}

// pool bounds the operations at once.
type pool struct {
	places  chan struct{}
	working sync.WaitGroup
}

// drain takes deliveries until nothing is due, or ctx ends.
func (w *Worker) drain(ctx context.Context, p *pool) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.d.closing:
			return // what is delivered now would be another's to do
		case p.places <- struct{}{}:
		}
		var delivery idem.Delivery
		err := shielded(func() (err error) {
			delivery, err = w.d.cfg.Ledger.Next(ctx, w.tools, w.d.cfg.Lease)
			return err
		})
		if err != nil {
			<-p.places
			if !errors.Is(err, idem.ErrEmpty) && ctx.Err() == nil {
				w.d.log("outbox_not_read", "", err)
			}
			return
		}
		p.working.Go(func() {
			defer func() { <-p.places }()
			w.deliver(context.WithoutCancel(ctx), delivery)
		})
	}
}

// deliver looks at one operation and does what its state asks for.
func (w *Worker) deliver(ctx context.Context, delivery idem.Delivery) {
	if !w.d.begin() { // closed since: another worker's, or the next process's
		w.later(ctx, delivery, 0)
		return
	}
	defer w.d.working.Done()
	a := contained(ctx, func(ctx context.Context) (again, error) { return w.work(ctx, delivery) })
	if a.err != nil {
		w.d.log("operation_waits", "", a.err)
		a.value = again{offer: true, after: workerPause}
	}
	if !a.value.offer {
		return
	}
	w.later(ctx, delivery, a.value.after)
	if a.value.full {
		time.AfterFunc(a.value.after, func() {
			w.full.Add(-1)
			w.look()
		})
	}
}

// again says when an operation is to be offered again; without offer the ledger itself knows.
type again struct {
	offer bool
	after time.Duration
	full  bool // it had no place: look then
}

// putOff says when an operation is due again for which there was no place.
func (w *Worker) putOff() again {
	rest := backoff.NewExponentialBackOff() // its first wait, for the jitter
	rest.InitialInterval = min(fullRetry+time.Duration(w.full.Add(1)-1)*fullEach, fullMost)
	return again{offer: true, after: rest.NextBackOff(), full: true}
}

// look lets Run look into the outbox.
func (w *Worker) look() {
	select {
	case w.due <- struct{}{}:
	default:
	}
}

func (w *Worker) later(ctx context.Context, delivery idem.Delivery, after time.Duration) {
	if err := shielded(func() error { return w.d.cfg.Ledger.Later(ctx, delivery, after) }); err != nil {
		w.d.log("outbox_not_written", "", err)
	}
}

func (w *Worker) work(ctx context.Context, delivery idem.Delivery) (again, error) {
	def, err := w.d.writeOf(delivery.Tool)
	if err != nil {
		return again{}, err
	}
	op, err := w.d.cfg.Ledger.Find(ctx, delivery.Key)
	if err != nil {
		return again{}, err
	}
	switch op.State {
	case idem.Pending:
		return w.advance(ctx, def, op, delivery.Attempt), nil
	case idem.Unknown, idem.Running:
		op = w.d.resolve(ctx, def, op, w.cfg.Name)
	case idem.Dispatching, idem.Succeeded, idem.Failed, idem.Denied, idem.Expired, idem.Cancelled:
		return again{}, nil
	}
	return waits(op, delivery.Attempt), nil
}

// advance tries to run a pending operation, once there is a place for its handler.
func (w *Worker) advance(ctx context.Context, def *definition, op idem.Record, attempt int) again {
	if op.AvailableIn > 0 {
		return waits(op, attempt)
	}
	held, free := w.d.place(def, op)
	if !free {
		return w.putOff()
	}
	defer held.drop()
	ctx = w.d.heard(ctx, op)
	a := &advance{d: w.d, def: def, op: op, worker: w.cfg.Name, slots: held}
	rec := a.run(ctx)
	if !a.others {
		ends(ctx, rec.State, rec.Result, rec.Failure)
	}
	return waits(rec, attempt)
}

// waits lets what is pending still wait for its back-off.
func waits(op idem.Record, attempt int) again {
	return again{offer: op.State == idem.Pending, after: max(op.AvailableIn, backOff(attempt+1))}
}

// sweep closes what is over its time, forgets what is old, and purges the quarantine.
func (w *Worker) sweep(ctx context.Context) {
	if err := shielded(func() error { w.sweepAll(ctx); return nil }); err != nil {
		w.d.log("sweep_failed", "", err)
	}
}

func (w *Worker) sweepAll(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := w.d.cfg.Ledger.Sweep(ctx)
		if err != nil {
			w.d.log("sweep_failed", "", err)
			return
		}
		if n.Expired+n.Unknown == 0 {
			break
		}
	}
	for ctx.Err() == nil {
		n, err := w.d.cfg.Ledger.Purge(ctx, w.cfg.Bodies, w.cfg.Tombstones)
		if err != nil {
			w.d.log("purge_failed", "", err)
			return
		}
		if n == 0 {
			break
		}
	}
	if q := w.d.cfg.Quarantine; q != nil && ctx.Err() == nil {
		if _, err := q.Purge(ctx); err != nil {
			w.d.log("purge_failed", "", err)
		}
	}
}
