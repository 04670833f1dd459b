// Package recordtest records and replays the reads of the examples' catalogues, before stores in memory.
package recordtest

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"os"
	"strconv"
	"sync"
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

// file is where an example keeps its run.
const file = "testdata/run.trace.jsonl"

// Clock stands where it is put. Make it with [NewClock]; safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock that stands at nine in the morning of 2 March 2026.
func NewClock() *Clock { return &Clock{at: time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Set puts the clock.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// stage is the catalogue before stores in memory, and a run of a role with the tools.
func stage(t *testing.T, c *Clock, catalog *tool.Catalog, tools []string, wire func(*tool.Config) error) (*tool.Dispatcher, *tool.Run) {
	t.Helper()
	digester, err := redact.NewDigester(redact.Key{ID: "test", Secret: bytes.Repeat([]byte{7}, 32)})
	require.NoError(t, err)
	cfg := tool.Config{
		Policy: approval.Everything(approval.Requirement{Level: approval.One, Role: "lead"}), Approvals: approval.NewMemory(c.Now), Authority: approval.ByRole{},
		Ledger: idem.NewMemory(c.Now), Digester: digester, Audit: &audit.Recorder{}, Now: c.Now,
	}
	require.NoError(t, wire(&cfg))
	d, err := tool.NewDispatcher(catalog, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close(context.WithoutCancel(t.Context()))) })
	role, err := catalog.Role("recorded", tools...)
	require.NoError(t, err)
	run, err := d.Start(tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent"}, Role: role,
		Budget: tool.Budget{Calls: 50}, Deadline: c.Now().Add(time.Hour),
	})
	require.NoError(t, err)
	return d, run
}

// Record makes calls of the tools, one a second, and returns the recording.
func Record(t *testing.T, catalog *tool.Catalog, tools []string, calls func(call func(name, arguments string) envelope.Result)) []byte {
	t.Helper()
	c := NewClock()
	rec, err := trace.NewRecorder(trace.Config{Key: bytes.Repeat([]byte{1}, 32), Now: c.Now})
	require.NoError(t, err)
	_, plain := stage(t, c, catalog, tools, func(cfg *tool.Config) error { rec.Wire(cfg); return nil })
	run, err := rec.Run(plain)
	require.NoError(t, err)
	calls(func(name, arguments string) envelope.Result {
		c.Set(c.Now().Add(time.Second))
		return run.Call(t.Context(), envelope.Call{ID: "call-" + strconv.Itoa(c.Now().Second()), Tool: name, Arguments: jsontext.Value(arguments)})
	})
	var saved bytes.Buffer
	require.NoError(t, rec.Save(&saved, run.ID()))
	return saved.Bytes()
}

// Updating reports whether TOOLCONTRACT_UPDATE is set: then kept runs are made anew, and not held to.
func Updating() bool { return os.Getenv("TOOLCONTRACT_UPDATE") != "" }

// Keep rewrites the run that the example keeps, where TOOLCONTRACT_UPDATE is set.
func Keep(t *testing.T, recording []byte) {
	t.Helper()
	if !Updating() {
		return
	}
	require.Empty(t, os.Getenv("CI"), "golden files are compared in CI, never rewritten")
	require.NoError(t, os.WriteFile(file, recording, 0o600))
}

// Kept returns the run that the example keeps.
func Kept(t *testing.T) []byte {
	t.Helper()
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	return kept
}

// Replay makes the calls of a recording again, all of them, against the catalogue.
func Replay(t *testing.T, recording []byte, catalog *tool.Catalog, tools []string) *trace.Report {
	t.Helper()
	recorded, err := trace.Load(bytes.NewReader(recording))
	require.NoError(t, err)
	c := NewClock()
	p := trace.NewPlayer(recorded, trace.PlayerConfig{At: c.Set})
	d, run := stage(t, c, catalog, tools, p.Wire)
	report, err := p.Play(t.Context(), d, run)
	require.NoError(t, err)
	require.Len(t, report.Calls, recorded.Calls())
	return report
}

// Refused holds a replay to the refusal of so many calls as of an old version, and to no other difference.
func Refused(t *testing.T, report *trace.Report, calls int) {
	t.Helper()
	require.ErrorIs(t, report.Err(), trace.ErrOldVersion)
	require.NotErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, calls, report.Count(trace.OldVersion))
}
