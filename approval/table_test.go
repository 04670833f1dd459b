package approval_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	type match = approval.Match
	type effects = approval.Consequence
	with := func(c effects) approval.Facts {
		return approval.Facts{Tool: "commit_pay_v1", Class: "irreversible", Tags: []string{"money", "eu"}, Consequence: c}
	}
	reversible := approval.Facts{Tool: "commit_note_v1", Class: "reversible"}
	for _, tc := range []struct {
		name, why string
		when      match
		facts     approval.Facts
		want      bool
	}{
		{"all", "an empty match is for everything", match{}, approval.Facts{}, true},
		{"tool", "named", match{Tools: []string{"commit_a_v1", "commit_pay_v1"}}, with(effects{}), true},
		{"other tool", "not named", match{Tools: []string{"commit_pay_v2"}}, with(effects{}), false},
		{"no tool", "an empty name is in no list", match{Tools: []string{""}}, approval.Facts{}, false},
		{"class", "named", match{Classes: []string{"irreversible"}}, with(effects{}), true},
		{"other class", "not named", match{Classes: []string{"reversible"}}, with(effects{}), false},
		{"tag", "one of them is enough", match{Tags: []string{"x", "eu"}}, with(effects{}), true},
		{"other tag", "none of them", match{Tags: []string{"x"}}, with(effects{}), false},
		{"no tags", "absent is in no list", match{Tags: []string{"x"}}, approval.Facts{}, false},
		{"two members", "all must match", match{Tags: []string{"eu"}, Classes: []string{"reversible"}}, with(effects{}), false},

		{"environment", "named", match{Environments: []string{"staging"}}, with(effects{Environment: "staging"}), true},
		{"other environment", "not named", match{Environments: []string{"staging"}}, with(effects{Environment: "production"}), false},
		{"no environment", "absent is in no list", match{Environments: []string{"staging"}}, with(effects{}), false},

		{"amount at the bound", "included", match{AmountUpTo: new(int64(100))}, with(effects{AmountMinor: new(int64(100))}), true},
		{"amount above the bound", "excluded", match{AmountUpTo: new(int64(100))}, with(effects{AmountMinor: new(int64(101))}), false},
		{"amount not said, up to", "absent is not small", match{AmountUpTo: new(int64(100))}, with(effects{}), false},
		{"negative amount, up to", "below zero is not small", match{AmountUpTo: new(int64(100))}, with(effects{AmountMinor: new(int64(-1))}), false},
		{"amount zero", "small when said", match{AmountUpTo: new(int64(0))}, with(effects{AmountMinor: new(int64(0))}), true},
		{"amount at the over bound", "not over", match{AmountOver: new(int64(100))}, with(effects{AmountMinor: new(int64(100))}), false},
		{"amount over", "over", match{AmountOver: new(int64(100))}, with(effects{AmountMinor: new(int64(101))}), true},
		{"amount not said, over", "absent is not small", match{AmountOver: new(int64(100))}, with(effects{}), true},
		{"negative amount, over", "below zero is not small", match{AmountOver: new(int64(100))}, with(effects{AmountMinor: new(int64(-1))}), true},
		{
			"amount in a band", "over the one, up to the other",
			match{AmountOver: new(int64(100)), AmountUpTo: new(int64(200))},
			with(effects{AmountMinor: new(int64(200))}), true,
		},
		{"amount not said, band", "the upper bound needs it said", match{AmountOver: new(int64(100)), AmountUpTo: new(int64(200))}, with(effects{}), false},

		{"records at the bound", "included", match{RecordsUpTo: new(5)}, with(effects{Records: new(5)}), true},
		{"records not said, up to", "absent is not small", match{RecordsUpTo: new(5)}, with(effects{}), false},
		{"negative records", "nonsense is not small", match{RecordsUpTo: new(5)}, with(effects{Records: new(-5)}), false},
		{"records over", "over", match{RecordsOver: new(5)}, with(effects{Records: new(6)}), true},
		{"records not over", "at the bound", match{RecordsOver: new(5)}, with(effects{Records: new(5)}), false},
		{"records not said, over", "absent is not small", match{RecordsOver: new(5)}, with(effects{}), true},

		{"currency", "named", match{Currencies: []string{"EUR"}}, with(effects{Currency: "EUR"}), true},
		{"other currency", "not named", match{Currencies: []string{"EUR"}}, with(effects{Currency: "JPY"}), false},
		{"no currency", "absent is in no list", match{Currencies: []string{"EUR"}}, with(effects{}), false},
		{
			"no currency, over", "an amount of no currency is not known to be small",
			match{Currencies: []string{"EUR"}, AmountOver: new(int64(100))},
			with(effects{AmountMinor: new(int64(500))}), true,
		},
		{
			"other currency, over", "said, and another rule's business",
			match{Currencies: []string{"EUR"}, AmountOver: new(int64(100))},
			with(effects{AmountMinor: new(int64(500)), Currency: "JPY"}), false,
		},
		{
			"no currency, band", "the upper bound needs it said",
			match{Currencies: []string{"EUR"}, AmountOver: new(int64(1)), AmountUpTo: new(int64(100))},
			with(effects{AmountMinor: new(int64(50))}), false,
		},

		{"within", "all are members", match{RecipientsWithin: []string{"example.com", "team"}}, with(effects{Recipients: []string{"a@example.com", "team"}}), true},
		{"one outside", "not all are members", match{RecipientsWithin: []string{"example.com"}}, with(effects{Recipients: []string{"a@example.com", "b@evil.test"}}), false},
		{"no recipients, within", "absent is not small", match{RecipientsWithin: []string{"example.com"}}, with(effects{}), false},
		{"outside", "one is no member", match{RecipientsOutside: []string{"example.com"}}, with(effects{Recipients: []string{"a@example.com", "b@evil.test"}}), true},
		{"none outside", "all are members", match{RecipientsOutside: []string{"example.com"}}, with(effects{Recipients: []string{"a@example.com"}}), false},
		{"no recipients, outside", "absent is not small", match{RecipientsOutside: []string{"example.com"}}, with(effects{}), true},
		{"domain in other case", "domains have no case", match{RecipientsWithin: []string{"Example.com"}}, with(effects{Recipients: []string{"a@EXAMPLE.COM"}}), true},
		{"subdomain", "is another domain", match{RecipientsWithin: []string{"example.com"}}, with(effects{Recipients: []string{"a@x.example.com"}}), false},
		{"suffix", "is another domain", match{RecipientsWithin: []string{"example.com"}}, with(effects{Recipients: []string{"a@badexample.com"}}), false},
		{"two addresses in one", "only one plain address has a domain", match{RecipientsWithin: []string{"example.com"}}, with(effects{Recipients: []string{"b@evil.test,a@example.com"}}), false},
		{"display name", "not plain", match{RecipientsWithin: []string{"example.com"}}, with(effects{Recipients: []string{"b <a@example.com>"}}), false},
		{"two local parts", "not plain", match{RecipientsWithin: []string{"example.com"}}, with(effects{Recipients: []string{"b,a@example.com"}}), false},
		{"half a bracket", "not plain", match{RecipientsWithin: []string{"example.com"}}, with(effects{Recipients: []string{"b <a@example.com"}}), false},
		{"quoted local part", "not plain", match{RecipientsWithin: []string{"example.com"}}, with(effects{Recipients: []string{`"x@evil.test"@example.com`}}), false},
		{"look-alike", "a Kelvin sign is no k", match{RecipientsWithin: []string{"bank.test"}}, with(effects{Recipients: []string{"a@ban\u212A.test"}}), false},
		{"no local part", "no address", match{RecipientsWithin: []string{"example.com"}}, with(effects{Recipients: []string{"@example.com"}}), false},
		{"one address", "named exactly so", match{RecipientsWithin: []string{"a@example.com"}}, with(effects{Recipients: []string{"a@example.com"}}), true},
		{"empty recipient", "nobody is a member", match{RecipientsWithin: []string{""}}, with(effects{Recipients: []string{""}}), false},

		{"irreversible by class", "the class says it", match{Irreversible: new(true)}, with(effects{}), true},
		{"irreversible by consequence", "the consequence says it", match{Irreversible: new(true)}, approval.Facts{Class: "reversible", Consequence: effects{Irreversible: []string{"mails a letter"}}}, true},
		{"reversible", "neither says it", match{Irreversible: new(true)}, reversible, false},
		{"not irreversible", "neither says it", match{Irreversible: new(false)}, reversible, true},
		{"not irreversible, class unknown", "absent is not small", match{Irreversible: new(false)}, approval.Facts{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, tc.when.Matches(tc.facts), tc.why)
		})
	}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	table := approval.Table{Version: 1, Rules: []approval.Rule{
		{When: approval.Match{Tools: []string{"commit_pay_v1"}, AmountUpTo: new(int64(100))}, Require: approval.Requirement{Level: approval.None}},
		{When: approval.Match{Tools: []string{"commit_pay_v1"}, AmountOver: new(int64(100))}, Require: one("support")},
		{When: approval.Match{Tools: []string{"commit_pay_v1"}, AmountOver: new(int64(1000))}, Require: two("finance")},
	}}
	ask := func(amount *int64) approval.Requirement {
		r, matched := table.Evaluate(approval.Facts{Tool: "commit_pay_v1", Consequence: approval.Consequence{AmountMinor: amount}})
		require.True(t, matched)
		return r
	}
	require.Equal(t, approval.None, ask(new(int64(100))).Level)
	require.Equal(t, one("support"), ask(new(int64(1000))))
	require.Equal(t, two("finance"), ask(new(int64(1001))))
	require.Equal(t, two("finance"), ask(nil), "an amount that is not said is over every bound")

	r, matched := table.Evaluate(approval.Facts{Tool: "commit_other_v1"})
	require.False(t, matched)
	require.Equal(t, approval.Deny, r.Level, "a write that no rule matches is denied")

	r, matched = approval.Table{}.Evaluate(approval.Facts{})
	require.False(t, matched)
	require.Equal(t, approval.Deny, r.Level)

	r, matched = approval.Everything(one("support")).Evaluate(approval.Facts{Tool: "commit_other_v1"})
	require.True(t, matched)
	require.Equal(t, one("support"), r)
}
