package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool/export/exporttest"
)

func TestExports(t *testing.T) {
	t.Parallel()
	c, err := catalogue(nil)
	require.NoError(t, err)
	role, err := c.Role("support", "preview_address_change_v1", "commit_address_change_v1", "preview_refund_v1", "commit_refund_v1",
		"preview_account_delete_v1", "commit_account_delete_v1", "preview_price_change_v1", "commit_price_change_v1")
	require.NoError(t, err)
	exporttest.Golden(t, role.Published(), "testdata/export.golden")
}
