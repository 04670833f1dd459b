package sqliteaudit_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/redact/audit/sqliteaudit"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, path string, opts ...sqliteaudit.Option) *sqliteaudit.Store {
	t.Helper()
	s, err := sqliteaudit.Open(t.Context(), path, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// query reads the file as an auditor would.
func query(t *testing.T, path, q string, into ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.QueryRowContext(t.Context(), q).Scan(into...))
}

func event() audit.Event {
	return audit.Event{
		At: noon, Kind: "dispatch", Tenant: "t1", Subject: "u1", Run: "r1", Tool: "commit_address_change_v2", RequestID: "req_1", Operation: "op_1", Proposal: "p_1",
		Code: envelope.NotPermitted, Field: "destination.country", Fields: []string{"destination"}, Digests: map[string]string{"b": "2", "a": "1"},
		Outcome: "refused", AuthorizedBy: "u2", PolicyVersion: "3", AdapterVersion: "2", Source: "handler",
	}
}

func Example() {
	dir, _ := os.MkdirTemp("", "audit")
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	store, err := sqliteaudit.Open(ctx, filepath.Join(dir, "audit.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	sealer, _ := redact.NewSealer(redact.Key{ID: "2026-07", Secret: []byte("a secret of 32 bytes at the least")})
	quarantine, _ := audit.NewSealedQuarantine(audit.SealedQuarantineConfig{Shelf: store, Sealer: sealer, Audit: store})

	_ = quarantine.Keep(ctx, audit.Item{RequestID: "req_1", Tool: "get_customer_v1", Status: 502, Raw: []byte("<html>")})
	item, err := quarantine.Open(ctx, "operator-7", "req_1")
	fmt.Println(item, err)
	fmt.Println(store.Close())
	// Output:
	// item of req_1: tool get_customer_v1, rule  at "", status 502, raw 6 bytes <nil>
	// <nil>
}

func TestRecord(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.db")
	s := open(t, path)
	require.NoError(t, s.Record(t.Context(), event()))
	require.NoError(t, s.Record(t.Context(), audit.Event{At: noon.In(time.FixedZone("", 3600)), Kind: "call"}))
	var all string
	query(t, path, `SELECT group_concat(concat_ws('|', seq, at, kind, tenant, subject, run, tool, request_id, operation, proposal, code, field, fields, digests, outcome, authorized_by, policy_version, adapter_version, source), char(10)) FROM audit_event`, &all)
	require.Equal(t, `1|2026-07-01T12:00:00.000000000Z|dispatch|t1|u1|r1|commit_address_change_v2|req_1|op_1|p_1|NOT_PERMITTED|destination.country|["destination"]|{"a":"1","b":"2"}|refused|u2|3|2|handler
2|2026-07-01T12:00:00.000000000Z|call||||||||||[]|{}|||||`, all)
}

func TestRecordRefuses(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "audit.db"))
	for why, change := range map[string]func(*audit.Event){
		"no time":             func(e *audit.Event) { e.At = time.Time{} },
		"no kind":             func(e *audit.Event) { e.Kind = "" },
		"invalid UTF-8":       func(e *audit.Event) { e.Subject = "\xff" },
		"invalid UTF-8 below": func(e *audit.Event) { e.Digests = map[string]string{"a": "\xff"} },
	} {
		e := event()
		change(&e)
		require.ErrorIs(t, s.Record(t.Context(), e), audit.ErrEvent, why)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Record(ctx, event()), context.Canceled)
	require.NoError(t, s.Close())
	require.Error(t, s.Record(t.Context(), event()), "closed")
}

