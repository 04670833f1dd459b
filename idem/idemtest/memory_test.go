package idemtest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/idemtest"
)

// hands is a clock that stands until it is moved.
type hands struct {
	mu  sync.Mutex
	now time.Time
}

func newHands() *hands { return &hands{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (h *hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hands) Advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func memory() idemtest.Subject {
	h := newHands()
	return idemtest.Subject{Ledger: idem.NewMemory(h.Now), Advance: h.Advance}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	idemtest.Run(t, func(*testing.T) idemtest.Subject { return memory() })
}
