package trace

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/tool"
)

// PlayerConfig configures a [Player]. The zero value is a good one.
type PlayerConfig struct {
	// At is told the time of each step before it is made again, for a host whose clock stands where it is put, and bears
	// being read meanwhile. A recorded clock went on while a call was made: two RFC 3339 times in an answer or a question are
	// the same where they differ by no more than the longest call or work up to that step took, which is nothing on a clock
	// that stood, and in traces of before. Nil: the host has its own time; whatever the times in answers and questions are,
	// they are the same, and what hangs on time may differ.
	At func(t time.Time)
	// Migrate says, by recorded wire name, how a call of a version that is no longer served as it was is to be made now.
	// Without an entry such a call is refused as old version.
	Migrate map[string]Migration
	// Principal says who stands now for a recorded approver, whose subject is a stand-in in a saved trace: for an authority
	// that knows people by their subjects. Nil: who was recorded. For the recorded requester stands the run's principal.
	Principal func(recorded approval.Principal) approval.Principal
}

// Migration turns a call as it was recorded into one of the present catalogue. An error leaves the call refused.
type Migration func(recorded envelope.Call) (envelope.Call, error)

// Player replays a trace against a host of the present catalogue. Make it with [NewPlayer]; it plays once.
type Player struct {
	trace     *Trace
	cfg       PlayerConfig
	recorder  *Recorder
	approvals approval.Store
	ledger    idem.Ledger
	outside   outside
}

// outside answers nothing to whatever is asked beside the calls that are made again.
type outside struct {
	mu    sync.Mutex
	asked []string
}

// Plays implements tape.Tape.
func (*outside) Plays() bool { return true }

// Play implements tape.Tape.
func (o *outside) Play(_ context.Context, operation string, _ jsontext.Value, _ []string) (tape.Exchange, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, operation)
	return tape.Exchange{}, false
}

// Ask implements tape.Tape.
func (*outside) Ask(context.Context, tape.Exchange) func(tape.Exchange) {
	return func(tape.Exchange) {}
}

func (o *outside) taken() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	asked := o.asked
	o.asked = nil
	return asked
}

// NewPlayer returns a player of the trace.
func NewPlayer(t *Trace, cfg PlayerConfig) *Player {
	return &Player{trace: t, cfg: cfg}
}

// Wire puts the player before the configuration's approvals and audit, and a recording in the place of every other
// system: what the dispatcher asks beside the calls that are made again is refused. Such a dispatcher has no worker
// (tool.ErrNotLive). Call it before tool.NewDispatcher.
func (p *Player) Wire(cfg *tool.Config) error {
	r, err := NewRecorder(Config{Now: cfg.Now})
	if err != nil {
		return err
	}
	p.recorder, p.approvals, p.ledger = r, cfg.Approvals, cfg.Ledger
	r.watch(cfg)
	cfg.Replays(&p.outside)
	return nil
}

// Play makes every call, every decision and what workers did again, in the order in which each began, and says of each call
// and each work whether it is as it was. The run must be a fresh one of the dispatcher that was wired. An error means that the
// trace could not be played; it is the context's where that is over before the end.
func (p *Player) Play(ctx context.Context, d *tool.Dispatcher, run *tool.Run) (*Report, error) {
	if p.recorder == nil {
		return nil, errors.New("trace: play: the player is not wired")
	}
	if _, err := p.recorder.Run(run); err != nil {
		return nil, err
	}
	r := &replay{
		player: p, run: run, catalog: run.Role().Catalog(), report: &Report{},
		match: newMatcher(p.trace.head.Principal.Tenant, run.Principal().Tenant, p.cfg.At == nil), lost: map[string]absent{}, worked: map[string]bool{}, late: map[string]bool{}, pace: newPace(),
	}
	r.match.bindGiven(p.trace.head.Run, run.ID())
	r.match.bindGiven(p.trace.head.Principal.Subject, run.Principal().Subject)
	defer r.pace.reach(0, true)
	p.recorder.hook(r.pace.look)
	for n, s := range p.trace.steps {
		r.settle(ctx, n)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("trace: play: %w", err)
		}
		r.match.took(time.Duration(s.TookMS) * time.Millisecond)
		if p.cfg.At != nil {
			p.cfg.At(s.At)
		}
		if s.By != nil {
			by := p.present(*s.By, run.Principal())
			s.By = &by
		}
		r.n = n
		switch s.Step {
		case stepOutcome:
			r.awaitOutcome(n)
		case stepCall:
			if err := r.call(ctx, s); err != nil {
				return nil, err
			}
		case stepWork:
			r.work(ctx, d, s, n)
		case stepDecision:
			r.decide(ctx, d, s)
		case stepWithdraw:
			r.withdraw(ctx, s)
		case stepResolve:
			r.resolve(ctx, d, s)
		case stepCancel:
			run.Cancel("") //nolint:contextcheck // a run is cancelled for good, whatever becomes of the player
		}
		r.pace.reach(n+1, false)
	}
	r.pace.reach(len(p.trace.steps), true)
	r.settle(ctx, len(p.trace.steps))
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("trace: play: %w", err)
	}
	r.outcomes(ctx)
	for _, operation := range p.outside.taken() {
		r.report.differ("%s was asked for beside the calls, and refused", operation)
	}
	return r.report, nil
}

