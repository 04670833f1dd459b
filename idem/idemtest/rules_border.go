package idemtest

import (
	"context"
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

func borders() []rule {
	return []rule{
		{"border/not-found", "a key never admitted is ErrNotFound from every method", nothing, borderNotFound},
		{"border/text", "a key that no command can have is ErrNotFound from every method, and nothing else by such a name is there", nothing, borderText},
		{"border/context", "a cancelled context is its own error, and nothing is changed", nothing, borderContext},
		{"border/copies", "what is handed in and out are copies", nothing, borderCopies},
		{"border/wake", "a ledger that is a Waker tells of new work and ends with the context", nothing, borderWake},
	}
}

func borderNotFound(p *play) {
	p.notThere(idem.Key{Tenant: tenant, Operation: "op_9"})
	seq, open, err := p.l.Resource(p.ctx, tenant, "never-seen")
	p.that(err == nil && seq == 0 && open == "", "a resource never seen is (%d, %q), %v", seq, open, err)
}

func borderText(p *play) {
	p.doubt(command("op_1"))
	for _, bad := range []string{"a\x00", "a\xff", "\x00"} {
		p.notThere(idem.Key{Tenant: tenant, Operation: bad})
		p.notThere(idem.Key{Tenant: bad, Operation: "op_1"})
		for _, k := range []idem.Key{{Tenant: tenant, Operation: bad}, {Tenant: bad, Operation: "op_1"}} {
			c := command("op_1")
			c.Key = k
			_, _, err := p.l.Admit(p.ctx, c, true)
			p.refused(err, idem.ErrInvalid, "Admit")
		}
		for _, at := range [][2]string{{bad, resource}, {tenant, bad}} {
			seq, open, err := p.l.Resource(p.ctx, at[0], at[1])
			p.that(err == nil && seq == 0 && open == "", "the resource %q of %q is (%d, %q), %v", at[1], at[0], seq, open, err)
			rs, next, err := p.l.Open(p.ctx, at[0], at[1], idem.Page{})
			p.that(err == nil && len(rs) == 0 && next == "", "%d operations of run %q of %q, %v", len(rs), at[1], at[0], err)
		}
		rs, next, err := p.l.Unknown(p.ctx, bad, idem.Page{})
		p.that(err == nil && len(rs) == 0 && next == "", "%d unknown operations of %q, %v", len(rs), bad, err)
		_, err = p.l.Next(p.ctx, []string{bad}, lease)
		p.refused(err, idem.ErrEmpty, "Next")
		_, err = p.l.Next(p.ctx, []string{bad, "another"}, lease)
		p.refused(err, idem.ErrEmpty, "Next")
	}
}

// notThere asks every method for a key that is not there.
func (p *play) notThere(k idem.Key) {
	c := idem.Claim{Key: k, Generation: 1, Token: "guess"}
	_, err := p.l.Find(p.ctx, k)
	p.refused(err, idem.ErrNotFound, "Find")
	_, err = p.l.Claim(p.ctx, k, "w", lease)
	p.refused(err, idem.ErrNotFound, "Claim")
	_, err = p.l.ClaimOpen(p.ctx, k, "w", lease)
	p.refused(err, idem.ErrNotFound, "ClaimOpen")
	_, err = p.l.Renew(p.ctx, c, lease)
	p.refused(err, idem.ErrNotFound, "Renew")
	_, err = p.l.Resend(p.ctx, c, lease)
	p.refused(err, idem.ErrNotFound, "Resend")
	_, err = p.l.Finish(p.ctx, c, succeeded())
	p.refused(err, idem.ErrNotFound, "Finish")
	_, err = p.l.Close(p.ctx, k, idem.Denied, "")
	p.refused(err, idem.ErrNotFound, "Close")
	_, err = p.l.Resolve(p.ctx, k, resolution(idem.Succeeded))
	p.refused(err, idem.ErrNotFound, "Resolve")
	p.ok(p.l.Later(p.ctx, idem.Delivery{Key: k}, lease), "Later of what is not there")
}

func borderContext(p *play) {
	c, d := command("op_1"), on("r2", "op_2")
	claim := p.dispatch(d)
	ctx, cancel := context.WithCancel(p.ctx)
	cancel()
	_, _, err := p.l.Admit(ctx, c, false)
	p.refused(err, context.Canceled, "Admit")
	_, err = p.l.Finish(ctx, claim, succeeded())
	p.refused(err, context.Canceled, "Finish")
	_, err = p.l.Find(ctx, d.Key)
	p.refused(err, context.Canceled, "Find")
	_, err = p.l.Next(ctx, nil, lease)
	p.refused(err, context.Canceled, "Next")
	_, err = p.l.Find(p.ctx, c.Key)
	p.refused(err, idem.ErrNotFound, "Find of what was not admitted")
	p.state(d.Key, idem.Dispatching)
}

func borderCopies(p *play) {
	c := command("op_1")
	body := string(c.Body)
	p.admit(c)
	c.Body[2], c.Meta["policy"] = 'X', "9"
	claim := p.claim(c.Key)
	p.that(string(claim.Command.Body) == body && claim.Command.Meta["policy"] == "3", "the ledger keeps the caller's memory")
	if p.err != nil {
		return
	}
	claim.Command.Body[2] = 'X'
	o := succeeded()
	o.Result = append(o.Result[:0:0], o.Result...)
	p.finish(claim, o)
	o.Result[2] = 'X'
	r := p.find(c.Key)
	p.that(string(r.Command.Body) == body && string(r.Result) == string(succeeded().Result), "the ledger handed out its own memory, or keeps the caller's")
	if p.err != nil {
		return
	}
	r.Result[2], r.Command.Meta["policy"], r.Attempts[0].Worker = 'X', "9", "x"
	again := p.find(c.Key)
	p.that(string(again.Result) == string(succeeded().Result) && again.Command.Meta["policy"] == "3" && again.Attempts[0].Worker == "worker-1", "the ledger handed out its own memory")
}

func borderWake(p *play) {
	w, ok := p.l.(idem.Waker)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	woken, err := w.Wake(ctx)
	p.ok(err, "Wake")
	if p.err != nil {
		return
	}
	p.admit(command("op_1"))
	p.that(p.err != nil || signal(p.ctx, woken), "no signal came after an admission")
	cancel()
	for open := true; open && p.err == nil; {
		select {
		case _, open = <-woken:
		case <-time.After(patience):
			p.that(false, "the channel was not closed with its context")
		}
	}
}

// patience is how long a signal may take; nothing waits for it where all is well.
const patience = 20 * time.Second

func signal(ctx context.Context, ch <-chan struct{}) bool {
	select {
	case _, ok := <-ch:
		return ok
	case <-ctx.Done():
	case <-time.After(patience):
	}
	return false
}
