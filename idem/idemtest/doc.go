// Package idemtest checks implementations of [idem.Ledger]. Every rule of the contract is a case with a fresh subject;
// the case's explanation says which rule broke.
//
//	func TestLedger(t *testing.T) {
//		idemtest.Run(t, func(t *testing.T) idemtest.Subject {
//			clock := newClock()
//			return idemtest.Subject{Ledger: mine.New(clock.Now), Advance: clock.Advance}
//		})
//	}
//
// What a subject cannot do it does not declare, and the cases that need it are skipped by name. [Histories] adds
// concurrent histories, whose answers must be those of some order of the calls (linearizability), also where a part of
// the answers was lost.
package idemtest
