package approvaltest

import (
	"context"
	"encoding/json/jsontext"
	"reflect"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

func createRules() []rule {
	return []rule{
		{
			name:        "create/keeps everything",
			explanation: "what was proposed is what is shown and run: every member comes back as it went in, the plan byte for byte, and a fact that was not said stays unsaid",
			check:       keepsEverything,
		},
		{
			name:        "create/begins pending",
			explanation: "a proposal that nobody has decided is pending, whatever its level: silence is never consent",
			check: func(p *probe) {
				for id, l := range map[string]approval.Level{"p_none": approval.None, "p_one": approval.One, "p_two": approval.Two} {
					r := p.create(id, at(l))
					p.equal("state", approval.Pending, r.State)
					p.equal("decisions", 0, len(r.Decisions))
					p.equal("consumed by", "", r.ConsumedBy)
					p.equal("state found", approval.Pending, p.find(id).State)
				}
			},
		},
		{
			name:        "create/makes the times",
			explanation: "times are the store's, for processes' clocks differ: what the caller puts there is not read, and the time between them is the lifetime to the nanosecond",
			check:       makesTimes,
		},
		{
			name:        "create/refuses what is incomplete",
			explanation: "a proposal without id, tenant, run, tool, digest, requester, level or lifetime cannot be bound to anything: ErrInvalid, and nothing is stored",
			check:       refusesIncomplete,
		},
		{
			name:        "create/an id is taken once",
			explanation: "a proposal is immutable: a second one of its id is ErrExists, however alike, and changes nothing",
			check: func(p *probe) {
				first := p.create("p_1")
				for _, summary := range []string{first.Proposal.Summary, "another"} {
					again := proposal("p_1")
					again.Summary = summary
					_, err := p.store.Create(p.ctx, again)
					p.refused("Create again", approval.ErrExists, err)
				}
				p.unchanged("Create again", first)
			},
		},
		{
			name:        "create/joins nothing",
			explanation: "whether two proposals are one is the dispatcher's to say: the store keeps both, though they have one digest",
			check: func(p *probe) {
				p.create("p_1")
				p.create("p_2")
				p.decide("p_1", yes(person("a")))
				p.equal("state of the other", approval.Pending, p.find("p_2").State)
			},
		},
		{
			name:        "tenants/see nothing of each other",
			explanation: "a proposal of another tenant does not exist: ErrNotFound, from every method, and no list shows it",
			check:       tenantsApart,
		},
		{
			name:        "tenants/may use one id",
			explanation: "ids are unique in their tenant: what happens to one tenant's proposal does not happen to the other's",
			check: func(p *probe) {
				p.create("p_1")
				other := proposal("p_1")
				other.Tenant, other.Requester.Tenant = "t2", "t2"
				_, err := p.store.Create(p.ctx, other)
				p.ok("Create in the other tenant", err)
				p.decide("p_1", no(person("a")))
				r, err := p.store.Find(p.ctx, "t2", "p_1")
				p.ok("Find in the other tenant", err)
				p.equal("state in the other tenant", approval.Pending, r.State)
			},
		},
		{
			name:        "names/are only names",
			explanation: "an id may hold anything that is text: quotes and wildcards mean nothing, and what can be no id is merely not there",
			check:       oddNames,
		},
		{
			name:        "policy/the highest version is remembered",
			explanation: "in a rolling deployment the highest policy version that the tenant's store has met rules: every record tells it, and another tenant's does not count",
			check:       policySeen,
		},
		{
			name:        "copies/nothing is shared",
			explanation: "what goes in and what comes out are copies: a caller who changes theirs changes nothing that is stored",
			check:       sharesNothing,
		},
		{
			name:        "context/a cancelled call changes nothing",
			explanation: "a call whose context has ended before it began answers with an error and has no effect",
			check:       cancelledCalls,
		},
	}
}

func keepsEverything(p *probe) {
	full := proposal("p_full")
	bare := proposal("p_bare")
	bare.Requester.Roles, bare.Plan, bare.Diffs, bare.Consequence = nil, jsontext.Value(`""`), nil, approval.Consequence{}
	bare.Target, bare.Resource, bare.Seq, bare.Summary = approval.Target{}, "", 0, ""
	bare.Requirement = approval.Requirement{Level: approval.Two, Self: true}
	bare.Requester.Kind = approval.Person
	for _, want := range []approval.Proposal{full, bare} {
		created, err := p.store.Create(p.ctx, want.Clone())
		p.ok("Create", err)
		want.CreatedAt, want.ExpiresAt = created.Proposal.CreatedAt, created.Proposal.ExpiresAt
		for what, got := range map[string]approval.Proposal{"Create": created.Proposal, "Find": p.find(want.ID).Proposal} {
			w, g := reflect.ValueOf(plainProposal(want)), reflect.ValueOf(plainProposal(got))
			for i := range w.NumField() {
				p.equal(what+": "+want.ID+": "+w.Type().Field(i).Name, w.Field(i).Interface(), g.Field(i).Interface())
			}
		}
	}
}

func makesTimes(p *probe) {
	long := 7*time.Minute + 1234567*time.Nanosecond
	r := p.create("p_1", func(pr *approval.Proposal) {
		pr.CreatedAt = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
		pr.ExpiresAt = time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)
		pr.Lifetime = long
	})
	for what, pr := range map[string]approval.Proposal{"Create": r.Proposal, "Find": p.find("p_1").Proposal} {
		p.equal(what+": the time between CreatedAt and ExpiresAt", long, pr.ExpiresAt.Sub(pr.CreatedAt))
		p.equal(what+": the caller's CreatedAt is used", false, pr.CreatedAt.Year() == 1999)
		p.equal(what+": CreatedAt is in UTC", time.UTC, pr.CreatedAt.Location())
		p.equal(what+": ExpiresAt is in UTC", time.UTC, pr.ExpiresAt.Location())
	}
	p.equal("Left is above zero and no longer than the lifetime", true, r.Left > 0 && r.Left <= long)
}

