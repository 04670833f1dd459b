package tooltest

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// What happens from the claim on, while the caller's own process is there.

var errLost = errors.New("tooltest: read: connection reset by peer")

// lost has the effect and loses the answer.
func (p *play) lost(ctx context.Context, cmd approved) (changed, error) {
	envelope.Sent(ctx)
	p.provider.apply(cmd)
	return changed{}, errLost
}

func answerLost(p *play) {
	p.write.Commit = p.lost
	s := p.process()
	id := s.approved(250)
	p.unknown(s.commit(id), "the answer was lost")
	e := p.refusal(s.call(previewTool, `{"limit":250}`), envelope.OutcomeUnknown, "the same again, previewed")
	p.that(e.OperationID == operation(id), "the open operation is not named")
	p.unknown(s.commit(id), "the same again, committed")
	p.that(s.state(id) == "unknown", "get_operation_v1 says %q", s.state(id))
	queue, _, err := p.ledger.Unknown(p.t.Context(), tenant, idem.Page{})
	p.ok(err, "the operator's queue")
	p.that(len(queue) == 1, "%d operations in the operator's queue", len(queue))
	p.effects(1)
}

func errorsProveNothing(p *play) {
	var answer error
	p.write.Commit = func(context.Context, approved) (changed, error) { return changed{}, answer }
	s := p.process()
	for _, answer = range []error{
		envelope.New(envelope.DeadlineExceeded).WithCause(context.DeadlineExceeded), envelope.New(envelope.InvalidResponse),
		envelope.New(envelope.NotFound), errors.Join(envelope.NotSent(nil), errLost),
	} {
		id := s.approved(250)
		p.unknown(s.commit(id), answer.Error())
		p.advance(2 * time.Minute)
		_, err := p.ledger.Resolve(p.t.Context(), key(id), idem.Resolution{State: idem.Failed, By: "op", Reason: "nothing there", Evidence: "journal"})
		p.ok(err, "resolve")
	}
}

func purged(p *play) {
	s := p.process()
	id := s.approved(250)
	p.succeeded(s.commit(id), "commit")
	p.advance(time.Second)
	for n := 1; n > 0; {
		var err error
		n, err = p.ledger.Purge(p.t.Context(), time.Millisecond, 2*time.Millisecond)
		p.ok(err, "purge")
	}
	p.unknown(s.commit(id), "no tombstone is left")
	p.effects(1)
}

func restored(p *play) {
	s := p.process()
	id := s.approved(250)
	p.succeeded(s.commit(id), "commit")
	p.ledger = &ledger{Ledger: p.stores.Forgotten()}
	p.config.Ledger = p.ledger
	p.ok(p.ledger.Restored(p.t.Context()), "restored")
	p.unknown(p.process().commit(id), "the backup does not know it")
	p.effects(1)
}

func sentThenNotSent(p *play) {
	p.write.Commit = func(ctx context.Context, cmd approved) (changed, error) {
		_, _ = p.lost(ctx, cmd)
		return changed{}, envelope.NotSent(errors.New("the second request: dial: refused"))
	}
	s := p.process()
	id := s.approved(250)
	p.unknown(s.commit(id), "the first request landed")
	p.is(id, idem.Unknown)
	p.effects(1)
}

func ledgerDownAtFinish(p *play) {
	p.write.Contract, p.write.Status = idem.StatusQueryable, p.provider.status
	s := p.process()
	id := s.approved(250)
	p.ledger.finish.fail()
	p.unknown(s.commit(id), "the outcome cannot be stored")
	p.advance(lease + time.Second)
	p.ledger.finish.clear()
	s = p.process() // the first died with what it knew
	stop := s.work("w")
	p.becomes(id, idem.Succeeded, 2*time.Minute)
	stop()
	p.replayed(s.commit(id), "the stored answer")
	p.effects(1)
}

