// Package protocolmodel is the protocol of a write as a state machine that is small enough to be explored to its end:
// two proposals for one resource, two processes that each commit, work the outbox and resolve, an approval store, a
// ledger, a provider outside, and everything that may go wrong between any two steps (a crash, a lost or late request,
// expiry, withdrawal, revocation, an outsider's change, altered bytes, a purge).
//
// It is written from the protocol's text and not from its code, and it shares none with it. Every guard of the protocol
// has a name here and can be left out: the test leaves each out in turn and expects a counterexample, which is a
// shortest one.
package protocolmodel
