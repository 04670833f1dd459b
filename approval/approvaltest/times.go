package approvaltest

import (
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

func timeRules() []rule {
	return []rule{
		{
			name:        "time/is the store's",
			explanation: "every time in a record is a reading of the store's clock, exact to the nanosecond",
			needs:       needsClock,
			check:       storesTimes,
		},
		{
			name:        "time/a decision in the last nanosecond counts",
			explanation: "one nanosecond before it expires a proposal can be decided, withdrawn, consumed and listed",
			needs:       needsClock,
			check:       lastNanosecond,
		},
		{
			name:        "time/expired at the instant, undecided",
			explanation: "at ExpiresAt a proposal that waits is expired: it is not decided and not consumed, and no list shows it",
			needs:       needsClock,
			check: func(p *probe) {
				p.create("p_1")
				p.create("p_two", at(approval.Two))
				p.decide("p_two", yes(person("a")))
				p.clock.advance(lifetime)
				for range 2 { // at the instant, and one nanosecond later
					for _, id := range []string{"p_1", "p_two"} {
						p.equal("state", approval.Expired, p.find(id).State)
						_, err := p.store.Decide(p.ctx, tenant, id, yes(person("b")))
						p.refused("Decide", approval.ErrExpired, err)
						_, bound, err := p.store.Consume(p.ctx, tenant, id, digest, "op_1")
						p.refused("Consume", approval.ErrExpired, err)
						p.equal("Consume: bound", false, bound)
					}
					p.nothingListed()
					p.clock.advance(1)
				}
			},
		},
		{
			name:        "time/expired at the instant, approved",
			explanation: "an approval ends with its proposal: at ExpiresAt it is not consumed, not withdrawn and not joined",
			needs:       needsClock,
			check: func(p *probe) {
				r := p.approved("p_1")
				p.clock.advance(lifetime)
				for range 2 {
					p.equal("state", approval.Expired, p.find("p_1").State)
					_, bound, err := p.store.Consume(p.ctx, tenant, "p_1", digest, "op_1")
					p.refused("Consume", approval.ErrExpired, err)
					p.equal("Consume: bound", false, bound)
					_, err = p.store.Withdraw(p.ctx, tenant, "p_1", decisionOf(r, "a").ID, person("a"))
					p.refused("Withdraw", approval.ErrExpired, err)
					p.nothingListed()
					p.clock.advance(1)
				}
			},
		},
		{
			name:        "time/what is final stays so",
			explanation: "rejected, withdrawn and consumed proposals stay that when their time is over, and the operation that has consumed one keeps it; but a rejection that is over is no longer alike",
			needs:       needsClock,
			check:       finalStays,
		},
		{
			name:        "time/the rest of the lifetime",
			explanation: "Left is the time from this reading of the store's clock to ExpiresAt, to the nanosecond, and never negative: the dispatcher counts it down on a clock of its own",
			needs:       needsClock,
			check: func(p *probe) {
				p.equal("Create", lifetime, p.create("p_1").Left)
				p.clock.advance(time.Nanosecond)
				p.equal("Find", lifetime-1, p.find("p_1").Left)
				p.equal("Decide", lifetime-1, p.decide("p_1", yes(person("a"))).Left)
				p.clock.advance(lifetime - 2)
				p.equal("Find, in the last nanosecond", time.Duration(1), p.find("p_1").Left)
				p.equal("Consume", time.Duration(1), p.consume("p_1").Left)
				p.clock.advance(time.Hour)
				p.equal("Find, afterwards", time.Duration(0), p.find("p_1").Left)
			},
		},
		{
			name:        "time/the order of lists",
			explanation: "pending proposals come oldest first and alike ones newest first, by the store's clock to the nanosecond; those of one instant by the bytes of their ids",
			needs:       needsClock,
			check: func(p *probe) {
				for _, id := range []string{"p_b", "p_c", "p_a"} {
					p.create(id)
					p.clock.advance(time.Nanosecond)
				}
				p.create("p_d")
				p.create("P_e")
				waiting, _, err := p.store.Pending(p.ctx, tenant, approval.Page{})
				p.ok("Pending", err)
				p.equal("Pending", []string{"p_b", "p_c", "p_a", "P_e", "p_d"}, idsOf(waiting))
				alike, err := p.store.Alike(p.ctx, tenant, []string{digest})
				p.ok("Alike", err)
				p.equal("Alike", []string{"p_d", "P_e", "p_a", "p_c", "p_b"}, idsOf(alike))
			},
		},
	}
}

func (p *probe) nothingListed() {
	alike, err := p.store.Alike(p.ctx, tenant, []string{digest})
	p.ok("Alike", err)
	p.equal("Alike", []string{}, idsOf(alike))
	waiting, next, err := p.store.Pending(p.ctx, tenant, approval.Page{})
	p.ok("Pending", err)
	p.equal("Pending", []string{}, idsOf(waiting))
	p.equal("Pending: cursor", "", next)
}

func storesTimes(p *probe) {
	r := p.create("p_1")
	p.equal("CreatedAt", start, r.Proposal.CreatedAt)
	p.equal("ExpiresAt", start.Add(lifetime), r.Proposal.ExpiresAt)
	p.clock.advance(3)
	d := yes(person("a"))
	d.At = start.Add(time.Hour)
	p.decide("p_1", d)
	p.clock.advance(5)
	p.consume("p_1")
	p.clock.advance(7)
	p.consume("p_1")
	r = p.find("p_1")
	p.equal("CreatedAt, found", start, r.Proposal.CreatedAt)
	p.equal("ExpiresAt, found", start.Add(lifetime), r.Proposal.ExpiresAt)
	p.equal("At", start.Add(3), decisionOf(r, "a").At)
	p.equal("ConsumedAt", start.Add(8), r.ConsumedAt)

	r = p.approved("p_2")
	p.clock.advance(11)
	_, err := p.store.Withdraw(p.ctx, tenant, "p_2", decisionOf(r, "a").ID, person("a"))
	p.ok("Withdraw", err)
	p.equal("WithdrawnAt", start.Add(26), p.find("p_2").WithdrawnAt)
}

func lastNanosecond(p *probe) {
	p.create("p_1")
	r := p.approved("p_2")
	p.create("p_3")
	p.clock.advance(lifetime - time.Nanosecond)
	waiting, _, err := p.store.Pending(p.ctx, tenant, approval.Page{})
	p.ok("Pending", err)
	p.equal("Pending", []string{"p_1", "p_3"}, sorted(idsOf(waiting)))
	alike, err := p.store.Alike(p.ctx, tenant, []string{digest})
	p.ok("Alike", err)
	p.equal("Alike", []string{"p_1", "p_2", "p_3"}, sorted(idsOf(alike)))
	p.equal("Decide: state", approval.Approved, p.decide("p_1", yes(person("a"))).State)
	p.equal("Consume: state", approval.Consumed, p.consume("p_1").State)
	r, err = p.store.Withdraw(p.ctx, tenant, "p_2", decisionOf(r, "a").ID, person("a"))
	p.ok("Withdraw", err)
	p.equal("Withdraw: state", approval.Withdrawn, r.State)
}

func finalStays(p *probe) {
	p.create("p_no")
	p.decide("p_no", no(person("a")))
	p.approved("p_used")
	p.consume("p_used")
	r := p.approved("p_back")
	decision := decisionOf(r, "a").ID
	_, err := p.store.Withdraw(p.ctx, tenant, "p_back", decision, person("a"))
	p.ok("Withdraw", err)

	p.clock.advance(lifetime)
	p.equal("rejected", approval.Rejected, p.find("p_no").State)
	p.equal("consumed", approval.Consumed, p.find("p_used").State)
	p.equal("withdrawn", approval.Withdrawn, p.find("p_back").State)
	p.equal("consumed by its operation, again", "op_1", p.consume("p_used").ConsumedBy)
	_, _, err = p.store.Consume(p.ctx, tenant, "p_used", digest, "op_2")
	p.refused("Consume by another operation", approval.ErrConsumed, err)
	_, err = p.store.Withdraw(p.ctx, tenant, "p_back", decision, person("a"))
	p.ok("Withdraw again", err)
	got, err := p.store.Decide(p.ctx, tenant, "p_used", yes(person("a")))
	p.ok("Decide again", err)
	p.equal("Decide again: state", approval.Consumed, got.State)
	p.nothingListed()
}
