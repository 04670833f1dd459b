package main

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

const recordedRun = "testdata/run.trace.jsonl"

// clock stands where it is put.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// stage is the example's catalogue before stores in memory, and a run of its role.
func stage(t *testing.T, c *clock, catalog *tool.Catalog, wire func(*tool.Config) error) (*tool.Dispatcher, *tool.Run) {
	t.Helper()
	digester, err := redact.NewDigester(redact.Key{ID: "test", Secret: bytes.Repeat([]byte{7}, 32)})
	require.NoError(t, err)
	cfg := tool.Config{
		Policy: approval.Everything(approval.Requirement{Level: approval.One, Role: "lead"}), Approvals: approval.NewMemory(c.now), Authority: approval.ByRole{},
		Ledger: idem.NewMemory(c.now), Digester: digester, Audit: &audit.Recorder{}, Now: c.now,
	}
	require.NoError(t, wire(&cfg))
	d, err := tool.NewDispatcher(catalog, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close(context.WithoutCancel(t.Context()))) })
	role, err := catalog.Role("recorded", "get_customer_v1", "get_parcel_v1")
	require.NoError(t, err)
	run, err := d.Start(tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent"}, Role: role,
		Budget: tool.Budget{Calls: 50}, Deadline: c.at.Add(time.Hour),
	})
	require.NoError(t, err)
	return d, run
}

// record makes the calls and saves them.
func record(t *testing.T) []byte {
	t.Helper()
	c := &clock{time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)}
	rec, err := trace.NewRecorder(trace.Config{Key: bytes.Repeat([]byte{1}, 32), Now: c.now})
	require.NoError(t, err)
	_, plain := stage(t, c, desks(t), func(cfg *tool.Config) error { rec.Wire(cfg); return nil })
	run, err := rec.Run(plain)
	require.NoError(t, err)
	call := func(name, arguments string) envelope.Result {
		c.at = c.at.Add(time.Second)
		return run.Call(t.Context(), envelope.Call{ID: "call-" + strconv.Itoa(c.at.Second()), Tool: name, Arguments: jsontext.Value(arguments)})
	}
	require.NoError(t, call("get_customer_v1", `{"customer_id":"cus_1842"}`).Err())
	require.NoError(t, call("get_parcel_v1", `{"parcel_id":"par_77"}`).Err())
	require.Equal(t, envelope.NotFound, call("get_parcel_v1", `{"parcel_id":"par_78"}`).Error.Code)
	require.Equal(t, envelope.InvalidArgument, call("get_customer_v1", `{"customer_id":"1842"}`).Error.Code)

	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	return file.Bytes()
}

// desks is the example's catalogue over a database of its own.
func desks(t *testing.T) *tool.Catalog {
	t.Helper()
	d, err := openDesk(t.Context(), filepath.Join(t.TempDir(), "desk.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.close()) })
	catalog, err := d.catalogue()
	require.NoError(t, err)
	return catalog
}

// replayed makes the calls of a recording again, against the catalogue.
func replayed(t *testing.T, file []byte, c *clock, catalog *tool.Catalog) *trace.Report {
	t.Helper()
	recorded, err := trace.Load(bytes.NewReader(file))
	require.NoError(t, err)
	p := trace.NewPlayer(recorded, trace.PlayerConfig{At: func(at time.Time) { c.at = at }})
	c.at = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	d, run := stage(t, c, catalog, p.Wire)
	report, err := p.Play(t.Context(), d, run)
	require.NoError(t, err)
	require.Len(t, report.Calls, recorded.Calls())
	return report
}

// The reads are recorded, at the run: package mcptool makes runs of the dispatcher itself, so that a recorder has no place behind the
// protocol. The writes are not: a proposal's target is free text, which a recording replaces everywhere, and no stand-in for
// "cus_1842" is one of the input's pattern, so that the call of the preview would be saved without its arguments.
func TestRecordedRunReplays(t *testing.T) {
	t.Parallel()
	file := record(t)
	if os.Getenv("TOOLCONTRACT_UPDATE") != "" {
		require.Empty(t, os.Getenv("CI"), "golden files are compared in CI, never rewritten")
		require.NoError(t, os.WriteFile(recordedRun, file, 0o600))
	}
	kept, err := os.ReadFile(recordedRun)
	require.NoError(t, err)
	for _, recorded := range [][]byte{file, kept} {
		c := &clock{}
		report := replayed(t, recorded, c, desks(t))
		require.NoError(t, report.Err())
		require.Equal(t, 4, report.Count(trace.Same))
	}
}

// A status more breaks every reader of the closed contract, unless it is a new version.
func TestRecordedRunOfAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	kept, err := os.ReadFile(recordedRun)
	require.NoError(t, err)
	type newParcel struct {
		ParcelID string `json:"parcel_id" jsonschema:"maxLength=6" redact:"trusted"`
		Status   string `json:"status" jsonschema:"enum=stored,enum=sent"`
	}
	d, err := openDesk(t.Context(), filepath.Join(t.TempDir(), "desk.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.close()) })
	defs := []tool.Definition{d.getCustomer(), tool.Tool[parcelIn, newParcel]{
		Spec: spec("get_parcel", "Read a parcel", "Read where a parcel goes."),
		Handle: func(context.Context, tool.Caller, parcelIn) (newParcel, error) {
			return newParcel{}, envelope.New(envelope.NotFound).At("parcel_id")
		},
	}}
	catalog, err := tool.NewCatalog(defs...)
	require.NoError(t, err)
	report := replayed(t, kept, &clock{}, catalog)
	require.ErrorIs(t, report.Err(), trace.ErrOldVersion)
	require.NotErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, 1, report.Count(trace.OldVersion))
}
