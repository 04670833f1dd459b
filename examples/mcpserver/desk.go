package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/toolcontract/toolcontract/tool/trace"
)

// desk is the system that the tools change: records with versions, and what each request did, by its key. It is a system of its
// own, in a file of its own, and knows nothing of the library.
type desk struct {
	db  *sql.DB
	now func() time.Time
}

// edit replaces a record's text if its version is still Version. It takes effect when it is through: a reroute takes time.
type edit struct {
	Tenant, Kind, ID, Text string
	Version                int64
	Key                    string
	Takes                  time.Duration
}

// effect is what a request did.
type effect struct {
	From, To int64
	At       time.Time // when it was, or will be, through
}

var (
	errNoRecord = errors.New("desk: no such record, or no such key")
	errStale    = errors.New("desk: the record has another version")
)

const tables = `
CREATE TABLE IF NOT EXISTS records (tenant TEXT, kind TEXT, id TEXT, version INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (tenant, kind, id));
CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY, tenant TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
	from_version INTEGER NOT NULL, to_version INTEGER NOT NULL, at INTEGER NOT NULL);
INSERT OR IGNORE INTO records VALUES
	('acme', 'customer', 'cus_1842', 17, '2 Mill Lane, Kiel'), ('acme', 'note', 'cus_1842', 1, ''), ('acme', 'parcel', 'par_77', 4, 'to the door'),
	('globex', 'customer', 'cus_1842', 3, '9 Quay Street, Rotterdam'), ('globex', 'note', 'cus_1842', 1, ''), ('globex', 'parcel', 'par_77', 1, 'to the door');`

func openDesk(ctx context.Context, path string) (*desk, error) {
	name := url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: "_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, fmt.Errorf("desk: open: %w", err)
	}
	if _, err := db.ExecContext(ctx, tables); err != nil {
		return nil, errors.Join(fmt.Errorf("desk: open: %w", err), db.Close())
	}
	return &desk{db: db, now: time.Now}, nil
}

func (d *desk) close() error { return d.db.Close() }

type (
	question struct {
		Kind string `json:"kind" redact:"trusted"`
		ID   string `json:"id"`
	}
	record struct {
		Text    string `json:"text" redact:"personal"`
		Version int64  `json:"version"`
	}
)

// read returns a record's text and version.
func (d *desk) read(ctx context.Context, tenant, kind, id string) (text string, version int64, err error) {
	r, err := trace.Do(ctx, "desk.read", question{kind, id}, func(ctx context.Context) (r record, err error) {
		err = d.db.QueryRowContext(ctx, `SELECT text, version FROM records WHERE tenant = ? AND kind = ? AND id = ?`, tenant, kind, id).Scan(&r.Text, &r.Version)
		if errors.Is(err, sql.ErrNoRows) {
			return record{}, errNoRecord
		}
		return r, err
	}, errNoRecord)
	return r.Text, r.Version, err
}

// change carries an edit out, or refuses it finally with errStale or errNoRecord. After any other error nobody knows.
func (d *desk) change(ctx context.Context, e edit) (_ effect, err error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return effect{}, err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the first error counts
		}
	}()
	var version int64
	switch err := tx.QueryRowContext(ctx, `SELECT version FROM records WHERE tenant = ? AND kind = ? AND id = ?`, e.Tenant, e.Kind, e.ID).Scan(&version); {
	case errors.Is(err, sql.ErrNoRows):
		return effect{}, errNoRecord
	case err != nil:
		return effect{}, err
	case version != e.Version:
		return effect{}, errStale
	}
	done := effect{From: version, To: version + 1, At: d.now().Add(e.Takes).Truncate(time.Millisecond)}
	if _, err := tx.ExecContext(ctx, `UPDATE records SET text = ?, version = ? WHERE tenant = ? AND kind = ? AND id = ?`, e.Text, done.To, e.Tenant, e.Kind, e.ID); err != nil {
		return effect{}, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO effects VALUES (?, ?, ?, ?, ?, ?, ?)`, e.Key, e.Tenant, e.Kind, e.ID, done.From, done.To, done.At.UnixMilli()); err != nil {
		return effect{}, err
	}
	return done, tx.Commit()
}

// byKey returns what the request with that key did, errNoRecord when none has arrived so far.
func (d *desk) byKey(ctx context.Context, tenant, key string) (effect, error) {
	var e effect
	var at int64
	err := d.db.QueryRowContext(ctx, `SELECT from_version, to_version, at FROM effects WHERE tenant = ? AND key = ?`, tenant, key).Scan(&e.From, &e.To, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return effect{}, errNoRecord
	}
	e.At = time.UnixMilli(at)
	return e, err
}
