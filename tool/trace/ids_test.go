package trace_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
	"uuid"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/ids"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

type payee struct {
	Account string `json:"account" jsonschema:"maxLength=800" redact:"trusted"`
}

type payment struct {
	Account string `json:"account" jsonschema:"maxLength=800" redact:"trusted"`
	Run     string `json:"run" jsonschema:"maxLength=800" redact:"trusted"`
}

// payees looks accounts up; asks and answers say which account is meant.
func payees(asks, answers func(string) string) func(*registry) []tool.Definition {
	return func(*registry) []tool.Definition {
		return []tool.Definition{tool.Tool[payee, payee]{
			Spec: tool.Spec{Name: "get_payee", Version: 1, Description: "Look a payee up.", Timeout: 5 * time.Second},
			Handle: func(ctx context.Context, by tool.Caller, in payee) (payee, error) {
				_, err := trace.Do(ctx, "bank.look", payment{asks(in.Account), by.Run}, func(context.Context) (payee, error) {
					return payee{in.Account}, nil
				})
				return payee{answers(in.Account)}, err
			},
		}}
	}
}

func asItIs(account string) string { return account }

// always takes one account for every other.
func always(account string) func(string) string { return func(string) string { return account } }

// lookedUp is a recorded look-up of an account.
func lookedUp(t *testing.T, account string) string {
	t.Helper()
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, payees(asItIs, asItIs), "get_payee_v1")
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, run.Call(t.Context(), call("get_payee_v1", `{"account":"`+account+`"}`)).Err())
	return savedBy(t, rec, run.ID())
}

// Only what the library itself makes is another id in each run; a host's ids are compared as they are.
func TestAnotherIdOfTheHostIsADifference(t *testing.T) {
	t.Parallel()
	for was, now := range map[string]string{
		"acct_4000000000000001":                 "acct_9999999999999999",
		"run_" + strings.Repeat("0", 25):        "run_" + strings.Repeat("1", 25),
		"run_" + strings.Repeat("i", 26):        "run_" + strings.Repeat("o", 26),
		"op_" + strings.Repeat("0", 26):         "op_" + strings.Repeat("0", 25) + "g",
		"ref_" + strings.Repeat("0", 100):       "ref_" + strings.Repeat("0", 99) + "g",
		"p_" + strings.Repeat("0", 25) + "1":    "p_" + strings.Repeat("0", 25) + "3",
		strings.Repeat("0", 51) + "0":           strings.Repeat("0", 51) + "g",
		"d_" + strings.Repeat("0", 26):          "p_" + strings.Repeat("0", 26),
		"acct_" + strings.Repeat("0", 25) + "0": "acct_" + strings.Repeat("0", 25) + "4",
	} {
		t.Run(was, func(t *testing.T) {
			t.Parallel()
			file := lookedUp(t, was)
			_, report := replayed(t, file, trace.PlayerConfig{}, nil, payees(asItIs, always(now)), "get_payee_v1")
			require.ErrorIs(t, report.Err(), trace.ErrDifferent)
			require.Equal(t, `call-1 get_payee_v1: different: the answer differs at "account"`, report.Calls[0].String())
			_, report = replayed(t, file, trace.PlayerConfig{}, nil, payees(always(now), asItIs), "get_payee_v1")
			require.ErrorIs(t, report.Err(), trace.ErrDifferent)
			require.Equal(t, []string{"bank.look"}, report.Calls[0].Missing)
			require.Equal(t, []string{"bank.look"}, report.Calls[0].Extra)
			_, report = replayed(t, file, trace.PlayerConfig{}, nil, payees(asItIs, asItIs), "get_payee_v1")
			require.NoError(t, report.Err())
		})
	}
}

// The ids that the library makes are other ones each time.
func TestFreshIdsAreBound(t *testing.T) {
	t.Parallel()
	refs, err := redact.NewReferences(redact.Key{ID: "k", Secret: bytes.Repeat([]byte{9}, 32)})
	require.NoError(t, err)
	ref := func(id string) string {
		ref, err := refs.Issue(redact.Binding{Tenant: "clinic", Issuer: "desk", Audience: "agent", Action: "pay"}, id, time.Hour)
		require.NoError(t, err)
		return ref
	}
	of := func(prefix string) string { id := uuid.NewV7(); return ids.Encode(prefix, id[:]) }
	for was, now := range map[string]string{
		of("p_"): of("p_"), of("run_"): of("run_"), of("req_"): of("req_"), of("d_"): of("d_"),
		idem.OperationID("clinic", "one"): idem.OperationID("clinic", "two"),
		ref("1"):                          ref("2"),
		ref(strings.Repeat("1", 256)):     ref(strings.Repeat("2", 256)),
	} {
		_, report := replayed(t, lookedUp(t, was), trace.PlayerConfig{}, nil, payees(asItIs, always(now)), "get_payee_v1")
		require.NoError(t, report.Err(), was)
	}
}

// A run is another one in a replay, whatever the host calls it.
func TestARunsOwnIdIsBound(t *testing.T) {
	t.Parallel()
	named := func(id string) func(*house) {
		return func(h *house) {
			run, err := h.dispatcher.Start(tool.RunConfig{
				ID: id, Principal: agent(), Role: h.run.Role(), Budget: tool.Budget{Calls: 9}, Deadline: epoch.Add(time.Hour),
			})
			require.NoError(t, err)
			h.run = run
		}
	}
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, payees(asItIs, asItIs), "get_payee_v1")
	named("payday 17")(h)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, run.Call(t.Context(), call("get_payee_v1", `{"account":"acct_1"}`)).Err())
	_, report := replayed(t, savedBy(t, rec, run.ID()), trace.PlayerConfig{}, named("payday 18"), payees(asItIs, asItIs), "get_payee_v1")
	require.NoError(t, report.Err())
}
