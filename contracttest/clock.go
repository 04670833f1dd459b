package contracttest

import (
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// Clock is the one clock of a fixture: the dispatcher's and its stores'. It moves when a case moves it.
type Clock interface {
	Now() time.Time
	Advance(d time.Duration)
}

type standing struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock that stands still until it is advanced. It is safe for concurrent use.
func NewClock() Clock { return &standing{at: startTime()} }

func startTime() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }

func (c *standing) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *standing) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// The people of a fixture that does not say who they are.
const (
	approverRole = "approver"
	tenantName   = "tenant-a"
)

func requester() approval.Principal {
	return approval.Principal{Kind: approval.Service, Tenant: tenantName, Subject: "agent"}
}

// principalFor is the default of Fixture.Authority.
func principalFor(role string) approval.Principal {
	if role == "" {
		return requester()
	}
	return approval.Principal{Kind: approval.Person, Tenant: tenantName, Subject: "holder-of-" + role, Roles: []string{role}}
}
