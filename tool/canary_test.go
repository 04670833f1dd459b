package tool_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// canary is what is sent too much of, everywhere: nested, and in free text.
type canary struct {
	Name string   `json:"Wq7zKx_41"`
	Deep []nested `json:"deep"`
	Text string   `json:"text"`
}

type nested struct {
	Token string `json:"token"`
}

const (
	canaryName  = "Vy8rTqZ0-Lm3wXbG"
	canaryToken = "k9#Jp2_uQe71/hDs"
	canaryText  = "Ünßöm7 said: «xK0wZ-f4 vG9q»\nand left"
	control     = "cTrl-5hYw8-nObdy"
)

func theCanary() canary { return canary{canaryName, []nested{{canaryToken}}, canaryText} }

func (c canary) String() string { return fmt.Sprintf("%s %v %s", c.Name, c.Deep, c.Text) }

// spilled is all text that left the dispatcher, by way.
func (w *world) spilled(o observed, results []envelope.Result, saved string) map[string]string {
	w.t.Helper()
	var transcript strings.Builder
	for _, r := range results {
		wire, err := json.Marshal(r)
		require.NoError(w.t, err)
		fmt.Fprintf(&transcript, "%s %+v %#v %v\n", wire, r, r, r.Err())
	}
	var logs strings.Builder
	for _, e := range w.logs.All() {
		fmt.Fprintf(&logs, "%s %+v\n", e.Message, e.ContextMap())
	}
	var spans strings.Builder
	for _, s := range o.spans.GetSpans() {
		fmt.Fprintf(&spans, "%+v\n", s)
	}
	var rm metricdata.ResourceMetrics
	require.NoError(w.t, o.reader.Collect(w.t.Context(), &rm))
	return map[string]string{
		"transcript": transcript.String(), "logs": logs.String(), "audit": fmt.Sprintf("%+v", w.audit.events),
		"spans": spans.String(), "metrics": fmt.Sprintf("%+v", rm.ScopeMetrics), "trace": saved,
	}
}

// found says where pieces of a text are, whole or six characters long, plain or encoded.
func found(t *testing.T, text string, in map[string]string) (where []string) {
	t.Helper()
	c, err := redact.NewCanary(text)
	require.NoError(t, err)
	for name, sink := range in {
		for _, hit := range c.Search([]byte(sink)) {
			where = append(where, name+": "+hit.String())
		}
	}
	return where
}

// bursting is a world whose handlers burst with the canary in every way that they can.
func (w *world) bursting(upstreamOrigin string) {
	spill := theCanary()
	ask, err := upstream.NewHTTP(upstream.HTTP[accountIn, accountOut]{
		Operation: upstream.Operation[accountIn, accountOut]{Name: "accounts", Select: false},
		Origin:    upstreamOrigin,
		Request:   func(q accountIn) (upstream.Request, error) { return upstream.Request{Path: []string{q.AccountID}}, nil },
	})
	require.NoError(w.t, err)
	w.read.Check = func(_ context.Context, _ tool.Caller, in accountIn) error {
		if in.AccountID == "check" {
			return fmt.Errorf("not this one: %+v", spill)
		}
		return nil
	}
	w.read.Handle = func(ctx context.Context, by tool.Caller, in accountIn) (accountOut, error) {
		switch in.AccountID {
		case "error":
			return accountOut{}, fmt.Errorf("db: %w", errors.New(spill.String()))
		case "declared":
			e := envelope.New(envelope.NotFound).At("account_id." + canaryName).WithCause(errors.New(spill.String()))
			e.Message, e.Reason = spill.Text, spill.Name
			return accountOut{}, e
		case "unknown code":
			return accountOut{}, envelope.New(envelope.Code(strings.ToUpper(canaryName)))
		case "panic":
			panic(spill)
		case "too long":
			return accountOut{AccountID: strings.Repeat(spill.String(), 9)}, nil
		case "400", "500", "extra", "wrong":
			return ask.Ask(ctx, upstream.Caller{Tenant: by.Principal.Tenant, Tool: by.Tool, RequestID: by.RequestID}, in)
		}
		return accountOut{AccountID: in.AccountID, Owner: control}, nil
	}
	w.read.Verify = func(_ context.Context, _ tool.Caller, in accountIn, _ accountOut) error {
		if in.AccountID == "verify" {
			return errors.New(spill.String())
		}
		return nil
	}
	w.write.Contract = idem.StatusQueryable
	w.write.Check = func(_ context.Context, _ tool.Caller, in limitIn) error {
		if in.Limit == 1 {
			return errors.New(spill.String())
		}
		return nil
	}
	preview := w.write.Preview
	w.write.Preview = func(ctx context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
		if in.Limit == 2 {
			panic(spill.String())
		}
		d, err := preview(ctx, by, in)
		d.Resource = fmt.Sprint("limit of ", by.Tool, in.Limit) // one write does not wait for another
		return d, err
	}
	w.write.Commit = func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
		switch cmd.Plan.Limit {
		case 3:
			return limitOut{}, errors.New(spill.String())
		case 4:
			panic(spill)
		case 5:
			e := envelope.New(envelope.PreconditionFailed).At(canaryName)
			e.Message, e.Reason = spill.Text, spill.Text
			return limitOut{}, envelope.Refused(e)
		case 6:
			return limitOut{}, envelope.NotSent(errors.New(spill.String()))
		case 7:
			return limitOut{}, envelope.Running(canaryToken)
		case 8:
			return limitOut{tool.Evidence{OperationID: canaryName}, 8}, nil
		}
		return limitOut{}, nil
	}
	w.write.Status = func(context.Context, tool.Approved[limitPlan], string) (limitOut, error) {
		return limitOut{}, fmt.Errorf("status: %w", errors.New(spill.String()))
	}
}

