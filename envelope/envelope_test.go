package envelope_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
)

func TestErrorNeverPrintsItsCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("postgres://user:hunter2@db/prod")
	e := envelope.New(envelope.NotFound).At("customer_id").WithCause(cause)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		require.NotContains(t, fmt.Sprintf(verb, e), "hunter2", "verb %s", verb)
	}
	require.ErrorIs(t, e, cause, "operators can still find it")
	require.NoError(t, errors.Unwrap(e.Bare()), "what leaves has no cause")
	b, err := json.Marshal(e)
	require.NoError(t, err)
	require.NotContains(t, string(b), "hunter2")
}

func TestErrorMethodsCopy(t *testing.T) {
	t.Parallel()
	e := envelope.New(envelope.RateLimited)
	_ = e.At("x").After(time.Second).WithCause(errors.New("c"))
	require.Equal(t, envelope.New(envelope.RateLimited), e)
}

func TestErrorWireForm(t *testing.T) {
	t.Parallel()
	e := envelope.New(envelope.VersionConflict).At("target.version")
	e.Effect, e.ProposalID = envelope.EffectNone, "p_0000"
	tests := []struct {
		name, why, want string
		in              *envelope.Error
	}{
		{"full", "members that are set stand, the others are left out", `{"code":"VERSION_CONFLICT","message":"the target changed after the proposal was made; read it again and make a new proposal","retryable":false,"field":"target.version","effect":"none","proposal_id":"p_0000"}`, e},
		{"wait", "a wait is rounded up: never told to come too early", `{"code":"RATE_LIMITED","message":"too many requests; wait before the next","retryable":true,"retry_after_ms":2}`, envelope.New(envelope.RateLimited).After(1500 * time.Microsecond)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := json.Marshal(tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(b), tt.why)
			var back envelope.Error
			require.NoError(t, json.Unmarshal(b, &back))
			again, err := json.Marshal(&back)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(again))
		})
	}
}

func TestResultDecode(t *testing.T) {
	t.Parallel()
	type customer struct {
		Name string `json:"name"`
	}
	ok := envelope.Result{OK: true, Tool: "get_customer_v1", RequestID: "req_0", Data: jsontext.Value(`{"name":"Ada"}`)}
	c, err := ok.Decode[customer]()
	require.NoError(t, err)
	require.Equal(t, "Ada", c.Name)

	refused := envelope.Result{Error: envelope.New(envelope.NotFound)}
	_, err = refused.Decode[customer]()
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, envelope.NotFound, e.Code)

	ok.Data = jsontext.Value(`{"name":"Ada","age":1}`)
	_, err = ok.Decode[customer]()
	require.Error(t, err, "an undeclared member is not dropped")
	require.Error(t, envelope.Result{}.Err(), "the zero result is no success")
}

func TestCodesAreDeclared(t *testing.T) {
	t.Parallel()
	seen := map[envelope.Code]bool{}
	for _, c := range envelope.Codes() {
		require.False(t, seen[c], "%s stands twice", c)
		seen[c] = true
		require.True(t, envelope.ValidCode(c))
		f, ok := envelope.Declared(c)
		require.True(t, ok)
		require.NotEmpty(t, f.Message)
		require.LessOrEqual(t, len(f.Message), envelope.MaxMessage)
	}
	require.Len(t, seen, 33)
	for _, c := range []envelope.Code{"", "A", "lower", "A B", "1A", "A\n", envelope.Code(strings.Repeat("A", 65))} {
		require.False(t, envelope.ValidCode(c), "%q", c)
	}
}

func TestShowable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"id": true, "CUSTOMER_ID": true, "__proto__": true, "a-1": true, strings.Repeat("a", 64): true,
		"": false, "1a": false, "-a": false, "a.b": false, "a b": false, "a\n": false, "ſtatus": false, strings.Repeat("a", 65): false,
	} {
		require.Equal(t, want, envelope.Showable(name), "%q", name)
	}
}

func TestProven(t *testing.T) {
	t.Parallel()
	refusal := envelope.New(envelope.UpstreamRejected)
	tests := []struct {
		name, why string
		err       error
		want      envelope.Proof
	}{
		{"nil", "no error proves nothing by itself", nil, envelope.ProofNothing},
		{"bare error", "a time-out may hide an effect", errors.New("timeout"), envelope.ProofNothing},
		{"bare envelope error", "a code alone is no proof", envelope.New(envelope.NotFound), envelope.ProofNothing},
		{"refused", "the provider's final answer", envelope.Refused(refusal), envelope.ProofRefused},
		{"refused nil", "refused with what?", envelope.Refused(nil), envelope.ProofNothing},
		{"not sent", "before the first byte", envelope.NotSent(errors.New("dial")), envelope.ProofNotSent},
		{"running", "accepted", envelope.Running("job-1"), envelope.ProofRunning},
		{"wrapped", "%w keeps the one statement", fmt.Errorf("refund: %w", envelope.NotSent(nil)), envelope.ProofNotSent},
		{"joined", "two statements are none", errors.Join(envelope.NotSent(nil), errors.New("write: broken pipe")), envelope.ProofNothing},
		{"a cause inside", "the outermost statement counts", envelope.NotSent(envelope.Refused(refusal)), envelope.ProofNotSent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _, _ := envelope.Proven(tt.err)
			require.Equal(t, tt.want, got, tt.why)
		})
	}
	_, e, _ := envelope.Proven(envelope.Refused(refusal))
	require.Equal(t, refusal, e)
	_, _, receipt := envelope.Proven(envelope.Running("job-1"))
	require.Equal(t, "job-1", receipt)
	require.NotContains(t, envelope.NotSent(errors.New("10.1.2.3:5432 secret")).Error(), "secret", "a proof prints no cause")
}

