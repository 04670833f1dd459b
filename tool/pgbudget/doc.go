// Package pgbudget counts what runs use in PostgreSQL, for many machines that serve one run: no two of them see the same
// remainder.
//
//	err := pgbudget.Migrate(ctx, pool) // once, by the tables' owner
//	budgets, err := pgbudget.Open(ctx, pool, pgbudget.Config{})
//	cfg.Budgets = budgets
//	…
//	err = budgets.Shutdown(ctx)
//
// Guarantees: a reservation is taken whole or not at all, in one statement under the lock of the run's row, before the
// work is admitted; a reservation whose answer was lost is not taken twice, and is not given back twice. Parallel work of
// a process that died counts no longer once its lease is over, on the database's clock; its calls stay counted. Elapsed
// time is measured on the database's clock from the run's first reservation, and its rest told in the statement that
// reserves. A run is forgotten by [Store.Purge] alone, after the latest until that a reservation of it named: the same id
// then begins a new budget.
//
// A process that cannot reach the database for longer than its lease still works: its parallel work then does not count
// until it is back. Tokens are counted once too often, never too seldom, where the answer to [Store.Reserve] of tokens
// alone is lost.
//
// Non-goals: budgets of a tenant over all its runs; limits are the run's, given with each reservation.
package pgbudget
