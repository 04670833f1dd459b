// Package toolcontract is the map of this module; it exports nothing itself.
//
// The module is a kit for building tool adapters that an AI agent may call. The model decides what to attempt; the library
// decides what is allowed, runs it once, and reports what provably happened:
//
//	bytes → limits → strict parse → schema → decode → semantic check →
//	(proposal, approval, ledger) → handler → output schema → verify → envelope
//
// Start with package tool: a read is a tool.Tool, a change of the world is a tool.Write, a tool.Catalog holds them and a
// tool.Dispatcher runs them. The README shows one of each in one program.
//
// # Packages
//
// In the order in which they import one another, the first importing none of the others:
//
//   - envelope: what crosses the boundary. Call, Result, Error, the table of codes, field paths, and the proofs
//     (Refused, NotSent, Running) that say what a provider's answer means for a write.
//   - redact: what must not cross it. Secret values, canonical form, digests, sealing, opaque references, visible text.
//   - redact/audit: who did what, without the values. Events, sinks, the quarantine for causes; redact/audit/sqliteaudit
//     keeps both in a SQLite file.
//   - validate: limits, strict JSON, schemas from struct types, closed unions, exact decoding. validate/upstream holds
//     the responses of other systems to contracts of their own, over HTTP or by a command, validate/upstream/sshcmd over SSH.
//   - approval: proposals, decisions, the policy table, authority, and the store that keeps them. approval/approvaltest
//     checks an implementation of the store against every rule.
//     approval/sqlitestore and approval/pgstore keep them for good.
//   - idem: the ledger of writes. Keys, commands, states, leases, evidence. idem/idemtest checks an implementation;
//     idem/sqliteledger and idem/pgledger are durable ones.
//   - tool: definitions, the catalogue, roles, runs, the dispatcher that puts all of the above in its one order, and the
//     worker that goes on where a commit was left. tool/tooltest checks a pair of stores under a dispatcher.
//   - tool/pgbudget: budgets that many machines share. tool/budgettest checks an implementation.
//   - tool/mcptool: a run's role served over the Model Context Protocol.
//   - tool/export: a role's definitions for OpenAI, Anthropic and Gemini, and their calls. tool/export/exporttest judges them
//     by the providers' documents.
//   - tool/trace: runs recorded, and replayed after a change.
//   - approval/approvalweb: the page on which people decide, and the operator's queue of unknown outcomes.
//   - contracttest: contract tests generated from a catalogue, for users' go test.
//   - examples: runnable programs that use the public API only. Start with examples/addresschange.
//
// The folder docs holds guides, a threat model and a comparison with other libraries.
//
// # Guarantees
//
// A call that is refused reaches no handler. No input value appears in an error, a log line or an audit event. A write runs
// only as the canonical plan that was shown and approved, at most once for each approval, and a write whose answer was lost
// is OUTCOME_UNKNOWN until evidence or an operator resolves it: nothing turns it into "failed, try again".
//
// # Not its business
//
// Talking to models, prompting, planning, and deciding whether a change is wise. The host owns the session, authenticates
// people, and chooses the stores.
package toolcontract
