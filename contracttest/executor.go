package contracttest

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// executor commits while the network fails, and counts effects in the provider: never in what was last said about them.
func (r *runner) executor(cat *catalogue) {
	for _, w := range r.writings(cat) {
		w.faulty("plain")
		w.faulty("lost-after-commit", LostAfterCommit)
		w.faulty("lost-before-commit", LostBeforeCommit)
		w.faulty("malformed-success", MalformedSuccess)
		w.faulty("truncated-success", TruncatedSuccess)
		w.faulty("lost-twice", LostAfterCommit, LostAfterCommit)
		w.status("status-down", StatusDown, StatusDown)
		w.status("status-stale", StatusStale, StatusStale)
		w.leaf("executor", "open-while-unknown", (*act).openWhileUnknown)
		w.leaf("executor", "slow-then-cancel", (*act).slowThenCancel)
		w.leaf("executor", "duplicate-delivery", (*act).duplicateDelivery)
		w.leaf("executor", "same-commit-at-once", (*act).sameCommitAtOnce)
		w.leaf("executor", "two-proposals-at-once", (*act).twoProposalsAtOnce)
	}
}

func (a *act) op() string { return a.w.commit.Name }

func (a *act) effects() int { return a.l.f.Upstream.Effects(a.op()) }

func (w *writing) contract() idem.Contract { return idem.Contract(w.commit.manifest.Write.Contract) }

// resolvable reports whether the provider can be asked what a lost answer said. One that only promises to give one key one
// answer is asked again while the target is as it was, and so not after an effect that made a new version.
func (w *writing) resolvable() bool {
	return w.contract() == idem.StatusQueryable || w.contract() == idem.NotFoundIsFinal
}

// repeatable reports whether what was lost has to be sent again until it is settled: the provider gives one key one
// answer, and nothing of the target's makes a second sending another.
func (w *writing) repeatable() bool {
	return w.contract() == idem.ReplaySafe && w.commit.manifest.Write.Unversioned
}

// needsWorker reports whether only a worker goes on with what was lost: it sends again, or sends at all.
func (w *writing) needsWorker() bool {
	return w.contract() == idem.ReplaySafe || w.commit.manifest.Write.Queued
}

// faulty commits under scripted faults. Whatever is said about it, the effect happens at most once, and what is said in
// the end is what happened.
func (w *writing) faulty(name string, faults ...Fault) {
	w.leaf("executor", name, func(a *act) *Failure {
		if a.l.f.Upstream == nil {
			return lacks("Upstream")
		}
		if f := a.approved(); f != nil {
			return f
		}
		before := a.effects()
		a.l.f.Upstream.Script(a.op(), faults...)
		s := a.commitNow()
		if f := a.honest(s, a.effects()-before); f != nil {
			return f
		}
		if len(faults) == 0 {
			return a.plain(s, before)
		}
		return a.settled(before)
	})
}

// plain: without a fault there is one effect, and the provider's count is wired.
func (a *act) plain(s seen, before int) *Failure {
	if !s.result.OK && s.result.Error != nil && s.result.Error.Code == envelope.InProgress {
		return a.settled(before)
	}
	if f := a.done(s, 1); f != nil {
		return f
	}
	if n := a.effects() - before; n != 1 {
		f := a.failure(s, "one effect in the provider")
		f.Got = fmt.Sprintf("%d effects", n)
		f.Hint = "the provider must count its effects in Fixture.Upstream, under " + a.op()
		return f
	}
	return nil
}

// honest: an answer may not deny an effect that happened, nor claim one that did not, nor ask for a repetition.
func (a *act) honest(s seen, effects int) *Failure {
	e := s.result.Error
	say := func(want string) *Failure {
		f := a.failure(s, want)
		f.Got = fmt.Sprintf("%s, with %d effects in the provider", f.Got, effects)
		if e != nil {
			f.Got += ", effect " + string(e.Effect)
		}
		return f
	}
	leaks := s.leaks([]string{secretInFaults}, nil)
	switch {
	case effects > 1:
		f := say("at most one effect")
		if a.w.contract() == idem.ReplaySafe {
			f.Hint = "send Approved.ProviderKey with the request: the provider knows a repetition by it"
		}
		return f
	case s.result.OK && effects == 0:
		return say("no success without an effect")
	case e != nil && effects == 1 && (e.Effect == envelope.EffectNone || e.Effect == ""):
		if e.Code != envelope.InProgress {
			return say("an answer that does not deny the effect: OUTCOME_UNKNOWN, or IN_PROGRESS")
		}
	case e != nil && e.Retryable && e.Code != envelope.InProgress && e.Effect != envelope.EffectNone:
		return say("no invitation to repeat what may have happened")
	case e != nil && len(s.result.Data) > 0:
		return say("data or an error")
	}
	if len(leaks) > 0 {
		f := say("nothing of the provider's error anywhere")
		f.Leaks = leaks
		return f
	}
	return nil
}

