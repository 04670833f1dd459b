package main

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// shop is the system that the writes change. It knows nothing of agents and approvals. Every question to it goes through
// trace.Do, so that a recorded run can be replayed without it.
type shop struct {
	now    func() time.Time
	mu     sync.Mutex
	things map[string]*thing // by type and id
	lines  map[string]bool   // orders whose bank loses its answers
}

// thing is one record of the shop: what a customer, an order or an article has, and a version that every change raises.
type thing struct {
	Version int    `json:"version"`
	Name    string `json:"name,omitzero" redact:"personal"`
	Street  string `json:"street,omitzero" redact:"personal"`
	City    string `json:"city,omitzero" redact:"personal"`
	Country string `json:"country,omitzero" jsonschema:"pattern=^[A-Z]{2}$"`
	Email   string `json:"email,omitzero" redact:"personal"`
	Paid    string `json:"paid,omitzero" redact:"trusted"`
	Price   string `json:"price,omitzero" redact:"trusted"`
}

func newShop(now func() time.Time) *shop {
	return &shop{
		now: now,
		things: map[string]*thing{
			"customer/C-1842": {Version: 17, Name: "Jonas Petersen", Street: "17 Example Lane", City: "Kiel", Country: "DE"},
			"customer/C-0977": {Version: 4, Name: "Mira Lund", Street: "2 Mill Road", City: "Flensburg", Country: "DE"},
			"order/88-1204":   {Version: 3, Paid: "1250.00 EUR", Email: "jonas.petersen@example.com"},
			"order/88-0999":   {Version: 2, Paid: "49.00 EUR", Email: "mira.lund@example.com"},
			"article/A-77":    {Version: 9, Name: "Harbour lamp", Price: "89.90 EUR"},
		},
		lines: map[string]bool{"88-0999": true},
	}
}

type query struct {
	Type string `json:"type" redact:"trusted"`
	ID   string `json:"id" redact:"trusted"`
}

// read returns a copy of a thing, and it as the target of a proposal.
func (s *shop) read(ctx context.Context, kind, id string) (thing, approval.Target, error) {
	now, err := trace.Do(ctx, "shop.read", query{kind, id}, func(context.Context) (thing, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		t, ok := s.things[kind+"/"+id]
		if !ok {
			return thing{}, envelope.New(envelope.NotFound)
		}
		return *t, nil
	})
	if err != nil {
		return thing{}, approval.Target{}, err
	}
	return now, approval.Target{Type: kind, ID: id, Version: strconv.Itoa(now.Version)}, nil
}

// current is what every write of this catalogue asks before it runs.
func (s *shop) current(ctx context.Context, _ tool.Caller, t approval.Target) (string, error) {
	_, now, err := s.read(ctx, t.Type, t.ID)
	return now.Version, err
}

// change is new values for a thing, where it still has the version, or its end. What is empty stays as it is.
type change struct {
	Of      query  `json:"of"`
	Version string `json:"version" redact:"trusted"`
	Street  string `json:"street,omitzero" redact:"personal"`
	City    string `json:"city,omitzero" redact:"personal"`
	Paid    string `json:"paid,omitzero" redact:"trusted"`
	Price   string `json:"price,omitzero" redact:"trusted"`
	Delete  bool   `json:"delete,omitzero"`
}

type changed struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
}

var errNoAnswer = errors.New("the bank did not answer")

// change changes the target of an approved proposal and returns the proof.
func (s *shop) change(ctx context.Context, t approval.Target, to change) (done, error) {
	to.Of, to.Version = query{t.Type, t.ID}, t.Version
	now, err := trace.Do(ctx, "shop.change", to, func(context.Context) (changed, error) { return s.changed(to) }, errNoAnswer)
	if err != nil {
		return done{}, err
	}
	return done{tool.Evidence{NewVersion: strconv.Itoa(now.Version), CommittedAt: now.At}}, nil
}

func (s *shop) changed(to change) (changed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := to.Of.Type + "/" + to.Of.ID
	now, ok := s.things[key]
	if !ok || strconv.Itoa(now.Version) != to.Version {
		return changed{}, envelope.Refused(envelope.New(envelope.VersionConflict))
	}
	now.Version++
	now.Street, now.City = cmp.Or(to.Street, now.Street), cmp.Or(to.City, now.City)
	now.Paid, now.Price = cmp.Or(to.Paid, now.Paid), cmp.Or(to.Price, now.Price)
	if to.Delete {
		delete(s.things, key)
	}
	if s.lines[to.Of.ID] {
		return changed{}, errNoAnswer // the change was made, or it was not: the shop cannot tell
	}
	return changed{now.Version, s.now()}, nil
}

// reprice is somebody else's change, past the agent and the page.
func (s *shop) reprice(article, price string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.things["article/"+article]; ok {
		t.Version++
		t.Price = price
	}
}
