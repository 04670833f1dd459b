//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other writers out until f is closed, or the process ends.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}
