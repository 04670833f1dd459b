package crm

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// What the service and the network between can answer. Compare with errors.Is.
var (
	ErrUnreachable = errors.New("crm: unreachable")          // no connection, nothing was sent
	ErrLost        = errors.New("crm: connection lost")      // the request was sent, its answer did not arrive
	ErrNotFound    = errors.New("crm: no such record")       // for this tenant
	ErrVersion     = errors.New("crm: stale version")        // a final refusal: nothing was changed
	ErrCursor      = errors.New("crm: not a cursor of ours") // list from the beginning
)

//go:embed schema.sql
var schema string

//go:embed seed.sql
var seed string

// Service is the running service. It is safe for concurrent use.
type Service struct {
	db        *sql.DB
	now       func() time.Time
	unplugged atomic.Bool
	losing    atomic.Bool
	network   atomic.Pointer[Network]
}

// Network carries a write, or the question what became of one, to the service. deliver is its arrival: it may happen
// once, twice or never, and says whether it changed anything.
type Network func(ctx context.Context, request string, deliver func() (changed bool, err error)) error

// The requests that a [Network] carries.
const (
	Replace = "replace address"
	Ask     = "change by key"
)

// Open starts the service on the database in the directory dir; a new one is filled with a few invented records. Its clock
// is now.
func Open(ctx context.Context, dir string, now func() time.Time) (*Service, error) {
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, "crm.db")), RawQuery: url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("crm: open: %w", err)
	}
	db.SetMaxOpenConns(1) // one writer; readers wait for it, which this much traffic does not notice
	if err := fill(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("crm: open: %w", err), db.Close())
	}
	return &Service{db: db, now: now}, nil
}

// fill makes the tables and their records, all or nothing, unless they are there.
func fill(ctx context.Context, db *sql.DB) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	var tables int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'customers'").Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		for _, script := range []string{schema, seed} {
			if _, err := tx.ExecContext(ctx, script); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

// Close stops the service. The database file stays.
func (s *Service) Close() error { return s.db.Close() }

// Unplug takes the service off the network, or puts it back: [Service.Dial] fails with [ErrUnreachable].
func (s *Service) Unplug(off bool) { s.unplugged.Store(off) }

// LoseAnswers makes the network lose the answer of every write that arrives, after its effect, or ends that.
func (s *Service) LoseAnswers(on bool) { s.losing.Store(on) }

// Through puts n between the service and whoever calls it. It is for the tests of those who do.
func (s *Service) Through(n Network) { s.network.Store(&n) }

func (s *Service) carry(ctx context.Context, request string, deliver func() (changed bool, err error)) error {
	if n := s.network.Load(); n != nil {
		return (*n)(ctx, request, deliver)
	}
	_, err := deliver()
	return err
}

// Reset forgets everything that happened since the database was new.
func (s *Service) Reset(ctx context.Context) (err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	for _, script := range []string{emptied, seed} {
		if _, err := tx.ExecContext(ctx, script); err != nil {
			return err
		}
	}
	return tx.Commit()
}

const emptied = `DELETE FROM address_book; DELETE FROM orders; DELETE FROM warehouses; DELETE FROM refund_cases;
	DELETE FROM change_feed; DELETE FROM requests; DELETE FROM customers`

// Touch is somebody else's change of a customer: the version is another.
func (s *Service) Touch(ctx context.Context, tenant, id string) error {
	_, err := s.db.ExecContext(ctx, "UPDATE customers SET version = version + 1 WHERE tenant = ? AND id = ?", tenant, id)
	return err
}

// Dial connects. Until it has returned no byte of any request has left.
func (s *Service) Dial(ctx context.Context) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.unplugged.Load() {
		return nil, ErrUnreachable
	}
	return &Conn{s: s}, nil
}

// Conn is a connection to the service, safe for concurrent use.
type Conn struct{ s *Service }

// Query answers a question to the database itself, past the network and its faults: every value as text.
func (s *Service) Query(ctx context.Context, question string) (columns []string, rows [][]string, err error) {
	rs, err := s.db.QueryContext(ctx, question)
	if err != nil {
		return nil, nil, fmt.Errorf("crm: query: %w", err)
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	if columns, err = rs.Columns(); err != nil {
		return nil, nil, fmt.Errorf("crm: query: %w", err)
	}
	for rs.Next() {
		row, ptrs := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range row {
			ptrs[i] = &row[i]
		}
		if err := rs.Scan(ptrs...); err != nil {
			return nil, nil, fmt.Errorf("crm: query: %w", err)
		}
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = v.String
		}
		rows = append(rows, texts)
	}
	return columns, rows, rs.Err()
}