// present is who stands now for a recorded principal.
func (p *Player) present(recorded, runs approval.Principal) approval.Principal {
	if recorded.Subject == p.trace.head.Principal.Subject {
		recorded.Subject = runs.Subject
		return recorded
	}
	if p.cfg.Principal != nil {
		return p.cfg.Principal(recorded)
	}
	return recorded
}

// decide lets the recorded person decide again.
func (r *replay) decide(ctx context.Context, d *tool.Dispatcher, s step) {
	id, ok := r.proposal(s)
	if !ok {
		return
	}
	rec, err := r.player.approvals.Find(ctx, s.By.Tenant, id)
	if err == nil {
		_, err = d.Decide(ctx, s.By.Tenant, id, approval.Decision{Approved: s.Approved, By: *s.By, Reason: s.Reason, Digest: rec.Proposal.Digest})
	}
	if err != nil {
		r.report.differ("a decision is refused now: %v", err)
	}
}

func (r *replay) withdraw(ctx context.Context, s step) {
	id, ok := r.proposal(s)
	if !ok {
		return
	}
	rec, err := r.player.approvals.Find(ctx, s.By.Tenant, id)
	if err == nil {
		err = approval.ErrNotFound
		for _, dec := range rec.Decisions {
			if dec.By.Is(*s.By) {
				_, err = r.player.approvals.Withdraw(ctx, s.By.Tenant, id, dec.ID, *s.By)
			}
		}
	}
	if err != nil {
		r.report.differ("a withdrawal is refused now: %v", err)
	}
}

// proposal is what the recorded proposal is called now; false where it was refused as old version.
func (r *replay) proposal(s step) (string, bool) {
	if r.player.approvals == nil {
		r.report.differ("a decision: the host has no approvals")
		return "", false
	}
	_, lost := r.lost[s.Proposal]
	return r.match.now(s.Proposal), !lost
}

// outcomes compares what the operations came to, in the order in which they first came to something. One that is lost is
// passed over, as it was and as it is.
func (r *replay) outcomes(ctx context.Context) {
	was, now := &histories{}, &histories{}
	lost := map[string]bool{} // by their present ids
	for id := range r.lost {
		lost[r.match.now(id)] = true
	}
	for _, s := range r.player.trace.steps {
		if op := r.match.now(s.Operation); s.Step == stepOutcome && !lost[op] {
			was.add(op, s)
		}
	}
	for _, t := range r.player.recorder.stepsOf(r.run.ID()) {
		if t.Step == stepOutcome && !lost[t.Operation] {
			now.add(t.Operation, t.step)
		}
	}
	for n, op := range was.order {
		if now.states[op] == nil && r.waits(ctx, op) {
			r.report.NotReplayed = append(r.report.NotReplayed, was.tools[op])
			continue
		}
		if a, b := was.text(op), now.text(op); a != b {
			r.report.differ("operation %d, of %s: %s when it was recorded, %s now", n+1, was.tools[op], a, b)
		}
	}
	for _, op := range now.order {
		if was.states[op] == nil {
			r.report.differ("an operation of %s that was not recorded: %s", now.tools[op], now.text(op))
		}
	}
}

// waits reports whether an operation waits for a worker.
func (r *replay) waits(ctx context.Context, op string) bool {
	return r.operation(ctx, op).State == idem.Pending
}

// histories are the states of operations.
type histories struct {
	order  []string
	states map[string][]string
	tools  map[string]string
}

func (h *histories) add(op string, s step) {
	if h.states == nil {
		h.states, h.tools = map[string][]string{}, map[string]string{}
	}
	if h.states[op] == nil {
		h.order = append(h.order, op)
	}
	h.states[op], h.tools[op] = append(h.states[op], s.State), s.Tool
}

func (h *histories) text(op string) string {
	if len(h.states[op]) == 0 {
		return "nothing"
	}
	return fmt.Sprint(h.states[op])
}

func (r *Recorder) hook(noted func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noted = noted
}

func (r *Recorder) stepsOf(run string) []*taken {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec := r.runs[run]; rec != nil {
		return append([]*taken(nil), rec.steps...)
	}
	return nil
}
