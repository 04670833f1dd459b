package idemtest

import (
	"context"
	"slices"
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

// make calls the ledger and says what it answered.
type makeCall = func() (answer, error)

// choose picks a call, and how to make it.
func (c *client) choose(ctx context.Context) (call, makeCall) {
	in := call{tenant: c.rng.IntN(c.h.load.Tenants), i: c.rng.IntN(specOps)}
	switch n := c.rng.IntN(100); {
	case n < 4:
		return c.move()
	case n < 20:
		return c.admit(ctx, in)
	case n < 45 && len(c.claims) > 0:
		return c.use(ctx)
	case n < 60:
		in.op = "Claim"
		return in, c.take(ctx, in, c.h.subject.Ledger.Claim)
	case n < 72:
		in.op = "ClaimOpen"
		return in, c.take(ctx, in, c.h.subject.Ledger.ClaimOpen)
	case n < 84:
		return c.read(ctx, in)
	case n < 95:
		return c.deliver(ctx, in)
	}
	return c.end(ctx, in)
}

func saw(r idem.Record) answer {
	return answer{state: r.State, seq: r.Command.Seq, attempts: len(r.Attempts), evidence: len(r.Evidence)}
}

func got(cl idem.Claim) answer { return answer{gen: cl.Generation, token: cl.Token} }

// or0 returns a, or the zero answer beside an error.
func or0(a answer, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return a, nil
}

func (c *client) admit(ctx context.Context, in call) (call, makeCall) {
	l := c.h.subject.Ledger
	in.op, in.hash, in.consumed = "Admit", "h", c.rng.IntN(8) == 0
	if c.h.there[in.tenant*specOps+in.i].Load() && c.rng.IntN(3) == 0 {
		in.hash = "another"
	}
	if seq, _, err := l.Resource(ctx, tenantName(in.tenant), resource); err == nil {
		in.seq = seq
	}
	cmd := command("")
	cmd.Key, cmd.RequestHash, cmd.Seq, cmd.Tool = operationKey(in.tenant, in.i), in.hash, in.seq, tenantName(in.tenant)
	cmd.DedupFor, cmd.RunFor, cmd.Settle = specDedup*time.Hour, specRun*time.Hour, specSettle*time.Hour
	cmd.Attempts, cmd.ExpiresIn = specAttempts, never*time.Hour
	if in.i == 0 {
		cmd.ExpiresIn = specExpires * time.Hour
	}
	return in, func() (answer, error) {
		r, how, err := l.Admit(ctx, cmd, in.consumed)
		a := saw(r)
		a.how = how
		return or0(a, err)
	}
}

func (c *client) take(ctx context.Context, in call, f func(context.Context, idem.Key, string, time.Duration) (idem.Claim, error)) makeCall {
	return func() (answer, error) {
		cl, err := f(ctx, operationKey(in.tenant, in.i), "w", specLease*time.Hour)
		return or0(got(cl), err)
	}
}

// use does something with a claim: mostly with the last, sometimes with one that may have lost its place.
func (c *client) use(ctx context.Context) (call, makeCall) {
	l := c.h.subject.Ledger
	at := len(c.claims) - 1
	if c.rng.IntN(3) == 0 {
		at = c.rng.IntN(len(c.claims))
	}
	in := c.claims[at]
	open := in.op == "ClaimOpen"
	cl := idem.Claim{Key: operationKey(in.tenant, in.i), Generation: in.gen, Token: in.token}
	switch n := c.rng.IntN(10); {
	case n < 2:
		in.op = "Renew"
		return in, func() (answer, error) {
			r, err := l.Renew(ctx, cl, specLease*time.Hour)
			return or0(got(r), err)
		}
	case n < 7 && open || n < 3:
		in.op = "Resend"
		return in, func() (answer, error) {
			r, err := l.Resend(ctx, cl, specLease*time.Hour)
			return or0(got(r), err)
		}
	}
	o := []idem.Outcome{succeeded(), failed(), unknown(), unknown(), notSent(), notSent(), running(), cancelled()}[c.rng.IntN(8)]
	in.op, in.state = "Finish", o.State
	if c.rng.IntN(3) > 0 { // otherwise it will be used once more
		c.claims = slices.Delete(c.claims, at, at+1)
	}
	if !o.State.Terminal() {
		o.RetryAfter = specRetry * time.Hour
	}
	return in, func() (answer, error) {
		r, err := l.Finish(ctx, cl, o)
		return or0(saw(r), err)
	}
}

func (c *client) move() (call, makeCall) {
	in := call{op: "Advance", tenant: -1, ticks: 1 + c.rng.IntN(2)}
	return in, c.advance(in.ticks)
}

func (c *client) advance(ticks int) makeCall {
	return func() (answer, error) {
		c.h.subject.Advance(time.Duration(ticks) * time.Hour)
		return answer{}, nil
	}
}

func (c *client) read(ctx context.Context, in call) (call, makeCall) {
	l := c.h.subject.Ledger
	switch c.rng.IntN(4) {
	case 0:
		in.op = "Resource"
		return in, func() (answer, error) {
			seq, open, err := l.Resource(ctx, tenantName(in.tenant), resource)
			a := answer{seq: seq}
			for i := range specOps {
				if open == operationKey(in.tenant, i).Operation {
					a.open = i + 1
				}
			}
			return or0(a, err)
		}
	case 1:
		in.op, in.tenant = "Sweep", -1
		return in, func() (answer, error) {
			_, err := l.Sweep(ctx)
			return answer{}, err
		}
	}
	in.op = "Find"
	return in, func() (answer, error) {
		r, err := l.Find(ctx, operationKey(in.tenant, in.i))
		return or0(saw(r), err)
	}
}

func (c *client) deliver(ctx context.Context, in call) (call, makeCall) {
	l := c.h.subject.Ledger
	if len(c.turns) > 0 && c.rng.IntN(3) == 0 {
		in = c.turns[c.rng.IntN(len(c.turns))]
		in.op, in.ticks = "Later", c.rng.IntN(4)
		return in, func() (answer, error) {
			d := idem.Delivery{Key: operationKey(in.tenant, in.i), Turn: in.turn}
			return answer{}, l.Later(ctx, d, time.Duration(in.ticks)*time.Hour)
		}
	}
	in.op = "Next"
	return in, c.next(ctx, in)
}

func (c *client) next(ctx context.Context, in call) makeCall {
	return func() (answer, error) {
		d, err := c.h.subject.Ledger.Next(ctx, []string{tenantName(in.tenant)}, specLease*time.Hour)
		a := answer{state: d.State, attempts: d.Attempt, turn: d.Turn}
		for i := range specOps {
			if d.Key == operationKey(in.tenant, i) {
				a.i = i
			}
		}
		return or0(a, err)
	}
}

func (c *client) end(ctx context.Context, in call) (call, makeCall) {
	l := c.h.subject.Ledger
	k := operationKey(in.tenant, in.i)
	if c.rng.IntN(2) == 0 {
		in.op, in.state = "Close", idem.Cancelled
		return in, func() (answer, error) {
			r, err := l.Close(ctx, k, in.state, "")
			return saw(r), err
		}
	}
	in.op, in.state = "Resolve", []idem.State{idem.Succeeded, idem.Failed}[c.rng.IntN(2)]
	return in, func() (answer, error) {
		r, err := l.Resolve(ctx, k, resolution(in.state))
		return or0(saw(r), err)
	}
}
