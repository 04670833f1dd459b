package trace

import (
	"context"
	"encoding/json/jsontext"
	"slices"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/tape"
)

// pace counts the steps that are made again, and lets work that went on beside some of them wait for these.
type pace struct {
	mu   sync.Mutex
	turn sync.Cond
	made int
	over bool // nobody waits any more
}

func newPace() *pace {
	p := &pace{}
	p.turn.L = &p.mu
	return p
}

func (p *pace) reach(made int, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made, p.over = made, over
	p.turn.Broadcast()
}

// await waits until so many steps have been made.
func (p *pace) await(made int) { p.until(func() bool { return p.made >= made }) }

// until waits for what is asked under the lock, or until nobody waits any more.
func (p *pace) until(so func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait(so)
}

// wait is until, for who holds the lock.
func (p *pace) wait(so func() bool) {
	for !so() && !p.over {
		p.turn.Wait()
	}
}

// look lets those who wait look again.
func (p *pace) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn.Broadcast()
}

// underWay is work that is being made again. Its exchanges are answered, and its end is stored, when as many of the next
// steps have been made as were over then.
type underWay struct {
	*listener
	pace  *pace
	step  step
	from  int // how many steps there are up to its own
	at    int // in the report
	ended chan error

	waits []int // for how many steps; under the pace's lock
	done  bool
}

func (u *underWay) await(made int) {
	p := u.pace
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made >= made || p.over {
		return
	}
	u.waits = append(u.waits, made)
	p.turn.Broadcast()
	p.wait(func() bool { return p.made >= made })
	i := slices.Index(u.waits, made)
	u.waits = slices.Delete(u.waits, i, i+1)
}

// Play implements tape.Tape.
func (u *underWay) Play(ctx context.Context, operation string, asked jsontext.Value, hidden []string) (tape.Exchange, bool) {
	e, ok := u.next(operation, asked, hidden)
	if !e.Late {
		u.await(u.from + e.After)
		return e.toTape(), ok
	}
	if e.Sent {
		envelope.Sent(ctx)
	}
	u.await(u.from + u.step.Until)
	u.pace.until(func() bool { return u.done })
	return e.toTape(), ok
}

// Runs implements tape.Working.
func (*underWay) Runs() {}

// Result implements tape.Working.
func (*underWay) Result(jsontext.Value) {}

// Ends implements tape.Working.
func (u *underWay) Ends(string, string) { u.await(u.from + u.step.Until) }

// begin makes the n-th step again, beside those that were over before it ended.
func (r *replay) begin(n int, s step, work func(tape.Tape) error) {
	u := &underWay{listener: r.playing(s), pace: r.pace, step: s, from: n + 1, at: len(r.report.Work), ended: make(chan error, 1)}
	r.report.Work = append(r.report.Work, Replayed{})
	r.underWay = append(r.underWay, u)
	go func() {
		err := work(u)
		u.pace.mu.Lock()
		u.done = true
		u.pace.turn.Broadcast()
		u.pace.mu.Unlock()
		u.ended <- err
	}()
}

// settle lets the work go as far as it had gone when so many steps had been made: it has ended, or waits for more of them.
func (r *replay) settle(ctx context.Context, made int) {
	r.underWay = slices.DeleteFunc(r.underWay, func(u *underWay) bool {
		if u.from+u.step.Until > made {
			return false
		}
		r.report.Work[u.at] = r.compared(ctx, u, <-u.ended)
		return true
	})
	r.pace.quiet(made, r.underWay)
}

// quietTime is how long work is waited for that does neither: it may need what other work holds.
const quietTime = 2 * time.Second

func (p *pace) quiet(made int, work []*underWay) {
	p.within(func() bool {
		return !slices.ContainsFunc(work, func(u *underWay) bool {
			return !u.done && (len(u.waits) == 0 || slices.Min(u.waits) <= made)
		})
	})
}

// within is until, for the quiet time.
func (p *pace) within(so func() bool) {
	late := false
	over := time.AfterFunc(quietTime, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		late = true
		p.turn.Broadcast()
	})
	defer over.Stop()
	p.until(func() bool { return late || so() })
}

// awaitOutcome waits for the outcome that the n-th step is, where what stores it goes on by itself: its call was answered.
func (r *replay) awaitOutcome(n int) {
	steps := r.player.trace.steps
	op := steps[n].Operation
	if !r.late[op] {
		return
	}
	was := 0
	for _, s := range steps[:n+1] {
		if s.Step == stepOutcome && s.Operation == op {
			was++
		}
	}
	present := r.match.now(op)
	r.pace.within(func() bool {
		now := 0
		for _, t := range r.player.recorder.stepsOf(r.run.ID()) {
			if t.Step == stepOutcome && t.Operation == present {
				now++
			}
		}
		return now >= was
	})
}