// settled waits until the operation is over, or cannot be resolved by what the contract allows, and compares.
func (a *act) settled(before int) *Failure {
	var s seen
	rounds := 4
	if a.w.repeatable() {
		rounds = manyRounds
	}
	for i := range rounds {
		open := !over(a.state())
		if a.l.f.Clock != nil && i < 20 { // within the life of most approvals; being asked for put the operation off
			a.l.f.Clock.Advance(20 * time.Second)
		}
		if open && a.w.needsWorker() {
			a.work()
		}
		s = a.commitNow()
		if f := a.honest(s, a.effects()-before); f != nil {
			return f
		}
		if over(a.state()) {
			break
		}
	}
	state, n := a.state(), a.effects()-before
	bad := func(want string) *Failure {
		f := a.failure(s, want)
		f.Got = fmt.Sprintf("state %s with %d effects in the provider", state, n)
		return f
	}
	switch state {
	case "succeeded":
		if n != 1 {
			return bad("a success that happened once")
		}
	case "failed", "denied", "expired", "cancelled":
		if n != 0 {
			return bad("no failure of what happened")
		}
	case "unknown":
		if (a.w.resolvable() || a.w.repeatable()) && n > 0 {
			return bad("an outcome that the provider's contract lets be found out")
		}
	default:
		if n > 1 {
			return bad("at most one effect")
		}
	}
	return nil
}

// manyRounds are of what comes to an end in two or three on a machine with time to spare.
const manyRounds = 100

func over(state string) bool {
	return state == "succeeded" || state == "failed" || state == "denied" || state == "expired" || state == "cancelled"
}

// state asks what became of the operation, as the model would.
func (a *act) state() string {
	s := a.l.call(a.ctx, "get_operation_v1", []byte(`{"operation_id":"`+a.operation()+`"}`))
	var v struct {
		State string `json:"state"`
	}
	if !s.result.OK || json.Unmarshal(s.result.Data, &v) != nil {
		return ""
	}
	return v.State
}

// workFor is how long a worker of the suite runs at a time: it polls every few milliseconds.
const workFor = 60 * time.Millisecond

// work lets a worker do what it can.
func (a *act) work() {
	w, err := tool.NewWorker(a.l.f.Dispatcher, tool.WorkerConfig{Name: "contracttest", Parallel: 2, Poll: 5 * time.Millisecond})
	if err != nil {
		return
	}
	a.l.f.story.add("a worker runs for %s", workFor)
	ctx, cancel := context.WithTimeout(a.ctx, workFor)
	defer cancel()
	_ = w.Run(ctx) // ends with ctx
}

// status loses the answer, and then the provider cannot be asked, or does not know yet: that proves nothing.
func (w *writing) status(name string, faults ...Fault) {
	w.leaf("executor", name, func(a *act) *Failure {
		if a.l.f.Upstream == nil {
			return lacks("Upstream")
		}
		if f := a.approved(); f != nil {
			return f
		}
		before := a.effects()
		a.l.f.Upstream.Script(a.op(), LostAfterCommit)
		a.l.f.Upstream.Script(StatusOf(a.op()), faults...)
		for range 1 + len(faults) {
			s := a.commitNow()
			if f := a.honest(s, a.effects()-before); f != nil {
				return f
			}
			if state := a.state(); state != "unknown" && state != "running" && state != "succeeded" && state != "queued" {
				return a.failure(s, "an operation that is not declared "+state)
			}
			if a.l.f.Clock != nil {
				a.l.f.Clock.Advance(time.Second)
			}
		}
		return a.settled(before)
	})
}

