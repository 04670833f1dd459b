package approvaltest_test

import (
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvaltest"
)

// In a _test.go file this is the body of a test, and t is its. A store that can run on a given clock says so, and is judged by it.
func Example() {
	var t *testing.T
	_ = func() {
		approvaltest.Run(t, func(*testing.T) approval.Store { return approval.NewMemory(nil) },
			approvaltest.Clock(func(_ *testing.T, now func() time.Time) approval.Store { return approval.NewMemory(now) }))
	}
}
