package tool_test

import (
	"testing"
	"time"

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

// TestClosedDispatcherStartsNoRun: neither a new one nor one that it knows.
func TestClosedDispatcherStartsNoRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.dispatcher()
	w.session(d, "run1", agent)
	role, err := roleOf(d, w)
	require.NoError(t, err)
	require.NoError(t, d.Close(t.Context()))
	for _, id := range []string{"run1", "run2"} {
		_, err := d.Start(tool.RunConfig{ID: id, Principal: agent, Role: role, Budget: tool.Budget{Calls: 1}, Deadline: epoch.Add(time.Hour)})
		require.ErrorContains(t, err, "closed", id)
	}
}
