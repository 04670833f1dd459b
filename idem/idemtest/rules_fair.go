package idemtest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

func fairness() []rule {
	return []rule{
		{"outbox/fair", "Next goes round the tenants that have a row due, the oldest first of each: who has many makes nobody wait", clock, outboxFair},
	}
}

// outboxFair plays scenes, each with a tool of its own.
func outboxFair(p *play) {
	p.fairToTheLate("t1", "m", "a", "z")
	p.fairAsThingsAre("t2")
	p.fairToTheRescheduled("t3", "b", "a")
	p.fairToTheRescheduled("t4", "a", "b")
	p.fairByTools("t5", "t6")
}

// of admits a command of a tenant, due after the given time.
func (p *play) of(tool, tenant string, n int, after time.Duration) idem.Key {
	c := on(fmt.Sprint("r-", tool, n), fmt.Sprint("op_", tool, "_", n))
	c.Key.Tenant, c.Tool, c.AvailableIn = tenant, tool, after
	p.admit(c)
	return c.Key
}

func (p *play) turn(tools ...string) idem.Delivery {
	d, err := p.l.Next(p.ctx, tools, lease)
	p.ok(err, "Next while something is due")
	return d
}

// fairToTheLate has one tenant with many rows, and others whose rows came later.
func (p *play) fairToTheLate(tool, many string, late ...string) {
	want := map[string][]string{}
	add := func(tenant string, n int) {
		want[tenant] = append(want[tenant], p.of(tool, tenant, n, 0).Operation)
		p.advance(time.Second)
	}
	for n := range 10 {
		add(many, 90-n) // the oldest is the last by name
	}
	got := map[string][]string{}
	take := func() {
		d := p.turn(tool)
		got[d.Key.Tenant] = append(got[d.Key.Tenant], d.Key.Operation)
	}
	take()
	p.advance(time.Minute)
	for i, tenant := range late {
		add(tenant, 10*i+1)
		add(tenant, 10*i)
	}
	for range 2 * (1 + len(late)) {
		take()
	}
	for tenant := range want {
		p.that(len(got[tenant]) > 0, "tenant %q was not served in twice as many deliveries as there are tenants: %v", tenant, got)
	}
	for range 10 + 2*len(late) - 1 - 2*(1+len(late)) {
		take()
	}
	for tenant := range want {
		p.that(slices.Equal(got[tenant], want[tenant]), "tenant %q was delivered %v, want each once and the oldest first: %v", tenant, got[tenant], want[tenant])
	}
	_, err := p.l.Next(p.ctx, []string{tool}, lease)
	p.refused(err, idem.ErrEmpty, "Next after all")
}

// fairAsThingsAre has tenants whose rows are not due, or claimed, where their turn would be.
func (p *play) fairAsThingsAre(tool string) {
	for n, tenant := range []string{"a", "a", "e", "e"} {
		p.of(tool, tenant, n, 0)
	}
	p.of(tool, "b", 4, 2*lease)
	p.claim(p.of(tool, "c", 5, 0))
	p.claim(p.of(tool, "d", 6, 0))
	p.advance(time.Second)
	free := p.of(tool, "d", 7, 0)
	served := make([]string, 0, 5)
	for range cap(served) {
		d := p.turn(tool)
		served = append(served, d.Key.Tenant)
		p.that(d.Key.Tenant != "d" || d.Key == free, "Next delivered a claimed row")
	}
	first := slices.Sorted(slices.Values(served[:3]))
	p.that(slices.Equal(first, []string{"a", "d", "e"}), "the first turns of those with a row due went to %v", served)
	_, err := p.l.Next(p.ctx, []string{tool}, lease)
	p.refused(err, idem.ErrEmpty, "Next with nothing due")
	p.advance(2 * lease)
	again := map[string]int{}
	for range 8 {
		again[p.turn(tool).Key.Tenant]++
	}
	p.that(again["a"] == 2 && again["b"] == 1 && again["c"] == 1 && again["d"] == 2 && again["e"] == 2, "when all were due: %v", again)
}

// fairToTheRescheduled has a tenant whose rows are due again at once, for ever.
func (p *play) fairToTheRescheduled(tool, busy, other string) {
	p.of(tool, busy, 1, 0)
	p.of(tool, busy, 2, 0)
	round := func() string {
		d := p.turn(tool)
		if d.Key.Tenant == busy {
			p.ok(p.l.Later(p.ctx, d, 0), "Later")
		}
		return d.Key.Tenant
	}
	for range 5 {
		round()
	}
	p.advance(time.Minute)
	p.of(tool, other, 3, 0)
	served := make([]string, 0, 4)
	for range cap(served) {
		served = append(served, round())
	}
	p.that(slices.Contains(served, other), "the turns went to %v, and %q waits", served, other)
	p.advance(lease)
	p.of(tool, other, 4, 0)
	seen := map[idem.Key]bool{}
	for range 8 { // both rows of the other, and both of the busy one: nobody hides its own
		d := p.turn(tool)
		seen[d.Key] = true
		p.ok(p.l.Later(p.ctx, d, 0), "Later")
		p.advance(time.Second)
	}
	p.that(len(seen) == 4, "of four rows that are due again and again %d were delivered", len(seen))
}

// fairByTools has two workers on one handle, whose turns are not each other's.
func (p *play) fairByTools(one, two string) {
	for n, tenant := range []string{"a", "a", "a", "c", "c", "c"} {
		p.of(one, tenant, n, 0)
	}
	for n := range 4 {
		p.of(two, "b", 10+n, 0)
	}
	served := make([]string, 0, 4)
	for range cap(served) {
		served = append(served, p.turn(one).Key.Tenant)
		p.turn(two)
	}
	p.that(slices.Contains(served[:2], "a") && slices.Contains(served[:2], "c"), "the turns of one worker went to %v beside another's", served)
	for {
		if _, err := p.l.Next(p.ctx, []string{one, two}, lease); p.err != nil || errors.Is(err, idem.ErrEmpty) {
			return
		}
	}
}
