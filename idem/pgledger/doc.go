// Package pgledger keeps the ledger of writes in PostgreSQL, for any number of machines.
//
//	if err := pgledger.Migrate(ctx, pool); err != nil { … }   // once, with the rights of the tables' owner
//	ledger, err := pgledger.Open(ctx, pool, pgledger.Config{Sealer: sealer})
//
// Time is the database's, read after a row is locked: clocks of workers have no influence. A row is locked for the time
// between two round trips and never while a handler, a provider or a key service is called. Bodies, results, failures
// and an operator's words are sealed; what stands beside them is what the library made: ids, states, digests, times.
//
// A transaction that lost a race (40001, 40P01) or its connection is made again. Where the connection died in the commit
// nobody knows whether it happened: the row is locked and read again, and the call's token in it says so.
//
// Tables carry row-level security: a role other than their owner sees the rows of the tenant in the setting
// toolcontract.tenant (see [Config]), the role toolcontract_worker sees all.
//
// PostgreSQL 14 or later, with synchronous_commit on: without it a crash of the server may forget a claim that was
// given. A failover to a replica that was behind is a restore, and asks for Restored.
package pgledger
