package idemtest

import (
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

func closings() []rule {
	return []rule{
		{"close/pending", "a pending operation is closed as denied or cancelled, with the reason as its failure (T2, T11)", nothing, closePending},
		{"close/others", "no other state can be closed", nothing, closeOthers},
		{"close/expired", "a pending operation is closed as expired only when its time is over (T3)", clock, closeExpired},
	}
}

func closePending(p *play) {
	for _, to := range []idem.State{idem.Denied, idem.Cancelled} {
		c := on("r-"+string(to), "op_"+string(to))
		p.admit(c)
		r, err := p.l.Close(p.ctx, c.Key, to, envelope.NotPermitted)
		p.ok(err, "Close as "+string(to))
		p.that(r.State == to && r.Failure != nil && r.Failure.Code == envelope.NotPermitted && r.Failure.Effect == envelope.EffectNone, "closed: %q, failure %v", r.State, r.Failure)
		p.that(p.state(c.Key, to).Failure != nil, "the reason was lost")
	}
	c := command("op_1")
	p.shut(c, idem.Cancelled)
	p.that(p.find(c.Key).Failure == nil, "a failure without a reason")
	p.nothing()
	_, err := p.l.Close(p.ctx, c.Key, idem.Denied, "not a code")
	p.refused(err, idem.ErrInvalid, "Close with a reason that is no code")
}

func closeOthers(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	refuse := func(s idem.State) {
		for _, to := range []idem.State{idem.Denied, idem.Cancelled} {
			r, err := p.l.Close(p.ctx, c.Key, to, "")
			p.refused(err, idem.ErrState, fmt.Sprintf("Close of a %s operation as %s", s, to))
			p.that(r.State == s, "the record beside ErrState says %q", r.State)
		}
		p.state(c.Key, s)
	}
	refuse(idem.Dispatching)
	p.finish(claim, unknown())
	refuse(idem.Unknown)
	p.finish(p.claimOpen(c.Key), running())
	refuse(idem.Running)
	d := on("r2", "op_2")
	p.admit(d)
	for _, to := range []idem.State{idem.Succeeded, idem.Failed, idem.Unknown, idem.Pending} {
		_, err := p.l.Close(p.ctx, d.Key, to, "")
		p.refused(err, idem.ErrState, "Close as "+string(to))
	}
	p.state(d.Key, idem.Pending)
}

func closeExpired(p *play) {
	c := command("op_1")
	c.ExpiresIn = 2 * time.Hour
	p.admit(c)
	_, err := p.l.Close(p.ctx, c.Key, idem.Expired, "")
	p.refused(err, idem.ErrState, "Close as expired before the time")
	p.advance(2 * time.Hour)
	r, err := p.l.Close(p.ctx, c.Key, idem.Expired, "")
	p.ok(err, "Close as expired")
	p.that(r.State == idem.Expired, "closed as %q", r.State)
}

func outbox() []rule {
	return []rule{
		{"outbox/order", "Next delivers what is longest due first, and each row once in a lease", clock, outboxOrder},
		{"outbox/tools", "Next delivers rows of the asked tools alone, past others at the head (I16)", nothing, outboxTools},
		{"outbox/soft", "a delivery authorises nothing and takes nothing", nothing, outboxSoft},
		{"outbox/lost", "a row that was delivered and not claimed is delivered again", clock, outboxLost},
		{"outbox/later", "Later puts a row off, and does nothing for one that was delivered again since", clock, outboxLater},
		{"outbox/held", "Later moves neither a held row nor a terminal one, nor one that is not there", clock, outboxHeld},
		{"outbox/fenced", "a late Finish does not take the row out of the outbox", clock, outboxFenced},
		{"outbox/once", "of many Nexts at once each row goes to one", nothing, outboxOnce},
	}
}

func outboxOrder(p *play) {
	a, b := on("ra", "op_2"), on("rb", "op_1")
	p.admit(a)
	p.advance(time.Hour)
	p.admit(b)
	p.next(a.Key)
	p.next(b.Key)
	p.nothing()
}

func outboxTools(p *play) {
	a, b := on("ra", "op_1"), on("rb", "op_2")
	b.Tool = "commit_other_v3"
	p.admit(a)
	p.admit(b)
	d, err := p.l.Next(p.ctx, []string{"commit_x_v1", b.Tool}, lease)
	p.ok(err, "Next for one tool")
	p.that(d.Key == b.Key && d.Tool == b.Tool, "Next delivered %q of %q", d.Key.Operation, d.Tool)
	_, err = p.l.Next(p.ctx, []string{}, lease)
	p.refused(err, idem.ErrEmpty, "Next for no tool")
	p.next(a.Key)
}

func outboxSoft(p *play) {
	c := command("op_1")
	p.admit(c)
	p.next(c.Key)
	p.state(c.Key, idem.Pending)
	p.slot(0, "")
	p.claim(c.Key)
}

func outboxLost(p *play) {
	c := command("op_1")
	p.admit(c)
	one := p.next(c.Key)
	p.nothing()
	p.advance(lease)
	two := p.next(c.Key)
	p.that(two.Turn > one.Turn, "turn %d after %d", two.Turn, one.Turn)
}

func outboxLater(p *play) {
	c := command("op_1")
	p.admit(c)
	old := p.next(c.Key)
	p.ok(p.l.Later(p.ctx, old, 3*time.Hour), "Later")
	p.advance(2 * time.Hour)
	p.nothing()
	p.advance(time.Hour)
	p.next(c.Key)
	p.ok(p.l.Later(p.ctx, old, 100*time.Hour), "Later of an old delivery")
	p.advance(2 * time.Hour)
	p.next(c.Key)
	p.ok(p.l.Later(p.ctx, idem.Delivery{Key: c.Key}, 5*time.Hour), "Later made by hand")
	p.advance(2 * time.Hour)
	p.nothing()
}

func outboxHeld(p *play) {
	c := command("op_1")
	p.admit(c)
	d := p.next(c.Key)
	claim := p.claim(c.Key)
	p.ok(p.l.Later(p.ctx, d, 0), "Later of a held row")
	p.nothing()
	p.ok(p.l.Later(p.ctx, d, 100*time.Hour), "Later of a held row")
	p.advance(lease / 2)
	_, err := p.l.Renew(p.ctx, claim, lease)
	p.ok(err, "Renew")
	p.advance(lease)
	p.next(c.Key)
	p.finish(p.claimOpen(c.Key), succeeded())
	p.ok(p.l.Later(p.ctx, d, 0), "Later of a terminal row")
	p.nothing()
	p.ok(p.l.Later(p.ctx, idem.Delivery{Key: idem.Key{Tenant: tenant, Operation: "op_9"}}, 0), "Later of no row")
}

func outboxFenced(p *play) {
	c := command("op_1")
	claim := p.dispatch(c)
	p.advance(lease)
	p.state(c.Key, idem.Unknown)
	for _, o := range []idem.Outcome{succeeded(), failed()} {
		_, err := p.l.Finish(p.ctx, claim, o)
		p.refused(err, idem.ErrFenced, "late Finish")
	}
	p.next(c.Key)
}

func outboxOnce(p *play) {
	for i := range 4 {
		p.admit(on(fmt.Sprint("r", i), fmt.Sprint("op_", i)))
	}
	got := make(chan string, 8)
	together(func(int) {
		d, err := p.l.Next(p.ctx, nil, lease)
		if err != nil {
			got <- ""
			return
		}
		got <- d.Key.Operation
	})
	count := map[string]int{}
	for range 8 {
		count[<-got]++
	}
	p.that(len(count) == 5 && count[""] == 4, "8 Nexts over 4 rows: %v", count)
}

func lists() []rule {
	return []rule{
		{"list/open", "Open lists a run's operations that are not terminal, those of no other run or tenant", nothing, listOpen},
		{"list/unknown", "Unknown lists a tenant's unknown operations alone", nothing, listUnknown},
		{"list/pages", "pages follow each other without gap or repetition, the oldest first, and end", clock, listPages},
	}
}

func operations(rs []idem.Record) string {
	ops := make([]string, len(rs))
	for i, r := range rs {
		ops[i] = r.Command.Key.Operation
	}
	return fmt.Sprint(ops)
}

func listOpen(p *play) {
	p.admit(on("ra", "op_a"))
	p.dispatch(on("rb", "op_b"))
	p.end(on("rc", "op_c"))
	other := on("rd", "op_d")
	other.Run = "run_2"
	p.admit(other)
	foreign := on("re", "op_e")
	foreign.Key.Tenant = "globex"
	p.admit(foreign)
	rs, next, err := p.l.Open(p.ctx, tenant, "run_1", idem.Page{})
	p.ok(err, "Open")
	p.that(len(rs) == 2 && next == "", "Open lists %s", operations(rs))
	p.that(first(rs, idem.Key{Tenant: tenant, Operation: "op_a"}) == idem.Pending && first(rs, idem.Key{Tenant: tenant, Operation: "op_b"}) == idem.Dispatching, "Open lists %s", operations(rs))
}

func listUnknown(p *play) {
	p.doubt(on("ra", "op_a"))
	p.dispatch(on("rb", "op_b"))
	foreign := on("re", "op_e")
	foreign.Key.Tenant = "globex"
	p.doubt(foreign)
	rs, next, err := p.l.Unknown(p.ctx, tenant, idem.Page{})
	p.ok(err, "Unknown")
	p.that(operations(rs) == "[op_a]" && next == "", "Unknown lists %s", operations(rs))
	p.that(len(rs) == 0 || len(rs[0].Attempts) == 1, "a listed record lacks its attempts")
}

func listPages(p *play) {
	want := []string{"op_5", "op_4", "op_3", "op_2", "op_1"}
	for _, op := range want {
		p.doubt(on("r-"+op, op))
		p.advance(time.Second)
	}
	var got []idem.Record
	page := idem.Page{Size: 2}
	for range 3 {
		rs, next, err := p.l.Unknown(p.ctx, tenant, page)
		p.ok(err, "Unknown")
		got = append(got, rs...)
		page.Cursor = next
		if next == "" {
			break
		}
	}
	p.that(operations(got) == fmt.Sprint(want) && page.Cursor == "", "the pages list %s", operations(got))
	_, _, err := p.l.Unknown(p.ctx, tenant, idem.Page{Cursor: "no cursor"})
	p.refused(err, idem.ErrInvalid, "a cursor that nobody made")
}
