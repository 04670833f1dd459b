package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Nothing here is wider than it needs to be, or says why.
func TestTheCatalogueIsNarrow(t *testing.T) {
	t.Parallel()
	h, err := newHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	require.Empty(t, h.dispatcher.Catalog().Lint())
}
