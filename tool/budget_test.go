package tool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/budgettest"
)

func TestBudgetsInTheProcess(t *testing.T) {
	t.Parallel()
	budgettest.Run(t, func(*testing.T) tool.BudgetStore { return tool.NewMemoryBudgets(nil) })
}

// TestRunsThatAreOverAreForgotten: what is kept is bounded by the runs that are not.
func TestRunsThatAreOverAreForgotten(t *testing.T) {
	t.Parallel()
	c := &clock{now: epoch}
	b := tool.NewMemoryBudgets(c.Now)
	limit, want := tool.Budget{Calls: 1, Parallel: 1}, tool.Budget{Calls: 1, Parallel: 1}
	reserve := func(run string) error {
		return b.Reserve(t.Context(), "t1", run, want, limit, c.Now().Add(time.Hour))
	}
	for _, run := range []string{"idle", "busy"} {
		require.NoError(t, reserve(run))
	}
	require.NoError(t, b.Settle(t.Context(), "t1", "idle", want, tool.Budget{Calls: 1}))
	c.add(time.Hour)
	require.NoError(t, reserve("another"))
	require.Error(t, reserve("idle"), "at its instant a run is not over")
	c.add(time.Hour + time.Nanosecond)
	require.NoError(t, reserve("a fourth"))
	require.NoError(t, reserve("idle"), "its count begins anew")
	require.Error(t, reserve("busy"), "a call of it is still under way")
}

// TestARunIsKnownUntilItsLatestEnd: a reservation that is refused names one too, and an earlier one brings it no nearer.
func TestARunIsKnownUntilItsLatestEnd(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]tool.Budget{"taken": {Calls: 1}, "refused": {Calls: 9}} {
		c := &clock{now: epoch}
		b := tool.NewMemoryBudgets(c.Now)
		limit := tool.Budget{Calls: 2, Parallel: 1}
		require.NoError(t, b.Reserve(t.Context(), "t1", "run", tool.Budget{Calls: 1}, limit, epoch))
		err := b.Reserve(t.Context(), "t1", "run", later, limit, epoch.Add(time.Hour))
		require.Equal(t, name == "refused", err != nil)
		require.NoError(t, b.Reserve(t.Context(), "t1", "run", tool.Budget{}, limit, epoch))
		c.add(time.Hour)
		require.NoError(t, b.Reserve(t.Context(), "t1", "another", tool.Budget{Calls: 1}, limit, epoch.Add(2*time.Hour)))
		require.Error(t, b.Reserve(t.Context(), "t1", "run", tool.Budget{Calls: 2}, limit, epoch), "one was used")
		c.add(time.Nanosecond)
		require.NoError(t, b.Reserve(t.Context(), "t1", "a third", tool.Budget{Calls: 1}, limit, epoch.Add(2*time.Hour)))
		require.NoError(t, b.Reserve(t.Context(), "t1", "run", tool.Budget{Calls: 2}, limit, epoch), "a new budget")
	}
}
