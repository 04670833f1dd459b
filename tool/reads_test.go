package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
)

// TestReadsHaveNoOperations: what asks for and stops operations is served beside a write alone.
func TestReadsHaveNoOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reads, err := tool.NewCatalog(w.read)
	require.NoError(t, err)
	both, err := tool.NewCatalog(w.read, w.write)
	require.NoError(t, err)
	for _, name := range []string{"get_operation_v1", "cancel_operation_v1"} {
		_, served := reads.Schemas(name)
		require.False(t, served, name)
		_, served = both.Schemas(name)
		require.True(t, served, name)
	}
	role, err := both.Role("reads", readTool)
	require.NoError(t, err)
	require.Equal(t, []string{readTool}, role.Tools())
}
