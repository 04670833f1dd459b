package idemtest

import (
	"encoding/json/jsontext"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

func admission() []rule {
	return []rule{
		{"admit/new", "a new command is pending, due, without attempts, and takes nothing of its resource (T1)", nothing, admitNew},
		{"admit/same", "the same request finds the operation: in progress, and replayed once it is terminal", nothing, admitSame},
		{"admit/conflict", "the same key with another request hash is ErrConflict and changes nothing", nothing, admitConflict},
		{"admit/once", "of many Admits of one key at once exactly one inserts", nothing, admitOnce},
		{"admit/tenants", "an operation id is the tenant's: another tenant's is another operation", nothing, admitTenants},
		{"admit/bytes", "body, result, failure and meta come back as they went in, to the byte", nothing, admitBytes},
		{"admit/faulty", "a faulty command is ErrInvalid and is not inserted", nothing, admitFaulty},
		{"admit/available", "the outbox does not offer a command before AvailableIn; Claim does not wait for it", clock, admitAvailable},
	}
}

func admitNew(p *play) {
	c := command("op_1")
	r := p.admit(c)
	p.that(len(r.Attempts) == 0 && len(r.Evidence) == 0 && r.AvailableIn == 0, "a new record has attempts, evidence or a back-off")
	p.that(!r.CreatedAt.IsZero(), "CreatedAt is zero")
	p.slot(0, "")
	d := p.next(c.Key)
	p.that(d.Tool == c.Tool && d.State == idem.Pending && d.Attempt == 0, "the delivery says %q, %q, %d attempts", d.Tool, d.State, d.Attempt)
}

func admitSame(p *play) {
	c := command("op_1")
	p.admit(c)
	again := func(want idem.Admission, state idem.State) {
		r, how, err := p.l.Admit(p.ctx, c, false)
		p.ok(err, "second Admit")
		p.that(how == want && r.State == state, "second Admit: got %q, %q, want %q, %q", how, r.State, want, state)
		_, how, err = p.l.Admit(p.ctx, c, true)
		p.ok(err, "second Admit, consumed before")
		p.that(how == want, "second Admit, consumed before: got %q, want %q", how, want)
	}
	again(idem.InProgress, idem.Pending)
	claim := p.claim(c.Key)
	again(idem.InProgress, idem.Dispatching)
	p.finish(claim, succeeded())
	again(idem.Replayed, idem.Succeeded)
	r, _, err := p.l.Admit(p.ctx, c, false)
	p.ok(err, "Admit of a succeeded command")
	p.that(string(r.Result) == string(succeeded().Result), "the replay has another result")
}

func admitConflict(p *play) {
	c := command("op_1")
	p.admit(c)
	other := c
	other.RequestHash = "another"
	for _, consumed := range []bool{false, true} {
		_, _, err := p.l.Admit(p.ctx, other, consumed)
		p.refused(err, idem.ErrConflict, "Admit with another hash")
	}
	r := p.state(c.Key, idem.Pending)
	p.that(r.Command.RequestHash == c.RequestHash, "the hash was replaced")
	p.finish(p.claim(c.Key), succeeded())
	_, _, err := p.l.Admit(p.ctx, other, false)
	p.refused(err, idem.ErrConflict, "Admit with another hash of a terminal operation")
}

func admitOnce(p *play)     { once(p, false) }
func forgottenOnce(p *play) { once(p, true) }

func once(p *play, consumed bool) {
	c := command("op_1")
	var mu sync.Mutex
	count := map[idem.Admission]int{}
	together(func(int) {
		_, how, err := p.l.Admit(p.ctx, c, consumed)
		mu.Lock()
		defer mu.Unlock()
		count[how]++
		p.ok(err, "Admit")
	})
	p.that(count[idem.Admitted] == 1 && count[idem.InProgress] == 7, "8 Admits at once: %v", count)
}

func admitTenants(p *play) {
	c := command("op_1")
	p.end(c)
	other := c
	other.Key.Tenant, other.RequestHash = "globex", "another"
	p.dispatch(other)
	p.state(c.Key, idem.Succeeded)
	p.state(other.Key, idem.Dispatching)
	p.slot(2, "")
}

func admitBytes(p *play) {
	c := command("op_1")
	c.Body = jsontext.Value(`{"z":1E2,"a":9007199254740993,"z2":"é\u2028 <>"}`)
	p.admit(c)
	claim := p.claim(c.Key)
	p.that(string(claim.Command.Body) == string(c.Body), "Claim returned another body")
	p.that(claim.Command.Meta["policy"] == "3" && claim.Command.ProviderKey == c.ProviderKey && claim.Command.Contract == c.Contract &&
		claim.Command.Run == c.Run && claim.Command.Proposal == c.Proposal && claim.Command.Tool == c.Tool, "Claim returned another command")
	o := succeeded()
	o.Result = jsontext.Value(`{"n":1.0, "m":1e400}`)
	p.finish(claim, o)
	r := p.find(c.Key)
	p.that(string(r.Result) == string(o.Result) && r.Receipt == o.Receipt, "Find returned another result or receipt")
	p.that(string(r.Command.Body) == string(c.Body), "Find returned another body")

	d := on("r2", "op_2")
	f := envelope.New(envelope.UpstreamRejected).At("lines[3].sku").After(1500 * time.Millisecond)
	p.finish(p.dispatch(d), idem.Outcome{State: idem.Failed, Failure: f})
	got := p.find(d.Key).Failure
	p.that(got != nil && got.Code == f.Code && got.Field == f.Field && got.RetryAfter == f.RetryAfter && got.Message == f.Message, "Find returned another failure: %v", got)
}

func admitFaulty(p *play) {
	for name, spoil := range map[string]func(*idem.Command){
		"no tenant":         func(c *idem.Command) { c.Key.Tenant = "" },
		"no operation":      func(c *idem.Command) { c.Key.Operation = "" },
		"no hash":           func(c *idem.Command) { c.RequestHash = "" },
		"no resource":       func(c *idem.Command) { c.Resource = "" },
		"NUL in a text":     func(c *idem.Command) { c.Run = "a\x00b" },
		"no UTF-8":          func(c *idem.Command) { c.Resource = "\xff" },
		"negative time":     func(c *idem.Command) { c.ExpiresIn = -1 },
		"negative attempts": func(c *idem.Command) { c.Attempts = -1 },
		"unknown contract":  func(c *idem.Command) { c.Contract = "perhaps" },
	} {
		c := command("op_1")
		spoil(&c)
		_, _, err := p.l.Admit(p.ctx, c, false)
		p.refused(err, idem.ErrInvalid, "Admit of a command with "+name)
	}
	p.nothing()
}

func admitAvailable(p *play) {
	c := command("op_1")
	c.AvailableIn = 2 * time.Hour
	p.admit(c)
	p.nothing()
	p.advance(3 * time.Hour)
	p.next(c.Key)
	d := on("r2", "op_2")
	d.AvailableIn = 2 * time.Hour
	p.admit(d)
	p.claim(d.Key)
}

func forgotten() []rule {
	return []rule{
		{"forgotten/unknown", "a key that the ledger forgot, consumed before, is unknown and takes its resource whatever the sequence (T1b)", nothing, forgottenUnknown},
		{"forgotten/once", "of many Admits of one forgotten key at once exactly one inserts, and none is busy", nothing, forgottenOnce},
		{"forgotten/busy", "T1b on a resource that is open for another is ErrBusy and inserts nothing", nothing, forgottenBusy},
		{"forgotten/never-resent", "what was admitted as forgotten is never sent, not even replay_safe", nothing, forgottenNever},
	}
}

func forgottenUnknown(p *play) {
	c := at(77, command("op_1"))
	r, how, err := p.l.Admit(p.ctx, c, true)
	p.ok(err, "Admit, consumed before")
	p.that(how == idem.Admitted && r.State == idem.Unknown, "Admit, consumed before: got %q, %q", how, r.State)
	p.slot(1, "op_1")
	_, err = p.l.Claim(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrState, "Claim of a forgotten operation")
	rest, _, err := p.l.Unknown(p.ctx, tenant, idem.Page{})
	p.ok(err, "Unknown")
	p.that(len(rest) == 1, "the operator's queue has %d rows, want 1", len(rest))
}

func forgottenBusy(p *play) {
	p.doubt(command("op_1"))
	c := command("op_2")
	_, _, err := p.l.Admit(p.ctx, c, true)
	p.refused(err, idem.ErrBusy, "Admit, consumed before, on an open resource")
	_, err = p.l.Find(p.ctx, c.Key)
	p.refused(err, idem.ErrNotFound, "Find of what was not inserted")
	p.slot(1, "op_1")
}

func forgottenNever(p *play) {
	c := command("op_1")
	_, _, err := p.l.Admit(p.ctx, c, true)
	p.ok(err, "Admit, consumed before")
	open := p.claimOpen(c.Key)
	_, err = p.l.Resend(p.ctx, open, lease)
	p.refused(err, idem.ErrState, "Resend of a forgotten operation")
	p.finish(open, succeeded())
	p.slot(2, "")
}

// together runs f eight times at once.
func together(f func(i int)) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
