package approvaltest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/toolcontract/toolcontract/approval"
)

// racers is how many goroutines want one thing.
const racers = 20

// race lets n goroutines begin together and returns how they ended.
func race(n int, run func(i int) error) []error {
	errs := make([]error, n)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-begin
			errs[i] = run(i)
		})
	}
	close(begin)
	wg.Wait()
	return errs
}

// winners counts those who had no error, and notes errors that are none of the expected ones.
func (p *probe) winners(what string, errs []error, losers ...error) int {
	n := 0
	for _, err := range errs {
		switch {
		case err == nil:
			n++
		case !isAny(err, losers):
			p.fault("%s: a loser got error %q", what, err)
		}
	}
	return n
}

func isAny(err error, targets []error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

func raceRules() []rule {
	return []rule{
		{
			name:        "race/one operation consumes",
			explanation: "of many operations that want one approval exactly one has it, and everybody is told the same",
			check: func(p *probe) {
				p.approved("p_1")
				errs := race(racers, func(i int) error {
					op := fmt.Sprintf("op_%d", i)
					r, bound, err := p.store.Consume(p.ctx, tenant, "p_1", digest, op)
					if err == nil && (!bound || r.ConsumedBy != op) {
						return errors.New("consumed without being bound")
					}
					return err
				})
				p.equal("winners", 1, p.winners("Consume", errs, approval.ErrConsumed))
				for i, err := range errs {
					if err == nil {
						p.equal("consumed by", fmt.Sprintf("op_%d", i), p.find("p_1").ConsumedBy)
					}
				}
			},
		},
		{
			name:        "race/one approver decides",
			explanation: "of many approvers where one is asked exactly one decides",
			check: func(p *probe) {
				p.create("p_1")
				errs := race(racers, func(i int) error {
					_, err := p.store.Decide(p.ctx, tenant, "p_1", yes(person(fmt.Sprintf("a%d", i))))
					return err
				})
				p.equal("winners", 1, p.winners("Decide", errs, approval.ErrDecided))
				r := p.find("p_1")
				p.equal("decisions", 1, len(r.Decisions))
				p.equal("state", approval.Approved, r.State)
			},
		},
		{
			name:        "race/two approvers decide",
			explanation: "of many approvers where two are asked exactly two decide, and no approval is lost",
			check: func(p *probe) {
				p.create("p_1", at(approval.Two))
				errs := race(racers, func(i int) error {
					_, err := p.store.Decide(p.ctx, tenant, "p_1", yes(person(fmt.Sprintf("a%d", i))))
					return err
				})
				p.equal("winners", 2, p.winners("Decide", errs, approval.ErrDecided))
				r := p.find("p_1")
				p.equal("decisions", 2, len(r.Decisions))
				p.equal("state", approval.Approved, r.State)
			},
		},
		{
			name:        "race/approve against reject",
			explanation: "of a yes and a no for one decision the first counts and the other is told so: what both are told is what is stored",
			check:       approveAgainstReject,
		},
		{
			name:        "race/one form sent many times",
			explanation: "one approver's one decision, sent many times at once, is one decision, and each sender is told so",
			check: func(p *probe) {
				p.create("p_1", at(approval.Two))
				errs := race(racers, func(int) error {
					_, err := p.store.Decide(p.ctx, tenant, "p_1", yes(person("a")))
					return err
				})
				p.equal("told so", racers, p.winners("Decide", errs))
				p.equal("decisions", 1, len(p.find("p_1").Decisions))
			},
		},
		{
			name:        "race/one proposal is created",
			explanation: "of many proposals with one id exactly one is stored",
			check: func(p *probe) {
				errs := race(racers, func(i int) error {
					pr := proposal("p_1")
					pr.Summary = fmt.Sprintf("number %d", i)
					_, err := p.store.Create(p.ctx, pr)
					return err
				})
				p.equal("winners", 1, p.winners("Create", errs, approval.ErrExists))
				for i, err := range errs {
					if err == nil {
						p.equal("summary", fmt.Sprintf("number %d", i), p.find("p_1").Proposal.Summary)
					}
				}
			},
		},
		{
			name:        "race/the highest version is kept",
			explanation: "of many policy versions that a tenant meets at once the highest is remembered, and every proposal is stored",
			check: func(p *probe) {
				errs := race(racers, func(i int) error {
					pr := proposal(fmt.Sprintf("p_%d", i))
					pr.PolicyVersion = 1 + (i*7)%racers
					r, err := p.store.Create(p.ctx, pr)
					if err == nil && r.PolicySeen < pr.PolicyVersion {
						return errors.New("its own version is not seen")
					}
					return err
				})
				p.equal("stored", racers, p.winners("Create", errs))
				p.equal("policy version", racers, p.find("p_0").PolicySeen)
			},
		},
		{
			name:        "race/withdraw against consume",
			explanation: "an approval that was taken back in time is not consumed, and one that was consumed in time is not taken back",
			check:       withdrawAgainstConsume,
		},
	}
}

func approveAgainstReject(p *probe) {
	for n := range racers {
		id := fmt.Sprintf("p_%d", n)
		p.create(id)
		errs := race(2, func(i int) error {
			d := yes(person("a"))
			if i == 1 {
				d = no(person("b"))
			}
			_, err := p.store.Decide(p.ctx, tenant, id, d)
			return err
		})
		p.equal("winners", 1, p.winners("Decide", errs, approval.ErrDecided))
		r := p.find(id)
		want := approval.Approved
		if errs[1] == nil {
			want = approval.Rejected
		}
		p.equal("state", want, r.State)
		p.equal("decisions", 1, len(r.Decisions))
	}
}

func withdrawAgainstConsume(p *probe) {
	for n := range racers {
		id := fmt.Sprintf("p_%d", n)
		decision := decisionOf(p.approved(id), "a").ID
		errs := race(2, func(i int) error {
			if i == 1 {
				_, err := p.store.Withdraw(p.ctx, tenant, id, decision, person("a"))
				return err
			}
			_, _, err := p.store.Consume(p.ctx, tenant, id, digest, "op_1")
			return err
		})
		p.equal("winners", 1, p.winners("Withdraw and Consume", errs, approval.ErrConsumed, approval.ErrDecided))
		want := approval.Consumed
		if errs[1] == nil {
			want = approval.Withdrawn
		}
		p.equal("state", want, p.find(id).State)
	}
}
