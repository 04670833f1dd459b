package idemtest

import (
	"encoding/json/jsontext"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

func finishes() []rule {
	return []rule{
		{"finish/ends", "the holder ends its operation as succeeded or failed; the attempt and the outbox row end with it (T5)", nothing, finishEnds},
		{"finish/token", "a claim is believed by token and generation together, nothing else", nothing, finishToken},
		{"finish/unknown then known", "a claim that ended unknown and has learnt the outcome since is late: evidence, no change", nothing, finishUnknownThenKnown},
		{"finish/again", "the claim that finished may repeat itself and gets the record", nothing, finishAgain},
		{"finish/other", "a claim that says something else than before is late: what it said first stands, the rest is evidence", nothing, finishOther},
		{"finish/since", "a Finish is no repetition any more once the row was resolved, claimed or put right by another", clock, finishSince},
		{"finish/terminal", "a terminal operation never changes", nothing, finishTerminal},
		{"finish/states", "no claim ends in a state that is not its to give", nothing, finishStates},
		{"finish/faulty", "a faulty outcome is ErrInvalid and changes nothing", nothing, finishFaulty},
		{"finish/faulty-output", "success may carry a failure in place of its result: the effect is there, its report is not", nothing, finishOutput},
		{"evidence/receipt", "a late receipt is kept, and an unknown operation without one shows it", nothing, evidenceReceipt},
		{"evidence/kept", "a late outcome changes nothing and is kept, once, also beside a terminal state", clock, evidenceKept},
	}
}

func finishEnds(p *play) {
	for i, o := range []idem.Outcome{succeeded(), failed()} {
		c := on("r-"+string(o.State), "op_"+string(o.State))
		r := p.finish(p.dispatch(c), o)
		p.that(r.State == o.State, "Finish made it %q, want %q", r.State, o.State)
		p.that(len(r.Attempts) == 1 && r.Attempts[0].Outcome == string(o.State) && !r.Attempts[0].EndedAt.IsZero(), "case %d: the attempt did not end: %+v", i, r.Attempts)
		p.state(c.Key, o.State)
	}
	p.nothing()
}

func finishToken(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	for name, spoil := range map[string]func(*idem.Claim){
		"another token":         func(c *idem.Claim) { c.Token = "guess" },
		"no token":              func(c *idem.Claim) { c.Token = "" },
		"an older generation":   func(c *idem.Claim) { c.Generation-- },
		"a higher generation":   func(c *idem.Claim) { c.Generation++ },
		"the key of another":    func(c *idem.Claim) { c.Key.Operation = "op_2" },
		"the tenant of another": func(c *idem.Claim) { c.Key.Tenant = "globex" },
	} {
		bad := claim
		spoil(&bad)
		want := idem.ErrFenced
		if bad.Key != claim.Key {
			want = idem.ErrNotFound
		}
		_, err := p.l.Finish(p.ctx, bad, succeeded())
		p.refused(err, want, "Finish with "+name)
		_, err = p.l.Renew(p.ctx, bad, lease)
		p.refused(err, want, "Renew with "+name)
	}
	p.state(c.Key, idem.Dispatching)
	p.finish(claim, succeeded())
}

func finishAgain(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	p.finish(claim, succeeded())
	r := p.finish(claim, succeeded())
	p.that(r.State == idem.Succeeded && len(r.Evidence) == 0, "repeated Finish: %q, %d evidence", r.State, len(r.Evidence))
	d := on("r2", "op_2")
	claim = p.dispatch(d)
	p.finish(claim, notSent())
	again := notSent()
	again.RetryAfter = time.Hour
	r = p.finish(claim, again)
	p.that(r.State == idem.Pending && r.Command.Seq == 2, "repeated NotSent: %q at sequence %d", r.State, r.Command.Seq)
}

// late reports o under a claim that has lost its place, and looks whether it was kept as the n-th evidence.
func (p *play) late(claim idem.Claim, o idem.Outcome, n int, what string) idem.Record {
	_, err := p.l.Finish(p.ctx, claim, o)
	p.refused(err, idem.ErrFenced, what)
	r := p.find(claim.Key)
	p.that(len(r.Evidence) == n, "%s: %d rows of evidence, want %d", what, len(r.Evidence), n)
	if p.err == nil && n > 0 && o.State != idem.Unknown {
		got := r.Evidence[n-1].Outcome
		p.that(got.State == o.State && got.Receipt == o.Receipt, "%s: the evidence is %q with receipt %q", what, got.State, got.Receipt)
	}
	return r
}

func finishOther(p *play) {
	other := succeeded()
	other.Result = jsontext.Value(`{"version":"19"}`)
	for i, c := range []struct{ first, then idem.Outcome }{
		{succeeded(), unknown()},
		{succeeded(), failed()},
		{succeeded(), other},
		{failed(), succeeded()},
		{notSent(), succeeded()},
		{notSent(), unknown()},
		{unknown(), notSent()},
		{unknown(), running()},
		{running(), idem.Outcome{State: idem.Running, Receipt: "job-2"}},
	} {
		cmd := on(fmt.Sprint("r-", i), fmt.Sprint("op_", i))
		claim := p.dispatch(cmd)
		before := p.finish(claim, c.first)
		n := 1
		if c.then.State == idem.Unknown {
			n = 0
		}
		r := p.late(claim, c.then, n, fmt.Sprintf("%s after %s", c.then.State, c.first.State))
		p.that(r.State == before.State && string(r.Result) == string(before.Result) && r.Command.Seq == before.Command.Seq, "%s after %s changed it to %q", c.then.State, c.first.State, r.State)
		r = p.finish(claim, c.first)
		p.that(r.State == before.State, "what it said first, again: %q", r.State)
	}
}

func finishSince(p *play) {
	resolved := on("ra", "op_a")
	claim := p.dispatch(resolved)
	p.finish(claim, unknown())
	p.advance(6 * time.Hour)
	_, err := p.l.Resolve(p.ctx, resolved.Key, resolution(idem.Failed))
	p.ok(err, "Resolve")
	p.late(claim, unknown(), 0, "Finish as unknown, again after a resolution")
	r := p.late(claim, succeeded(), 1, "Finish after a resolution")
	p.that(r.State == idem.Failed, "a resolution was changed to %q", r.State)

	claimed := on("rb", "op_b")
	claim = p.dispatch(claimed)
	p.finish(claim, notSent())
	second := p.claim(claimed.Key)
	p.late(claim, notSent(), 1, "Finish as NotSent, again after another claim")
	p.finish(second, succeeded())

	ran := on("rc", "op_c")
	claim = p.dispatch(ran)
	p.finish(claim, running())
	p.advance(11 * time.Hour)
	p.state(ran.Key, idem.Unknown)
	p.late(claim, running(), 1, "Finish as running, again after its time")

	closed := on("rd", "op_d")
	claim = p.dispatch(closed)
	p.finish(claim, notSent())
	_, err = p.l.Close(p.ctx, closed.Key, idem.Cancelled, "")
	p.ok(err, "Close")
	p.late(claim, notSent(), 1, "Finish as NotSent, again after it was cancelled")
}

func finishUnknownThenKnown(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	p.finish(claim, unknown())
	for range 2 {
		_, err := p.l.Finish(p.ctx, claim, succeeded())
		p.refused(err, idem.ErrFenced, "Finish of a claim that had ended unknown")
	}
	p.state(c.Key, idem.Unknown)
	r, err := p.l.Find(p.ctx, c.Key)
	p.ok(err, "Find")
	p.that(len(r.Evidence) == 1 && r.Evidence[0].Outcome.State == idem.Succeeded, "late success: %d evidence", len(r.Evidence))
}

func finishTerminal(p *play) {
	ends := map[idem.State]func(c idem.Command) idem.Claim{
		idem.Succeeded: func(c idem.Command) idem.Claim { cl := p.dispatch(c); p.finish(cl, succeeded()); return cl },
		idem.Failed:    func(c idem.Command) idem.Claim { cl := p.dispatch(c); p.finish(cl, failed()); return cl },
		idem.Denied:    func(c idem.Command) idem.Claim { return p.shut(c, idem.Denied) },
		idem.Cancelled: func(c idem.Command) idem.Claim { return p.shut(c, idem.Cancelled) },
	}
	for s, end := range ends {
		c := on("r-"+string(s), "op_"+string(s))
		claim := end(c)
		before := p.find(c.Key)
		_, err := p.l.Claim(p.ctx, c.Key, "w", lease)
		p.refused(err, idem.ErrState, "Claim of "+string(s))
		_, err = p.l.ClaimOpen(p.ctx, c.Key, "w", lease)
		p.refused(err, idem.ErrState, "ClaimOpen of "+string(s))
		_, err = p.l.Resolve(p.ctx, c.Key, resolution(idem.Succeeded))
		p.refused(err, idem.ErrState, "Resolve of "+string(s))
		for _, to := range []idem.State{idem.Denied, idem.Expired, idem.Cancelled} {
			_, err = p.l.Close(p.ctx, c.Key, to, "")
			p.refused(err, idem.ErrState, "Close of "+string(s))
		}
		_, err = p.l.Renew(p.ctx, claim, lease)
		p.refused(err, idem.ErrFenced, "Renew of "+string(s))
		_, err = p.l.Finish(p.ctx, idem.Claim{Key: c.Key, Generation: 1, Token: "guess"}, failed())
		p.refused(err, idem.ErrFenced, "Finish of "+string(s))
		after := p.state(c.Key, s)
		p.that(string(after.Result) == string(before.Result) && after.UpdatedAt.Equal(before.UpdatedAt), "%s changed", s)
	}
}

// shut admits and closes.
func (p *play) shut(c idem.Command, to idem.State) idem.Claim {
	p.admit(c)
	_, err := p.l.Close(p.ctx, c.Key, to, "")
	p.ok(err, "Close")
	return idem.Claim{Key: c.Key, Generation: 1, Token: "none"}
}

func finishStates(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	for _, s := range []idem.State{idem.Cancelled, idem.Denied, idem.Expired, idem.Dispatching} {
		_, err := p.l.Finish(p.ctx, claim, idem.Outcome{State: s})
		p.refused(err, idem.ErrState, "Finish of a dispatch claim as "+string(s))
	}
	p.state(c.Key, idem.Dispatching)
	p.finish(claim, unknown())
	open := p.claimOpen(c.Key)
	for _, s := range []idem.State{idem.Cancelled, idem.Denied, idem.Expired, idem.Dispatching} {
		_, err := p.l.Finish(p.ctx, open, idem.Outcome{State: s})
		p.refused(err, idem.ErrState, "Finish of an unknown operation's ClaimOpen as "+string(s))
	}
	p.state(c.Key, idem.Unknown)
}

func finishFaulty(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	for name, o := range map[string]idem.Outcome{
		"no state":             {},
		"an unknown state":     {State: "done"},
		"a result of no JSON":  {State: idem.Succeeded, Result: jsontext.Value(`{"a":`)},
		"a result and failure": {State: idem.Succeeded, Result: jsontext.Value(`1`), Failure: envelope.New(envelope.Internal)},
		"a failure's result":   {State: idem.Failed, Result: jsontext.Value(`1`)},
		"a negative back-off":  {State: idem.Pending, RetryAfter: -time.Second},
		"a NUL in the receipt": {State: idem.Running, Receipt: "a\x00"},
	} {
		_, err := p.l.Finish(p.ctx, claim, o)
		p.refused(err, idem.ErrInvalid, "Finish with "+name)
	}
	p.state(c.Key, idem.Dispatching)
	p.finish(claim, succeeded())
}

func finishOutput(p *play) {
	c := command("op_1")
	p.finish(p.dispatch(c), idem.Outcome{State: idem.Succeeded, Failure: envelope.New(envelope.OutputInvalid)})
	r := p.state(c.Key, idem.Succeeded)
	p.that(r.Result == nil && r.Failure != nil && r.Failure.Code == envelope.OutputInvalid, "result %q, failure %v", r.Result, r.Failure)
}

func evidenceKept(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	p.advance(2 * lease)
	p.state(c.Key, idem.Unknown)
	late := func() {
		for range 2 {
			_, err := p.l.Finish(p.ctx, claim, succeeded())
			p.refused(err, idem.ErrFenced, "late Finish")
		}
		_, err := p.l.Finish(p.ctx, claim, unknown())
		p.refused(err, idem.ErrFenced, "late Finish as unknown")
	}
	late()
	r := p.state(c.Key, idem.Unknown)
	p.that(len(r.Evidence) == 1, "%d rows of evidence, want 1", len(r.Evidence))
	if p.err == nil {
		e := r.Evidence[0]
		p.that(e.Generation == claim.Generation && e.Outcome.State == idem.Succeeded && string(e.Outcome.Result) == string(succeeded().Result) && e.Outcome.Receipt == succeeded().Receipt && !e.At.IsZero(), "the evidence is another: %+v", e)
	}
	p.advance(6 * time.Hour)
	_, err := p.l.Resolve(p.ctx, c.Key, resolution(idem.Failed))
	p.ok(err, "Resolve")
	_, err = p.l.Finish(p.ctx, claim, failed())
	p.refused(err, idem.ErrFenced, "late Finish of a terminal operation")
	r = p.state(c.Key, idem.Failed)
	p.that(len(r.Evidence) == 2, "%d rows of evidence beside a terminal state, want 2", len(r.Evidence))
}

func evidenceReceipt(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	p.finish(claim, unknown())
	p.that(p.find(c.Key).Receipt == "", "a receipt of nobody")
	r := p.late(claim, running(), 1, "Running after unknown")
	p.that(r.State == idem.Unknown && r.Receipt == running().Receipt, "%q with receipt %q", r.State, r.Receipt)
	listed, _, err := p.l.Unknown(p.ctx, tenant, idem.Page{})
	p.ok(err, "Unknown")
	p.that(len(listed) == 1 && listed[0].Receipt == running().Receipt, "the list does not show the receipt")
}

func proofs() []rule {
	return []rule{
		{"not-sent/pending", "NotSent leads back to pending, re-stamped, with its resource free and its outbox row armed (T7)", nothing, notSentPending},
		{"not-sent/raises", "NotSent raises the sequence: what was proposed while it was open cannot run", nothing, notSentRaises},
		{"not-sent/doubtful", "NotSent after an unknown claim is unknown again, never pending", nothing, notSentDoubtful},
	}
}

func notSentPending(p *play) {
	c := command("op_1")
	r := p.finish(p.dispatch(c), notSent())
	p.that(r.State == idem.Pending && r.Command.Seq == 2, "NotSent made it %q at sequence %d, want pending at 2", r.State, r.Command.Seq)
	p.that(len(r.Attempts) == 1 && r.Attempts[0].Outcome == string(idem.Pending), "the attempt is %+v", r.Attempts)
	p.slot(2, "")
	p.next(c.Key)
	p.finish(p.claim(c.Key), succeeded())
	p.slot(4, "")
}

func notSentRaises(p *play) {
	first, second := command("op_1"), at(1, command("op_2"))
	claim := p.dispatch(first)
	p.admit(second)
	p.finish(claim, notSent())
	_, err := p.l.Claim(p.ctx, second.Key, "w", lease)
	p.refused(err, idem.ErrSequence, "Claim of what was proposed before the NotSent")
}

func notSentDoubtful(p *play) {
	c := command("op_1")
	p.doubt(c)
	sent, err := p.l.Resend(p.ctx, p.claimOpen(c.Key), lease)
	p.ok(err, "Resend")
	r := p.finish(sent, notSent())
	p.that(r.State == idem.Unknown, "NotSent after a resend made it %q", r.State)
	p.slot(1, "op_1")
	r = p.finish(p.claimOpen(c.Key), notSent())
	p.that(r.State == idem.Unknown, "NotSent of a ClaimOpen made it %q", r.State)
	_, err = p.l.Claim(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrState, "Claim of an unknown operation")
}

func resources() []rule {
	return []rule{
		{"resource/own", "closing a pending operation leaves the resource to the operation that is open on it", nothing, resourceOwn},
		{"resource/held", "unknown and running keep the resource closed, and its sequence", nothing, resourceHeld},
		{"resource/raised", "an end raises the sequence, whatever end it is", nothing, resourceRaised},
		{"resource/tenant", "resources of two tenants are two", nothing, resourceTenant},
	}
}

func resourceOwn(p *play) {
	claim := p.dispatch(command("op_1"))
	for i, to := range []idem.State{idem.Denied, idem.Cancelled} {
		p.shut(at(1, command("op_"+string(to))), to)
		p.slot(1, "op_1")
		_ = i
	}
	p.finish(claim, succeeded())
	p.slot(2, "")
}

func resourceHeld(p *play) {
	c := command("op_1")
	p.finish(p.dispatch(c), running())
	p.slot(1, "op_1")
	p.finish(p.claimOpen(c.Key), unknown())
	p.slot(1, "op_1")
	p.finish(p.claimOpen(c.Key), succeeded())
	p.slot(2, "")
}

func resourceRaised(p *play) {
	p.end(command("op_1"))
	p.slot(2, "")
	p.finish(p.dispatch(at(2, command("op_2"))), failed())
	p.slot(4, "")
	p.doubt(at(4, command("op_3")))
	_, err := p.l.Resolve(p.ctx, idem.Key{Tenant: tenant, Operation: "op_3"}, resolution(idem.Succeeded))
	p.ok(err, "Resolve")
	p.slot(6, "")
}

func resourceTenant(p *play) {
	p.dispatch(command("op_1"))
	c := command("op_1")
	c.Key.Tenant = "globex"
	p.dispatch(c)
	p.slot(1, "op_1")
}
