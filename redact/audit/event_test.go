package audit_test

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact/audit"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// full is an event with every field set.
func full() audit.Event {
	return audit.Event{
		At: noon, Kind: "dispatch", Tenant: "t1", Subject: "u1", Run: "r1", Tool: "commit_address_change_v2", RequestID: "req_1", Operation: "op_1", Proposal: "p_1",
		Code: envelope.NotPermitted, Field: "destination.country", Fields: []string{"destination", "customer_id"}, Digests: map[string]string{"plan": "hs256:k:00", "action": "hs256:k:01"},
		Outcome: "refused", AuthorizedBy: "u2", PolicyVersion: "3", AdapterVersion: "2", Source: "handler",
	}
}

type failing struct{ err error }

func (f failing) Record(context.Context, audit.Event) error { return f.err }

var errDisk = errors.New("disk full")

func ExampleNewZap() {
	log := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg"}), os.Stdout, zap.InfoLevel))
	sink := audit.Tee(audit.NewZap(log), &audit.Recorder{})
	err := sink.Record(context.Background(), audit.Event{At: time.Now(), Kind: "call", Tenant: "t1", Tool: "get_customer_v1", Outcome: "ok"})
	fmt.Println(err)
	// Output:
	// {"msg":"audit","kind":"call","tenant":"t1","tool":"get_customer_v1","outcome":"ok"}
	// <nil>
}

func TestZapWritesEachFieldByName(t *testing.T) {
	t.Parallel()
	core, seen := observer.New(zap.DebugLevel)
	require.NoError(t, audit.NewZap(zap.New(core).Named("boundary")).Record(t.Context(), full()))
	entry := seen.All()[0]
	require.Equal(t, "audit", entry.Message)
	require.Equal(t, zap.InfoLevel, entry.Level)
	require.Equal(t, "boundary", entry.LoggerName)
	require.Equal(t, noon, entry.Time, "the event's time, not the log's")

	var want map[string]any
	text, err := json.Marshal(full())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &want))
	delete(want, "at") // it is the entry's
	var b bytes.Buffer
	log := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{}), zapcore.AddSync(&b), zap.InfoLevel))
	require.NoError(t, audit.NewZap(log).Record(t.Context(), full()))
	var got map[string]any
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	require.Equal(t, want, got, "under the names of its JSON form, and none left out")
	require.Contains(t, b.String(), `{"action":"hs256:k:01","plan":"hs256:k:00"}`, "digests in the order of their names")
}

func TestZapLosesNothing(t *testing.T) {
	t.Parallel()
	core, seen := observer.New(zap.ErrorLevel)
	sampled := zapcore.NewSamplerWithOptions(core, time.Hour, 1, 0)
	sink := audit.NewZap(zap.New(sampled, zap.IncreaseLevel(zap.FatalLevel)).With(zap.String("service", "s")))
	for range 5 {
		require.NoError(t, sink.Record(t.Context(), full()))
	}
	require.Equal(t, 5, seen.Len(), "neither level nor sampling drops an event")
	require.Equal(t, "s", seen.All()[0].ContextMap()["service"], "the logger's own fields stay")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errDisk }
func (brokenWriter) Sync() error               { return errDisk }

func TestZapTellsWhatItCouldNotWrite(t *testing.T) {
	t.Parallel()
	log := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{}), brokenWriter{}, zap.InfoLevel))
	require.ErrorIs(t, audit.NewZap(log).Record(t.Context(), full()), errDisk)
}

func TestZapWithoutLogger(t *testing.T) {
	t.Parallel()
	require.NoError(t, audit.NewZap(nil).Record(t.Context(), full()))
}

func TestSinksRefuseWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	for name, sink := range map[string]audit.Sink{"zap": audit.NewZap(nil), "recorder": &audit.Recorder{}} {
		e := full()
		e.At = time.Time{}
		require.ErrorIs(t, sink.Record(t.Context(), e), audit.ErrEvent, "%s: no time", name)
		e = full()
		e.Kind = ""
		require.ErrorIs(t, sink.Record(t.Context(), e), audit.ErrEvent, "%s: no kind", name)
	}
}

func TestTee(t *testing.T) {
	t.Parallel()
	var a, b audit.Recorder
	sink := audit.Tee(&a, failing{errDisk}, &b)
	require.ErrorIs(t, sink.Record(t.Context(), full()), errDisk, "one that fails is told")
	require.Len(t, a.Events(), 1)
	require.Len(t, b.Events(), 1, "the others have it all the same")
	require.NoError(t, audit.Tee(&a, &b).Record(t.Context(), full()))
	require.Error(t, audit.Tee().Record(t.Context(), full()), "nowhere is not recorded")
	require.Error(t, audit.Tee(&a, nil).Record(t.Context(), full()), "nor is nil")
	sinks := []audit.Sink{&a}
	sink = audit.Tee(sinks...)
	sinks[0] = failing{errDisk}
	require.NoError(t, sink.Record(t.Context(), full()), "the caller's slice stays the caller's")
}

func TestRecorderCopies(t *testing.T) {
	t.Parallel()
	var r audit.Recorder
	e := full()
	require.NoError(t, r.Record(t.Context(), e))
	e.Fields[0], e.Digests["plan"] = "x", "x"
	require.Equal(t, full(), r.Events()[0], "what the caller changes later")
	r.Events()[0].Digests["plan"] = "x"
	require.Equal(t, full(), r.Events()[0], "what a reader changes")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() { _ = r.Record(t.Context(), full()); r.Events() })
	}
	wait.Wait()
	require.Len(t, r.Events(), 9)
}

func TestEventAsJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(audit.Event{At: noon, Kind: "call"})
	require.NoError(t, err)
	require.JSONEq(t, `{"at":"2026-07-01T12:00:00Z","kind":"call"}`, string(text), "empty members are left out")
	text, err = json.Marshal(full())
	require.NoError(t, err)
	var back audit.Event
	require.NoError(t, json.Unmarshal(text, &back, json.RejectUnknownMembers(true)))
	require.Equal(t, full(), back)
}
