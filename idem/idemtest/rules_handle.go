package idemtest

import (
	"github.com/toolcontract/toolcontract/idem"
)

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
