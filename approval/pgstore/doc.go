// Package pgstore keeps proposals and decisions in PostgreSQL: an [approval.Store] for any number of machines.
//
//	err := pgstore.Migrate(ctx, pool)                 // once, by a role that may create tables
//	store, err := pgstore.New(ctx, pool, sealer)
//
// What a proposal says and who decided why is sealed with the given [redact.Sealer], bound to its tenant, proposal and
// column; redact.Plain() is written out by those who want none. In the clear stand what the store searches by: tenant,
// ids, digest, run, tool, subjects, level, policy version, times, and the operation that consumed.
//
// Guarantees: every method is one transaction; the clock is the database's, read under the lock of the proposal's row,
// so the clocks of processes do not matter; times are exact to the nanosecond in what is stored and compared, though
// the database's clock itself ticks in microseconds. Proposals, decisions, consumptions and withdrawals are rows that
// are inserted and never changed, which triggers in the database see to as well. A serialization failure or deadlock is
// tried again, and so is a lost connection: every method may be repeated, and a commit whose answer was lost is
// recognised by what it wrote. A record whose columns and sealed body disagree is approval.ErrCorrupt.
//
// The tables stand in the first schema of the connections' search_path and have row-level security by tenant: the
// owner is not bound by it, nor is a role in toolcontract_worker, which Migrate makes and grants what a store needs. Another
// role, with the same grants, sees the rows of the tenant that the setting toolcontract.tenant names, which the store sets in
// each transaction.
//
// Not its business: who may connect, backups, and the pool's configuration; a statement_timeout there is honoured.
package pgstore
