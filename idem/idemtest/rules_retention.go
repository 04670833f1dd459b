package idemtest

import (
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

func retention() []rule {
	return []rule{
		{"purge/terminal", "only terminal rows are purged, whatever their age (I29)", clock, purgeTerminal},
		{"purge/tombstone", "a purged key answers Gone with the state that it ended in, from every method", clock, purgeTombstone},
		{"purge/forgotten", "when the tombstone is gone too, the key is unknown to the ledger and T1b applies (I8)", clock, purgeForgotten},
		{"purge/resource", "resource rows outlive everything", nothing, purgeResource},
		{"purge/ages", "bodies and tombstones stay their time, and a tombstone no shorter than its body", clock, purgeAges},
	}
}

// purge strips and deletes until nothing is left to do.
func (p *play) purge(bodies, tombstones time.Duration) int {
	sum := 0
	for range 100 {
		n, err := p.l.Purge(p.ctx, bodies, tombstones)
		p.ok(err, "Purge")
		if n == 0 || p.err != nil {
			break
		}
		sum += n
	}
	return sum
}

func purgeTerminal(p *play) {
	pend, disp, runs, doubt := on("ra", "op_a"), on("rb", "op_b"), on("rc", "op_c"), on("rd", "op_d")
	pend.ExpiresIn = time.Hour
	p.admit(pend)
	p.dispatch(disp)
	p.finish(p.dispatch(runs), running())
	p.doubt(doubt)
	p.advance(10000 * time.Hour)
	n := p.purge(0, 0)
	p.that(n == 0, "%d rows that are not terminal were purged", n)
	p.state(disp.Key, idem.Unknown)
	p.state(runs.Key, idem.Unknown)
	p.state(doubt.Key, idem.Unknown)
	p.state(pend.Key, idem.Pending)
}

func purgeTombstone(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	p.finish(claim, failed())
	p.advance(2 * time.Hour)
	p.that(p.purge(time.Hour, 100*time.Hour) == 1, "not one row was purged")
	gone := func(err error, what string) {
		p.refused(err, idem.ErrGone, what+" of a purged key")
		g, ok := err.(*idem.Gone) //nolint:errorlint // asked for below by As, too
		p.that(!ok || g.State == idem.Failed, "%s: Gone says %v", what, err)
	}
	r, err := p.l.Find(p.ctx, c.Key)
	gone(err, "Find")
	p.that(r.State == idem.Failed && r.Command.Key == c.Key && r.Command.Body == nil, "the tombstone is %+v", r)
	_, _, err = p.l.Admit(p.ctx, c, false)
	gone(err, "Admit")
	_, _, err = p.l.Admit(p.ctx, c, true)
	gone(err, "Admit, consumed before,")
	_, err = p.l.Claim(p.ctx, c.Key, "w", lease)
	gone(err, "Claim")
	_, err = p.l.ClaimOpen(p.ctx, c.Key, "w", lease)
	gone(err, "ClaimOpen")
	_, err = p.l.Finish(p.ctx, claim, succeeded())
	gone(err, "Finish")
	_, err = p.l.Renew(p.ctx, claim, lease)
	gone(err, "Renew")
	_, err = p.l.Resend(p.ctx, claim, lease)
	gone(err, "Resend")
	_, err = p.l.Close(p.ctx, c.Key, idem.Denied, "")
	gone(err, "Close")
	_, err = p.l.Resolve(p.ctx, c.Key, resolution(idem.Succeeded))
	gone(err, "Resolve")
}

func purgeForgotten(p *play) {
	c := command("op_1")
	p.end(c)
	p.advance(2 * time.Hour)
	p.purge(time.Hour, time.Hour)
	_, err := p.l.Find(p.ctx, c.Key)
	p.refused(err, idem.ErrNotFound, "Find of a key without tombstone")
	r, how, err := p.l.Admit(p.ctx, c, true)
	p.ok(err, "Admit, consumed before, of a key without tombstone")
	p.that(how == idem.Admitted && r.State == idem.Unknown, "admitted as %q, %q", how, r.State)
}

func purgeResource(p *play) {
	p.end(command("op_1"))
	p.that(p.purge(0, 0) == 1, "not one row was purged")
	p.slot(2, "")
	c := command("op_2")
	p.admit(c)
	_, err := p.l.Claim(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrSequence, "Claim of a proposal from before the purged operation")
}

func purgeAges(p *play) {
	c := command("op_1")
	p.end(c)
	p.that(p.purge(time.Hour, 10*time.Hour) == 0, "a fresh row was purged")
	p.state(c.Key, idem.Succeeded)
	p.advance(2 * time.Hour)
	p.that(p.purge(time.Hour, 10*time.Hour) == 1, "an old body was not purged")
	p.advance(7 * time.Hour)
	p.that(p.purge(time.Hour, 10*time.Hour) == 0, "a tombstone was purged before its time")
	p.advance(2 * time.Hour)
	p.that(p.purge(time.Hour, 10*time.Hour) == 1, "an old tombstone was not purged")
	_, err := p.l.Purge(p.ctx, 2*time.Hour, time.Hour)
	p.refused(err, idem.ErrInvalid, "Purge of tombstones before bodies")
	_, err = p.l.Purge(p.ctx, -1, time.Hour)
	p.refused(err, idem.ErrInvalid, "Purge of bodies of the future")
}