func TestSchemaJudgesResults(t *testing.T) {
	t.Parallel()
	data := jsontext.Value(`{"type":"object","properties":{"next":{"$ref":"#"},"kind":{"$ref":"#/$defs/kind"},"const":{"$ref":"#/$defs/kind"}},"required":["kind"],"additionalProperties":false,"$defs":{"kind":{"enum":["a",{"$ref":"#/x"}]}}}`)
	schema := compile(t, envelope.Schema("get_x_v1", data, envelope.NotFound))
	tests := []struct {
		name, why, doc string
		ok             bool
	}{
		{"success", "", `{"ok":true,"tool":"get_x_v1","request_id":"req_0abc","data":{"kind":"a"}}`, true},
		{"recursion", "the data's own root stays its root", `{"ok":true,"tool":"get_x_v1","request_id":"req_0abc","data":{"kind":"a","next":{"kind":"a"}}}`, true},
		{"bad recursion", "and is checked there", `{"ok":true,"tool":"get_x_v1","request_id":"req_0abc","data":{"kind":"a","next":{"kind":"b"}}}`, false},
		{"a property named like a keyword", "its schema is moved too", `{"ok":true,"tool":"get_x_v1","request_id":"req_0abc","data":{"kind":"a","const":"b"}}`, false},
		{"data is data", "a reference inside an enum value is text", `{"ok":true,"tool":"get_x_v1","request_id":"req_0abc","data":{"kind":{"$ref":"#/x"}}}`, true},
		{"other tool", "the tool is a constant", `{"ok":true,"tool":"get_y_v1","request_id":"req_0abc","data":{"kind":"a"}}`, false},
		{"open", "closed", `{"ok":true,"tool":"get_x_v1","request_id":"req_0abc","data":{"kind":"a"},"note":1}`, false},
		{"failure", "", `{"ok":false,"tool":"get_x_v1","request_id":"req_0abc","error":{"code":"NOT_FOUND","message":"m","retryable":false}}`, true},
		{"other code", "only the codes given", `{"ok":false,"tool":"get_x_v1","request_id":"req_0abc","error":{"code":"INTERNAL","message":"m","retryable":false}}`, false},
		{"both", "data or error", `{"ok":false,"tool":"get_x_v1","request_id":"req_0abc","data":{"kind":"a"},"error":{"code":"NOT_FOUND","message":"m","retryable":false}}`, false},
		{"long request id", "bounded", `{"ok":true,"tool":"get_x_v1","request_id":"req_` + strings.Repeat("a", 65) + `","data":{"kind":"a"}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(tt.doc))
			require.NoError(t, err)
			if err = schema.Validate(doc); tt.ok {
				require.NoError(t, err, tt.why)
			} else {
				require.Error(t, err, tt.why)
			}
		})
	}
	for _, bad := range []string{``, `{`, `[]`, `"x"`, `null`, `{} {}`} {
		require.Nil(t, envelope.Schema("t_v1", jsontext.Value(bad)), "%q is no schema", bad)
	}
}

func TestSchemaAdmitsEveryResult(t *testing.T) {
	t.Parallel()
	schema := compile(t, envelope.Schema("t_v1", jsontext.Value(`true`)))
	e := envelope.New(envelope.OutcomeUnknown).At("lines[3].sku").After(time.Second)
	e.Rule, e.Effect, e.OperationID, e.ProposalID, e.Reason = "limit", envelope.EffectUnknown, "op_0123", "p_0123", "no"
	e.Violations = []envelope.Violation{{Field: "a", Rule: "type"}}
	for _, r := range []envelope.Result{
		{Tool: "t_v1", RequestID: "req_0", Error: e},
		{OK: true, Tool: "t_v1", RequestID: "req_0", Data: jsontext.Value(`1`), Replayed: true, Untrusted: []string{"a"}},
	} {
		b, err := json.Marshal(r)
		require.NoError(t, err)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(doc))
		var back envelope.Result
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, r, back)
	}
}

func compile(t *testing.T, doc jsontext.Value) *jsonschema.Schema {
	t.Helper()
	require.NotNil(t, doc)
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(string(doc)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("mem:///result", parsed))
	s, err := c.Compile("mem:///result")
	require.NoError(t, err)
	return s
}
