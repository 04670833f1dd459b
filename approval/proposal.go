package approval

import (
	"encoding/json/jsontext"
	"slices"
	"time"
)

// Target is the one thing that a write changes. Version is the version that the proposal was made for; empty where the
// target has none.
type Target struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Version string `json:"version,omitzero"`
}

// Diff is one field of the target before and after, as a person reads it.
type Diff struct {
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Consequence is what a write brings with it beyond its diffs. A nil or empty member is "not said", which no rule takes
// for small. AmountMinor is in the minor unit of Currency, an ISO 4217 code.
type Consequence struct {
	Environment  string   `json:"environment,omitzero"`
	Recipients   []string `json:"recipients,omitempty"` // whoever receives something, one address or name each
	AmountMinor  *int64   `json:"amount_minor,omitzero"`
	Currency     string   `json:"currency,omitzero"`
	Records      *int     `json:"records,omitzero"`       // how many records change
	Irreversible []string `json:"irreversible,omitempty"` // what cannot be taken back, a sentence each
}

// MaxLifetime is the longest that a proposal may wait: a year.
const MaxLifetime = 366 * 24 * time.Hour

// Proposal is one exact change that somebody asks for: what is shown, approved and run. It is immutable once stored.
type Proposal struct {
	ID        string    // the maker's, unique in its tenant
	Tenant    string    // whose data it is
	Run       string    // the run that proposed it; no other commits it
	Tool      string    // the commit's wire name
	Requester Principal // a person or a service of the tenant
	Plan      jsontext.Value
	Digest    string // over Canonical, made with the tenant's key
	Target    Target
	Resource  string // what no other write may change meanwhile
	Seq       int64  // the resource's sequence when the facts were read

	Summary       string
	Diffs         []Diff
	Consequence   Consequence
	PolicyVersion int         // of the table that made Requirement
	Requirement   Requirement // what must be given before it may run
	// Lifetime is how long it may wait, from CreatedAt to ExpiresAt: above zero, at most MaxLifetime.
	Lifetime time.Duration
	// CreatedAt and ExpiresAt are the store's, in UTC; what a caller of Create puts there is not read.
	CreatedAt, ExpiresAt time.Time
}

// Covers reports whether an approval of p still satisfies what the policy asks for now; see [Requirement.Covers].
// The lifetime that counts is p's own.
func (p Proposal) Covers(now Requirement) bool {
	r := p.Requirement
	r.Lifetime = p.Lifetime
	return r.Covers(now)
}

// Clone returns a copy that shares no memory with p.
func (p Proposal) Clone() Proposal {
	p.Requester = p.Requester.clone()
	p.Plan = slices.Clone(p.Plan)
	p.Diffs = slices.Clone(p.Diffs)
	p.Consequence = p.Consequence.clone()
	return p
}

func (c Consequence) clone() Consequence {
	c.Recipients = slices.Clone(c.Recipients)
	c.Irreversible = slices.Clone(c.Irreversible)
	c.AmountMinor = clonePointer(c.AmountMinor)
	c.Records = clonePointer(c.Records)
	return c
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
