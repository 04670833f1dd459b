package idemtest

import (
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

func claims() []rule {
	return []rule{
		{"claim/barrier", "a claim makes the operation dispatching, opens its resource and raises the sequence; a second is ErrState (T4)", nothing, claimBarrier},
		{"claim/one", "of many claims of one operation at once exactly one is given", nothing, claimOne},
		{"claim/expired", "at ExpiresIn a claim is refused and the operation is expired, its resource untouched (T3)", clock, claimExpired},
		{"claim/sequence", "a command of an older sequence is ErrSequence, while the other is open and after it ended", nothing, claimSequence},
		{"claim/busy", "a command of the right sequence is ErrBusy while another is open", nothing, claimBusy},
		{"claim/attempts", "when all attempts are used a claim is ErrAttempts, and the operation can be closed", nothing, claimAttempts},
		{"claim/back-off", "after NotSent a claim is ErrBusy until the back-off is over, and the record says how long", clock, claimBackOff},
		{"claim/fresh", "each claim has a higher generation and another token than all before", nothing, claimFresh},
		{"claim/lease", "a lease must be positive", nothing, claimLease},
	}
}

func claimBarrier(p *play) {
	c := command("op_1")
	p.admit(c)
	claim := p.claim(c.Key)
	p.that(claim.Key == c.Key && claim.Token != "" && claim.Generation > 0 && claim.Lease == lease, "the claim lacks key, token, generation or lease: %+v", claim)
	r := p.state(c.Key, idem.Dispatching)
	p.that(len(r.Attempts) == 1 && r.Attempts[0].Worker == "worker-1" && r.Attempts[0].Generation == claim.Generation && r.Attempts[0].EndedAt.IsZero(), "the attempt is not on record: %+v", r.Attempts)
	p.that(near(r.AvailableIn, lease), "AvailableIn is %v, want the lease's rest", r.AvailableIn)
	p.slot(1, "op_1")
	_, err := p.l.Claim(p.ctx, c.Key, "worker-2", lease)
	p.refused(err, idem.ErrState, "second Claim")
}

func claimOne(p *play) {
	c := command("op_1")
	p.admit(c)
	var mu sync.Mutex
	given := 0
	together(func(int) {
		_, err := p.l.Claim(p.ctx, c.Key, "w", lease)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			given++
			return
		}
		p.refused(err, idem.ErrState, "Claim beside another")
	})
	p.that(given == 1, "%d of 8 claims were given", given)
}

func claimExpired(p *play) {
	c := command("op_1")
	c.ExpiresIn = time.Hour
	p.admit(c)
	p.advance(time.Hour)
	_, err := p.l.Claim(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrState, "Claim past the expiry")
	r := p.state(c.Key, idem.Expired)
	p.that(len(r.Attempts) == 0, "an expired operation has an attempt")
	p.slot(0, "")
}

func claimSequence(p *play) {
	first, second := command("op_1"), command("op_2")
	p.admit(second)
	claim := p.dispatch(first)
	_, err := p.l.Claim(p.ctx, second.Key, "w", lease)
	p.refused(err, idem.ErrSequence, "Claim of an older proposal while another is open")
	p.finish(claim, succeeded())
	_, err = p.l.Claim(p.ctx, second.Key, "w", lease)
	p.refused(err, idem.ErrSequence, "Claim of an older proposal after another ended")
	p.state(second.Key, idem.Pending)
	p.slot(2, "")
	p.dispatch(at(2, command("op_3")))
}

func claimBusy(p *play) {
	p.dispatch(command("op_1"))
	c := at(1, command("op_2"))
	p.admit(c)
	_, err := p.l.Claim(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrBusy, "Claim beside an open operation")
	p.state(c.Key, idem.Pending)
	p.slot(1, "op_1")
}