func refusesIncomplete(p *probe) {
	for what, change := range map[string]func(*approval.Proposal){
		"tenant":                      func(pr *approval.Proposal) { pr.Tenant = "" },
		"run":                         func(pr *approval.Proposal) { pr.Run = "" },
		"tool":                        func(pr *approval.Proposal) { pr.Tool = "" },
		"digest":                      func(pr *approval.Proposal) { pr.Digest = "" },
		"requester":                   func(pr *approval.Proposal) { pr.Requester = approval.Principal{} },
		"requester of another tenant": func(pr *approval.Proposal) { pr.Requester.Tenant = "t2" },
		"requester that is a person":  func(pr *approval.Proposal) { pr.Requester.Kind = approval.PolicyDecision },
		"level":                       at(0),
		"level that can be given":     at(approval.Deny),
		"run that is text":            func(pr *approval.Proposal) { pr.Run = "run\x00" },
		"tool that is UTF-8":          func(pr *approval.Proposal) { pr.Tool = "\xff" },
		"lifetime":                    func(pr *approval.Proposal) { pr.Lifetime = 0 },
		"lifetime that is positive":   func(pr *approval.Proposal) { pr.Lifetime = -time.Second },
		"lifetime that ends":          func(pr *approval.Proposal) { pr.Lifetime = approval.MaxLifetime + 1 },
	} {
		pr := proposal("p_1")
		change(&pr)
		_, err := p.store.Create(p.ctx, pr)
		p.refused("Create without "+what, approval.ErrInvalid, err)
		_, err = p.store.Find(p.ctx, tenant, "p_1")
		p.refused("Find after Create without "+what, approval.ErrNotFound, err)
	}
	_, err := p.store.Create(p.ctx, proposal(""))
	p.refused("Create without id", approval.ErrInvalid, err)
}

