// Package budgettest checks implementations of tool.BudgetStore: the same rules for one that counts in the process and
// for one that many machines share.
//
//	func TestStore(t *testing.T) {
//		budgettest.Run(t, func(t *testing.T) tool.BudgetStore { … })
//	}
//
// Each rule runs on a fresh store, on the machine's clock. A rule that fails says what breaks when it is broken. What a
// store shared by processes must do when one of them dies is its own tests' business.
package budgettest
