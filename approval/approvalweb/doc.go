// Package approvalweb owns the page on which people decide about proposals, and the operator's queue of operations whose
// outcome nobody knows: one [http.Handler], to be mounted in any server behind the host's own session.
//
//	page, err := approvalweb.New(approvalweb.Config{
//		Path: "/approvals", Identify: fromSession, Approvals: approvals, Ledger: ledger, Authority: authority,
//		Decide: dispatcher.Decide, Fresh: dispatcher.Fresh, Resolve: dispatcher.Resolve, Keys: keys,
//		Writes: map[string]approvalweb.Write{"commit_address_change_v2": {Verb: "Replace shipping address"}},
//	})
//	mux.Handle("/approvals/", page)
//
// Guarantees:
//
//   - What is shown is the stored proposal, and nothing that an agent says of it; its own words, where the host has any,
//     stand last, folded up and labelled. A decision carries the digest that was shown.
//   - Nothing changes on GET. A form is believed only from this page, for the person, the proposal and the digest that it
//     was made for; sending it twice is the same as sending it once.
//   - A proposal of another tenant is not found. Nothing of a proposal is shown to somebody who may neither decide about it
//     nor asked for it.
//   - The target is checked afresh whenever the page is shown and again before an approval: stale, or not to be found out,
//     cannot be approved.
//   - All text of a proposal is isolated from the text around it; what cannot be seen is written out as ⟦U+202E⟧; no link is made
//     of it.
//   - The page works without its script, from the keyboard alone, and does not rely on colour.
//
// What the host must see to: it serves the page over HTTPS (or on the loopback), since browsers tell only there where a
// request comes from; the cookie of its session is Secure, HttpOnly and SameSite=Lax or Strict; and Identify answers from that session
// alone, never from a parameter.
//
// Not its business: who somebody is, what the policy asks for, and running what was approved: that is package tool.
package approvalweb
