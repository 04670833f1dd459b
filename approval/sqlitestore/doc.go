// Package sqlitestore keeps proposals and decisions in a SQLite file: an [approval.Store] for one machine, shared by
// any number of its processes, which a restart or a loss of power does not make forget.
//
//	store, err := sqlitestore.Open(ctx, "/var/lib/host/approvals.db", sealer)
//	defer store.Close()
//
// What a proposal says and who decided why is sealed with the given [redact.Sealer], bound to its tenant, proposal and
// column; redact.Plain() is written out by those who want none. In the clear stand what the store searches by: tenant,
// ids, digest, run, tool, subjects, level, policy version, times, and the operation that consumed.
//
// Guarantees: every method is one transaction, committed with synchronous=FULL before it returns; proposals, decisions,
// consumptions and withdrawals are rows that are inserted and never changed, which triggers in the database see to as
// well; the clock is read while the writer's lock is held. A record whose columns and sealed body disagree is
// approval.ErrCorrupt.
//
// Not its business: several machines (package pgstore), network file systems (SQLite's locks do not hold there), and
// copies in memory.
package sqlitestore
