package approvaltest

import (
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

const (
	bodies     = time.Hour
	tombstones = 24 * time.Hour
)

func purgeRules() []rule {
	return []rule{
		{
			name:        "purge/erases what is over",
			explanation: "from the given time after expiry on nothing is kept of what a proposal said; who decided what remains, and what became of it",
			needs:       needsPurger,
			check:       erases,
		},
		{
			name:        "purge/spares what is not",
			explanation: "nothing of a proposal is touched one nanosecond before its time, whatever its state",
			needs:       needsPurger,
			check: func(p *probe) {
				p.create("p_1")
				p.approved("p_2")
				used := p.consume("p_2")
				p.clock.advance(lifetime + bodies - 1)
				p.equal("Purge", 0, p.purge())
				p.unchanged("Purge: p_2", used)
				p.equal("state", approval.Expired, p.find("p_1").State)
				p.equal("the plan is there", true, len(p.find("p_1").Proposal.Plan) > 0)
			},
		},
		{
			name:        "purge/a tombstone answers",
			explanation: "while a client may come back with its id, a proposal that was consumed is still that, for its operation and for any other, and its id is not free",
			needs:       needsPurger,
			check: func(p *probe) {
				p.approved("p_1")
				p.consume("p_1")
				p.clock.advance(lifetime + tombstones - 1)
				p.equal("Purge", 1, p.purge())
				p.equal("consumed by", "op_1", p.consume("p_1").ConsumedBy)
				_, bound, err := p.store.Consume(p.ctx, tenant, "p_1", digest, "op_2")
				p.refused("Consume by another operation", approval.ErrConsumed, err)
				p.equal("Consume by another operation: bound", false, bound)
				_, err = p.store.Create(p.ctx, proposal("p_1"))
				p.refused("Create with its id", approval.ErrExists, err)
				p.nothingListed()
			},
		},
		{
			name:        "purge/ends tombstones",
			explanation: "when their time is over too nothing remains but the highest version of the policy, which a rolled back deployment must still meet",
			needs:       needsPurger,
			check: func(p *probe) {
				p.create("p_1", func(pr *approval.Proposal) { pr.PolicyVersion = 8 })
				p.approved("p_2")
				p.consume("p_2")
				p.clock.advance(lifetime + tombstones)
				p.equal("Purge", 2, p.purge())
				for _, id := range []string{"p_1", "p_2"} {
					_, err := p.store.Find(p.ctx, tenant, id)
					p.refused("Find", approval.ErrNotFound, err)
				}
				p.equal("Purge again", 0, p.purge())
				p.equal("policy version", 8, p.create("p_3").PolicySeen)
			},
		},
		{
			name:        "purge/refuses what keeps nothing",
			explanation: "a duration that is not above zero, or tombstones that end before bodies do, are a mistake: ErrInvalid, and nothing is erased",
			needs:       needsPurger,
			check: func(p *probe) {
				p.approved("p_1")
				r := p.consume("p_1")
				p.clock.advance(lifetime + 2*tombstones)
				for _, d := range [][2]time.Duration{{0, tombstones}, {-1, tombstones}, {0, 0}, {bodies, bodies - 1}, {bodies, 0}} {
					_, err := p.purger.Purge(p.ctx, d[0], d[1])
					p.refused("Purge", approval.ErrInvalid, err)
				}
				p.unchanged("Purge that is refused", r)
			},
		},
	}
}

func (p *probe) purge() int {
	n, err := p.purger.Purge(p.ctx, bodies, tombstones)
	p.ok("Purge", err)
	return n
}

func erases(p *probe) {
	p.create("p_pending")
	p.create("p_no")
	p.decide("p_no", no(person("a")))
	p.approved("p_used")
	p.consume("p_used")
	r := p.approved("p_back")
	_, err := p.store.Withdraw(p.ctx, tenant, "p_back", decisionOf(r, "a").ID, person("b"))
	p.ok("Withdraw", err)
	p.clock.advance(1)
	p.create("p_late")
	p.clock.advance(lifetime + bodies - 1)
	before := map[string]approval.Record{}
	for _, id := range []string{"p_pending", "p_no", "p_used", "p_back"} {
		before[id] = p.find(id)
	}
	p.equal("Purge", len(before), p.purge())
	for id, r := range before {
		p.unchanged("the tombstone of "+id, r.Tombstone())
	}
	p.equal("Purge again", 0, p.purge())
	p.equal("the plan of one that is a nanosecond younger is there", true, len(p.find("p_late").Proposal.Plan) > 0)
}
