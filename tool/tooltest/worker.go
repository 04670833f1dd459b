package tooltest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// What happens with a worker, or several.

func queuedExpires(p *play) {
	p.write.Queued, p.write.Lifetime = true, time.Minute
	s := p.process()
	id := s.approved(250)
	p.refused(s.commit(id), envelope.InProgress, "queued")
	p.advance(time.Minute)
	s.work("w")
	p.becomes(id, idem.Expired, 0)
	p.none(s.commit(id), envelope.ApprovalExpired, "commit")
	p.effects(0)
}

func noResendAfter(change func(*play)) func(*play) {
	return func(p *play) {
		p.write.Contract, p.write.DedupFor = idem.ReplaySafe, time.Hour
		var sends atomic.Int32
		p.write.Commit = func(ctx context.Context, _ approved) (changed, error) {
			envelope.Sent(ctx)
			sends.Add(1)
			return changed{}, errLost
		}
		s := p.process()
		id := s.approved(250)
		p.unknown(s.commit(id), "sent, lost")
		change(p)
		resolved := p.looks(id)
		stop := s.work("w")
		p.until(func() bool { return p.looks(id) > resolved+2 }, 3*time.Minute, "the worker does not look")
		stop()
		p.is(id, idem.Unknown)
		p.that(sends.Load() == 1, "sent %d times", sends.Load())
	}
}

// looks counts how often a resolver has held the operation: each claim of it changes the record.
func (p *play) looks(id string) int {
	n, ok := p.seen.Load(id)
	if !ok {
		n = 0
	}
	at := p.record(id).UpdatedAt
	if last, ok := p.seen.Load(id + "@"); !ok || last != at {
		p.seen.Store(id+"@", at)
		p.seen.Store(id, n.(int)+1) //nolint:errcheck // it holds ints alone
	}
	return n.(int) //nolint:errcheck // it holds ints alone
}

func lateWorker(p *play) {
	p.write.Contract, p.write.Queued, p.write.Status, p.write.Attempts = idem.StatusQueryable, true, p.provider.status, 100
	asleep, wake, sent := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	p.write.Commit = func(ctx context.Context, cmd approved) (changed, error) {
		close(asleep)
		<-wake
		err := ctx.Err()
		sent <- err
		if err != nil { // what every client asks before it dials
			return changed{}, err
		}
		envelope.Sent(ctx)
		return p.provider.apply(cmd), nil
	}
	p.config.Lease = 300 * time.Millisecond
	p.ledger.renew.fail() // like a machine that stood still
	s := p.process()
	id := s.approved(250)
	p.refused(s.commit(id), envelope.InProgress, "queued")
	s.work("late")
	p.entered(id, asleep)
	p.becomes(id, idem.Unknown, time.Second)
	other := p.process()
	p.advance(10 * time.Second)
	p.that(other.state(id) == "unknown", "not found is taken for %q", other.state(id))
	over := time.NewTimer(time.Second) // its deadline is on its own clock
	defer over.Stop()
	<-over.C
	close(wake)
	p.that(<-sent != nil, "it may send after it lost its lease")
	p.is(id, idem.Unknown)
	p.effects(0)
}

// entered waits for the handler. A slow machine may get its claim when the lease is over, and send nothing: the rest that
// the operation then has is passed over.
func (p *play) entered(id string, handler <-chan struct{}) {
	p.t.Helper()
	p.until(func() bool {
		select {
		case <-handler:
			return true
		default:
		}
		if rec := p.record(id); rec.State == idem.Pending && rec.AvailableIn > 0 {
			p.advance(rec.AvailableIn)
		}
		return false
	}, 0, "the worker does not enter the handler")
}

