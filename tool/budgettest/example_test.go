package budgettest_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/budgettest"
)

// generous reserves whatever it is asked for.
type generous struct{}

func (generous) Reserve(context.Context, string, string, tool.Budget, tool.Budget, time.Time) error {
	return nil
}

func (generous) Settle(context.Context, string, string, tool.Budget, tool.Budget) error { return nil }

// In a test it is budgettest.Run(t, …); Check judges one store by one rule.
func Example() {
	for _, rule := range budgettest.Rules() {
		if broken := budgettest.Check(context.Background(), rule, generous{}); len(broken) > 0 {
			fmt.Println(rule, strings.Join(broken, "; "))
			return
		}
	}
	// Output:
	// calls the third call of two: taken
	// the rule: a run that used its calls up makes no further one
}
