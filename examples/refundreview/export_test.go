package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool/export/exporttest"
)

func TestExports(t *testing.T) {
	t.Parallel()
	h, err := newHost(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	exporttest.Golden(t, h.runs["acme/day desk"].Tools(), "testdata/export.golden")
}