func clientDisconnects(p *play) {
	entered, release := make(chan struct{}), make(chan struct{})
	var handler atomic.Value
	p.write.Commit = func(ctx context.Context, cmd approved) (changed, error) {
		close(entered)
		<-release
		handler.Store(fmt.Sprint(ctx.Err()))
		return p.provider.apply(cmd), nil
	}
	s := p.process()
	id := s.approved(250)
	ctx, disconnect := context.WithCancel(p.t.Context())
	answer := make(chan envelope.Result, 1)
	go func() {
		answer <- s.run.Call(ctx, envelope.Call{Tool: commitTool, Arguments: jsontext.Value(fmt.Sprintf(`{"proposal_id":%q}`, id))})
	}()
	<-entered
	disconnect()
	p.refused(<-answer, envelope.InProgress, "the operation goes on without its caller")
	close(release)
	p.ok(s.d.Close(p.t.Context()), "close waits")
	p.that(handler.Load() == fmt.Sprint(nil), "the handler's context ended with the caller's: %v", handler.Load())
	p.is(id, idem.Succeeded)
	p.effects(1)
}

func nobodyWorks(p *play) {
	s := p.process()
	id := s.approved(250)
	p.ledger.finish.fail()
	p.unknown(s.commit(id), "the process dies with the outcome")
	p.is(id, idem.Dispatching)
	p.advance(lease + time.Second)
	p.that(s.state(id) == "unknown", "its lease is over, and it is %q", s.state(id))
	p.refused(s.call(previewTool, `{"limit":9}`), envelope.OutcomeUnknown, "the resource")
	p.effects(1)
}

func secondCommit(p *play) {
	sending, release := make(chan struct{}), make(chan struct{})
	p.write.Commit = func(ctx context.Context, cmd approved) (changed, error) {
		envelope.Sent(ctx)
		out := p.provider.apply(cmd) // the version has moved
		close(sending)
		<-release
		return out, nil
	}
	s := p.process()
	id := s.approved(250)
	first := make(chan envelope.Result, 1)
	go func() { first <- s.commit(id) }()
	<-sending
	e := p.refusal(p.process().commit(id), envelope.InProgress, "while the first sends")
	p.that(e.Effect == "" && e.OperationID == operation(id), "effect %q of operation %q", e.Effect, e.OperationID)
	close(release)
	p.succeeded(<-first, "the first")
	p.replayed(p.process().commit(id), "after it")
	p.effects(1)
}

func purgeLeavesOpen(p *play) {
	s := p.process()
	id := s.approved(250)
	p.ledger.finish.fail()
	p.unknown(s.commit(id), "crashed after the claim")
	p.advance(48 * time.Hour)
	_, err := p.ledger.Sweep(p.t.Context())
	p.ok(err, "sweep")
	_, err = p.ledger.Purge(p.t.Context(), time.Hour, time.Hour)
	p.ok(err, "purge")
	p.is(id, idem.Unknown)
	p.effects(1)
}

func bodyAltered(p *play) {
	s := p.process()
	id := s.approved(250)
	p.ledger.altered.Store(true)
	p.none(s.commit(id), envelope.ApprovalMismatch, "the plan is not what was approved")
	p.is(id, idem.Denied)
	p.effects(0)
}

func attemptsUsedUp(p *play) {
	p.write.Attempts = 2
	p.write.Commit = func(context.Context, approved) (changed, error) {
		return changed{}, envelope.NotSent(errors.New("dial: refused"))
	}
	s := p.process()
	id := s.approved(250)
	e := p.refusal(s.commit(id), envelope.InProgress, "the outbox will run it")
	p.that(e.RetryAfter > 0, "no time is named")
	p.refused(s.commit(id), envelope.InProgress, "the back-off is respected")
	p.that(len(p.record(id).Attempts) == 1, "a commit during the back-off is an attempt")
	p.advance(time.Minute)
	p.none(s.commit(id), envelope.Unavailable, "no attempts are left")
	p.is(id, idem.Denied)
	p.that(p.proposal(id).State == approval.Consumed, "the approval is not consumed")
	p.effects(0)
}
