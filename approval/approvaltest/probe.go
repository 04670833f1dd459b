package approvaltest

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// start is where clocks begin: with nanoseconds that a store which rounds would lose.
var start = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC) //nolint:gochecknoglobals // a constant, as near as Go comes to one

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

const (
	tenant   = "t1"
	digest   = "hmac-sha256:k1:Zm9v"
	lifetime = 15 * time.Minute
)

// proposal returns one with every member set, so that a store which forgets one is found.
func proposal(id string) approval.Proposal {
	return approval.Proposal{
		ID: id, Tenant: tenant, Run: "run_1", Tool: "commit_address_change_v2",
		Requester: approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "agent-7", Roles: []string{"agent", "eu"}},
		Plan:      jsontext.Value(`{"b": 1E2, "a":"\u00f6", "n":9007199254740993}`),
		Digest:    digest,
		Target:    approval.Target{Type: "customer", ID: "c_1", Version: "17"},
		Resource:  "customer/c_1", Seq: 1<<62 + 1,
		Summary: "Replace the “shipping” address\n\u202e\x01",
		Diffs:   []approval.Diff{{Field: "city", Before: "", After: "Köln"}, {Field: "zip", Before: "1", After: "2"}},
		Consequence: approval.Consequence{
			Environment: "production", Recipients: []string{"a@example.com", "b@example.com"},
			AmountMinor: new(int64(1<<53 + 1)), Currency: "EUR", Records: new(0), Irreversible: []string{"a letter is sent"},
		},
		PolicyVersion: 3,
		Requirement:   approval.Requirement{Level: approval.One, Role: "support", Group: "eu", Lifetime: time.Hour},
		Lifetime:      lifetime,
	}
}

func at(l approval.Level) func(*approval.Proposal) {
	return func(p *approval.Proposal) { p.Requirement.Level = l }
}

func person(subject string) approval.Principal {
	return approval.Principal{Kind: approval.Person, Tenant: tenant, Subject: subject, Roles: []string{"support", "eu"}}
}

func yes(by approval.Principal) approval.Decision {
	return approval.Decision{Approved: true, By: by, Digest: digest}
}

func no(by approval.Principal) approval.Decision {
	return approval.Decision{By: by, Digest: digest, Reason: "the wrong customer"}
}

func (p *probe) fault(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

// create stores a proposal that must be taken.
func (p *probe) create(id string, change ...func(*approval.Proposal)) approval.Record {
	pr := proposal(id)
	for _, c := range change {
		c(&pr)
	}
	r, err := p.store.Create(p.ctx, pr)
	p.ok("Create", err)
	return r
}

// find returns the record as it is stored, which must be there.
func (p *probe) find(id string) approval.Record {
	r, err := p.store.Find(p.ctx, tenant, id)
	p.ok("Find", err)
	return r
}

// decide adds a decision that must be taken.
func (p *probe) decide(id string, d approval.Decision) approval.Record {
	r, err := p.store.Decide(p.ctx, tenant, id, d)
	p.ok("Decide", err)
	return r
}

// approved returns a proposal of level One that a has approved.
func (p *probe) approved(id string) approval.Record {
	p.create(id)
	return p.decide(id, yes(person("a")))
}

// consume binds the proposal to op_1, which must succeed.
func (p *probe) consume(id string) approval.Record {
	r, bound, err := p.store.Consume(p.ctx, tenant, id, digest, "op_1")
	p.ok("Consume", err)
	p.equal("Consume: bound to the operation", true, bound)
	return r
}

func (p *probe) ok(what string, err error) {
	if err != nil {
		p.fault("%s: got error %q, want none", what, err)
	}
}

// refused: the call must have answered with the error, and nothing else.
func (p *probe) refused(what string, want, got error) {
	if !errors.Is(got, want) {
		p.fault("%s: got error %v, want %q", what, got, want)
	}
}

func (p *probe) equal(what string, want, got any) {
	if !reflect.DeepEqual(want, got) {
		p.fault("%s: got %v, want %v", what, got, want)
	}
}

// unchanged: the stored record must still be this one, but for the time that has passed.
func (p *probe) unchanged(what string, want approval.Record) {
	got := p.find(want.Proposal.ID)
	if !same(want, got) {
		p.fault("%s: the stored record changed", what)
	}
}

// same compares two records but for the rest of their lifetimes; nil and empty lists are alike.
func same(a, b approval.Record) bool {
	a, b = plain(a), plain(b)
	return reflect.DeepEqual(a, b)
}

func plain(r approval.Record) approval.Record {
	r = r.Clone()
	r.Left = 0
	r.Proposal = plainProposal(r.Proposal)
	r.Decisions = nilIfEmpty(r.Decisions)
	for i := range r.Decisions {
		r.Decisions[i].By.Roles = nilIfEmpty(r.Decisions[i].By.Roles)
	}
	return r
}

func plainProposal(p approval.Proposal) approval.Proposal {
	p.Requester.Roles = nilIfEmpty(p.Requester.Roles)
	p.Diffs = nilIfEmpty(p.Diffs)
	p.Consequence.Recipients = nilIfEmpty(p.Consequence.Recipients)
	p.Consequence.Irreversible = nilIfEmpty(p.Consequence.Irreversible)
	return p
}

func nilIfEmpty[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

// decisionOf returns the decision that the approver made, the zero Decision when there is none.
func decisionOf(r approval.Record, subject string) approval.Decision {
	i := slices.IndexFunc(r.Decisions, func(d approval.Decision) bool { return d.By.Subject == subject })
	if i < 0 {
		return approval.Decision{}
	}
	return r.Decisions[i]
}

func idsOf(rs []approval.Record) []string {
	out := make([]string, len(rs))
	for i, r := range rs {
		out[i] = r.Proposal.ID
	}
	return out
}
