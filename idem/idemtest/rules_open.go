package idemtest

import (
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

func runnings() []rule {
	return []rule{
		{"running/receipt", "running keeps the receipt, frees the claim and is polled when it asked to be (T5b)", clock, runningReceipt},
		{"running/until", "past RunFor a running operation is unknown to whoever reads it (T6)", clock, runningUntil},
		{"running/poll", "a poll that finds it still running does not extend its time", clock, runningPoll},
		{"running/cancelled", "a ClaimOpen of a running operation may end it as cancelled (T12)", nothing, runningCancelled},
		{"running/fences", "the claim that reported running is over", nothing, runningFences},
	}
}

func runningReceipt(p *play) {
	c := command("op_1")
	o := running()
	o.RetryAfter = 2 * time.Hour
	r := p.finish(p.dispatch(c), o)
	p.that(r.State == idem.Running && r.Receipt == "job-1" && near(r.AvailableIn, o.RetryAfter), "running: %q, receipt %q, to be polled in %v", r.State, r.Receipt, r.AvailableIn)
	p.that(len(r.Attempts) == 1 && r.Attempts[0].Outcome == string(idem.Running), "the attempt is %+v", r.Attempts)
	p.nothing()
	p.advance(3 * time.Hour)
	d := p.next(c.Key)
	p.that(d.State == idem.Running, "the delivery says %q", d.State)
	p.finish(p.claimOpen(c.Key), succeeded())
	p.state(c.Key, idem.Succeeded)
}

func runningUntil(p *play) {
	c := command("op_1")
	p.finish(p.dispatch(c), running())
	p.advance(9 * time.Hour)
	p.state(c.Key, idem.Running)
	p.advance(time.Hour)
	r := p.state(c.Key, idem.Unknown)
	p.that(r.Receipt == "job-1", "the receipt was lost")
	o := running()
	o.Receipt = ""
	r = p.finish(p.claimOpen(c.Key), o)
	p.that(r.State == idem.Running && r.Receipt == "job-1", "running again: %q, receipt %q", r.State, r.Receipt)
	p.advance(9 * time.Hour)
	p.state(c.Key, idem.Running)

	d := on("r2", "op_2")
	o = running()
	o.RetryAfter = 100 * time.Hour // its next poll is after its time
	p.finish(p.dispatch(d), o)
	p.advance(11 * time.Hour)
	r = p.state(d.Key, idem.Unknown)
	p.that(r.AvailableIn == 0, "an operation whose time was over is available in %v", r.AvailableIn)
	p.nextOf(c.Key, d.Key)
}

func runningPoll(p *play) {
	c := command("op_1")
	p.finish(p.dispatch(c), running())
	for range 3 {
		p.advance(3 * time.Hour)
		p.finish(p.claimOpen(c.Key), running())
	}
	p.state(c.Key, idem.Running)
	p.advance(3 * time.Hour)
	p.state(c.Key, idem.Unknown)
}

func runningCancelled(p *play) {
	c := command("op_1")
	p.finish(p.dispatch(c), running())
	r := p.finish(p.claimOpen(c.Key), cancelled())
	p.that(r.State == idem.Cancelled, "stopped: %q", r.State)
	p.slot(2, "")
}

func runningFences(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	p.finish(claim, running())
	_, err := p.l.Renew(p.ctx, claim, lease)
	p.refused(err, idem.ErrFenced, "Renew after Running")
	open := p.claimOpen(c.Key)
	p.finish(open, succeeded())
	p.state(c.Key, idem.Succeeded)
}

func openClaims() []rule {
	return []rule{
		{"open/states", "ClaimOpen is for unknown and running operations, keeps their state and returns the body", nothing, openStates},
		{"open/one", "of many ClaimOpens at once exactly one is given", nothing, openOne},
		{"open/busy", "ClaimOpen is ErrBusy while a live lease stands, and fences a holder whose lease is over", clock, openBusy},
		{"open/idle", "Idle is the time since the last dispatch claim ended, at the ClaimOpen", clock, openIdle},
		{"open/release", "what learned nothing releases the operation with back-off, in the state it was", clock, openRelease},
	}
}

func openStates(p *play) {
	c := command("op_1")
	p.admit(c)
	_, err := p.l.ClaimOpen(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrState, "ClaimOpen of a pending operation")
	p.finish(p.claim(c.Key), unknown())
	open := p.claimOpen(c.Key)
	p.that(string(open.Command.Body) == string(c.Body), "ClaimOpen returned another body")
	r := p.state(c.Key, idem.Unknown)
	p.that(len(r.Attempts) == 1, "ClaimOpen made an attempt")
	p.finish(open, running())
	p.claimOpen(c.Key)
	p.state(c.Key, idem.Running)
}

func openOne(p *play) {
	c := command("op_1")
	p.doubt(c)
	given, done := make(chan bool, 8), 0
	together(func(int) {
		_, err := p.l.ClaimOpen(p.ctx, c.Key, "w", lease)
		given <- err == nil
	})
	for range 8 {
		if <-given {
			done++
		}
	}
	p.that(done == 1, "%d of 8 ClaimOpens were given", done)
}

func openBusy(p *play) {
	c := command("op_1")
	p.admit(c)
	p.claim(c.Key)
	_, err := p.l.ClaimOpen(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrBusy, "ClaimOpen beside a live dispatch claim")
	p.advance(lease)
	open := p.claimOpen(c.Key)
	_, err = p.l.ClaimOpen(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrBusy, "ClaimOpen beside a live one")
	p.advance(lease)
	second := p.claimOpen(c.Key)
	_, err = p.l.Finish(p.ctx, open, failed())
	p.refused(err, idem.ErrFenced, "Finish of a ClaimOpen after another was given")
	p.state(c.Key, idem.Unknown)
	p.finish(second, succeeded())
}

func openIdle(p *play) {
	c := command("op_1")
	p.dispatch(c)
	p.advance(lease + 3*time.Hour) // ended with its lease
	open := p.claimOpen(c.Key)
	p.that(near(open.Idle, 3*time.Hour), "Idle is %v, want three hours", open.Idle)
	p.advance(lease / 2)
	renewed, err := p.l.Renew(p.ctx, open, lease)
	p.ok(err, "Renew")
	p.that(renewed.Idle == open.Idle, "Renew changed Idle to %v", renewed.Idle)
	sent, err := p.l.Resend(p.ctx, renewed, lease)
	p.ok(err, "Resend")
	p.finish(sent, unknown())
	p.advance(2 * time.Hour)
	open = p.claimOpen(c.Key)
	p.that(near(open.Idle, 2*time.Hour), "Idle after a resend is %v, want two hours", open.Idle)
}

func openRelease(p *play) {
	c := command("op_1")
	p.doubt(c)
	o := unknown()
	o.RetryAfter = 2 * time.Hour
	r := p.finish(p.claimOpen(c.Key), o)
	p.that(r.State == idem.Unknown && near(r.AvailableIn, o.RetryAfter), "released: %q, available in %v", r.State, r.AvailableIn)
	p.nothing()
	p.finish(p.claimOpen(c.Key), unknown())
	p.next(c.Key)
	p.finish(p.claimOpen(c.Key), running())
	r = p.finish(p.claimOpen(c.Key), unknown())
	p.that(r.State == idem.Running, "released from running: %q", r.State)
}

func resends() []rule {
	return []rule{
		{"resend/given", "the holder of an unknown replay_safe operation may send the same bytes again, under a fresh token (T9)", nothing, resendGiven},
		{"resend/contract", "only replay_safe is sent again", nothing, resendContract},
		{"resend/state", "only an unknown operation is sent again", nothing, resendState},
		{"resend/window", "nothing is sent again after DedupFor, and no lease of a resend is longer than what is left of it", clock, resendWindow},
		{"resend/expired", "nothing is sent again after the expiry", clock, resendExpired},
		{"resend/attempts", "resends count as attempts", nothing, resendAttempts},
		{"resend/holder", "a ClaimOpen whose lease is over, or another's, gives no resend", clock, resendHolder},
	}
}

func resendGiven(p *play) {
	c := command("op_1")
	p.doubt(c)
	open := p.claimOpen(c.Key)
	sent, err := p.l.Resend(p.ctx, open, lease)
	p.ok(err, "Resend")
	p.that(string(sent.Command.Body) == string(c.Body) && sent.Command.ProviderKey == c.ProviderKey, "Resend returned another command")
	r := p.state(c.Key, idem.Dispatching)
	p.that(len(r.Attempts) == 2 && r.Attempts[1].Worker == "resolver-1" && r.Attempts[1].Generation == sent.Generation, "the attempts are %+v", r.Attempts)
	_, err = p.l.Finish(p.ctx, open, succeeded())
	p.refused(err, idem.ErrFenced, "Finish of the ClaimOpen that was turned into a resend")
	p.slot(1, "op_1")
	p.finish(sent, succeeded())
	p.slot(2, "")
}

func resendContract(p *play) {
	for _, contract := range []idem.Contract{"", idem.None, idem.StatusQueryable, idem.NotFoundIsFinal} {
		c := on("r-"+string(contract), "op_"+string(contract))
		c.Contract = contract
		p.doubt(c)
		open := p.claimOpen(c.Key)
		_, err := p.l.Resend(p.ctx, open, lease)
		p.refused(err, idem.ErrState, "Resend under contract "+string(contract))
		p.state(c.Key, idem.Unknown)
		p.finish(open, succeeded())
	}
}

func resendState(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	_, err := p.l.Resend(p.ctx, claim, lease)
	p.refused(err, idem.ErrState, "Resend under a dispatch claim")
	p.finish(claim, running())
	_, err = p.l.Resend(p.ctx, p.claimOpen(c.Key), lease)
	p.refused(err, idem.ErrState, "Resend of a running operation")
	p.state(c.Key, idem.Running)
}

func resendWindow(p *play) {
	c := command("op_1")
	c.DedupFor = 10 * time.Hour
	p.doubt(c)
	p.advance(8 * time.Hour)
	sent, err := p.l.Resend(p.ctx, p.claimOpen(c.Key), 5*time.Hour)
	p.ok(err, "Resend inside the window")
	p.that(near(sent.Lease, 2*time.Hour), "a resend's lease is %v, want the window's rest", sent.Lease)
	p.advance(time.Hour)
	renewed, err := p.l.Renew(p.ctx, sent, 5*time.Hour)
	p.ok(err, "Renew of a resend")
	p.that(near(renewed.Lease, time.Hour), "a resend's renewed lease is %v, want the window's rest", renewed.Lease)
	p.advance(time.Hour + time.Minute)
	p.state(c.Key, idem.Unknown)
	_, err = p.l.Resend(p.ctx, p.claimOpen(c.Key), lease)
	p.refused(err, idem.ErrState, "Resend after the window")

	d := on("r2", "op_2")
	d.DedupFor = 0
	p.doubt(d)
	_, err = p.l.Resend(p.ctx, p.claimOpen(d.Key), lease)
	p.refused(err, idem.ErrState, "Resend without a window")
}

func resendExpired(p *play) {
	c := command("op_1")
	c.ExpiresIn = 3 * time.Hour
	p.doubt(c)
	p.advance(3 * time.Hour)
	_, err := p.l.Resend(p.ctx, p.claimOpen(c.Key), lease)
	p.refused(err, idem.ErrState, "Resend after the expiry")
	p.state(c.Key, idem.Unknown)
}

func resendAttempts(p *play) {
	c := command("op_1")
	c.Attempts = 2
	p.doubt(c)
	sent, err := p.l.Resend(p.ctx, p.claimOpen(c.Key), lease)
	p.ok(err, "Resend")
	p.finish(sent, unknown())
	_, err = p.l.Resend(p.ctx, p.claimOpen(c.Key), lease)
	p.refused(err, idem.ErrAttempts, "Resend beyond the attempts")
	p.state(c.Key, idem.Unknown)
}

func resendHolder(p *play) {
	c := command("op_1")
	p.doubt(c)
	open := p.claimOpen(c.Key)
	bad := open
	bad.Token = "guess"
	_, err := p.l.Resend(p.ctx, bad, lease)
	p.refused(err, idem.ErrFenced, "Resend with another token")
	p.advance(lease)
	_, err = p.l.Resend(p.ctx, open, lease)
	p.refused(err, idem.ErrFenced, "Resend past the ClaimOpen's lease")
	p.state(c.Key, idem.Unknown)
}
