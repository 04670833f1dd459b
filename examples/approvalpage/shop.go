package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// thing is one record of the shop: its fields by name, and a version that every change raises.
type thing struct {
	version int
	fields  map[string]string
}

// shop is the system that the writes change. It knows nothing of agents and approvals.
type shop struct {
	mu     sync.Mutex
	things map[string]*thing // by type and id
	lines  map[string]bool   // orders whose bank loses its answers
}

func newShop() *shop {
	return &shop{
		things: map[string]*thing{
			"customer/C-1842": {17, map[string]string{"name": "Jonas Petersen", "street": "17 Example Lane", "city": "Kiel", "country": "DE"}},
			"customer/C-0977": {4, map[string]string{"name": "Mira Lund", "street": "2 Mill Road", "city": "Flensburg", "country": "DE"}},
			"order/88-1204":   {3, map[string]string{"customer": "C-1842", "paid": "1250.00 EUR", "email": "jonas.petersen@example.com"}},
			"order/88-0999":   {2, map[string]string{"customer": "C-0977", "paid": "49.00 EUR", "email": "mira.lund@example.com"}},
			"article/A-77":    {9, map[string]string{"name": "Harbour lamp", "price": "89.90 EUR"}},
		},
		lines: map[string]bool{"88-0999": true},
	}
}

// read returns a copy of a thing's fields and its version.
func (s *shop) read(kind, id string) (fields map[string]string, version string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.things[kind+"/"+id]
	if !ok {
		return nil, "", envelope.New(envelope.NotFound)
	}
	fields = map[string]string{}
	for k, v := range t.fields {
		fields[k] = v
	}
	return fields, strconv.Itoa(t.version), nil
}

// current is what every write of this catalogue asks before it runs.
func (s *shop) current(_ context.Context, _ tool.Caller, t approval.Target) (string, error) {
	_, version, err := s.read(t.Type, t.ID)
	return version, err
}

var errNoAnswer = errors.New("the bank did not answer")

// change sets fields of a thing if it still has the version; nil fields delete it. It returns the proof.
func (s *shop) change(t approval.Target, fields map[string]string) (tool.Evidence, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := t.Type + "/" + t.ID
	now, ok := s.things[key]
	if !ok || strconv.Itoa(now.version) != t.Version {
		return tool.Evidence{}, envelope.Refused(envelope.New(envelope.VersionConflict))
	}
	now.version++
	for k, v := range fields {
		now.fields[k] = v
	}
	if fields == nil {
		delete(s.things, key)
	}
	if s.lines[t.ID] {
		return tool.Evidence{}, errNoAnswer // the change was made, or it was not: the shop cannot tell
	}
	return tool.Evidence{NewVersion: strconv.Itoa(now.version), CommittedAt: time.Now()}, nil
}

// edit is somebody else's change, past the agent and the page.
func (s *shop) edit(key, field, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.things[key]; ok {
		t.version++
		t.fields[field] = value
	}
}
