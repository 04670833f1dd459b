// Package tooltest checks that stores hold together under a dispatcher: the interleavings of proposal, approval, ledger
// and provider in which a write could run twice, run stale, or be called failed although it ran. approvaltest and
// idemtest check each store by itself; this suite needs a pair of them.
//
//	func TestInterleavings(t *testing.T) {
//		tooltest.Interleavings(t, func(t *testing.T) tooltest.Stores { … })
//	}
//
// Guarantees: each interleaving gets stores of its own and has one result that is right; effects are counted in the
// provider, not in what anybody answered. No goroutine is left behind.
package tooltest
