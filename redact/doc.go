// Package redact owns what keeps values out of sight and in shape: secrets that cannot be printed, the canonical
// form of a document, keyed digests, sealing, text made visible, opaque references, field classes, and the search
// for canaries.
//
//	plan, err := redact.Canonical(p)                     // one spelling for equal values, no digit lost
//	sum := digester.Sum("tenant-1", plan)                // comparable inside one tenant, useless outside
//	sealed, err := sealer.Seal(ctx, redact.AAD("tenant-1", operation, "plan", "1"), plan)
//
// Guarantees: no error of this package holds a value that it was given, a member's name or a key; every type is safe
// for concurrent use once it is made; what cannot be done safely is an error (or, where there is none to return,
// a result that nothing verifies against).
//
// Not its business: storing keys (the host's key management hands them in), deciding which field is secret
// (the contract's author does, by tag or by type), and wiping memory.
package redact
