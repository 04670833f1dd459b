// Package sqliteaudit keeps audit events and sealed quarantine items in an SQLite file: an [audit.Sink] and an
// [audit.Shelf] for one machine.
//
//	store, err := sqliteaudit.Open(ctx, "audit.db")
//	quarantine, err := audit.NewSealedQuarantine(audit.SealedQuarantineConfig{Shelf: store, Sealer: sealer, Audit: store})
//
// Guarantees: an event that was acknowledged survives a power loss (write-ahead log, synchronous=FULL); events are
// neither changed nor deleted through SQL, triggers see to it; the tables are STRICT. Several processes may share the
// file.
//
// Not its business: proof against whoever can write the file. For that, record in an [audit.File] too, with
// [audit.Tee].
package sqliteaudit

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver, in Go alone

	"github.com/toolcontract/toolcontract/redact/audit"
)

// Store is the two tables audit_event and quarantine_parcel of an SQLite file; schema.sql documents them for those who
// query them. Make it with [Open]; safe for concurrent use.
type Store struct {
	db       *sql.DB
	requests int
}

// Option changes what [Open] makes.
type Option interface{ apply(*Store) }

type requestsOption int

func (o requestsOption) apply(s *Store) { s.requests = int(o) }

// Requests sets of how many requests parcels are kept; the oldest give way. Without it, or with zero or less: 10 000.
func Requests(n int) Option { return requestsOption(n) }

//go:embed schema.sql
var schema string

// version is what PRAGMA user_version holds; a file of another version is refused.
const version = 1

// ErrFile says that the file is not one that this version can use: another schema, or settings that would lose an
// acknowledged event.
var ErrFile = errors.New("sqliteaudit: the file cannot be used")

// Open opens the file and makes its tables where it is new.
func Open(ctx context.Context, path string, opts ...Option) (*Store, error) {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(10000)", // the first, so that the others wait for a busy file
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)", "trusted_schema(OFF)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("sqliteaudit: open: %w", err)
	}
	db.SetMaxOpenConns(1) // one writer; readers are few
	s := &Store{db: db}
	for _, o := range opts {
		o.apply(s)
	}
	if s.requests <= 0 {
		s.requests = 10_000
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sqliteaudit: open: %w", err), db.Close())
	}
	return s, nil
}

// prepare reads the settings back, since a pragma that cannot be had is ignored silently, and makes the tables.
func (s *Store) prepare(ctx context.Context) error {
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "10000"} {
		var got string
		if err := s.db.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%w: %s is %s", ErrFile, pragma, got)
		}
	}
	return s.transact(ctx, func(tx *sql.Tx) error {
		var have int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
			return err
		}
		switch have {
		case version:
			return nil
		case 0:
			_, err := tx.ExecContext(ctx, schema)
			return err
		}
		return fmt.Errorf("%w: its schema has version %d, this program's %d", ErrFile, have, version)
	})
}

func (s *Store) transact(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

const insertEvent = `INSERT INTO audit_event
(at, kind, tenant, subject, run, tool, request_id, operation, proposal, code, field, fields, digests, outcome, authorized_by, policy_version, adapter_version, source)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// Record implements [audit.Sink]: the event is on the disk when it returns nil.
func (s *Store) Record(ctx context.Context, e audit.Event) error {
	if _, err := json.Marshal(e); err != nil || e.At.IsZero() || e.Kind == "" {
		return audit.ErrEvent // also where a text is not UTF-8, which SQLite would take
	}
	fields, err := json.Marshal(e.Fields)
	if err != nil {
		return audit.ErrEvent
	}
	digests, err := json.Marshal(e.Digests, json.Deterministic(true))
	if err != nil {
		return audit.ErrEvent
	}
	_, err = s.db.ExecContext(ctx, insertEvent, e.At.UTC().Format(timeForm), e.Kind, e.Tenant, e.Subject, e.Run, e.Tool, e.RequestID, e.Operation, e.Proposal,
		string(e.Code), e.Field, string(fields), string(digests), e.Outcome, e.AuthorizedBy, e.PolicyVersion, e.AdapterVersion, e.Source)
	if err != nil {
		return fmt.Errorf("sqliteaudit: record: %w", err)
	}
	return nil
}

// timeForm is RFC 3339 in UTC with all digits, so that texts sort as times do.
const timeForm = "2006-01-02T15:04:05.000000000Z"

// Put implements [audit.Shelf].
func (s *Store) Put(ctx context.Context, p audit.Parcel) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		for _, step := range []struct {
			query string
			args  []any
		}{
			// The request's last gives way where it has as many as it may have,
			{`DELETE FROM quarantine_parcel WHERE id = (SELECT max(id) FROM quarantine_parcel WHERE request = ?1 HAVING count(*) >= ?2)`, []any{p.Request, audit.MaxBefore}},
			// and the oldest requests where this is one too many.
			{`DELETE FROM quarantine_parcel WHERE request IN (SELECT request FROM quarantine_parcel WHERE request <> ?1 GROUP BY request ORDER BY min(id) DESC LIMIT -1 OFFSET ?2)`, []any{p.Request, s.requests - 1}},
			{`INSERT INTO quarantine_parcel (request, kept, expires, sealed) VALUES (?, ?, ?, ?)`, []any{p.Request, p.Kept.UnixMilli(), p.Expires.UnixMilli(), p.Sealed}},
		} {
			if _, err := tx.ExecContext(ctx, step.query, step.args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("sqliteaudit: put: %w", err)
	}
	return nil
}

// Parcels implements [audit.Shelf].
func (s *Store) Parcels(ctx context.Context, request string) (parcels []audit.Parcel, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT kept, expires, sealed FROM quarantine_parcel WHERE request = ? ORDER BY id`, request)
	if err != nil {
		return nil, fmt.Errorf("sqliteaudit: parcels: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		p := audit.Parcel{Request: request}
		var kept, expires int64
		if err := rows.Scan(&kept, &expires, &p.Sealed); err != nil {
			return nil, fmt.Errorf("sqliteaudit: parcels: %w", err)
		}
		p.Kept, p.Expires = time.UnixMilli(kept).UTC(), time.UnixMilli(expires).UTC()
		parcels = append(parcels, p)
	}
	return parcels, rows.Err()
}

// Purge implements [audit.Shelf]. The file does not shrink, and freed pages hold what was sealed until they are used
// again.
func (s *Store) Purge(ctx context.Context, now time.Time) (int, error) {
	r, err := s.db.ExecContext(ctx, `DELETE FROM quarantine_parcel WHERE expires <= ?`, now.UnixMilli())
	if err != nil {
		return 0, fmt.Errorf("sqliteaudit: purge: %w", err)
	}
	n, err := r.RowsAffected()
	return int(n), err
}
