package approval_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
)

func TestParseTable(t *testing.T) {
	t.Parallel()
	got, err := approval.ParseTable(strings.NewReader(`{"version":7,"rules":[
		{"when":{},"require":{"level":"none"}},
		{"when":{"tools":["commit_a_v1"],"classes":["reversible"],"tags":["money"],"environments":["production"],
		  "currencies":["EUR"],"amount_up_to":9007199254740993,"amount_over":5,"records_up_to":9,"records_over":3,
		  "recipients_within":["example.com"],"recipients_outside":["other.test"],"irreversible":false},
		 "require":{"level":"two","role":"support","group":"eu","self":true,"lifetime":"1h30m"}}]}`))
	require.NoError(t, err)
	require.Equal(t, approval.Table{Version: 7, Rules: []approval.Rule{
		{Require: approval.Requirement{Level: approval.None}},
		{
			When: approval.Match{
				Tools: []string{"commit_a_v1"}, Classes: []string{"reversible"}, Tags: []string{"money"},
				Environments: []string{"production"}, Currencies: []string{"EUR"},
				AmountUpTo: new(int64(9007199254740993)), AmountOver: new(int64(5)), RecordsUpTo: new(9), RecordsOver: new(3),
				RecipientsWithin: []string{"example.com"}, RecipientsOutside: []string{"other.test"}, Irreversible: new(false),
			},
			Require: approval.Requirement{Level: approval.Two, Role: "support", Group: "eu", Self: true, Lifetime: 90 * time.Minute},
		},
	}}, got)
}

func TestParseTableRefuses(t *testing.T) {
	t.Parallel()
	const ok = `{"level":"one","role":"support"}`
	rule := func(when, require string) string {
		return `{"version":1,"rules":[{"when":` + when + `,"require":` + require + `}]}`
	}
	for _, tc := range []struct{ name, doc, place string }{
		{"nothing", ``, "not one JSON text"},
		{"an array", `[]`, "wrong type"},
		{"half", `{"version":1,`, "not one JSON text"},
		{"trailing data", rule(`{}`, ok) + `{}`, "not one JSON text"},
		{"a byte order mark", "\ufeff" + rule(`{}`, ok), "not one JSON text"},
		{"no version", `{"rules":[{"when":{},"require":` + ok + `}]}`, "version"},
		{"version zero", `{"version":0,"rules":[{"when":{},"require":` + ok + `}]}`, "version"},
		{"version as text", `{"version":"1","rules":[]}`, "/version"},
		{"version with a point", `{"version":1.0,"rules":[]}`, "/version"},
		{"no rules", `{"version":1}`, "no rules"},
		{"rules null", `{"version":1,"rules":null}`, "/rules: null"},
		{"unknown member", `{"version":1,"rules":[],"default":"none"}`, "unknown member"},
		{"other case", rule(`{"Tools":["commit_a_v1"]}`, ok), "unknown member"},
		{"twice", rule(`{"tools":["a"],"tools":["b"]}`, ok), "duplicate member"},
		{"twice, escaped", rule(`{"tools":["a"],"\u0074ools":["b"]}`, ok), "duplicate member"},
		{"no when", `{"version":1,"rules":[{"require":` + ok + `}]}`, "rule 0"},
		{"no require", `{"version":1,"rules":[{"when":{}}]}`, "rule 0"},
		{"null fact", rule(`{"amount_up_to":null}`, ok), "/rules/0/when/amount_up_to: null"},
		{"null list", rule(`{"tools":null}`, ok), "/rules/0/when/tools: null"},
		{"empty list", rule(`{"tools":[]}`, ok), "tools: an empty list"},
		{"empty name", rule(`{"tags":[""]}`, ok), "tags: an empty name"},
		{"a name twice", rule(`{"tags":["a","b","a"]}`, ok), "tags: a name stands twice"},
		{"one string", rule(`{"tools":"commit_a_v1"}`, ok), "/rules/0/when/tools"},
		{"amount as text", rule(`{"amount_up_to":"100"}`, ok), "/rules/0/when/amount_up_to"},
		{"amount with a point", rule(`{"amount_up_to":100.5}`, ok), "/rules/0/when/amount_up_to"},
		{"amount too large", rule(`{"amount_up_to":9223372036854775808}`, ok), "/rules/0/when/amount_up_to"},
		{"level unknown", rule(`{}`, `{"level":"both","role":"support"}`), "/rules/0/require/level"},
		{"level in other case", rule(`{}`, `{"level":"One","role":"support"}`), "/rules/0/require/level"},
		{"level as number", rule(`{}`, `{"level":1,"role":"support"}`), "/rules/0/require/level"},
		{"no level", rule(`{}`, `{"role":"support"}`), "unknown level"},
		{"lifetime as number", rule(`{}`, `{"level":"none","lifetime":900}`), "/rules/0/require/lifetime"},
		{"lifetime without unit", rule(`{}`, `{"level":"none","lifetime":"15"}`), "rule 0: require: lifetime"},
		{"lifetime zero", rule(`{}`, `{"level":"none","lifetime":"0s"}`), "rule 0: require: lifetime"},
		{"lifetime negative", rule(`{}`, `{"level":"none","lifetime":"-1m"}`), "lifetime out of range"},
		{"invalid UTF-8", rule("{\"tags\":[\"\xff\"]}", ok), "not one JSON text"},
		{"too long", rule(`{}`, ok) + strings.Repeat(" ", approval.MaxTable), "longer than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := approval.ParseTable(strings.NewReader(tc.doc))
			require.ErrorIs(t, err, approval.ErrInvalid)
			require.ErrorContains(t, err, tc.place)
			require.Zero(t, got, "no table beside an error")
		})
	}
}

