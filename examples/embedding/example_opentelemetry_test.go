package embedding_test

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/embedding"
	"github.com/toolcontract/toolcontract/tool"
)

// A program with OpenTelemetry hands its providers in: each call is a span below the one that is open in the context, and
// counted. Exporters, resources, samplers and views stay where they are set up. (Here everything is kept in memory.)
func Example_openTelemetry() {
	ctx := context.Background()
	spans := tracetest.NewInMemoryExporter()
	tracing := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	reader := metric.NewManualReader()
	metering := metric.NewMeterProvider(metric.WithReader(reader))

	catalog, err := embedding.Catalogue()
	if err != nil {
		panic(err)
	}
	role, err := catalog.Role("reader", "get_order_v1")
	if err != nil {
		panic(err)
	}
	d, err := tool.NewDispatcher(catalog, tool.Config{TracerProvider: tracing, MeterProvider: metering})
	if err != nil {
		panic(err)
	}
	run, err := d.Start(tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent"}, Role: role,
		Budget: tool.Budget{Calls: 10}, Deadline: time.Now().Add(time.Minute),
	})
	if err != nil {
		panic(err)
	}

	ctx, turn := tracing.Tracer("agent").Start(ctx, "turn 1")
	run.Call(ctx, envelope.Call{Tool: "get_order_v1", Arguments: jsontext.Value(`{"order_id":"1001"}`)})
	run.Call(ctx, envelope.Call{Tool: "get_order_v1", Arguments: jsontext.Value(`{"order_id":"9999"}`)})
	turn.End()

	for _, s := range spans.GetSpans() {
		below := ""
		if s.Parent.SpanID() == turn.SpanContext().SpanID() {
			below = " below turn 1"
		}
		fmt.Printf("span %s%s, status %s\n", s.Name, below, s.Status.Code)
		for _, a := range s.Attributes {
			fmt.Printf("  %s=%s\n", a.Key, a.Value.String())
		}
	}
	var counted metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &counted); err != nil {
		panic(err)
	}
	for _, m := range counted.ScopeMetrics[0].Metrics {
		sum, ok := m.Data.(metricdata.Sum[int64])
		if !ok || m.Name != "toolcontract.calls" {
			continue // there are others
		}
		total := int64(0)
		for _, p := range sum.DataPoints {
			total += p.Value
		}
		fmt.Println("metric", m.Name, total)
	}

	// Output:
	// span execute_tool get_order_v1 below turn 1, status Unset
	//   gen_ai.operation.name=execute_tool
	//   gen_ai.tool.name=get_order_v1
	//   toolcontract.class=read
	//   toolcontract.code=OK
	// span execute_tool get_order_v1 below turn 1, status Error
	//   gen_ai.operation.name=execute_tool
	//   gen_ai.tool.name=get_order_v1
	//   toolcontract.class=read
	//   toolcontract.code=NOT_FOUND
	// span turn 1, status Unset
	// metric toolcontract.calls 2
}