func tenantsApart(p *probe) {
	r := p.approved("p_1")
	p.create("p_2")
	id := decisionOf(r, "a").ID
	for _, stranger := range []string{"t2", ""} {
		_, err := p.store.Find(p.ctx, stranger, "p_1")
		p.refused("Find", approval.ErrNotFound, err)
		_, err = p.store.Decide(p.ctx, stranger, "p_2", yes(person("b")))
		p.refused("Decide", approval.ErrNotFound, err)
		_, err = p.store.Withdraw(p.ctx, stranger, "p_1", id, person("a"))
		p.refused("Withdraw", approval.ErrNotFound, err)
		_, bound, err := p.store.Consume(p.ctx, stranger, "p_1", digest, "op_1")
		p.refused("Consume", approval.ErrNotFound, err)
		p.equal("Consume: bound", false, bound)
		alike, err := p.store.Alike(p.ctx, stranger, []string{digest})
		p.ok("Alike", err)
		p.equal("Alike: number", 0, len(alike))
		waiting, _, err := p.store.Pending(p.ctx, stranger, approval.Page{})
		p.ok("Pending", err)
		p.equal("Pending: number", 0, len(waiting))
	}
	_, err := p.store.Find(p.ctx, tenant, "p_3")
	p.refused("Find of what was never there", approval.ErrNotFound, err)
	p.unchanged("calls of another tenant", r)
}

func oddNames(p *probe) {
	odd := []string{"p_%", "p__", `p_'";--`, "p_1 ", "P_1", "p_ö", "p_o\u0308"}
	for _, id := range odd {
		p.create(id)
	}
	for _, id := range odd {
		p.equal("the id found", id, p.find(id).Proposal.ID)
	}
	p.decide("p_%", yes(person("' OR '1'='1")))
	waiting, _, err := p.store.Pending(p.ctx, tenant, approval.Page{})
	p.ok("Pending", err)
	p.equal("those that nobody decided", len(odd)-1, len(waiting))
	for _, id := range []string{"p_1", "p\x00", "\xff", strings.Repeat("x", 10_000)} {
		_, err := p.store.Find(p.ctx, tenant, id)
		p.refused("Find", approval.ErrNotFound, err)
		_, err = p.store.Find(p.ctx, id, "p_%")
		p.refused("Find in such a tenant", approval.ErrNotFound, err)
		alike, err := p.store.Alike(p.ctx, tenant, []string{id})
		p.ok("Alike", err)
		p.equal("Alike: number", 0, len(alike))
		_, err = p.store.Decide(p.ctx, tenant, id, yes(person("a")))
		p.refused("Decide", approval.ErrNotFound, err)
		_, err = p.store.Withdraw(p.ctx, tenant, "p_%", id, person("a"))
		p.refused("Withdraw", approval.ErrNotFound, err)
	}
}

func policySeen(p *probe) {
	version := func(v int) func(*approval.Proposal) {
		return func(pr *approval.Proposal) { pr.PolicyVersion = v }
	}
	p.equal("first", 5, p.create("p_5", version(5)).PolicySeen)
	p.equal("an older version", 5, p.create("p_4", version(4)).PolicySeen)
	p.equal("a newer version", 6, p.create("p_6", version(6)).PolicySeen)
	other := proposal("p_9")
	other.Tenant, other.Requester.Tenant, other.PolicyVersion = "t2", "t2", 9
	_, err := p.store.Create(p.ctx, other)
	p.ok("Create in another tenant", err)

	r := p.find("p_4")
	p.equal("Find", 6, r.PolicySeen)
	p.equal("the proposal's own", 4, r.Proposal.PolicyVersion)
	p.equal("Decide", 6, p.decide("p_4", yes(person("a"))).PolicySeen)
	p.equal("Consume", 6, p.consume("p_4").PolicySeen)
	waiting, _, err := p.store.Pending(p.ctx, tenant, approval.Page{})
	p.ok("Pending", err)
	alike, err := p.store.Alike(p.ctx, tenant, []string{digest})
	p.ok("Alike", err)
	for _, r := range append(waiting, alike...) {
		p.equal("lists", 6, r.PolicySeen)
	}
}

