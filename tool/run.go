package tool

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// RunConfig says who runs, as what, with how much, until when.
type RunConfig struct {
	ID        string             // text of at most 128 bytes; empty: one is made. The same ID of the same tenant resumes the run
	Principal approval.Principal // from the host's verified session; without tenant, subject or kind it is an error
	Role      Role               // of this dispatcher's catalogue; the zero Role is an error
	Budget    Budget             // zero Calls are an error
	Deadline  time.Time          // zero or past is an error
}

// Run is one model's session with a role. Safe for concurrent use.
type Run struct {
	d     *Dispatcher
	state *runState
	role  Role
	limit Budget
}

// runState is what all handles of one run share.
type runState struct {
	id        string
	principal approval.Principal
	deadline  time.Time
	started   time.Time // monotonic; the first Start in this process

	mu     sync.Mutex
	cancel map[*call]context.CancelFunc
	over   bool
}

const maxRunID = 128

// Start begins a run, or resumes the one of the same tenant and ID: then the principal must be the same person, and what
// was used of the budget stays used.
func (d *Dispatcher) Start(rc RunConfig) (*Run, error) {
	if err := d.checkRun(rc); err != nil {
		return nil, err
	}
	if rc.ID == "" {
		rc.ID = d.id("run_")
	}
	if rc.Budget.Parallel == 0 {
		rc.Budget.Parallel = defaultParallel
	}
	rc.Principal.Roles = slices.Clone(rc.Principal.Roles)
	state, err := d.resume(rc)
	if err != nil {
		return nil, err
	}
	return &Run{d: d, state: state, role: rc.Role, limit: rc.Budget}, nil
}

func (d *Dispatcher) checkRun(rc RunConfig) error {
	var errs []error
	bad := func(what string) { errs = append(errs, errors.New("tool: run: "+what)) }
	if p := rc.Principal; p.Tenant == "" || p.Subject == "" || (p.Kind != approval.Person && p.Kind != approval.Service) {
		bad("principal: needs a kind, a tenant and a subject")
	}
	if rc.Role.catalog == nil || rc.Role.catalog != d.catalog {
		bad("role: must be one of the dispatcher's catalogue")
	}
	if b := rc.Budget; b.Calls <= 0 || b.Parallel < 0 || b.Elapsed < 0 || b.Tokens < 0 {
		bad("budget: calls must be set, nothing may be negative")
	}
	if rc.Deadline.IsZero() || !rc.Deadline.After(d.cfg.Now()) {
		bad("deadline: must be set and lie ahead")
	}
	if len(rc.ID) > maxRunID || !readable(rc.ID) {
		bad("id: must be text of at most 128 bytes")
	}
	return errors.Join(errs...)
}

func (d *Dispatcher) resume(rc RunConfig) (*runState, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.New("tool: run: the dispatcher is closed")
	}
	now := d.cfg.Now()
	for k, s := range d.runs {
		if now.After(s.deadline) {
			delete(d.runs, k)
		}
	}
	k := runKey{rc.Principal.Tenant, rc.ID}
	s := d.runs[k]
	switch {
	case s == nil:
		s = &runState{id: rc.ID, principal: rc.Principal, deadline: rc.Deadline, started: d.mono(), cancel: map[*call]context.CancelFunc{}}
		d.runs[k] = s
	case !s.principal.Is(rc.Principal):
		return nil, errors.New("tool: run: the id belongs to a run of somebody else")
	}
	return s, nil
}

// ID returns the run's id.
func (r *Run) ID() string { return r.state.id }

// Role returns the role that the run has.
func (r *Run) Role() Role { return r.role }

// Principal returns on whose behalf the run calls.
func (r *Run) Principal() approval.Principal {
	p := r.state.principal
	p.Roles = slices.Clone(p.Roles)
	return p
}

// Tools returns what to show the model: the role's tools and no others, by name.
func (r *Run) Tools() []Published { return r.role.Published() }

