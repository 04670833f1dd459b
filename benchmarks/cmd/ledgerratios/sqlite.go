package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
	"github.com/toolcontract/toolcontract/redact"
)

// sqliteFigures compares with what a host would write without a ledger: the rows of the same three tables by prepared
// statements, in a file with the same pragmas, by one connection, as SQLite has it.
func sqliteFigures(ctx context.Context, s settings, report func(figure)) error {
	dir, err := os.MkdirTemp("", "ledgerratios")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // temporary
	var ledgers [2]*sqliteledger.Ledger
	for i, name := range []string{"ledger", "bare"} {
		l, err := sqliteledger.Open(ctx, filepath.Join(dir, name+".db"), sqliteledger.Config{Sealer: redact.Plain()})
		if err != nil {
			return err
		}
		defer l.Shutdown() //nolint:errcheck // temporary
		ledgers[i] = l
	}
	l := ledgers[0]
	b, err := newBare(ctx, ledgers[1].DB(), filepath.Join(dir, "bare.db"))
	if err != nil {
		return err
	}
	defer b.read.Close() //nolint:errcheck // temporary
	admit := func(ctx context.Context, n int64) error { _, _, err := l.Admit(ctx, command(n), false); return err }
	for _, l := range ledgers {
		if err := fillSQLite(ctx, l, stock, same); err != nil {
			return err
		}
	}
	replay := func(ctx context.Context, n int64) error {
		_, how, err := l.Admit(ctx, command(1+n%stock), true)
		if err == nil && how != idem.Replayed {
			return fmt.Errorf("admission %s", how)
		}
		return err
	}
	return errors.Join(
		s.pair(ctx, report, "sqlite: admissions / their rows, bare", 0.9, many(s.clients, from(1e6, admit)), many(s.clients, from(1e6, b.admit))),
		s.pair(ctx, report, "sqlite: admit, claim, finish / their rows, bare", 0.9,
			many(s.clients, from(1e9, func(ctx context.Context, n int64) error { return cycle(ctx, l, n) })), many(s.clients, from(1e9, b.cycle))),
		s.pair(ctx, report, "sqlite: replays / a SELECT by primary key", 0.9, many(s.clients, replay), many(s.clients, b.find)),
		claimsInSQLite(ctx, s, dir, report),
	)
}

func from(first int64, f func(context.Context, int64) error) func(context.Context, int64) error {
	return func(ctx context.Context, n int64) error { return f(ctx, first+n) }
}

// bare is the statements of an operation without the ledger around them.
type bare struct {
	db, read                *sql.DB
	command, outbox         *sql.Stmt
	resource, claim, finish *sql.Stmt
	attempt, taken, leave   *sql.Stmt
	free, ended, one        *sql.Stmt
}

