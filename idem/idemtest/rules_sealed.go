package idemtest

import (
	"errors"

	"github.com/toolcontract/toolcontract/idem"
)

func sealings() []rule {
	return []rule{
		{"sealed/shown", "an operation whose sealed parts do not open hides no other: it is listed and found without them, and can be ended", spoil, sealedShown},
		{"sealed/refused", "nothing is claimed, sent or replayed of what does not open, and no claim stays behind (I30)", spoil, sealedRefused},
	}
}

func (p *play) spoil(k idem.Key) {
	if p.err == nil {
		p.ok(p.s.Spoil(k), "Spoil")
	}
}

func (p *play) unsealed(r idem.Record, s idem.State, what string) {
	p.that(r.State == s && r.Command.Tool == tool && errors.Is(r.Sealed, idem.ErrSealed) && r.Command.Body == nil, "%s: %q, tool %q, sealed %v, %d bytes of body", what, r.State, r.Command.Tool, r.Sealed, len(r.Command.Body))
}

func sealedShown(p *play) {
	bad, good, pend, done := on("ra", "op_a"), on("rb", "op_b"), on("rc", "op_c"), on("rd", "op_d")
	claim := p.dispatch(bad)
	p.finish(claim, unknown())
	p.late(claim, succeeded(), 1, "Finish of a claim that had ended unknown")
	p.doubt(good)
	p.admit(pend)
	p.end(done)
	for _, c := range []idem.Command{bad, pend, done} {
		p.spoil(c.Key)
	}
	queue, _, err := p.l.Unknown(p.ctx, tenant, idem.Page{})
	p.ok(err, "Unknown beside what does not open")
	p.that(len(queue) == 2, "%d unknown operations are listed, want 2", len(queue))
	open, _, err := p.l.Open(p.ctx, tenant, bad.Run, idem.Page{})
	p.ok(err, "Open beside what does not open")
	p.that(len(open) == 3, "%d open operations are listed, want 3", len(open))
	if p.err != nil {
		return
	}
	for _, r := range append(queue, open...) {
		switch r.Command.Key {
		case bad.Key:
			p.unsealed(r, idem.Unknown, "a list")
			p.that(len(r.Attempts) == 1 && len(r.Evidence) == 1 && r.Evidence[0].Outcome.State == idem.Succeeded && r.Evidence[0].Outcome.Result == nil, "a list: what opens is not all there")
		case good.Key:
			p.that(r.Sealed == nil && string(r.Command.Body) == string(good.Body), "a row beside it: %v", r.Sealed)
		}
	}
	for _, c := range []struct {
		cmd   idem.Command
		state idem.State
	}{{bad, idem.Unknown}, {pend, idem.Pending}, {done, idem.Succeeded}} {
		r, err := p.l.Find(p.ctx, c.cmd.Key)
		p.refused(err, idem.ErrSealed, "Find")
		p.unsealed(r, c.state, "Find")
		p.that(r.Result == nil, "Find: a result that does not open")
	}
	r, err := p.l.Resolve(p.ctx, bad.Key, resolution(idem.Succeeded))
	p.ok(err, "Resolve")
	p.unsealed(r, idem.Succeeded, "Resolve")
	p.slotOf("ra", 2, "")
	r, err = p.l.Close(p.ctx, pend.Key, idem.Cancelled, "")
	p.ok(err, "Close")
	p.unsealed(r, idem.Cancelled, "Close")
}

func sealedRefused(p *play) {
	pend, doubt, sent, done := on("ra", "op_a"), on("rb", "op_b"), on("rc", "op_c"), on("rd", "op_d")
	p.admit(pend)
	p.doubt(doubt)
	p.doubt(sent)
	holding := p.claimOpen(sent.Key)
	p.end(done)
	for _, c := range []idem.Command{pend, doubt, sent, done} {
		p.spoil(c.Key)
	}
	stands := func(k idem.Key, s idem.State) {
		r, err := p.l.Find(p.ctx, k)
		p.refused(err, idem.ErrSealed, "Find")
		p.that(r.State == s && near(r.AvailableIn, lease), "%q for %v after a claim that was refused, want %q with a back-off", r.State, r.AvailableIn, s)
	}
	_, err := p.l.Claim(p.ctx, pend.Key, "w", lease)
	p.refused(err, idem.ErrSealed, "Claim")
	stands(pend.Key, idem.Pending)
	p.slotOf("ra", 2, "")
	_, err = p.l.ClaimOpen(p.ctx, doubt.Key, "w", lease)
	p.refused(err, idem.ErrSealed, "ClaimOpen")
	stands(doubt.Key, idem.Unknown)
	_, err = p.l.ClaimOpen(p.ctx, doubt.Key, "w", lease)
	p.refused(err, idem.ErrSealed, "ClaimOpen, again: the first was given back")
	_, err = p.l.Resend(p.ctx, holding, lease)
	p.refused(err, idem.ErrSealed, "Resend")
	stands(sent.Key, idem.Unknown)
	_, _, err = p.l.Admit(p.ctx, done, true)
	p.refused(err, idem.ErrSealed, "Admit of what ended")
}
