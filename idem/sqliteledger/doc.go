// Package sqliteledger keeps the ledger of writes in a SQLite file, for one machine and any number of its processes.
//
//	ledger, err := sqliteledger.Open(ctx, "ledger.db", sqliteledger.Config{Sealer: sealer})
//
// What a method answered is on the disk: the file is in WAL mode with synchronous=FULL. Writers wait for each other
// instead of failing: every transaction begins as a writing one, on one connection a process, under a busy timeout, and
// is begun again while the file stays locked. Bodies, results, failures and an operator's words are sealed; what stands
// beside them is what the library made: ids, states, digests, times.
//
// Time is SQLite's, which is the machine's, to the millisecond: what a program takes for the time has no influence.
//
// Not for a network file system: SQLite's locks and its shared memory need a local one.
package sqliteledger
