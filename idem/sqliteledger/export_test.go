package sqliteledger

import (
	"context"
	"database/sql"
	"strconv"

	"github.com/toolcontract/toolcontract/idem"
)

// Advance makes the file's clock, for every handle opened by OpenMoved, run ahead of the machine's.
func (l *Ledger) Advance(ctx context.Context, ms int64) error {
	_, err := l.writer.ExecContext(ctx, "UPDATE test_clock SET ms = ms + ?", ms)
	return err
}

// OpenMoved is Open with a clock that Advance moves.
func OpenMoved(ctx context.Context, path string, cfg Config) (*Ledger, error) {
	l, err := Open(ctx, path, cfg)
	if err != nil {
		return nil, err
	}
	if _, err := l.writer.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS test_clock AS SELECT 0 AS ms"); err != nil {
		return nil, err
	}
	l.sql = makeQueries("(" + machineClock + " + (SELECT ms FROM test_clock))")
	return l, nil
}

// Limit lets the file grow to that many pages at most, as a full disk would; it returns how many it has.
func (l *Ledger) Limit(ctx context.Context, pages int) (n int, err error) {
	if err := l.writer.QueryRowContext(ctx, "PRAGMA page_count").Scan(&n); err != nil {
		return 0, err
	}
	var set int
	return n, l.writer.QueryRowContext(ctx, "PRAGMA max_page_count = "+strconv.Itoa(pages)).Scan(&set)
}

// ReadBack checks the pragmas of a handle that was opened otherwise.
func ReadBack(ctx context.Context, db *sql.DB) error { return readBack(ctx, db, defaultBusy) }

// Patiently is how every writing call waits for other processes.
func Patiently(ctx context.Context, f func() error) error { return patiently(ctx, f) }

// Version sets the version of the tables.
func (l *Ledger) Version(ctx context.Context, v int) error {
	_, err := l.writer.ExecContext(ctx, "INSERT INTO ledger_schema VALUES (?)", v)
	return err
}

// Spoil alters all that is sealed of an operation.
func (l *Ledger) Spoil(ctx context.Context, k idem.Key) error {
	const of = " WHERE tenant_id = ? AND operation_id = ?"
	return run(ctx, l.writer,
		stmt{"UPDATE agent_command SET body = zeroblob(length(body)), result = zeroblob(length(result)), failure = zeroblob(length(failure))" + of, []any{k.Tenant, k.Operation}},
		stmt{"UPDATE agent_evidence SET result = zeroblob(length(result)), failure = zeroblob(length(failure))" + of, []any{k.Tenant, k.Operation}},
	)
}

// Due is the statement that looks for the next row, with its arguments, in SQL.
func Due() (query string, args []any) {
	return makeQueries(machineClock).due, []any{`["t1","t3"]`, "acme_5"}
}
