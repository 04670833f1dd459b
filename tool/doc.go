// Package tool owns the way through the boundary: definitions of tools, the catalogue that checks them, the roles that
// narrow it, the run in which a model calls them, and the dispatcher that takes each call from bytes to an answer.
//
// A read is a [Tool]: one function from a checked input to a checked output. A write is a [Write]: Preview resolves what
// would be done into a plan, a person with authority approves that plan, and Commit runs it, byte for byte as approved,
// at most once:
//
//	catalog, err := tool.NewCatalog(getCustomer, addressChange)
//	role, err := catalog.Role("support", "get_customer_v1", "preview_address_change_v2", "commit_address_change_v2")
//	d, err := tool.NewDispatcher(catalog, tool.Development(approval.Everything(approval.Requirement{Level: approval.One, Role: "lead"})))
//	run, err := d.Start(tool.RunConfig{Principal: who, Role: role, Budget: tool.Budget{Calls: 50}, Deadline: deadline})
//	result := run.Call(ctx, envelope.Call{Tool: "get_customer_v1", Arguments: arguments})
//
// Guarantees: a call that breaks the contract reaches no handler; a handler's words, causes and panics reach no model; an
// output that breaks its contract is not passed on; a write runs only as approved, only while the approval, the access,
// the policy and the target stand as they stood, and never twice by this library's doing; an outcome that nobody can
// prove is reported as unknown. The catalogue, the roles and the dispatcher are immutable and safe for concurrent use.
//
// Non-goals: composing prompts, choosing tools, repairing arguments, rolling back. A compensation is a write of its own.
package tool
