//go:build !unix

package audit

import "os"

// lock does nothing: this system has no flock.
func lock(*os.File) error { return nil }

func unlock(*os.File) error { return nil }