func TestParseTableReadsToTheEnd(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk")
	_, err := approval.ParseTable(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	require.NotErrorIs(t, err, approval.ErrInvalid, "the machinery failed, not the file")
}

func TestParseTableReportsAllFaults(t *testing.T) {
	t.Parallel()
	_, err := approval.ParseTable(strings.NewReader(`{"version":1,"rules":[
		{"when":{"amount_up_to":-1,"classes":["sometimes"]},"require":{"level":"one"}},
		{"when":{"currencies":["eur"]},"require":{"level":"deny","role":"x"}}]}`))
	for _, want := range []string{
		"rule 0: when: amount: a negative bound", "rule 0: when: classes: unknown class", "rule 0: require: neither role nor group",
		"rule 1: when: currencies", "rule 1: require: role, group or self",
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestParseTableEchoesNoValue(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`{"version":"canary-7f3a","rules":[]}`,
		`{"version":1,"rules":[{"when":{"tags":["canary-7f3a",""]},"require":{"level":"canary-7f3a","role":"canary-7f3a"}}]}`,
		`{"version":1,"rules":[{"when":{"classes":["canary-7f3a"]},"require":{"level":"none","lifetime":"canary-7f3a"}}]}`,
	} {
		_, err := approval.ParseTable(strings.NewReader(doc))
		require.Error(t, err)
		require.NotContains(t, err.Error(), "canary")
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add([]byte(`{"version":1,"rules":[{"when":{"tools":["commit_address_change_v2"]},"require":{"level":"one","role":"support","lifetime":"15m"}}]}`))
	f.Add([]byte(`{"version":1,"rules":[{"when":{"amount_over":1,"records_up_to":2,"irreversible":true},"require":{"level":"two","group":"g","self":true}}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		table, err := approval.ParseTable(strings.NewReader(string(doc)))
		if err != nil {
			require.Zero(t, table)
			return
		}
		require.NoError(t, table.Lint(), "what is accepted is without fault")
		require.Positive(t, table.Version)
		r, matched := table.Evaluate(approval.Facts{Tool: "commit_address_change_v2", Class: "reversible"})
		require.True(t, r.Level.Valid())
		require.True(t, matched || r.Level == approval.Deny)
	})
}

// A file that is made from a template whose variable is not set must not loosen the policy without a word.
func TestParseTableRefusesEmptyNames(t *testing.T) {
	t.Parallel()
	for _, member := range []string{`"lifetime":""`, `"group":""`, `"role":""`, `"group":" "`, `"group":"\u200b"`} {
		require := require.New(t)
		_, err := approval.ParseTable(strings.NewReader(`{"version":1,"rules":[{"when":{},"require":{"level":"one","self":true,` + member + `}}]}`))
		require.ErrorContains(err, "rule 0", member)
	}
}

func TestInvisibleReasonIsNone(t *testing.T) {
	t.Parallel()
	p := approval.Proposal{
		ID: "p_0001", Tenant: "t", Run: "r", Tool: "commit_x_v1", Requester: approval.Principal{Kind: approval.Person, Tenant: "t", Subject: "ada"},
		Plan: []byte(`{}`), Digest: "d", Target: approval.Target{Type: "x", ID: "1"}, Resource: "x/1", Summary: "s", PolicyVersion: 1,
		Requirement: approval.Requirement{Level: approval.One, Role: "lead"}, Lifetime: time.Hour,
	}
	store := approval.NewMemory(nil)
	_, err := store.Create(t.Context(), p)
	require.NoError(t, err)
	for _, reason := range []string{"\u200b", " \u2060\ufeff ", "\u00ad"} {
		_, err = store.Decide(t.Context(), "t", "p_0001", approval.Decision{By: approval.Principal{Kind: approval.Person, Tenant: "t", Subject: "bo"}, Digest: "d", Reason: reason})
		require.ErrorIs(t, err, approval.ErrReason, "%q", reason)
	}
}
