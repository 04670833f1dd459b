package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
)

// Every recorded call is answered as its label says; what ships with the example always runs.
func TestRecordedCalls(t *testing.T) {
	t.Parallel()
	calls, err := readCalls(bytes.NewReader(recorded))
	require.NoError(t, err)
	require.Len(t, calls, 145)
	accepted, ran := judge(t, calls)
	require.Equal(t, 17, accepted)
	require.Equal(t, 16, ran, "one accepted call commits a proposal that does not exist: nothing is there to run")
}

// TOOLCONTRACT_CASES names a folder with another calls.jsonl; the default is the one that lies beside the repository.
func TestCallsFromTheField(t *testing.T) {
	t.Parallel()
	folder, named := os.LookupEnv("TOOLCONTRACT_CASES")
	if !named {
		folder = filepath.Join("..", "..", "..", "shared", "cases")
	}
	text, err := os.ReadFile(filepath.Join(folder, "calls.jsonl"))
	if !named && os.IsNotExist(err) {
		t.Skip("no calls.jsonl beside the repository; TOOLCONTRACT_CASES=folder runs another one")
	}
	require.NoError(t, err)
	calls, err := readCalls(bytes.NewReader(text))
	require.NoError(t, err)
	require.NotEmpty(t, calls)
	judge(t, calls)
}

func judge(t *testing.T, calls []recording) (accepted, ran int) {
	t.Helper()
	h := start(t)
	for _, c := range calls {
		a := h.ask(t.Context(), c)
		require.True(t, c.agrees(a), "%s (%s): expected %s %s at %q, was %s %s at %q, handler ran: %t",
			c.Case, c.Why, c.Verdict, c.Code, c.Field, a.verdict, a.code, a.field, a.ran)
		require.NotEmpty(t, c.Verdict, c.Case)
		if a.verdict == "accept" {
			accepted++
		}
		if a.ran {
			ran++
		}
	}
	return accepted, ran
}

func TestAgreement(t *testing.T) {
	t.Parallel()
	refused := recording{Verdict: "refuse", Code: "INVALID_ARGUMENT", Field: "limit"}
	for _, row := range []struct {
		name, why string
		want      recording
		got       answer
		agrees    bool
	}{
		{"as expected", "verdict, code and field are the same", refused, answer{"refuse", "INVALID_ARGUMENT", "limit", false}, true},
		{"a handler ran for a refused call", "then it was not refused in time", refused, answer{"refuse", "INVALID_ARGUMENT", "limit", true}, false},
		{"the same without an expectation", "it is wrong whatever was expected", recording{}, answer{"refuse", "INVALID_ARGUMENT", "limit", true}, false},
		{"internal", "something here is broken", recording{Verdict: "accept"}, answer{"fault", "INTERNAL", "", true}, false},
		{"internal without an expectation", "broken whatever was expected", recording{}, answer{"fault", "INTERNAL", "", true}, false},
		{"domain code", "the call itself was accepted", recording{Verdict: "accept"}, answer{"accept", "NOT_FOUND", "customer_id", true}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.agrees, row.want.agrees(row.got), row.why)
		})
	}
}

// A code that no list knows is a fault: a handler's bug must not pass for an answer.
func TestUnexpectedCodesAreFaults(t *testing.T) {
	t.Parallel()
	for _, code := range []envelope.Code{envelope.Internal, envelope.OutputInvalid, envelope.BudgetExhausted, envelope.UpstreamUnavailable} {
		require.False(t, boundary(code) || domain(code), code)
	}
	h := start(t)
	h.crm.Unplug(true)
	a := h.ask(t.Context(), recording{Tool: "list_warehouses_v1", Bytes: []byte(`{}`)})
	require.Equal(t, answer{"fault", envelope.UpstreamUnavailable, "", true}, a)
}