func sharesNothing(p *probe) {
	pr := proposal("p_1")
	r, err := p.store.Create(p.ctx, pr)
	p.ok("Create", err)
	want := r.Clone()
	spoil(approval.Record{Proposal: pr})
	p.unchanged("after a change of what went into Create", want)
	spoil(r)
	p.unchanged("after a change of what came out of Create", want)
	spoil(p.find("p_1"))
	p.unchanged("after a change of what came out of Find", want)
	lists := func() []approval.Record {
		waiting, _, err := p.store.Pending(p.ctx, tenant, approval.Page{})
		p.ok("Pending", err)
		alike, err := p.store.Alike(p.ctx, tenant, []string{digest})
		p.ok("Alike", err)
		return append(waiting, alike...)
	}
	for _, r := range lists() {
		spoil(r)
	}
	p.unchanged("after a change of what came out of the lists", want)

	d := yes(person("a"))
	r = p.decide("p_1", d)
	want = r.Clone()
	d.By.Roles[0] = "spoilt"
	spoil(r)
	p.unchanged("after a change of what went into Decide and came out of it", want)
	r = p.consume("p_1")
	want = r.Clone()
	spoil(r)
	p.unchanged("after a change of what came out of Consume", want)
}

// spoil changes everything that a record points to.
func spoil(r approval.Record) {
	pr := r.Proposal
	for _, list := range [][]string{pr.Requester.Roles, pr.Consequence.Recipients, pr.Consequence.Irreversible} {
		for i := range list {
			list[i] = "spoilt"
		}
	}
	for i := range pr.Plan {
		pr.Plan[i] = 'X'
	}
	for i := range pr.Diffs {
		pr.Diffs[i] = approval.Diff{Field: "spoilt"}
	}
	if pr.Consequence.AmountMinor != nil {
		*pr.Consequence.AmountMinor = -1
	}
	if pr.Consequence.Records != nil {
		*pr.Consequence.Records = -1
	}
	for i := range r.Decisions {
		for j := range r.Decisions[i].By.Roles {
			r.Decisions[i].By.Roles[j] = "spoilt"
		}
		r.Decisions[i].Approved = !r.Decisions[i].Approved
	}
}

func cancelledCalls(p *probe) {
	r := p.approved("p_1")
	pending := p.create("p_2")
	ctx, cancel := context.WithCancel(p.ctx)
	cancel()
	for what, call := range map[string]func() error{
		"Create":  func() error { _, err := p.store.Create(ctx, proposal("p_3")); return err },
		"Find":    func() error { _, err := p.store.Find(ctx, tenant, "p_1"); return err },
		"Alike":   func() error { _, err := p.store.Alike(ctx, tenant, []string{digest}); return err },
		"Pending": func() error { _, _, err := p.store.Pending(ctx, tenant, approval.Page{}); return err },
		"Decide":  func() error { _, err := p.store.Decide(ctx, tenant, "p_2", yes(person("a"))); return err },
		"Withdraw": func() error {
			_, err := p.store.Withdraw(ctx, tenant, "p_1", decisionOf(r, "a").ID, person("a"))
			return err
		},
		"Consume": func() error { _, _, err := p.store.Consume(ctx, tenant, "p_1", digest, "op_1"); return err },
	} {
		p.refused(what, context.Canceled, call())
	}
	p.unchanged("cancelled calls", r)
	p.unchanged("cancelled calls", pending)
	_, err := p.store.Find(p.ctx, tenant, "p_3")
	p.refused("Find after a cancelled Create", approval.ErrNotFound, err)
}
