package tool_test

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// observed is what OpenTelemetry's own SDK gets.
type observed struct {
	spans  *tracetest.InMemoryExporter
	reader *sdkmetric.ManualReader
}

func (w *world) observe() observed {
	o := observed{tracetest.NewInMemoryExporter(), sdkmetric.NewManualReader()}
	w.config.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(o.spans))
	w.config.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(o.reader))
	return o
}

// named returns the spans of a name, in the order in which they ended.
func (o observed) named(name string) (out tracetest.SpanStubs) {
	for _, s := range o.spans.GetSpans() {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// counted returns one line for each counter and set of attributes: "calls class=read code=OK tool=… version=1: 2".
func (o observed) counted(t *testing.T, names ...string) (out []string) {
	t.Helper()
	var rm metricdata.ResourceMetrics
	require.NoError(t, o.reader.Collect(t.Context(), &rm))
	for _, scope := range rm.ScopeMetrics {
		for _, m := range scope.Metrics {
			name := strings.TrimPrefix(m.Name, "toolcontract.")
			sum, ok := m.Data.(metricdata.Sum[int64])
			require.True(t, ok, m.Name)
			for _, p := range sum.DataPoints {
				set := p.Attributes.ToSlice()
				parts := make([]string, 0, len(set))
				for _, kv := range set {
					key := strings.TrimPrefix(strings.TrimPrefix(string(kv.Key), "toolcontract."), "gen_ai.tool.")
					parts = append(parts, key+"="+kv.Value.String())
				}
				sort.Strings(parts)
				for _, want := range names {
					if want == name {
						out = append(out, fmt.Sprintf("%s %s: %d", name, strings.Join(parts, " "), p.Value))
					}
				}
			}
		}
	}
	sort.Strings(out)
	return out
}

func attributeOf(s tracetest.SpanStub, key string) string {
	for _, kv := range s.Attributes {
		if kv.Key == attribute.Key(key) {
			return kv.Value.String()
		}
	}
	return ""
}

// A worker's spans are of another trace, and link to the admission that put the operation into the queue.
func TestSpansAreLinkedAcrossTheQueue(t *testing.T) {
	bubble(t, func(w *world) {
		t, o := w.t, w.observe()
		w.write.Queued = true
		d := w.dispatcher()
		s := w.session(d, "run1", agent)
		id := s.approved(250)
		refuses(t, s.commit(id), envelope.InProgress, "it is queued")
		admits := o.named("admit")
		require.Len(t, admits, 1)
		require.Empty(t, o.named("dispatch"), "nothing is sent yet")
		rec, err := w.ledger.Find(t.Context(), idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", id)})
		require.NoError(t, err)
		sc := admits[0].SpanContext
		require.Equal(t, fmt.Sprintf("00-%s-%s-01", sc.TraceID(), sc.SpanID()), rec.Command.Meta["traceparent"])

		stop := w.work(d, tool.WorkerConfig{})
		synctest.Wait()
		stop()
		dispatches, executes := o.named("dispatch"), o.named("execute")
		require.Len(t, dispatches, 1)
		require.Len(t, executes, 1)
		require.Len(t, dispatches[0].Links, 1)
		require.Equal(t, sc.SpanID(), dispatches[0].Links[0].SpanContext.SpanID())
		require.Equal(t, sc.TraceID(), dispatches[0].Links[0].SpanContext.TraceID())
		require.NotEqual(t, sc.TraceID(), dispatches[0].SpanContext.TraceID(), "the worker's trace is its own")
		require.Equal(t, dispatches[0].SpanContext.SpanID(), executes[0].Parent.SpanID(), "the handler runs within the dispatch")
		require.Equal(t, "succeeded", attributeOf(dispatches[0], "toolcontract.state"))
		require.Equal(t, commitTool, attributeOf(dispatches[0], "gen_ai.tool.name"))
	})
}

func TestSpansOfAWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.observe()
	lost := true
	var status error
	w.write.Contract = idem.StatusQueryable
	w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		if lost {
			return limitOut{}, errors.New("connection reset by db.internal")
		}
		return w.provider.apply(cmd), nil
	}
	w.write.Status = func(context.Context, tool.Approved[limitPlan], string) (limitOut, error) { return limitOut{}, status }
	status = errors.New("down")
	s := w.start()
	id := s.preview(250).ProposalID
	refuses(t, s.commit(id), envelope.ApprovalPending, "nobody has decided")
	s.decide(id, true)
	refuses(t, s.commit(id), envelope.OutcomeUnknown, "the answer was lost")
	require.Equal(t, "unknown", s.operation(id).State)

	call := o.named("execute_tool " + commitTool)
	require.Len(t, call, 2)
	authorised := o.named("authorise")
	words := make([]string, 0, len(authorised))
	for _, a := range authorised {
		words = append(words, attributeOf(a, "toolcontract.code"))
	}
	require.Equal(t, []string{"OK", "APPROVAL_PENDING", "OK"}, words, "the preview, the early commit, the commit")
	admit, dispatch, execute, resolve := o.named("admit"), o.named("dispatch"), o.named("execute"), o.named("resolve")
	for name, spans := range map[string]tracetest.SpanStubs{"admit": admit, "dispatch": dispatch, "execute": execute, "resolve": resolve} {
		require.Len(t, spans, 1, name)
	}
	require.Equal(t, call[1].SpanContext.SpanID(), admit[0].Parent.SpanID())
	require.Equal(t, call[1].SpanContext.TraceID(), execute[0].SpanContext.TraceID())
	require.Equal(t, "unknown", attributeOf(execute[0], "toolcontract.state"))
	require.Equal(t, admit[0].SpanContext.SpanID(), resolve[0].Links[0].SpanContext.SpanID(), "who asks later links to the admission")
	require.Equal(t, "unknown", attributeOf(resolve[0], "toolcontract.state"))
}

// Each counter, with the attributes that it has and no others: none holds a principal, an id, a target or a value.
func TestCounters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.observe()
	down := 1
	handle := w.read.Handle
	w.read.Retry = tool.Retry{Attempts: 3, On: []envelope.Code{envelope.UpstreamUnavailable}}
	w.read.Handle = func(ctx context.Context, by tool.Caller, in accountIn) (accountOut, error) {
		if down--; down == 0 {
			return accountOut{}, envelope.New(envelope.UpstreamUnavailable)
		}
		out, err := handle(ctx, by, in)
		if in.AccountID == "a2" {
			out.AccountID = ""
		}
		return out, err
	}
	sent := false
	commit := w.write.Commit
	w.write.Commit = func(ctx context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		if !sent {
			sent = true
			return limitOut{}, envelope.NotSent(errors.New("no route"))
		}
		if cmd.Plan.Limit == 666 {
			return limitOut{}, errors.New("no answer")
		}
		return commit(ctx, cmd)
	}
	s := w.start()
	require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err())
	refuses(t, s.call(readTool, `{"account_id":"a2"}`), envelope.OutputInvalid, "an empty id")
	refuses(t, s.call(readTool, `{"account_id":7}`), envelope.InvalidArgument, "a number")
	refuses(t, s.call(readTool, `{"account_id":"a1","ada":1}`), envelope.UnknownField, "undeclared")
	refuses(t, s.call("get_ada_v1", `{}`), envelope.UnknownTool, "no such tool")

	first, stale := s.approved(250), s.preview(300).ProposalID
	s.decide(stale, false)
	refuses(t, s.commit(first), envelope.InProgress, "not sent")
	w.clock.add(time.Minute)
	success(t, s.commit(first), "sent")
	second := s.approved(260)
	w.provider.touch("t1/a1")
	refuses(t, s.commit(second), envelope.VersionConflict, "touched meanwhile")
	refuses(t, s.commit(s.approved(666)), envelope.OutcomeUnknown, "no answer")

	require.Equal(t, []string{
		"calls class= code=UNKNOWN_TOOL name= version=0: 1",
		"calls class=preview code=OK name=preview_limit_change_v2 version=2: 4",
		"calls class=read code=INVALID_ARGUMENT name=get_account_v1 version=1: 1",
		"calls class=read code=OK name=get_account_v1 version=1: 1",
		"calls class=read code=OUTPUT_INVALID name=get_account_v1 version=1: 1",
		"calls class=read code=UNKNOWN_FIELD name=get_account_v1 version=1: 1",
		"calls class=reversible code=IN_PROGRESS name=commit_limit_change_v2 version=2: 1",
		"calls class=reversible code=OK name=commit_limit_change_v2 version=2: 1",
		"calls class=reversible code=OUTCOME_UNKNOWN name=commit_limit_change_v2 version=2: 1",
		"calls class=reversible code=VERSION_CONFLICT name=commit_limit_change_v2 version=2: 1",
	}, o.counted(t, "calls"))
	require.Equal(t, []string{
		"refusals code=INVALID_ARGUMENT field=account_id name=get_account_v1: 1",
		"refusals code=IN_PROGRESS field= name=commit_limit_change_v2: 1",
		"refusals code=OUTCOME_UNKNOWN field= name=commit_limit_change_v2: 1",
		"refusals code=OUTPUT_INVALID field= name=get_account_v1: 1",
		"refusals code=UNKNOWN_FIELD field= name=get_account_v1: 1",
		"refusals code=UNKNOWN_TOOL field= name=: 1",
		"refusals code=VERSION_CONFLICT field=target.version name=commit_limit_change_v2: 1",
	}, o.counted(t, "refusals"))
	require.Equal(t, []string{
		"conflicts code=IN_PROGRESS name=commit_limit_change_v2: 1",
		"conflicts code=VERSION_CONFLICT name=commit_limit_change_v2: 1",
		"decisions decision=approved name=commit_limit_change_v2: 3",
		"decisions decision=rejected name=commit_limit_change_v2: 1",
		"output_failures field=account_id name=get_account_v1: 1",
		"retries name=commit_limit_change_v2 retry=not_sent: 1",
		"retries name=get_account_v1 retry=read: 1",
		"unknown name=commit_limit_change_v2: 1",
	}, o.counted(t, "conflicts", "decisions", "output_failures", "retries", "unknown"))
	require.Equal(t, []string{
		"operations name=commit_limit_change_v2 state=pending: 1",
		"operations name=commit_limit_change_v2 state=succeeded: 1",
		"operations name=commit_limit_change_v2 state=unknown: 1",
	}, o.counted(t, "operations"))
}

// The audit names the fields that were accepted: declared names, and those alone that were there.
func TestAuditNamesTheAcceptedFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start()
	require.NoError(t, s.call(readTool, `{"account_id":"a1"}`).Err())
	refuses(t, s.call(readTool, `{"account_id":"a9"}`), envelope.NotFound, "accepted, and not found")
	refuses(t, s.call(readTool, `{"account_id":"a1","ada":1}`), envelope.UnknownField, "not accepted")
	id := s.approved(250)
	success(t, s.commit(id), "the plan runs")
	require.NoError(t, s.call(previewTool, `{"account_id":"a1","limit":7,"note":"x"}`).Err())
	var got []string
	for _, e := range w.audit.events {
		if e.Kind != "decide" && e.Kind != "finish" {
			got = append(got, e.Kind+" "+strings.Join(e.Fields, ","))
		}
	}
	require.Equal(t, []string{
		"call account_id", "call account_id", "call ",
		"propose account_id,limit", "call account_id,limit",
		"admit account_id,limit", "dispatch account_id,limit", "call proposal_id",
		"propose account_id,limit,note", "call account_id,limit,note",
	}, got)
}
