package embedding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/examples/embedding"
	"github.com/toolcontract/toolcontract/tool/export/exporttest"
)

func TestExports(t *testing.T) {
	t.Parallel()
	c, err := embedding.Catalogue()
	require.NoError(t, err)
	role, err := c.Role("desk", "get_order_v1")
	require.NoError(t, err)
	exporttest.Golden(t, role.Published(), "testdata/export.golden")
}
