package tool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/ids"
)

// Dispatcher takes calls through the boundary. It is immutable but for the work under way, safe for concurrent use, and
// one of any number that share the same stores.
type Dispatcher struct {
	cfg     Config
	catalog *Catalog
	tools   map[string]*callable // what is served: the catalogue's, or the shadow's in their place
	name    string               // tells this dispatcher's claims from those of others
	handler Handler
	gates   gates
	meter   meter
	mono    func() time.Time // measures leases; never the injected clock, which may stand still

	mu      sync.Mutex
	runs    map[runKey]*runState
	closed  bool
	closing chan struct{}   // closed by Close
	storing unstored        // outcomes that the ledger has not taken yet
	worker  sync.Once       // of Development
	working sync.WaitGroup  // dispatches that outlive their callers
	serving sync.WaitGroup  // the worker of Development
	ctx     context.Context //nolint:containedctx // the dispatcher's own life, ended by Close
	stop    context.CancelFunc
}

// NewDispatcher checks that the catalogue and the configuration belong together. The error joins every fault.
func NewDispatcher(c *Catalog, cfg Config) (*Dispatcher, error) {
	if c == nil {
		return nil, errors.New("tool: a dispatcher needs a catalogue")
	}
	if err := cfg.check(c); err != nil {
		return nil, err
	}
	d := &Dispatcher{cfg: cfg.withDefaults(), catalog: c, runs: map[runKey]*runState{}, closing: make(chan struct{}), mono: time.Now} //nolint:forbidigo // a function value, see mono
	d.tools = d.cfg.Shadow.over(c)
	d.cfg.Shadow.stores(&d.cfg)
	m, err := newMeter(d.cfg)
	if err != nil {
		return nil, fmt.Errorf("tool: config: meter provider: %w", err)
	}
	d.meter = m
	d.name = d.id("disp_")
	d.ctx, d.stop = context.WithCancel(context.Background())
	if d.handler, err = d.wrapped(); err != nil {
		return nil, err
	}
	return d, nil
}

// Close stops admitting work, waits for what is under way until ctx ends, and stops what the dispatcher started. Calls
// after it answer CANCELLED. An outcome that could not be stored by then stays with the ledger, as unknown.
func (d *Dispatcher) Close(ctx context.Context) error {
	d.mu.Lock()
	if !d.closed {
		close(d.closing)
	}
	d.closed = true
	d.mu.Unlock()
	done := make(chan struct{})
	go func() {
		d.working.Wait()
		d.stop()
		d.serving.Wait()
		close(done)
	}()
	defer d.stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("tool: close: %w", context.Cause(ctx))
	}
}

// unstored counts what a worker that ends waits for. A WaitGroup does not let others begin while somebody waits.
type unstored struct {
	mu   sync.Mutex
	n    int
	none sync.Cond
}

func (u *unstored) add(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n += n; u.n == 0 && u.none.L != nil {
		u.none.Broadcast()
	}
}

func (u *unstored) wait() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.none.L == nil {
		u.none.L = &u.mu
	}
	for u.n > 0 {
		u.none.Wait()
	}
}

// Catalog returns the catalogue that the dispatcher serves.
func (d *Dispatcher) Catalog() *Catalog { return d.catalog }

// begin counts work that Close waits for; false once the dispatcher is closed. Work that is begun may begin more with
// working.Add alone.
func (d *Dispatcher) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.working.Add(1)
	return true
}

// operationBegan starts the worker of Development.
func (d *Dispatcher) operationBegan() {
	if !d.cfg.development {
		return
	}
	d.worker.Do(func() {
		w, err := NewWorker(d, WorkerConfig{})
		if err != nil {
			d.log("worker_not_started", "", err)
			return
		}
		d.serving.Go(func() {
			if err := w.Run(d.ctx); err != nil {
				d.log("worker_not_started", "", err)
			}
		})
	})
}

// id returns a fresh identifier.
func (d *Dispatcher) id(prefix string) string {
	u := d.cfg.NewID()
	return ids.Encode(prefix, u[:])
}

// writeOf returns the write whose commit has the wire name.
func (d *Dispatcher) writeOf(wire string) (*definition, error) {
	if t, ok := d.tools[wire]; ok && t.commits() {
		return t.def, nil
	}
	return nil, fmt.Errorf("tool: %q is no commit of this catalogue", wire)
}

// Fresh reports whether the target is still what was proposed: its version, and the sequence of its resource. Stale is
// an *envelope.Error of VERSION_CONFLICT; any other error means that it could not be found out. In shadow, where nobody is
// asked, it is [ErrNotLive].
func (d *Dispatcher) Fresh(ctx context.Context, p approval.Proposal) error {
	if d.cfg.Shadow != nil {
		return fmt.Errorf("tool: fresh: %w: it runs in shadow", ErrNotLive)
	}
	def, err := d.writeOf(p.Tool)
	if err != nil {
		return err
	}
	ctx = d.taped(ctx)
	if e := d.unchanged(ctx, def, p, p.Requester, d.requestID()); e != nil {
		return e
	}
	seq, _, err := d.cfg.Ledger.Resource(ctx, p.Tenant, p.Resource)
	if err != nil {
		return fmt.Errorf("tool: fresh: %w", err)
	}
	if seq != p.Seq {
		return envelope.New(envelope.VersionConflict).At("target.version")
	}
	return nil
}

// awaitEvery is how often Await looks.
const awaitEvery = 250 * time.Millisecond

// Await returns the proposal's record once it is no longer pending, or the context's error.
func (d *Dispatcher) Await(ctx context.Context, tenant, proposal string) (approval.Record, error) {
	if d.cfg.Approvals == nil {
		return approval.Record{}, errors.New("tool: await: the dispatcher has no approvals")
	}
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	for {
		rec, err := d.cfg.Approvals.Find(ctx, tenant, proposal)
		if err != nil {
			return approval.Record{}, fmt.Errorf("tool: await: %w", err)
		}
		if rec.State != approval.Pending {
			return rec, nil
		}
		select {
		case <-ctx.Done():
			return rec, fmt.Errorf("tool: await: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}