func twoResolvers(p *play) {
	// The clock is moved past the back-off and no further before the first resend: a slow machine gets the rest of it.
	const window = time.Minute
	p.write.Contract, p.write.DedupFor, p.write.Attempts = idem.ReplaySafe, window, 50
	var sends, holders, most atomic.Int32
	p.write.Commit = func(ctx context.Context, _ approved) (changed, error) {
		if n := holders.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer holders.Add(-1)
		envelope.Sent(ctx)
		sends.Add(1)
		return changed{}, errLost
	}
	s := p.process()
	id := s.approved(250)
	p.unknown(s.commit(id), "sent, lost")
	began := p.record(id).Attempts[0].StartedAt
	s.work("a")
	p.process().work("b")
	p.until(func() bool { return sends.Load() > 1 }, 5*time.Second, "nobody sends again")
	p.advance(window)
	var last int32
	quiet := 0
	p.until(func() bool {
		if n := sends.Load(); n != last {
			last, quiet = n, 0
		}
		quiet++
		return quiet > 50
	}, 2*time.Minute, "it is sent again and again")
	rec := p.record(id)
	p.that(rec.State == idem.Unknown, "it is %s", rec.State)
	p.that(most.Load() == 1, "%d holders at once", most.Load())
	p.that(len(rec.Attempts) == int(sends.Load()), "%d attempts, %d sends", len(rec.Attempts), sends.Load())
	for _, a := range rec.Attempts {
		p.that(a.StartedAt.Sub(began) < window, "sent %s after the first, outside the window", a.StartedAt.Sub(began))
	}
}

func workerLacksVersion(p *play) {
	p.write.Queued = true
	newer := p.write
	newer.Spec.Version = 3
	preview := newer.Preview
	newer.Preview = func(ctx context.Context, by tool.Caller, in change) (tool.Draft[change], error) {
		d, err := preview(ctx, by, in)
		d.Resource = "another"
		return d, err
	}
	s3 := p.processOf(newer)
	id3 := s3.propose("preview_limit_change_v3", `{"limit":1}`)
	s3.approve(id3)
	p.refused(s3.call("commit_limit_change_v3", `{"proposal_id":"`+id3+`"}`), envelope.InProgress, "at the head of the outbox")
	s := p.process()
	id := s.approved(250)
	p.refused(s.commit(id), envelope.InProgress, "behind it")
	stop := s.work("two")
	p.becomes(id, idem.Succeeded, time.Minute)
	p.is(id3, idem.Pending)
	stop()
	p.effects(1)
}

func resentNotSent(p *play) {
	p.write.Contract, p.write.DedupFor, p.write.Attempts = idem.ReplaySafe, time.Hour, 3
	var sends atomic.Int32
	p.write.Commit = func(ctx context.Context, _ approved) (changed, error) {
		if sends.Add(1) == 1 {
			envelope.Sent(ctx)
			return changed{}, errLost
		}
		return changed{}, envelope.NotSent(errLost)
	}
	s := p.process()
	id := s.approved(250)
	p.unknown(s.commit(id), "sent, lost")
	stop := s.work("w")
	p.until(func() bool { return sends.Load() == 3 }, 10*time.Minute, "it is not tried again")
	p.becomes(id, idem.Unknown, 0)
	stop()
	p.is(id, idem.Unknown)
}

func outsiderInQueue(p *play) {
	p.write.Queued = true
	s := p.process()
	id := s.approved(250)
	p.refused(s.commit(id), envelope.InProgress, "queued")
	p.provider.touch()
	s.work("w")
	p.becomes(id, idem.Denied, 0)
	p.none(s.commit(id), envelope.VersionConflict, "commit")
	p.effects(0)
}

func notFoundTooEarly(p *play) {
	p.write.Contract, p.write.Settle = idem.NotFoundIsFinal, 10*time.Second
	var mu sync.Mutex
	var land *approved
	p.write.Commit = func(ctx context.Context, _ approved) (changed, error) {
		envelope.Sent(ctx)
		return changed{}, errLost
	}
	p.write.Status = func(ctx context.Context, cmd approved, receipt string) (changed, error) {
		out, err := p.provider.status(ctx, cmd, receipt)
		mu.Lock()
		defer mu.Unlock()
		if land == nil {
			land = &cmd
			p.advance(20 * time.Second) // the answer is old when it arrives: Settle ended meanwhile
		}
		return out, err
	}
	s := p.process()
	id := s.approved(250)
	p.unknown(s.commit(id), "sent, lost")
	p.advance(2 * time.Second)
	p.unknown(s.commit(id), "asked before Settle was over")
	p.is(id, idem.Unknown)
	p.provider.apply(*land) // and it did land
	p.advance(time.Minute)
	p.replayed(s.commit(id), "the provider knows it now")
	p.effects(1)
}
