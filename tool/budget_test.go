package tool_test

import (
	"testing"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/budgettest"
)

func TestBudgetsInTheProcess(t *testing.T) {
	t.Parallel()
	budgettest.Run(t, func(*testing.T) tool.BudgetStore { return tool.NewMemoryBudgets(nil) })
}
