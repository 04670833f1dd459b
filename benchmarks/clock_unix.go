//go:build unix

package benchmarks

import (
	"syscall"
	"time"
)

// processorTime returns what this process has used, in all its threads.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
