//go:build crashpoint

package crashpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Variable holds the place at which to die and, after a colon, at which passage of it: "after-claim:3".
const Variable = "TOOLCONTRACT_CRASHPOINT"

var passages atomic.Int64

// Hit kills the process, as SIGKILL does, where Variable names this place and this is the passage it names.
func Hit(place string) {
	want, count, _ := strings.Cut(os.Getenv(Variable), ":")
	if want != place {
		return
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		n = 1
	}
	if passages.Add(1) != n {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // nothing runs on behind the signal
}
