package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export/exporttest"
)

func TestExports(t *testing.T) {
	t.Parallel()
	c, err := tool.NewCatalog(definitions(nil)...)
	require.NoError(t, err)
	role, err := supportRole(c)
	require.NoError(t, err)
	exporttest.Golden(t, role.Published(), "testdata/export.golden")
}
