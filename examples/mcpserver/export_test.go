package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool/export/exporttest"
)

func TestExports(t *testing.T) {
	t.Parallel()
	catalog, err := (&desk{}).catalogue()
	require.NoError(t, err)
	role, err := support(catalog)
	require.NoError(t, err)
	exporttest.Golden(t, role.Published(), "testdata/export.golden")
}
