package sqliteledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
	"github.com/toolcontract/toolcontract/internal/bell"
	"github.com/toolcontract/toolcontract/internal/turns"
	"github.com/toolcontract/toolcontract/redact"
)

// Config says how a file is opened.
type Config struct {
	// Sealer seals bodies, results, failures and an operator's words. Nil is an error; redact.Plain() is for those who
	// want none. It is never called while the file is locked.
	Sealer redact.Sealer
	// Busy is how long one attempt waits for another process's transaction; zero is five seconds. A call goes on
	// attempting until its context ends, twelve times at most.
	Busy time.Duration
}

// Ledger is an idem.Ledger in a SQLite file. It is safe for concurrent use, also by several processes on one machine.
// It is an [idem.Waker] for what this process does; others are found by polling.
type Ledger struct {
	writer  *sql.DB // one connection
	reader  *sql.DB
	writing prepared
	reading prepared
	vault   stored.Vault
	sql     queries
	bell    bell.Bell
	turns   turns.Turns
}

var (
	_ idem.Ledger = (*Ledger)(nil)
	_ idem.Waker  = (*Ledger)(nil)
)

const (
	defaultBusy  = 5 * time.Second
	busyAttempts = 12
	machineClock = "CAST(round(unixepoch('now', 'subsec') * 1000) AS INTEGER)"
)

// Open opens the file at path, makes it (readable by its owner alone) where there is none, and brings its tables up to
// date. The directory must be there. Shutdown closes it.
func Open(ctx context.Context, path string, cfg Config) (*Ledger, error) {
	if cfg.Sealer == nil {
		return nil, errors.New("sqliteledger: no sealer: redact.Plain() is one that seals nothing")
	}
	if path == "" || strings.HasPrefix(path, ":") {
		return nil, errors.New("sqliteledger: the ledger needs a file; in memory, idem.Memory is one")
	}
	if cfg.Busy <= 0 {
		cfg.Busy = defaultBusy
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the host's path
	if err != nil {
		return nil, fmt.Errorf("sqliteledger: open: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("sqliteledger: open: %w", err)
	}
	l := &Ledger{vault: stored.Vault{Sealer: cfg.Sealer}, sql: makeQueries(machineClock)}
	if err := l.connect(ctx, path, cfg.Busy); err != nil {
		return nil, errors.Join(fmt.Errorf("sqliteledger: open: %w", err), l.Shutdown())
	}
	return l, nil
}

func (l *Ledger) connect(ctx context.Context, path string, busy time.Duration) (err error) {
	if l.writer, err = sql.Open("sqlite", dsn(path, busy, "&_txlock=immediate")); err != nil {
		return err
	}
	l.writer.SetMaxOpenConns(1)
	if l.reader, err = sql.Open("sqlite", dsn(path, busy, "&_pragma=query_only(1)")); err != nil {
		return err
	}
	if err := patiently(ctx, func() error { return l.migrate(ctx) }); err != nil {
		return err
	}
	for _, db := range []*sql.DB{l.writer, l.reader} {
		if err := readBack(ctx, db, busy); err != nil {
			return err
		}
	}
	writing, reading := l.hot()
	if l.writing, err = prepare(ctx, l.writer, writing...); err != nil {
		return err
	}
	l.reading, err = prepare(ctx, l.reader, reading...)
	return err
}

// dsn puts the busy timeout first: the pragmas after it may have to wait for a lock.
func dsn(path string, busy time.Duration, more string) string {
	u := url.URL{Path: path}
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)%s",
		u.EscapedPath(), busy.Milliseconds(), more)
}

// readBack makes sure that what was asked for is what is: SQLite passes over a pragma that it does not know, and keeps
// the journal mode that it cannot change.
func readBack(ctx context.Context, db *sql.DB, busy time.Duration) error {
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": fmt.Sprint(busy.Milliseconds()),
	} {
		var got string
		if err := db.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("pragma %s is %s, not %s", pragma, got, want)
		}
	}
	return nil
}

// DB is the handle that the ledger writes through, for business data in the same file: a transaction begun here may
// end with [FinishTx]. It holds one connection, which the ledger's own calls wait for: begin, write and commit, and
// call nobody in between. Its transactions begin as writing ones.
func (l *Ledger) DB() *sql.DB { return l.writer }

// Shutdown closes the file. Calls after it fail.
func (l *Ledger) Shutdown() error {
	errs := []error{l.writing.close(), l.reading.close()}
	for _, db := range []*sql.DB{l.reader, l.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Wake implements [idem.Waker].
func (l *Ledger) Wake(ctx context.Context) (<-chan struct{}, error) { return l.bell.Listen(ctx), nil }

// patiently runs f again while another process keeps the file locked. SQLite's busy timeout waits inside f.
func patiently(ctx context.Context, f func() error) error {
	for attempt := 1; ; attempt++ {
		err := f()
		if err == nil || !busy(err) || attempt == busyAttempts || ctx.Err() != nil {
			return err
		}
	}
}

func busy(err error) bool {
	const sqliteBusy, sqliteLocked, primary = 5, 6, 0xff
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&primary == sqliteBusy || e.Code()&primary == sqliteLocked)
}
