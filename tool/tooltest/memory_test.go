package tooltest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool/tooltest"
)

// clock is the wall clock, moved ahead.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func TestMemory(t *testing.T) {
	t.Parallel()
	tooltest.Interleavings(t, func(*testing.T) tooltest.Stores {
		c := &clock{}
		return tooltest.Stores{
			Approvals: approval.NewMemory(c.Now), Ledger: idem.NewMemory(c.Now), Advance: c.advance,
			Forgotten: func() idem.Ledger { return idem.NewMemory(c.Now) },
		}
	})
}
