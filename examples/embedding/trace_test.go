package embedding_test

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/embedding"
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
	role, err := catalog.Role("recorded", "get_order_v1")
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
	_, plain := stage(t, c, catalogue(t), func(cfg *tool.Config) error { rec.Wire(cfg); return nil })
	run, err := rec.Run(plain)
	require.NoError(t, err)
	call := func(arguments string) envelope.Result {
		c.at = c.at.Add(time.Second)
		return run.Call(t.Context(), envelope.Call{ID: "call-" + strconv.Itoa(c.at.Second()), Tool: "get_order_v1", Arguments: jsontext.Value(arguments)})
	}
	require.NoError(t, call(`{"order_id":"1001"}`).Err())
	require.NoError(t, call(`{"order_id":"1002"}`).Err())
	require.Equal(t, envelope.NotFound, call(`{"order_id":"2001"}`).Error.Code, "another tenant's")
	require.Equal(t, envelope.UnknownField, call(`{"order_id":"1001","tenant":"zenith"}`).Error.Code)

	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	return file.Bytes()
}

func catalogue(t *testing.T) *tool.Catalog {
	t.Helper()
	c, err := embedding.Catalogue()
	require.NoError(t, err)
	return c
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

// The Examples call one catalogue. It is recorded whole: its orders are in the program, so that a replay reads the same ones.
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
		report := replayed(t, recorded, c, catalogue(t))
		require.NoError(t, report.Err())
		require.Equal(t, 4, report.Count(trace.Same))
	}
}

// A member of another name breaks every caller of the closed contract, unless it is a new version.
func TestRecordedRunOfAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	kept, err := os.ReadFile(recordedRun)
	require.NoError(t, err)
	type query struct {
		Number string `json:"number" jsonschema:"pattern=^[0-9]{4}$"`
	}
	defs := []tool.Definition{tool.Tool[query, embedding.Order]{
		Spec: tool.Spec{Name: "get_order", Version: 1, Description: "Read an order's state.", Timeout: time.Second},
		Handle: func(context.Context, tool.Caller, query) (embedding.Order, error) {
			return embedding.Order{}, envelope.New(envelope.NotFound)
		},
	}}
	catalog, err := tool.NewCatalog(defs...)
	require.NoError(t, err)
	report := replayed(t, kept, &clock{}, catalog)
	require.ErrorIs(t, report.Err(), trace.ErrOldVersion)
	require.NotErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, 3, report.Count(trace.OldVersion))
}
