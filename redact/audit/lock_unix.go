//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other writers out until unlock, or until the process ends.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}

// unlock lets the next writer in. Closing f would not do: a process that is being started has a copy of every
// descriptor until its exec, and the lock ends with the last copy.
func unlock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
}
