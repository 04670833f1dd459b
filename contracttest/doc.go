// Package contracttest checks a tool adapter's boundary from a _test.go file: every bound that its published schemas
// declare has a refusal that ran, every write is tried with each fault that a network makes, and effects are counted
// where they happen. It imports testing, so nothing but tests imports it.
//
//	func TestContract(t *testing.T) {
//		catalog, err := tool.NewCatalog(getCustomer, refund)
//		require.NoError(t, err)
//		contracttest.Run(t, func(tb testing.TB) *contracttest.Fixture {
//			f := contracttest.NewFixture(tb, catalog)
//			f.Upstream, f.Touch = provider.Reset()
//			return f
//		})
//	}
//
// A case is a document and what must come of it. Cases are made from the schema alone, by an operator for each keyword;
// their labels are decided by another validator on the final bytes, and where the two differ the generator is at fault
// and says so. A refused case asserts the code, the field and the rule, that no handler ran, and that the value stands in
// no answer, log, audit event, span or metric. An accepted case asserts that the handler ran with what was sent.
//
// Names of cases are stable, and the line that a failure shows runs it alone.
//
// Not here: load, and what an adapter's own code does with a valid value; that is what its other tests are for.
package contracttest