// Too much of a record is sent in every direction and through every path, and none of it, whole or in pieces of six
// characters, raw or encoded, leaves by any way but the one that the contract declares.
func TestNothingOfTheCanaryLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.observe()
	body, err := json.Marshal(theCanary())
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("X-Trace", canaryToken)
		switch r.URL.Path {
		case "/400":
			rw.WriteHeader(http.StatusBadRequest)
		case "/500":
			rw.WriteHeader(http.StatusInternalServerError)
		case "/wrong":
			_, _ = fmt.Fprintf(rw, `{"account_id":"wrong","limit":%q}`, canaryToken)
			return
		}
		_, _ = rw.Write(append([]byte(`{"account_id":"extra","limit":1,"record":`), append(body, '}')...))
	}))
	t.Cleanup(server.Close)
	w.bursting(server.URL)
	recorder, err := trace.NewRecorder(trace.Config{Now: w.clock.Now})
	require.NoError(t, err)
	recorder.Wire(&w.config)
	s := w.start()
	run, err := recorder.Run(s.run)
	require.NoError(t, err)
	require.NoError(t, recorder.Note(run.ID(), trace.Request, "a request"))
	var results []envelope.Result
	call := func(name, args string) envelope.Result {
		r := run.Call(t.Context(), envelope.Call{ID: "call-1", Tool: name, Arguments: []byte(args)})
		results = append(results, r)
		return r
	}

	for _, args := range []string{ // too much of it inwards
		`{"account_id":"a1","extra":` + string(body) + `}`, string(body), `{"account_id":` + string(body) + `}`,
		`{"account_id":"a1"}` + string(body), `{"account_id":"` + canaryName, `{"account_id":"a1","account_id":` + fmt.Sprintf("%q", canaryToken) + `}`,
		`[` + string(body) + `]`, `{"` + canaryText + `":1}`,
	} {
		require.NotNil(t, call(readTool, strings.ReplaceAll(args, "\n", " ")).Error, args)
	}
	call("get_"+canaryName, `{}`)
	for _, id := range []string{"check", "error", "declared", "unknown code", "panic", "too long", "verify", "400", "500", "extra", "wrong"} {
		require.NotNil(t, call(readTool, `{"account_id":"`+id+`"}`).Error, id)
	}
	for limit := range 9 {
		r := call(previewTool, fmt.Sprintf(`{"account_id":"a1","limit":%d,"note":%q}`, limit, canaryToken+" "+canaryName))
		v, err := r.Decode[proposalView]()
		if err != nil {
			require.Less(t, limit, 3)
			continue
		}
		rec, err := w.approvals.Find(t.Context(), "t1", v.ProposalID)
		require.NoError(t, err)
		yes := approval.Decision{Approved: limit > 0, By: lead, Digest: rec.Proposal.Digest}
		if limit == 0 {
			yes.Reason = canaryText // crosses as a rejection's reason, declared, to this caller alone
		}
		_, err = s.d.Decide(t.Context(), "t1", v.ProposalID, yes)
		require.NoError(t, err)
		commit := run.Call(t.Context(), envelope.Call{Tool: commitTool, Arguments: []byte(`{"proposal_id":"` + v.ProposalID + `"}`)})
		require.NotNil(t, commit.Error)
		if limit == 0 {
			require.Equal(t, canaryText, commit.Error.Reason)
			continue
		}
		results = append(results, commit, run.Call(t.Context(), envelope.Call{
			Tool: "get_operation_v1", Arguments: []byte(`{"operation_id":"` + idem.OperationID("t1", v.ProposalID) + `"}`),
		}))
	}
	require.NoError(t, call(readTool, `{"account_id":"a1"}`).Err())
	run.Cancel(canaryText)

	var saved bytes.Buffer
	require.NoError(t, recorder.Save(&saved, run.ID()))
	sinks := w.spilled(o, results, saved.String())
	for _, text := range []string{canaryName, canaryToken, canaryText} {
		require.Empty(t, found(t, text, sinks))
	}

	// A name that only the sender knows stands in the answer to the sender alone.
	name := map[string]string{"transcript": sinks["transcript"]}
	require.NotEmpty(t, found(t, "Wq7zKx_41", name))
	for where, text := range sinks {
		if where != "transcript" {
			require.Empty(t, found(t, "Wq7zKx_41", map[string]string{where: text}))
		}
	}

	// The search looks where something is, and would find: the control must come through, in each encoding and in pieces.
	require.NotEmpty(t, found(t, control, map[string]string{"transcript": sinks["transcript"]}), "what the contract declares comes through")
	for name, text := range sinks {
		require.NotEmpty(t, text, name)
		piece := canaryName[3:10]
		quoted, err := json.Marshal(canaryText[len("Ünßöm7"):])
		require.NoError(t, err)
		for form, planted := range map[string]string{
			"raw": piece, "escaped": string(quoted), "base64": base64.StdEncoding.EncodeToString([]byte("ab" + piece + "cd")), "hex": hex.EncodeToString([]byte(piece)),
		} {
			of := canaryName
			if form == "escaped" {
				of = canaryText
			}
			require.NotEmpty(t, found(t, of, map[string]string{name: text + planted}), "%s in %s", form, name)
		}
	}
	require.NotEmpty(t, w.kept.items, "and the operators have it")
	var quarantine strings.Builder
	for _, i := range w.kept.items {
		fmt.Fprintf(&quarantine, "%s %v\n", i.Raw, i.Cause)
	}
	require.NotEmpty(t, found(t, canaryText, map[string]string{"quarantine": quarantine.String()}))
}