// Spend counts tokens of the host's model. Over the budget it is BUDGET_EXHAUSTED, and nothing is counted; without
// a budget of tokens, and for a negative number, it is an error.
func (r *Run) Spend(ctx context.Context, tokens int64) error {
	if r.limit.Tokens == 0 {
		return errors.New("tool: spend: the run has no budget of tokens")
	}
	if tokens < 0 {
		return errors.New("tool: spend: a number of tokens is not negative")
	}
	if r.state.stopped() {
		return envelope.New(envelope.Cancelled)
	}
	return r.d.cfg.Budgets.Reserve(ctx, r.state.principal.Tenant, r.state.id, Budget{Tokens: tokens}, r.limit, r.state.deadline)
}

// reserve takes what a call wants, and says when the run's Elapsed is over, on the monotonic clock; zero: it has none.
func (r *Run) reserve(ctx context.Context, want Budget) (ends time.Time, err error) {
	s, store := r.state, r.d.cfg.Budgets
	within := func(rest time.Duration, since time.Time) time.Time {
		if r.limit.Elapsed == 0 {
			return time.Time{}
		}
		return since.Add(rest)
	}
	if e, ok := store.(ElapsedStore); ok {
		before := r.d.mono()
		rest, err := e.ReserveRest(ctx, s.principal.Tenant, s.id, want, r.limit, s.deadline)
		return within(rest, before), err
	}
	err = store.Reserve(ctx, s.principal.Tenant, s.id, want, r.limit, s.deadline)
	return within(r.limit.Elapsed, s.started), err
}

// Cancel ends the run: calls under way are cancelled, operations that wait are closed, later calls answer CANCELLED. What
// was sent goes on, and the ledger tells what became of it. The reason is a word for the audit, ^[a-z][a-z0-9_]{0,47}$; any
// other text is recorded as "stopped". In shadow no operation is closed: those of the same run are the live host's.
func (r *Run) Cancel(reason string) {
	r.state.end()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.d.ctx), storeTime)
	defer cancel()
	r.d.note(ctx, event{kind: eventRunCancel, who: r.state.principal, run: r.state.id, outcome: reasonWord(reason)})
	if r.d.cfg.Ledger != nil && r.d.cfg.Shadow == nil {
		r.d.closePending(ctx, r.state)
	}
}

func reasonWord(reason string) string {
	if nameForm.MatchString(reason) {
		return reason
	}
	return "stopped"
}

func (s *runState) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for _, cancel := range s.cancel {
		cancel()
	}
}

func (s *runState) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// enter lets Cancel reach the call; false when the run is over.
func (s *runState) enter(c *call, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.cancel[c] = cancel
	return true
}

func (s *runState) leave(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cancel, c)
}

// owns reports whether an operation is the person's: another process may know a run of the same id of somebody else.
func (d *Dispatcher) owns(ctx context.Context, who approval.Principal, rec idem.Record) bool {
	requester, err := d.requester(ctx, rec)
	if err != nil {
		d.log("run_cancel_incomplete", "", err)
	}
	return err == nil && requester.Is(who)
}

// closePending closes the run's operations of which nothing was sent.
func (d *Dispatcher) closePending(ctx context.Context, s *runState) {
	page := idem.Page{}
	for {
		records, next, err := d.cfg.Ledger.Open(ctx, s.principal.Tenant, s.id, page)
		if err != nil {
			d.log("run_cancel_incomplete", "", err)
			return
		}
		for _, rec := range records {
			if rec.State != idem.Pending || !d.owns(ctx, s.principal, rec) {
				continue
			}
			if _, err := d.cfg.Ledger.Close(ctx, rec.Command.Key, idem.Cancelled, envelope.Cancelled); err != nil && !errors.Is(err, idem.ErrState) {
				d.log("run_cancel_incomplete", "", err)
			}
		}
		if next == "" {
			return
		}
		page.Cursor = next
	}
}