// openWhileUnknown: while nobody knows what became of one operation, no other is proposed for its resource.
func (a *act) openWhileUnknown() *Failure {
	if a.l.f.Upstream == nil {
		return lacks("Upstream")
	}
	if f := a.approved(); f != nil {
		return f
	}
	second, f := a.beside("run-2")
	if f != nil {
		return f
	}
	before := a.effects()
	a.l.f.Upstream.Script(StatusOf(a.op()), StatusDown, StatusDown, StatusDown, StatusDown)
	a.l.f.Upstream.Script(a.op(), LostAfterCommit)
	s := a.commitNow()
	if a.w.commit.manifest.Write.Queued {
		a.work()
	}
	if s.result.OK || a.state() != "unknown" {
		return nil // the adapter found out by itself
	}
	s = a.l.call(a.ctx, a.w.preview.Name, a.args)
	if s.result.OK {
		return a.failure(s, "no new proposal while the outcome is unknown")
	}
	s = second.commitNow()
	if s.result.OK || second.commits(s) > 0 || a.effects()-before > 1 {
		return a.failure(s, "the other proposal refused while the outcome is unknown")
	}
	return nil
}

// slowThenCancel: the caller hangs up after the provider did it. The outcome is stored all the same.
func (a *act) slowThenCancel() *Failure {
	up := a.l.f.Upstream
	if up == nil {
		return lacks("Upstream")
	}
	if f := a.approved(); f != nil {
		return f
	}
	before := a.effects()
	up.Script(a.op(), SlowThenCancel)
	ctx, hangUp := context.WithCancel(a.ctx)
	defer hangUp()
	answered := make(chan seen, 1)
	go func() { answered <- a.l.call(ctx, a.op(), a.document()) }()
	var s seen
	select {
	case <-up.arrived:
		hangUp()
		s = <-answered
	case s = <-answered: // queued: a worker has to send it
		go a.work()
		select {
		case <-up.arrived:
		case <-time.After(time.Second):
		}
	}
	if f := a.honest(s, a.effects()-before); f != nil {
		return f
	}
	close(up.release)
	for range 100 {
		if over(a.state()) {
			break
		}
		a.rest()
	}
	if state := a.state(); state == "unknown" || a.effects()-before != 1 && over(state) {
		f := a.failure(s, "the outcome stored, though nobody waited for it")
		f.Got = fmt.Sprintf("state %s with %d effects in the provider", state, a.effects()-before)
		return f
	}
	return a.settled(before)
}

// rest waits a moment for what runs in the background.
func (a *act) rest() {
	t := time.NewTimer(2 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-a.ctx.Done():
	}
}

// duplicateDelivery: the network sends the request twice, and the second answer is the one that arrives. Where the provider
// promises one effect a key, it must get the key. Where it promises nothing it may do it twice, which no adapter can help;
// but its refusal of the second says nothing of the first.
func (a *act) duplicateDelivery() *Failure {
	if a.l.f.Upstream == nil {
		return lacks("Upstream")
	}
	if f := a.approved(); f != nil {
		return f
	}
	before := a.effects()
	a.l.f.Upstream.Script(a.op(), DuplicateDelivery)
	r := a.commitNow()
	effects := a.effects() - before
	if a.w.contract() != idem.ReplaySafe {
		f := a.honest(r, min(effects, 1))
		if f != nil {
			f.Hint = "a refusal that the request itself may have caused proves nothing: ask what became of the key, or return the error as it is"
		}
		return f
	}
	if f := a.honest(r, effects); f != nil {
		return f
	}
	return a.settled(before)
}

// racers is how many commits are made at once.
const racers = 6

func (a *act) sameCommitAtOnce() *Failure {
	if a.l.f.Upstream == nil {
		return lacks("Upstream")
	}
	if f := a.approved(); f != nil {
		return f
	}
	before := a.effects()
	var wg sync.WaitGroup
	for range racers {
		wg.Go(func() {
			a.l.session.Call(a.ctx, envelope.Call{Tool: a.op(), Arguments: a.document()})
		})
	}
	wg.Wait()
	return a.settled(before)
}

func (a *act) twoProposalsAtOnce() *Failure {
	if a.l.f.Upstream == nil {
		return lacks("Upstream")
	}
	if f := a.approved(); f != nil {
		return f
	}
	second, f := a.beside("run-2")
	if f != nil {
		return f
	}
	before := a.effects()
	var wg sync.WaitGroup
	results := make([]envelope.Result, 2)
	for i, racer := range []*act{a, second} {
		wg.Go(func() {
			results[i] = racer.l.session.Call(racer.ctx, envelope.Call{Tool: racer.op(), Arguments: racer.document()})
		})
	}
	wg.Wait()
	if n := a.effects() - before; n > 1 || results[0].OK && results[1].OK {
		return &Failure{Keyword: "race", Want: "of two proposals for one version one runs", Got: fmt.Sprintf("%d effects", n), HandlerCalls: n}
	}
	return nil
}
