package tooltest_test

import (
	"testing"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool/tooltest"
)

// In a _test.go file this is the body of a test, and t is its. Both stores are on one clock, which the suite moves.
func Example() {
	var t *testing.T
	_ = func() {
		tooltest.Interleavings(t, func(*testing.T) tooltest.Stores {
			c := &clock{}
			return tooltest.Stores{
				Approvals: approval.NewMemory(c.Now), Ledger: idem.NewMemory(c.Now), Advance: c.advance,
				Forgotten: func() idem.Ledger { return idem.NewMemory(c.Now) },
			}
		})
	}
}
