//go:build !unix

package upstream

import (
	"os"
	"os/exec"
)

// Elsewhere there are no process groups to kill: of the command's children only those that heed its end do end.
func ownGroup(*exec.Cmd) {}

func killGroup(p *os.Process) error { return p.Kill() }
