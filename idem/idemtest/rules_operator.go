package idemtest

import (
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

func operators() []rule {
	return []rule{
		{"resolve/word", "an operator ends an unknown operation, and the word is kept (T10)", nothing, resolveWord},
		{"resolve/state", "nothing but an unknown operation can be resolved", nothing, resolveState},
		{"resolve/settle", "failed is ErrBusy until Settle has passed since the last dispatch claim ended", clock, resolveSettle},
		{"resolve/fences", "a resolution fences whoever holds the operation", nothing, resolveFences},
		{"resolve/said", "who, why and by what evidence must be said", nothing, resolveSaid},
		{"sweep/both", "Sweep expires what was never sent and doubts what lost its lease, and nothing else (T3, T6)", clock, sweepBoth},
	}
}

func resolveWord(p *play) {
	c := command("op_1")
	p.doubt(c)
	res := resolution(idem.Succeeded)
	res.Result = succeeded().Result
	r, err := p.l.Resolve(p.ctx, c.Key, res)
	p.ok(err, "Resolve")
	p.that(r.State == idem.Succeeded && string(r.Result) == string(res.Result), "resolved: %q, %q", r.State, r.Result)
	r = p.state(c.Key, idem.Succeeded)
	p.that(r.Resolution != nil && r.Resolution.By == res.By && r.Resolution.Reason == res.Reason && r.Resolution.Evidence == res.Evidence && r.Resolution.State == res.State, "the word is %+v", r.Resolution)
	p.slot(2, "")
	p.nothing()
}

func resolveState(p *play) {
	c := command("op_1")
	refuse := func(s idem.State) {
		_, err := p.l.Resolve(p.ctx, c.Key, resolution(idem.Succeeded))
		p.refused(err, idem.ErrState, "Resolve of a "+string(s)+" operation")
		p.state(c.Key, s)
	}
	p.admit(c)
	refuse(idem.Pending)
	claim := p.claim(c.Key)
	refuse(idem.Dispatching)
	p.finish(claim, running())
	refuse(idem.Running)
}

func resolveSettle(p *play) {
	c := command("op_1")
	p.dispatch(c)
	p.advance(lease + 4*time.Hour)
	_, err := p.l.Resolve(p.ctx, c.Key, resolution(idem.Failed))
	p.refused(err, idem.ErrBusy, "Resolve as failed before Settle")
	p.state(c.Key, idem.Unknown)
	p.advance(time.Hour)
	r, err := p.l.Resolve(p.ctx, c.Key, resolution(idem.Failed))
	p.ok(err, "Resolve as failed after Settle")
	p.that(r.State == idem.Failed, "resolved: %q", r.State)

	d := on("r2", "op_2")
	d.Settle = 0
	p.doubt(d)
	_, err = p.l.Resolve(p.ctx, d.Key, resolution(idem.Failed))
	p.refused(err, idem.ErrBusy, "Resolve as failed before the default Settle")
	p.advance(idem.DefaultSettle)
	_, err = p.l.Resolve(p.ctx, d.Key, resolution(idem.Failed))
	p.ok(err, "Resolve as failed after the default Settle")
}

func resolveFences(p *play) {
	c := command("op_1")
	p.doubt(c)
	open := p.claimOpen(c.Key)
	_, err := p.l.Resolve(p.ctx, c.Key, resolution(idem.Succeeded))
	p.ok(err, "Resolve beside a ClaimOpen")
	_, err = p.l.Finish(p.ctx, open, failed())
	p.refused(err, idem.ErrFenced, "Finish after a resolution")
	_, err = p.l.Resend(p.ctx, open, lease)
	p.refused(err, idem.ErrFenced, "Resend after a resolution")
	p.state(c.Key, idem.Succeeded)
}

func resolveSaid(p *play) {
	c := command("op_1")
	p.doubt(c)
	for name, spoil := range map[string]func(*idem.Resolution){
		"nobody":              func(r *idem.Resolution) { r.By = "" },
		"no reason":           func(r *idem.Resolution) { r.Reason = "" },
		"no evidence":         func(r *idem.Resolution) { r.Evidence = "" },
		"another state":       func(r *idem.Resolution) { r.State = idem.Cancelled },
		"a success's failure": func(r *idem.Resolution) { r.Failure = envelope.New(envelope.Internal) },
	} {
		res := resolution(idem.Succeeded)
		spoil(&res)
		_, err := p.l.Resolve(p.ctx, c.Key, res)
		p.refused(err, idem.ErrInvalid, "Resolve with "+name)
	}
	p.state(c.Key, idem.Unknown)
}

func sweepBoth(p *play) {
	never, sent, ran, alive := on("ra", "op_a"), on("rb", "op_b"), on("rc", "op_c"), on("rd", "op_d")
	never.ExpiresIn, sent.ExpiresIn = 2*time.Hour, 2*time.Hour
	p.admit(never)
	p.dispatch(sent)
	p.finish(p.dispatch(ran), running())
	p.admit(alive)
	p.advance(11 * time.Hour)
	var sum idem.Swept
	for range 10 {
		s, err := p.l.Sweep(p.ctx)
		p.ok(err, "Sweep")
		if s == (idem.Swept{}) {
			break
		}
		sum.Expired, sum.Unknown = sum.Expired+s.Expired, sum.Unknown+s.Unknown
	}
	p.that(sum == idem.Swept{Expired: 1, Unknown: 2}, "swept %+v, want 1 expired, 2 unknown", sum)
	p.state(never.Key, idem.Expired)
	p.state(sent.Key, idem.Unknown)
	p.state(ran.Key, idem.Unknown)
	p.state(alive.Key, idem.Pending)
}