func claimAttempts(p *play) {
	c := command("op_1")
	c.Attempts = 2
	p.admit(c)
	for range 2 {
		p.finish(p.claim(c.Key), notSent())
	}
	_, err := p.l.Claim(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrAttempts, "Claim beyond the attempts")
	p.state(c.Key, idem.Pending)
	r, err := p.l.Close(p.ctx, c.Key, idem.Denied, "UNAVAILABLE")
	p.ok(err, "Close")
	p.that(r.State == idem.Denied && len(r.Attempts) == 2, "closed as %q with %d attempts", r.State, len(r.Attempts))
	d := on("r2", "op_2")
	d.Attempts = 0
	p.admit(d)
	for range idem.DefaultAttempts {
		p.finish(p.claim(d.Key), notSent())
	}
	_, err = p.l.Claim(p.ctx, d.Key, "w", lease)
	p.refused(err, idem.ErrAttempts, "Claim beyond the default attempts")
}

func claimBackOff(p *play) {
	c := command("op_1")
	o := notSent()
	o.RetryAfter = 2 * time.Hour
	r := p.finish(p.dispatch(c), o)
	p.that(near(r.AvailableIn, o.RetryAfter), "AvailableIn is %v, want the back-off", r.AvailableIn)
	_, err := p.l.Claim(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrBusy, "Claim during the back-off")
	p.nothing()
	p.advance(3 * time.Hour)
	p.next(c.Key)
	p.claim(c.Key)
}

func claimFresh(p *play) {
	c := command("op_1")
	p.admit(c)
	var last idem.Claim
	step := func(next idem.Claim) {
		p.that(next.Generation > last.Generation && next.Token != last.Token, "generation %d after %d, or the token again", next.Generation, last.Generation)
		last = next
	}
	step(p.claim(c.Key))
	p.finish(last, notSent())
	step(p.claim(c.Key))
	p.finish(last, unknown())
	step(p.claimOpen(c.Key))
	sent, err := p.l.Resend(p.ctx, last, lease)
	p.ok(err, "Resend")
	step(sent)
}

func claimLease(p *play) {
	c := command("op_1")
	p.admit(c)
	_, err := p.l.Claim(p.ctx, c.Key, "w", 0)
	p.refused(err, idem.ErrInvalid, "Claim without a lease")
	_, err = p.l.Next(p.ctx, nil, 0)
	p.refused(err, idem.ErrInvalid, "Next without a lease")
	claim := p.claim(c.Key)
	_, err = p.l.Renew(p.ctx, claim, -1)
	p.refused(err, idem.ErrInvalid, "Renew with a negative lease")
	p.finish(claim, unknown())
	_, err = p.l.ClaimOpen(p.ctx, c.Key, "w", 0)
	p.refused(err, idem.ErrInvalid, "ClaimOpen without a lease")
}

func leases() []rule {
	return []rule{
		{"lease/reaped", "past its lease a dispatching operation is unknown to whoever reads it, and its attempt ended with the lease (T6)", clock, leaseReaped},
		{"lease/fenced", "who lost the lease to a reader can neither finish nor renew", clock, leaseFenced},
		{"lease/late-holder", "a holder past its lease whom nobody noticed may still finish", clock, leaseLateHolder},
		{"lease/renewed", "a renewed lease lasts from the renewal; an ended one is not revived", clock, leaseRenewed},
		{"lease/due", "the outbox offers a claimed operation again at the lease's end, not before", clock, leaseDue},
		{"lease/resource", "an operation that lost its lease keeps its resource closed", clock, leaseResource},
	}
}

