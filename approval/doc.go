// Package approval owns consent to one exact change: the proposal that a person is shown, the policy table that says
// who must agree, the decisions, the authority of those who decide, and the store that keeps all of it.
//
// A policy is data. The strictest rule that matches a write decides, and a write that no rule matches is denied:
//
//	table, err := approval.ParseTable(strings.NewReader(`{"version":1,"rules":[
//	  {"when":{"tools":["commit_address_change_v2"]},"require":{"level":"one","role":"support","lifetime":"15m"}}]}`))
//	need, matched := table.Evaluate(approval.Facts{Tool: "commit_address_change_v2", Class: "reversible"})
//
// Guarantees: a proposal is immutable once it is stored; a decision counts for the digest that was shown and no other;
// an approval is consumed once, by one operation; silence, a closed page and a time-out are never consent; expiry is
// exact to the nanosecond on the store's clock; whatever leaves or enters a store is copied.
//
// Not its business: running the change (package tool), remembering what became of it (package idem), and verifying who
// somebody is: a [Principal] comes from the host's own session.
package approval
