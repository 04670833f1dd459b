// Package approvaltest checks that an [approval.Store] keeps its contract, your own as well as the library's:
//
//	func TestStore(t *testing.T) {
//		approvaltest.Run(t, func(t *testing.T) approval.Store { return mystore.New(t) })
//	}
//
// Every rule of the contract is a case of its own, on a fresh store, and a failure says which rule broke and why it is
// one. Expiry to the nanosecond and a restart can be checked only with the store's help: [Clock] and [Lasting] declare
// it, and what is not declared is skipped by name. Retention is checked where the store is an [approval.Purger].
//
// Guarantees: for every rule there is a store that breaks it and that the suite refuses for that rule; the package's
// own tests hold them. Not its business: several processes on one store, and faults of the machinery below it.
package approvaltest
