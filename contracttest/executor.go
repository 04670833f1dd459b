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
		if w.contract() == idem.ReplaySafe {
			w.leaf("executor", "sent-again", (*act).sentAgain)
			w.leaf("executor", "lands-late", (*act).landsLate)
		}
		if !w.commit.manifest.Write.Unversioned {
			w.leaf("executor", "touched-on-the-way", (*act).touchedOnTheWay)
		}
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
		if f := a.settled(before); f != nil {
			return f
		}
		return a.met(a.op())
	})
}

// met asks that a request of the operation came through the Upstream: otherwise no scripted fault was ever met, and the
// case says nothing of the adapter.
func (a *act) met(op string) *Failure {
	if a.l.f.Upstream.requests(op) > 0 {
		return nil
	}
	return &Failure{
		Keyword: a.w.commit.manifest.Write.Contract, Want: "a request of " + op + " through Fixture.Upstream, to meet the scripted fault", Got: "none: the fault was not used up",
		Hint: "send it by Upstream.Do, or by Upstream.Transport with an op that returns " + op + " for it: the request that asks what became of a commit is named by StatusOf",
	}
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
	if n := a.l.f.Upstream.all(); n != 1 {
		f := a.failure(s, "no effect but the commit's own: not of the preview, of Current, of a read")
		f.Got = fmt.Sprintf("%d effects in all", n)
		f.Hint = "every effect of a write is counted once, under " + a.op()
		return f
	}
	if f := a.evidence(s); f != nil {
		return f
	}
	return a.met(a.op())
}

// touchedOnTheWay: the target is changed by somebody else after its version was read for the last time, and before the
// request lands. Only the provider can see that: it must be told which version was approved.
func (a *act) touchedOnTheWay() *Failure {
	switch {
	case a.l.f.Upstream == nil:
		return lacks("Upstream")
	case a.l.f.Touch == nil:
		return lacks("Touch")
	}
	if f := a.approved(); f != nil {
		return f
	}
	before := a.effects()
	var touched error
	a.l.f.Upstream.arriving(a.op(), func() { touched = a.l.f.Touch(a.ctx, a.rec.Proposal.Target) })
	s := a.finish()
	if touched != nil {
		return &Failure{Want: "the target touched", Got: "an error"}
	}
	if n := a.effects() - before; n > 0 || s.result.OK {
		f := a.failure(s, "VERSION_CONFLICT and no effect: the target changed before the request landed")
		f.Got = fmt.Sprintf("%s, with %d effects in the provider", s.gotten(), n)
		f.Hint = "send Approved.Target.Version as the provider's condition (If-Match, a where clause): reading the version first leaves a gap"
		return f
	}
	if f := a.settled(before); f != nil {
		return f
	}
	if a.effects() > before {
		return a.failure(s, "no effect in the end: the version that was approved is gone")
	}
	return a.met(a.op())
}

// sentAgain: the request is lost on the way, and the target is as it was: where the provider gives one key one answer, it
// is sent again, and the effect happens after all.
func (a *act) sentAgain() *Failure { return a.again(LostBeforeCommit) }

// landsLate: the request seems lost, and lands just before it is sent again. One key: the provider knows the second for
// the first. Another key: a second effect, or a refusal of what happened.
func (a *act) landsLate() *Failure { return a.again(LandsLate) }

func (a *act) again(fault Fault) *Failure {
	if a.l.f.Upstream == nil {
		return lacks("Upstream")
	}
	if f := a.approved(); f != nil {
		return f
	}
	before := a.effects()
	a.l.f.Upstream.Script(a.op(), fault)
	s := a.commitNow()
	for range manyRounds {
		if over(a.state()) || a.effects()-before > 1 {
			break
		}
		if a.l.f.Clock != nil {
			a.l.f.Clock.Advance(time.Second)
		}
		a.work()
	}
	if f := a.met(a.op()); f != nil {
		return f
	}
	state, n := a.state(), a.effects()-before
	if state == "succeeded" && n == 1 {
		return nil
	}
	f := a.failure(s, "sent again under the same key, and succeeded with one effect")
	f.Got = fmt.Sprintf("state %s with %d effects in the provider, after %d requests", state, n, a.l.f.Upstream.requests(a.op()))
	f.Hint = "send Approved.ProviderKey, which is the same each time, and not a key made for the request"
	return f
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
		if e.Code != envelope.InProgress || e.Effect == envelope.EffectNone {
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
		unknown := false // nobody asks what is known
		for range 1 + len(faults) {
			s := a.commitNow()
			unknown = unknown || s.result.Error != nil && s.result.Error.Code == envelope.OutcomeUnknown
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
		if f := a.settled(before); f != nil {
			return f
		}
		if f := a.met(a.op()); f != nil || !unknown || !a.w.resolvable() {
			return f
		}
		return a.met(StatusOf(a.op()))
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
		return a.met(a.op()) // the adapter found out by itself
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
	if f := a.met(a.op()); f != nil {
		return f
	}
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
			return f
		}
		return a.metInTheEnd()
	}
	if f := a.honest(r, effects); f != nil {
		return f
	}
	if f := a.settled(before); f != nil {
		return f
	}
	return a.met(a.op())
}

// metInTheEnd is met for what a worker has yet to send.
func (a *act) metInTheEnd() *Failure {
	if a.w.commit.manifest.Write.Queued {
		a.finish()
	}
	return a.met(a.op())
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
