//go:build unix

package audit

import (
	"bytes"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
)

// A process that the program starts has a copy of the file's descriptor between its fork and its exec.
func TestACopyOfTheDescriptorKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	open := func(secret byte) (*File, error) {
		return OpenFile(path, redact.Key{ID: "k", Secret: bytes.Repeat([]byte{secret}, 32)}, nil)
	}
	first, err := open(1)
	require.NoError(t, err)
	opened, ok := first.f.(exclusive)
	require.True(t, ok)
	copied, err := syscall.Dup(int(opened.Fd()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Close(copied)) })
	_, err = open(1)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, first.Close())

	second, err := open(1)
	require.NoError(t, err)
	require.NoError(t, second.Close())
}
