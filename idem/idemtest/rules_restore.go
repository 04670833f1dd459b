package idemtest

import (
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

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
