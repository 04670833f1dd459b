package benchmarks_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/benchmarks"
)

// TestCallsLeaveNothingBehind makes a million calls, valid and refused, and looks at what the heap holds after them.
func TestCallsLeaveNothingBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("a million calls take a while; run without -short")
	}
	call, stop, err := benchmarks.Call(10)
	require.NoError(t, err)
	defer stop()
	good := benchmarks.Sizes()[0].Document()
	bad := bytes.Replace(good, []byte("shipped"), []byte("SHIPPED"), 1)
	calls := func(n int) {
		for range n / 2 {
			if call.Run(good) != nil || call.Run(bad) == nil {
				t.FailNow()
			}
		}
	}
	calls(10_000)
	before := heap()
	calls(1_000_000)
	require.Less(t, float64(heap()), 1.1*float64(before)+256<<10, "bytes of live heap after a million calls; %d before", before)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
