package idemtest

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// play is one case under way. Its steps do nothing after the first that failed.
type play struct {
	ctx context.Context //nolint:containedctx // lives as long as its case
	s   Subject
	l   idem.Ledger
	err error
}

const (
	tenant   = "acme"
	resource = "address:c_1"
	tool     = "commit_address_change_v1"
	lease    = time.Hour
)

// command returns a valid command; its window is long against its lease, and its life against its window.
func command(operation string) idem.Command {
	return idem.Command{
		Key: idem.Key{Tenant: tenant, Operation: operation}, Tool: tool, Proposal: "p_" + operation, Run: "run_1",
		RequestHash: "hash-" + operation, Resource: resource, Body: jsontext.Value(`{"plan":{"street":"A"}}`),
		Contract: idem.ReplaySafe, ProviderKey: "k-" + operation, Attempts: 3, ExpiresIn: 1000 * time.Hour,
		DedupFor: 500 * time.Hour, RunFor: 10 * time.Hour, Settle: 5 * time.Hour, Meta: map[string]string{"policy": "3"},
	}
}

// on returns a command for another resource, of the same tenant.
func on(res, operation string) idem.Command {
	c := command(operation)
	c.Resource = res
	return c
}

func at(seq int64, c idem.Command) idem.Command {
	c.Seq = seq
	return c
}

func succeeded() idem.Outcome {
	return idem.Outcome{State: idem.Succeeded, Result: jsontext.Value(`{"version":"18"}`), Receipt: "r-1"}
}

func running() idem.Outcome { return idem.Outcome{State: idem.Running, Receipt: "job-1"} }

func proves(s idem.State) idem.Outcome { return idem.Outcome{State: s} }

func unknown() idem.Outcome   { return proves(idem.Unknown) }
func notSent() idem.Outcome   { return proves(idem.Pending) }
func cancelled() idem.Outcome { return proves(idem.Cancelled) }

func failed() idem.Outcome {
	return idem.Outcome{State: idem.Failed, Failure: envelope.New(envelope.PreconditionFailed)}
}

func resolution(s idem.State) idem.Resolution {
	return idem.Resolution{State: s, By: "olga", Reason: "asked the provider", Evidence: "ticket 4"}
}

func (p *play) that(ok bool, format string, args ...any) {
	if p.err == nil && !ok {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *play) ok(err error, what string) {
	p.that(err == nil, "%s: got %v, want no error", what, err)
}

func (p *play) refused(err, want error, what string) {
	p.that(errors.Is(err, want), "%s: got %v, want %v", what, err, want)
}

func (p *play) advance(d time.Duration) {
	if p.err == nil {
		p.s.Advance(d)
	}
}

func (p *play) admit(c idem.Command) idem.Record {
	r, how, err := p.l.Admit(p.ctx, c, false)
	p.ok(err, "Admit")
	p.that(how == idem.Admitted && r.State == idem.Pending, "Admit of a new command: got %q, %q", how, r.State)
	return r
}

func (p *play) claim(k idem.Key) idem.Claim {
	c, err := p.l.Claim(p.ctx, k, "worker-1", lease)
	p.ok(err, "Claim")
	return c
}

func (p *play) claimOpen(k idem.Key) idem.Claim {
	c, err := p.l.ClaimOpen(p.ctx, k, "resolver-1", lease)
	p.ok(err, "ClaimOpen")
	return c
}

func (p *play) finish(c idem.Claim, o idem.Outcome) idem.Record {
	r, err := p.l.Finish(p.ctx, c, o)
	p.ok(err, "Finish as "+string(o.State))
	return r
}

// dispatch admits and claims.
func (p *play) dispatch(c idem.Command) idem.Claim {
	p.admit(c)
	return p.claim(c.Key)
}

// doubt brings a command to unknown.
func (p *play) doubt(c idem.Command) {
	r := p.finish(p.dispatch(c), unknown())
	p.that(r.State == idem.Unknown, "Finish as unknown made it %q", r.State)
}

// end admits, claims and finishes as succeeded.
func (p *play) end(c idem.Command) { p.finish(p.dispatch(c), succeeded()) }

func (p *play) find(k idem.Key) idem.Record {
	r, err := p.l.Find(p.ctx, k)
	p.ok(err, "Find")
	return r
}

func (p *play) state(k idem.Key, want idem.State) idem.Record {
	r := p.find(k)
	p.that(r.State == want, "the operation is %q, want %q", r.State, want)
	return r
}

func (p *play) slot(seq int64, open string) {
	s, o, err := p.l.Resource(p.ctx, tenant, resource)
	p.ok(err, "Resource")
	p.that(s == seq && o == open, "the resource is (%d, %q), want (%d, %q)", s, o, seq, open)
}

// next takes a delivery of k.
func (p *play) next(k idem.Key) idem.Delivery {
	d, err := p.l.Next(p.ctx, nil, lease)
	p.ok(err, "Next")
	p.that(d.Key == k, "Next delivered %q, want %q", d.Key.Operation, k.Operation)
	return d
}

// nextOf takes a delivery of each.
func (p *play) nextOf(ks ...idem.Key) {
	got := map[idem.Key]bool{}
	for range ks {
		d, err := p.l.Next(p.ctx, nil, lease)
		p.ok(err, "Next")
		got[d.Key] = true
	}
	for _, k := range ks {
		p.that(got[k], "Next did not deliver %q", k.Operation)
	}
}

func (p *play) nothing() {
	_, err := p.l.Next(p.ctx, nil, lease)
	p.refused(err, idem.ErrEmpty, "Next with nothing due")
}

// near reports whether d is want, but for the time that the case takes itself.
func near(d, want time.Duration) bool { return d > want-10*time.Minute && d <= want+10*time.Minute }
