package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export/exporttest"
)

func TestExports(t *testing.T) {
	t.Parallel()
	catalog, err := tool.NewCatalog(transferTool(bankClient{}))
	require.NoError(t, err)
	role, err := catalog.Role("clerk", "preview_transfer_v1", "commit_transfer_v1")
	require.NoError(t, err)
	exporttest.Golden(t, role.Published(), "testdata/export.golden")
}
