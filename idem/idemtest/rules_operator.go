package idemtest

import (
	"context"
	"fmt"
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

func restores() []rule {
	return []rule{
		{"restored/unknown", "after a restore every row that is not terminal is unknown, waits for an operator alone, and fences its holders", nothing, restoredUnknown},
		{"restored/waits", "nothing is admitted or claimed until the last such row is resolved", clock, restoredWaits},
		{"restored/shared", "of several restored rows on one resource it is kept by the one that was open, else by one of them, until that one is resolved", nothing, restoredShared},
		{"restored/sequence", "every sequence starts above all that were handed out before, of resources never seen too", nothing, restoredSequence},
	}
}

func restoredUnknown(p *play) {
	pend, disp, runs, done := on("ra", "op_a"), on("rb", "op_b"), on("rc", "op_c"), on("rd", "op_d")
	p.admit(pend)
	claim := p.dispatch(disp)
	p.finish(p.dispatch(runs), running())
	p.end(done)
	p.ok(p.l.Restored(p.ctx), "Restored")
	for _, c := range []idem.Command{pend, disp, runs} {
		p.state(c.Key, idem.Unknown)
		_, err := p.l.ClaimOpen(p.ctx, c.Key, "w", lease)
		p.refused(err, idem.ErrBusy, "ClaimOpen of a restored row")
		_, open, err := p.l.Resource(p.ctx, tenant, c.Resource)
		p.ok(err, "Resource")
		p.that(open == c.Key.Operation, "a restored row does not keep its resource closed")
	}
	p.state(done.Key, idem.Succeeded)
	_, err := p.l.Finish(p.ctx, claim, succeeded())
	p.refused(err, idem.ErrFenced, "Finish of a claim from before the restore")
}

func restoredWaits(p *play) {
	a, b, fresh := on("ra", "op_a"), on("rb", "op_b"), on("rc", "op_c")
	p.admit(a)
	p.doubt(b)
	p.ok(p.l.Restored(p.ctx), "Restored")
	waits := func() {
		for _, consumed := range []bool{false, true} {
			_, _, err := p.l.Admit(p.ctx, fresh, consumed)
			p.refused(err, idem.ErrBusy, "Admit while a restore waits")
		}
		_, how, err := p.l.Admit(p.ctx, b, false)
		p.that(err == nil && how == idem.InProgress, "Admit of a key that is there, while a restore waits: %q, %v", how, err)
	}
	waits()
	_, err := p.l.Resolve(p.ctx, a.Key, resolution(idem.Failed))
	p.refused(err, idem.ErrBusy, "Resolve as failed before Settle has passed since the restore")
	p.advance(6 * time.Hour)
	_, err = p.l.Resolve(p.ctx, a.Key, resolution(idem.Failed))
	p.ok(err, "Resolve")
	waits()
	_, err = p.l.Resolve(p.ctx, b.Key, resolution(idem.Succeeded))
	p.ok(err, "Resolve")
	seq, open, err := p.l.Resource(p.ctx, tenant, fresh.Resource)
	p.ok(err, "Resource")
	p.that(open == "", "a resource never seen is open")
	p.dispatch(at(seq, fresh))
}

func restoredShared(p *play) {
	type shared struct {
		res   string
		cmds  [2]idem.Command
		holds string // empty: either
	}
	all := make([]shared, 0, 32)
	for i := range 16 { // a store may go through them in any order
		name := fmt.Sprint("open-", i)
		s := shared{name, [2]idem.Command{on(name, name+"-1"), at(1, on(name, name+"-2"))}, name + "-1"}
		p.dispatch(s.cmds[0])
		p.admit(s.cmds[1])
		all = append(all, s)
		name = fmt.Sprint("free-", i)
		s = shared{name, [2]idem.Command{on(name, name+"-1"), on(name, name+"-2")}, ""}
		p.admit(s.cmds[0])
		p.admit(s.cmds[1])
		all = append(all, s)
	}
	p.ok(p.l.Restored(p.ctx), "Restored")
	for _, s := range all {
		seq, open, err := p.l.Resource(p.ctx, tenant, s.res)
		p.ok(err, "Resource")
		p.that(s.holds == "" || open == s.holds, "%s is kept by %q", s.res, open)
		holder, other := s.cmds[0].Key, s.cmds[1].Key
		if open == other.Operation {
			holder, other = other, holder
		}
		p.that(open == holder.Operation, "%s is kept by %q, which is none of its rows", s.res, open)
		_, err = p.l.Resolve(p.ctx, other, resolution(idem.Succeeded))
		p.ok(err, "Resolve of the one that does not keep it")
		p.slotOf(s.res, seq, open)
		_, err = p.l.Resolve(p.ctx, holder, resolution(idem.Succeeded))
		p.ok(err, "Resolve of the one that keeps it")
		p.slotOf(s.res, seq+1, "")
	}
}

func restoredSequence(p *play) {
	seen := command("op_1")
	p.end(seen)
	before := map[string]int64{}
	for _, r := range []string{resource, "never-seen"} {
		seq, _, err := p.l.Resource(p.ctx, tenant, r)
		p.ok(err, "Resource")
		before[r] = seq
	}
	for range 2 {
		p.ok(p.l.Restored(p.ctx), "Restored")
		for r, was := range before {
			seq, _, err := p.l.Resource(p.ctx, tenant, r)
			p.ok(err, "Resource")
			p.that(seq > was+1000, "the sequence of %s starts at %d after %d", r, seq, was)
			before[r] = seq - 1000
		}
	}
	c := at(2, command("op_2"))
	p.admit(c)
	_, err := p.l.Claim(p.ctx, c.Key, "w", lease)
	p.refused(err, idem.ErrSequence, "Claim of a proposal from before the restore")
	d := at(0, on("never-seen", "op_3"))
	p.admit(d)
	_, err = p.l.Claim(p.ctx, d.Key, "w", lease)
	p.refused(err, idem.ErrSequence, "Claim of a proposal from before the restore, of a resource never seen")
}

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

func handles() []rule {
	return []rule{
		{"durable/all", "what was answered is there after the process stopped", reopen, durableAll},
		{"peer/one", "of claims through many handles at once exactly one is given", peer, peerOne},
		{"peer/sees", "what one handle did the other sees at once, leases and fences with it", peer | clock, peerSees},
	}
}

func durableAll(p *play) {
	done, doubt, pend := on("ra", "op_a"), on("rb", "op_b"), on("rc", "op_c")
	p.end(done)
	claim := p.dispatch(doubt)
	p.admit(pend)
	before := p.find(done.Key)
	l, err := p.s.Reopen()
	p.ok(err, "opening it again")
	if p.err != nil {
		return
	}
	p.l = l
	after := p.state(done.Key, idem.Succeeded)
	p.that(string(after.Result) == string(before.Result) && after.CreatedAt.Equal(before.CreatedAt) && len(after.Attempts) == 1 && after.Command.Meta["policy"] == "3", "the record is another: %+v", after)
	p.finish(claim, idem.Outcome{State: idem.Unknown, RetryAfter: lease})
	p.state(doubt.Key, idem.Unknown)
	p.state(pend.Key, idem.Pending)
	p.slotOf("rb", 1, "op_b")
	p.next(pend.Key)
}

func (p *play) slotOf(res string, seq int64, open string) {
	s, o, err := p.l.Resource(p.ctx, tenant, res)
	p.ok(err, "Resource")
	p.that(s == seq && o == open, "the resource is (%d, %q), want (%d, %q)", s, o, seq, open)
}

func peerOne(p *play) {
	c := command("op_1")
	p.admit(c)
	ls := []idem.Ledger{p.l}
	for range 3 {
		l, err := p.s.Peer()
		p.ok(err, "Peer")
		if p.err != nil {
			return
		}
		ls = append(ls, l)
	}
	got := make(chan error, 8)
	together(func(i int) {
		_, err := ls[i%len(ls)].Claim(p.ctx, c.Key, "w", lease)
		got <- err
	})
	given := 0
	for range 8 {
		err := <-got
		if err == nil {
			given++
			continue
		}
		p.refused(err, idem.ErrState, "Claim beside another handle's")
	}
	p.that(given == 1, "%d of 8 claims were given", given)
}

func peerSees(p *play) {
	l, err := p.s.Peer()
	p.ok(err, "Peer")
	if p.err != nil {
		return
	}
	c := command("op_1")
	claim := p.dispatch(c)
	r, err := l.Find(p.ctx, c.Key)
	p.ok(err, "Find by the other")
	p.that(r.State == idem.Dispatching, "the other sees %q", r.State)
	p.advance(lease)
	open, err := l.ClaimOpen(p.ctx, c.Key, "other", lease)
	p.ok(err, "ClaimOpen by the other")
	_, err = p.l.Finish(p.ctx, claim, succeeded())
	p.refused(err, idem.ErrFenced, "Finish by the first")
	r, err = l.Finish(p.ctx, open, succeeded())
	p.ok(err, "Finish by the other")
	p.that(len(r.Evidence) == 1, "the first one's late outcome is no evidence for the other")
}
