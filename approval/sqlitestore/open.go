package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/redact"
)

// Store is an [approval.Store] and an [approval.Purger] in one SQLite file. Open makes it; the zero value is of no use.
// It is safe for concurrent use, and several processes of one machine may open one file.
type Store struct {
	write  *sql.DB // one connection: SQLite has one writer, and waits in Go are fairer than waits in it
	read   *sql.DB
	sealer redact.Sealer
	now    func() time.Time
}

var (
	_ approval.Store  = (*Store)(nil)
	_ approval.Purger = (*Store)(nil)
)

// Option changes how a store is opened.
type Option interface{ apply(s *Store) }

type option func(s *Store)

func (o option) apply(s *Store) { o(s) }

// WithClock makes the store read now instead of the machine's clock. It may be called from any goroutine.
func WithClock(now func() time.Time) Option {
	return option(func(s *Store) { s.now = now })
}

// busyTimeout is how long a process waits for another one's transaction.
const busyTimeout = 10 * time.Second

// readers is how many connections read beside the writer.
const readers = 4

// Open opens the file, makes it (for its owner's eyes alone) where it is not there, and brings its schema up to date.
// The sealer is required. The caller closes the store.
func Open(ctx context.Context, path string, sealer redact.Sealer, opts ...Option) (*Store, error) {
	s, err := open(path, sealer, opts)
	if err != nil {
		return nil, fmt.Errorf("sqlitestore: open: %w", err)
	}
	if err := s.prepare(ctx); err != nil {
		return nil, fmt.Errorf("sqlitestore: open: %w", errors.Join(err, s.Close()))
	}
	return s, nil
}

func open(path string, sealer redact.Sealer, opts []Option) (*Store, error) {
	if sealer == nil {
		return nil, errors.New("no sealer: redact.Plain() is written out by those who want none")
	}
	if path == "" || strings.HasPrefix(path, ":memory:") || strings.HasPrefix(path, "file:") {
		return nil, errors.New("the path of a file is needed; approval.Memory keeps proposals in memory")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the host's own path; SQLite gives the files beside it the same mode
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	s := &Store{sealer: sealer, now: time.Now} //nolint:forbidigo // the default clock, taken once
	for _, o := range opts {
		o.apply(s)
	}
	if s.write, err = connect(path, 1, "_txlock=immediate"); err != nil {
		return nil, err
	}
	if s.read, err = connect(path, readers, "_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	return s, nil
}

// connect returns a pool. The busy timeout comes first, so that it holds while the other pragmas are set.
// synchronous=FULL: with NORMAL a committed transaction can be lost with the power, and with it a consumption.
// secure_delete: what Purge erases is overwritten.
func connect(path string, connections int, more string) (*sql.DB, error) {
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	dsn := fmt.Sprintf("%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=secure_delete(1)&%s",
		file.String(), busyTimeout.Milliseconds(), more)
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// prepare checks what the connections were asked for and migrates. The first writer makes the file a WAL file, which no
// busy timeout covers: a process that meets it tries again.
func (s *Store) prepare(ctx context.Context) error {
	if err := untilFree(ctx, func() error { return s.write.PingContext(ctx) }); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return errors.Join(checkPragmas(ctx, s.write), checkPragmas(ctx, s.read))
}

func untilFree(ctx context.Context, try func() error) error {
	for waited := time.Duration(0); ; waited += 10 * time.Millisecond {
		err := try()
		if !busy(err) || waited >= busyTimeout {
			return err
		}
		t := time.NewTimer(10 * time.Millisecond)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
	}
}

// busy reports SQLITE_BUSY, extended codes included.
func busy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == 5
}

// checkPragmas reads back what a misspelt or refused pragma would leave at its default without a word.
func checkPragmas(ctx context.Context, db *sql.DB) error {
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "secure_delete": "1", "busy_timeout": fmt.Sprint(busyTimeout.Milliseconds()),
	} {
		var got string
		if err := db.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("pragma %s is %s, not %s: the file system may not allow it", pragma, got, want)
		}
	}
	return nil
}

// Close closes the file. Calls under way are waited for.
func (s *Store) Close() error { return errors.Join(s.read.Close(), s.write.Close()) }
