package upstream_test

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// observed is a dispatcher of which everything that leaves it is watched.
type observed struct {
	host       upstream.Host
	quarantine *audit.MemoryQuarantine
	audit      *audit.Recorder
	logs       *observer.ObservedLogs
	logger     *zap.Logger
	spans      *tracetest.InMemoryExporter
	metrics    *sdkmetric.ManualReader
	errs       []error
}

func newObserved(t *testing.T) *observed {
	t.Helper()
	o := &observed{audit: &audit.Recorder{}, spans: tracetest.NewInMemoryExporter(), metrics: sdkmetric.NewManualReader()}
	clock := func() time.Time { return recordedAt }
	o.quarantine = audit.NewMemoryQuarantine(audit.MemoryQuarantineConfig{Audit: &audit.Recorder{}, Now: clock})
	core, logs := observer.New(zap.DebugLevel)
	o.logs, o.logger = logs, zap.New(core)
	digester, err := redact.NewDigester(redact.Key{ID: "k1", Secret: bytes.Repeat([]byte{7}, 32)})
	require.NoError(t, err)
	o.host = upstream.Host{Quarantine: o.quarantine, Digester: digester, Retention: 48 * time.Hour, Now: clock}
	return o
}

// call runs one call of the tool ask_v1.
func (o *observed) call(t *testing.T, args []byte, def tool.Definition) envelope.Result {
	t.Helper()
	catalog, err := tool.NewCatalog(def)
	require.NoError(t, err)
	role, err := catalog.Role("agent", "ask_v1")
	require.NoError(t, err)
	d, err := tool.NewDispatcher(catalog, tool.Config{
		Audit: o.audit, Quarantine: o.quarantine, Logger: o.logger,
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(o.spans)),
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(o.metrics)),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close(context.Background())) })
	run, err := d.Start(tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: "t1", Subject: "agent"}, Role: role,
		Budget: tool.Budget{Calls: 10}, Deadline: time.Now().Add(time.Minute),
	})
	require.NoError(t, err)
	return run.Call(t.Context(), envelope.Call{Tool: "ask_v1", Arguments: args})
}

// everything is all text that left, under names for messages.
func (o *observed) everything(t *testing.T, result envelope.Result) map[string]string {
	t.Helper()
	wire, err := json.Marshal(result)
	require.NoError(t, err)
	out := map[string]string{"result": string(wire) + fmt.Sprintf("%+v %#v", result, result)}
	out["errors"] = printed(o.errs...)
	if result.Error != nil {
		out["result's error"] = printed(result.Error)
	}
	var b strings.Builder
	for _, entry := range o.logs.All() {
		fmt.Fprintf(&b, "%s %+v\n", entry.Message, entry.ContextMap())
	}
	out["logs"] = b.String()
	out["audit"] = fmt.Sprintf("%+v", o.audit.Events())
	b.Reset()
	for _, s := range o.spans.GetSpans() {
		fmt.Fprintf(&b, "%+v\n", s)
	}
	out["spans"] = b.String()
	var rm metricdata.ResourceMetrics
	require.NoError(t, o.metrics.Collect(t.Context(), &rm))
	out["metrics"] = fmt.Sprintf("%+v", rm.ScopeMetrics)
	return out
}

// printed prints errors and everything in their chains, in every way that fmt has.
func printed(errs ...error) string {
	var b strings.Builder
	for _, err := range errs {
		if err == nil {
			continue
		}
		fmt.Fprintf(&b, "%v %+v %#v %q %s %x\n", err, err, err, err, err, err)
		switch u := err.(type) { //nolint:errorlint // a walk over the whole chain
		case interface{ Unwrap() error }:
			b.WriteString(printed(u.Unwrap()))
		case interface{ Unwrap() []error }:
			b.WriteString(printed(u.Unwrap()...))
		}
	}
	return b.String()
}

// marker is the part of a planted string that occurs nowhere by chance.
var marker = regexp.MustCompile(`cnry[0-9a-f]{10}`)

// clean searches everything that left for the given strings whole, in every encoding, and for their markers in pieces.
func (o *observed) clean(t *testing.T, planted []string, result envelope.Result) {
	t.Helper()
	texts := o.everything(t, result)
	require.Contains(t, texts["result"], result.RequestID, "the search looks where something is")
	require.Contains(t, texts["audit"], result.RequestID)
	require.NotEmpty(t, texts["spans"])
	for _, text := range planted {
		c, err := redact.NewCanary(text)
		require.NoError(t, err)
		for where, output := range texts {
			for _, trace := range c.Search([]byte(output)) {
				require.False(t, trace.Whole, "%s: %s", where, trace)
			}
			if m := marker.FindString(text); m != "" {
				pieces, err := redact.NewCanary(m)
				require.NoError(t, err)
				require.Empty(t, pieces.Search([]byte(output)), where)
			}
		}
	}
}

// kept checks that the operators have what was refused, with all that finds and explains it.
func (o *observed) kept(t *testing.T, row recordedResponse, requestID string) {
	t.Helper()
	latest, err := o.quarantine.Open(t.Context(), "staff", requestID)
	require.NoError(t, err)
	var response, stderr *audit.Item
	for _, i := range append(latest.Before, latest) {
		switch {
		case i.Source == "handler":
		case i.Rule == "stderr":
			stderr = &i
		default:
			response = &i
		}
	}
	require.NotNil(t, response)
	body := row.body()
	require.Equal(t, body[:min(len(body), 1<<20)], append([]byte{}, response.Raw...))
	require.Equal(t, row.Status, response.Status)
	require.NotEmpty(t, response.Rule)
	require.NotEmpty(t, response.Source)
	require.NotEmpty(t, response.Owner)
	require.Equal(t, []string{"t1", "ask_v1", "3"}, []string{response.Tenant, response.Tool, response.AdapterVersion})
	require.Equal(t, 48*time.Hour, response.For)
	require.Equal(t, len(body) > 0, response.Digest != "")
	if row.Stderr != "" {
		require.NotNil(t, stderr)
		require.Equal(t, row.Stderr, string(stderr.Raw))
	}
	var refusal *upstream.Error
	require.True(t, errors.As(o.errs[0], &refusal))
	require.Equal(t, requestID, refusal.RequestID)
	require.Equal(t, response.Rule, refusal.Rule)
}