func TestEventsStay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.db")
	s := open(t, path)
	require.NoError(t, s.Record(t.Context(), event()))
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	for _, q := range []string{`DELETE FROM audit_event`, `UPDATE audit_event SET subject = 'u9'`} {
		_, err := db.ExecContext(t.Context(), q)
		require.ErrorContains(t, err, "audit events are not", q)
	}
	var n int
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM audit_event WHERE subject = 'u1'`).Scan(&n))
	require.Equal(t, 1, n)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a ?#%41.db")
	s := open(t, path)
	require.NoError(t, s.Record(t.Context(), event()))
	again := open(t, path)
	require.NoError(t, again.Record(t.Context(), event()), "a second process, and a file that is there")
	_, err := os.Stat(path)
	require.NoError(t, err, "under the name that was given")
	newer := filepath.Join(dir, "newer.db")
	require.NoError(t, open(t, newer).Close())
	var mode string
	query(t, newer, "PRAGMA journal_mode", &mode)
	require.Equal(t, "wal", mode)
	db, err := sql.Open("sqlite", newer)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "PRAGMA user_version = 2")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = sqliteaudit.Open(t.Context(), newer)
	require.ErrorIs(t, err, sqliteaudit.ErrFile, "another version's schema")

	_, err = sqliteaudit.Open(t.Context(), ":memory:")
	require.ErrorIs(t, err, sqliteaudit.ErrFile, "nothing in memory lasts")

	broken := filepath.Join(dir, "broken.db")
	require.NoError(t, os.WriteFile(broken, []byte(strings.Repeat("no database ", 1000)), 0o600))
	_, err = sqliteaudit.Open(t.Context(), broken)
	require.Error(t, err)
	_, err = sqliteaudit.Open(t.Context(), filepath.Join(dir, "no", "such", "dir.db"))
	require.Error(t, err)
}

func parcel(request string, n int) audit.Parcel {
	return audit.Parcel{
		Request: strings.Repeat(request, 64), Kept: noon.Add(time.Duration(n) * time.Millisecond), Expires: noon.Add(time.Minute), Sealed: fmt.Appendf(nil, "%s%d\x00\xff", request, n),
	}
}

func TestParcels(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "audit.db"))
	want := []audit.Parcel{parcel("a", 2), parcel("a", 1)}
	for _, p := range []audit.Parcel{want[0], parcel("b", 1), want[1]} {
		require.NoError(t, s.Put(t.Context(), p))
	}
	got, err := s.Parcels(t.Context(), want[0].Request)
	require.NoError(t, err)
	require.Equal(t, want, got, "in the order in which they were put, byte for byte")
	got, err = s.Parcels(t.Context(), "none")
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestPurge(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "audit.db"))
	later := parcel("a", 2)
	later.Expires = noon.Add(time.Minute + time.Millisecond)
	require.NoError(t, s.Put(t.Context(), parcel("a", 1)))
	require.NoError(t, s.Put(t.Context(), later))
	require.NoError(t, s.Put(t.Context(), parcel("b", 1)))
	n, err := s.Purge(t.Context(), noon.Add(time.Minute-time.Millisecond))
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = s.Purge(t.Context(), noon.Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	got, err := s.Parcels(t.Context(), later.Request)
	require.NoError(t, err)
	require.Equal(t, []audit.Parcel{later}, got)
}

func TestParcelsAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "audit.db"), sqliteaudit.Requests(2))
	for n := range audit.MaxBefore + 2 {
		require.NoError(t, s.Put(t.Context(), parcel("a", n)))
	}
	got, err := s.Parcels(t.Context(), parcel("a", 0).Request)
	require.NoError(t, err)
	require.Len(t, got, audit.MaxBefore)
	require.Equal(t, parcel("a", 0), got[0], "the first stay")
	require.Equal(t, parcel("a", audit.MaxBefore+1), got[audit.MaxBefore-1], "the last gives way")

	require.NoError(t, s.Put(t.Context(), parcel("b", 1)))
	require.NoError(t, s.Put(t.Context(), parcel("a", 1)), "a request that is there needs no room")
	require.NoError(t, s.Put(t.Context(), parcel("c", 1)))
	for request, want := range map[string]int{"a": 0, "b": 1, "c": 1} {
		got, err := s.Parcels(t.Context(), parcel(request, 1).Request)
		require.NoError(t, err)
		require.Len(t, got, want, "%s: the oldest request gives way", request)
	}
}

func TestQuarantineOnIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.db")
	s := open(t, path)
	sealer, err := redact.NewSealer(redact.Key{ID: "k", Secret: make([]byte, 32)})
	require.NoError(t, err)
	now := noon
	q, err := audit.NewSealedQuarantine(audit.SealedQuarantineConfig{Shelf: s, Sealer: sealer, Audit: s, Now: func() time.Time { return now }})
	require.NoError(t, err)
	const canary = "Zq7canary!Kx9"
	require.NoError(t, q.Keep(t.Context(), audit.Item{RequestID: "req_1", Tenant: "t1", Raw: []byte(canary), Cause: errors.New(canary), For: time.Minute}))
	got, err := q.Open(t.Context(), "staff", "req_1")
	require.NoError(t, err)
	require.Equal(t, canary, string(got.Raw))
	require.EqualError(t, got.Cause, canary)
	var outcome string
	query(t, path, `SELECT tenant || subject || request_id || outcome FROM audit_event WHERE kind = 'quarantine_open'`, &outcome)
	require.Equal(t, "t1staffreq_1opened", outcome)
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NotContains(t, string(text), canary[:6], "sealed in the file")
	}
	now = noon.Add(time.Minute)
	_, err = q.Open(t.Context(), "staff", "req_1")
	require.ErrorIs(t, err, audit.ErrNotFound)
	n, err := q.Purge(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestSeveralWriters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.db")
	var wait sync.WaitGroup
	for range 3 { // each as a process of its own would
		s := open(t, path)
		wait.Go(func() {
			for n := range 20 {
				if err := errors.Join(s.Record(t.Context(), event()), s.Put(t.Context(), parcel("a", n))); err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	wait.Wait()
	var events, parcels int
	query(t, path, `SELECT (SELECT count(*) FROM audit_event), (SELECT count(*) FROM quarantine_parcel)`, &events, &parcels)
	require.Equal(t, 60, events)
	require.Equal(t, audit.MaxBefore, parcels)
}