func leaseReaped(p *play) {
	readers := map[string]func(idem.Command) (idem.State, error){
		"Find": func(c idem.Command) (idem.State, error) { r, err := p.l.Find(p.ctx, c.Key); return r.State, err },
		"Admit": func(c idem.Command) (idem.State, error) {
			r, _, err := p.l.Admit(p.ctx, c, false)
			return r.State, err
		},
		"ClaimOpen": func(c idem.Command) (idem.State, error) {
			_, err := p.l.ClaimOpen(p.ctx, c.Key, "w", lease)
			return idem.Unknown, err
		},
		"Open": func(c idem.Command) (idem.State, error) {
			rs, _, err := p.l.Open(p.ctx, tenant, c.Run, idem.Page{})
			return first(rs, c.Key), err
		},
		"Unknown": func(c idem.Command) (idem.State, error) {
			rs, _, err := p.l.Unknown(p.ctx, tenant, idem.Page{})
			return first(rs, c.Key), err
		},
		"Next": func(c idem.Command) (idem.State, error) {
			d, err := p.l.Next(p.ctx, []string{c.Tool}, lease)
			return d.State, err
		},
		"Resolve": func(c idem.Command) (idem.State, error) {
			_, err := p.l.Resolve(p.ctx, c.Key, resolution(idem.Succeeded))
			return idem.Unknown, err
		},
	}
	for name, read := range readers {
		c := on("r-"+name, "op_"+name)
		c.Tool = "commit_" + name + "_v1"
		p.dispatch(c)
		p.advance(lease)
		s, err := read(c)
		p.ok(err, name+" past the lease")
		p.that(s == idem.Unknown, "%s past the lease says %q", name, s)
		a := p.find(c.Key).Attempts
		p.that(len(a) == 1 && a[0].Outcome == string(idem.Unknown) && near(a[0].EndedAt.Sub(a[0].StartedAt), lease), "%s: the attempt did not end with the lease: %+v", name, a)
	}
}

func first(rs []idem.Record, k idem.Key) idem.State {
	for _, r := range rs {
		if r.Command.Key == k {
			return r.State
		}
	}
	return ""
}

func leaseFenced(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	p.advance(2 * lease)
	p.state(c.Key, idem.Unknown)
	_, err := p.l.Finish(p.ctx, claim, succeeded())
	p.refused(err, idem.ErrFenced, "Finish after the lease was lost")
	_, err = p.l.Renew(p.ctx, claim, lease)
	p.refused(err, idem.ErrFenced, "Renew after the lease was lost")
	p.state(c.Key, idem.Unknown)
}

func leaseLateHolder(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	p.advance(2 * lease)
	p.finish(claim, succeeded())
	p.state(c.Key, idem.Succeeded)
}

func leaseRenewed(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	p.advance(lease / 2)
	renewed, err := p.l.Renew(p.ctx, claim, lease)
	p.ok(err, "Renew")
	p.that(renewed.Token == claim.Token && renewed.Generation == claim.Generation && renewed.Lease == lease && string(renewed.Command.Body) == string(c.Body), "Renew returned another claim")
	p.advance(lease * 3 / 4)
	p.state(c.Key, idem.Dispatching)
	p.advance(lease)
	_, err = p.l.Renew(p.ctx, claim, lease)
	p.refused(err, idem.ErrFenced, "Renew of an ended lease")
	p.state(c.Key, idem.Unknown)

	open := p.claimOpen(c.Key)
	_, err = p.l.Renew(p.ctx, open, 3*lease)
	p.ok(err, "Renew of a ClaimOpen")
	p.advance(2 * lease)
	_, err = p.l.ClaimOpen(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrBusy, "ClaimOpen beside a renewed one")
	p.advance(2 * lease)
	_, err = p.l.Renew(p.ctx, open, lease)
	p.refused(err, idem.ErrFenced, "Renew of an ended ClaimOpen")
}

func leaseDue(p *play) {
	c := command("op_1")
	p.dispatch(c)
	p.nothing()
	p.advance(lease)
	d := p.next(c.Key)
	p.that(d.State == idem.Unknown && d.Attempt == 1, "the delivery says %q, %d attempts", d.State, d.Attempt)
	p.nothing()
}

func leaseResource(p *play) {
	c := command("op_1")
	p.dispatch(c)
	p.advance(2 * lease)
	p.state(c.Key, idem.Unknown)
	p.slot(1, "op_1")
}