func newBare(ctx context.Context, db *sql.DB, path string) (*bare, error) {
	b := &bare{db: db}
	var err error
	if b.read, err = sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=query_only(1)"); err != nil {
		return nil, err
	}
	for to, query := range map[**sql.Stmt]string{
		&b.command: `INSERT INTO agent_command (tenant_id, operation_id, request_hash, run_id, resource, command, seq, state, generation, token, finished,
			worker, dispatches, turn, doubtful, forgotten, restored, created_at, updated_at, expires_at, lease_until, retry_at, sent_at, idle_since,
			running_until, provider_receipt, reason, body)
			VALUES (?, ?, ?, ?, ?, ?, 0, 'pending', 0, '', '', '', 0, 0, 0, 0, 0, ?, ?, ?, 0, 0, 0, 0, 0, '', '', ?)`,
		&b.outbox:   `INSERT INTO command_outbox VALUES (?, ?, ?, ?, ?, ?)`,
		&b.resource: `INSERT INTO agent_resource VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		&b.claim: `UPDATE agent_command SET state = 'dispatching', seq = 1, generation = 1, token = ?, worker = ?, dispatches = 1, updated_at = ?, lease_until = ?
			WHERE tenant_id = ? AND operation_id = ? AND state = 'pending'`,
		&b.attempt: `INSERT INTO agent_attempt VALUES (?, ?, 1, ?, 0, '', ?)`,
		&b.taken:   `UPDATE agent_resource SET seq = seq + 1, open_operation = ? WHERE tenant_id = ? AND resource = ?`,
		&b.leave:   `UPDATE command_outbox SET available_at = ?, due_by = ? WHERE tenant_id = ? AND operation_id = ?`,
		&b.finish: `UPDATE agent_command SET state = 'succeeded', finished = token, token = '', updated_at = ?, lease_until = 0, result = ?, ended_at = ?
			WHERE tenant_id = ? AND operation_id = ? AND token = ?`,
		&b.ended: `UPDATE agent_attempt SET ended_at = ?, outcome = 'succeeded' WHERE tenant_id = ? AND operation_id = ? AND generation = 1`,
		&b.free:  `DELETE FROM command_outbox WHERE tenant_id = ? AND operation_id = ?`,
	} {
		if *to, err = db.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
	}
	b.one, err = b.read.PrepareContext(ctx, "SELECT state, request_hash, body, result FROM agent_command WHERE tenant_id = ? AND operation_id = ?")
	return b, err
}

type step struct {
	stmt *sql.Stmt
	args []any
}

func (b *bare) tx(ctx context.Context, steps ...step) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	for _, s := range steps {
		if _, err := tx.StmtContext(ctx, s.stmt).ExecContext(ctx, s.args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (b *bare) admit(ctx context.Context, n int64) error {
	c, now := command(n), time.Now().UnixMicro()
	id := c.Key.Operation
	return b.tx(ctx,
		step{b.command, []any{tenant, id, c.RequestHash, c.Run, c.Resource, `{"proposal":"` + c.Proposal + `","provider_key":"key_0123456789abcdef","contract":"replay_safe"}`, now, now, now, []byte(c.Body)}},
		step{b.outbox, []any{tenant, id, c.Tool, c.Run, now, now}},
		step{b.resource, []any{tenant, c.Resource, 0, ""}},
	)
}

func (b *bare) cycle(ctx context.Context, n int64) error {
	id, token, now := strconv.FormatInt(n, 10), "token", time.Now().UnixMicro()
	return errors.Join(
		b.admit(ctx, n),
		b.tx(ctx,
			step{b.claim, []any{token, "w", now, now, tenant, id}},
			step{b.attempt, []any{tenant, id, now, "w"}},
			step{b.taken, []any{id, tenant, id}},
			step{b.leave, []any{now, now, tenant, id}},
		),
		b.tx(ctx,
			step{b.finish, []any{now, []byte(done.Result), now, tenant, id, token}},
			step{b.ended, []any{now, tenant, id}},
			step{b.taken, []any{"", tenant, id}},
			step{b.free, []any{tenant, id}},
		),
	)
}

func (b *bare) find(ctx context.Context, n int64) error {
	var state, hash string
	var body, result []byte
	return b.one.QueryRowContext(ctx, tenant, strconv.FormatInt(1+n%stock, 10)).Scan(&state, &hash, &body, &result)
}

// claimsInSQLite compares an empty file with a large one.
func claimsInSQLite(ctx context.Context, s settings, dir string, report func(figure)) error {
	l, err := sqliteledger.Open(ctx, filepath.Join(dir, "large.db"), sqliteledger.Config{Sealer: redact.Plain()})
	if err != nil {
		return err
	}
	defer l.Shutdown() //nolint:errcheck // temporary
	if err := fillSQLite(ctx, l, s.finished, other); err != nil {
		return err
	}
	var turn int
	return s.claims(ctx, report, fmt.Sprintf("sqlite: claim among %d finished / in an empty ledger", s.finished), l, func(ctx context.Context) (idem.Ledger, error) {
		turn++
		return sqliteledger.Open(ctx, filepath.Join(dir, fmt.Sprintf("empty%d.db", turn)), sqliteledger.Config{Sealer: redact.Plain()})
	})
}

func fillSQLite(ctx context.Context, l *sqliteledger.Ledger, rows int, id string) error {
	if err := cycle(ctx, l, 1); err != nil {
		return err
	}
	tables := finishedTables()
	for _, table := range []string{"agent_command", "agent_attempt", "agent_resource"} { // in the order of their references
		var columns []string
		names, err := l.DB().QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
		if err != nil {
			return err
		}
		for names.Next() {
			var c string
			if err := names.Scan(&c); err != nil {
				return errors.Join(err, names.Close())
			}
			columns = append(columns, c)
		}
		if err := errors.Join(names.Err(), names.Close()); err != nil {
			return err
		}
		each := "(WITH RECURSIVE n (g) AS (SELECT 2 UNION ALL SELECT g + 1 FROM n WHERE g < ?) SELECT g FROM n)"
		if _, err := l.DB().ExecContext(ctx, copies(table, tables[table], columns, id, each), rows); err != nil {
			return err
		}
	}
	return nil
}
