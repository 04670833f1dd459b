package approval_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
)

func rule(m approval.Match, r approval.Requirement) approval.Rule {
	return approval.Rule{When: m, Require: r}
}

func tools(names ...string) approval.Match { return approval.Match{Tools: names} }

var (
	noneAsked = approval.Requirement{Level: approval.None}
	denied    = approval.Requirement{Level: approval.Deny}
)

func TestLint(t *testing.T) {
	t.Parallel()
	type match = approval.Match
	for _, tc := range []struct {
		name, why string
		rules     []approval.Rule
		fault     string // empty: none
	}{
		{"a laxer special case", "the strictest wins, so it never has an effect", []approval.Rule{rule(match{}, one("support")), rule(tools("commit_a_v1"), noneAsked)}, "rule 1: without effect: rule 0"},
		{"the same order reversed", "order has no meaning", []approval.Rule{rule(tools("commit_a_v1"), noneAsked), rule(match{}, one("support"))}, "rule 0: without effect: rule 1"},
		{"a stricter special case", "it adds to the general rule", []approval.Rule{rule(match{}, one("support")), rule(tools("commit_a_v1"), two("support"))}, ""},
		{"a shorter special case", "its lifetime counts", []approval.Rule{rule(match{}, one("support")), rule(tools("commit_a_v1"), lasting(noneAsked, time.Minute))}, ""},
		{"a longer special case", "its lifetime does not count", []approval.Rule{rule(match{}, lasting(one("support"), time.Minute)), rule(tools("commit_a_v1"), lasting(noneAsked, time.Hour))}, "rule 1: without effect"},
		{"the same special case", "it adds nothing", []approval.Rule{rule(match{}, one("support")), rule(tools("commit_a_v1"), one("support"))}, "rule 1: without effect"},
		{"deny for all", "nothing else can be", []approval.Rule{rule(match{}, denied), rule(tools("commit_a_v1"), one("support"))}, "rule 1: without effect"},
		{"twice", "one condition, two answers", []approval.Rule{rule(tools("a", "b"), one("support")), rule(tools("b", "a"), two("support"))}, "rule 1: the condition of rule 0 again"},
		{"bounds inside", "up to 10 lies within up to 100", []approval.Rule{rule(match{AmountUpTo: new(int64(100))}, one("s")), rule(match{AmountUpTo: new(int64(10))}, noneAsked)}, "rule 1: without effect"},
		{"bounds outside", "up to 100 goes further than up to 10", []approval.Rule{rule(match{AmountUpTo: new(int64(10))}, one("s")), rule(match{AmountUpTo: new(int64(100))}, noneAsked)}, ""},
		{"over inside", "over 100 lies within over 10", []approval.Rule{rule(match{RecordsOver: new(10)}, two("s")), rule(match{RecordsOver: new(100)}, one("s"))}, "rule 1: without effect"},
		{"band inside over", "what was not said matches over alone", []approval.Rule{rule(match{RecordsOver: new(10), RecordsUpTo: new(50)}, two("s")), rule(match{RecordsOver: new(10)}, one("s"))}, ""},
		{"outside fewer", "outside a and b lies within outside a", []approval.Rule{rule(match{RecipientsOutside: []string{"a.test"}}, two("s")), rule(match{RecipientsOutside: []string{"a.test", "b.test"}}, one("s"))}, "rule 1: without effect"},
		{"outside more", "b is outside a alone", []approval.Rule{rule(match{RecipientsOutside: []string{"a.test", "b.test"}}, two("s")), rule(match{RecipientsOutside: []string{"a.test"}}, one("s"))}, ""},
		{"within fewer", "within a lies within a and b", []approval.Rule{rule(match{RecipientsWithin: []string{"a.test", "b.test"}}, one("s")), rule(match{RecipientsWithin: []string{"a.test"}}, noneAsked)}, "rule 1: without effect"},
		{"currency not said", "beside over it matches what the other does not", []approval.Rule{rule(match{Currencies: []string{"EUR"}}, two("s")), rule(match{Currencies: []string{"EUR"}, AmountOver: new(int64(5))}, one("s"))}, ""},
		{"irreversible, both", "the two halves", []approval.Rule{rule(match{Irreversible: new(true)}, two("s")), rule(match{Irreversible: new(false)}, one("s"))}, ""},

		{"a negative bound", "nothing is below zero", []approval.Rule{rule(match{RecordsOver: new(-1)}, one("s"))}, "rule 0: when: records: a negative bound"},
		{"an empty band", "nothing is over 5 and up to 5", []approval.Rule{rule(match{AmountOver: new(int64(5)), AmountUpTo: new(int64(5))}, one("s"))}, "amount: nothing is over"},
		{"reversible and not", "a contradiction", []approval.Rule{rule(match{Classes: []string{"irreversible"}, Irreversible: new(false)}, one("s"))}, "irreversible: nothing of these"},
		{"within and outside", "a contradiction", []approval.Rule{rule(match{RecipientsWithin: []string{"a.test"}, RecipientsOutside: []string{"a.test", "b.test"}}, one("s"))}, "recipients_within: all of them"},
		{"a read's class", "policies are for writes", []approval.Rule{rule(match{Classes: []string{"read"}}, one("s"))}, "unknown class"},
		{"a currency's sign", "not a code", []approval.Rule{rule(match{Currencies: []string{"EU€"}}, one("s"))}, "currencies"},
		{"no role", "nobody could approve", []approval.Rule{rule(match{}, approval.Requirement{Level: approval.Two})}, "neither role nor group"},
		{"a group alone", "its members approve", []approval.Rule{rule(match{}, approval.Requirement{Level: approval.Two, Group: "board"})}, ""},
		{"self where nobody is asked", "a misunderstanding", []approval.Rule{rule(match{}, approval.Requirement{Level: approval.None, Self: true})}, "where nobody is asked"},
		{"no level", "the zero requirement", []approval.Rule{rule(match{}, approval.Requirement{Role: "s"})}, "unknown level"},
		{"too long a lifetime", "over a year", []approval.Rule{rule(match{}, lasting(noneAsked, approval.MaxLifetime+1))}, "lifetime out of range"},
		{"no rules", "everything is denied", nil, "no rules"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := approval.Table{Version: 1, Rules: tc.rules}.Lint()
			if tc.fault == "" {
				require.NoError(t, err, tc.why)
				return
			}
			require.ErrorIs(t, err, approval.ErrInvalid, tc.why)
			require.ErrorContains(t, err, tc.fault, tc.why)
		})
	}
	require.ErrorContains(t, approval.Table{Rules: []approval.Rule{rule(match{}, noneAsked)}}.Lint(), "version")
	require.NoError(t, approval.Everything(one("support")).Lint())
}

func TestLintFor(t *testing.T) {
	t.Parallel()
	type match = approval.Match
	writes := []approval.Facts{
		{Tool: "commit_pay_v1", Class: "irreversible", Tags: []string{"money"}},
		{Tool: "commit_note_v1", Class: "reversible"},
	}
	for _, tc := range []struct {
		name, why string
		rules     []approval.Rule
		fault     string
	}{
		{"all", "one rule for all", []approval.Rule{rule(match{}, one("s"))}, ""},
		{"a tool of an older version", "misspelt or gone", []approval.Rule{rule(match{}, one("s")), rule(tools("commit_pay_v0"), two("s"))}, `rule 1: when: unknown tool "commit_pay_v0"`},
		{"a class without a rule", "it would always be denied", []approval.Rule{rule(match{Classes: []string{"irreversible"}}, one("s"))}, `tool "commit_note_v1" of class "reversible": no rule`},
		{"a tag without a rule", "the same", []approval.Rule{rule(match{Tags: []string{"money"}}, one("s"))}, `tool "commit_note_v1"`},
		{"denied by a rule", "is said, not forgotten", []approval.Rule{rule(tools("commit_pay_v1"), one("s")), rule(tools("commit_note_v1"), denied)}, ""},
		{"two roles", "nobody is known to satisfy both", []approval.Rule{rule(match{}, one("support")), rule(match{Tags: []string{"money"}}, one("finance"))}, `rules 0 and 1: both can match tool "commit_pay_v1"`},
		{"two roles apart", "no write has both", []approval.Rule{rule(match{Classes: []string{"reversible"}}, one("support")), rule(match{Tags: []string{"money"}}, one("finance"))}, ""},
		{"two roles, amounts apart", "no amount is both", []approval.Rule{rule(match{}, noneAsked), rule(match{AmountUpTo: new(int64(5))}, one("a")), rule(match{AmountOver: new(int64(5))}, one("b"))}, ""},
		{"two roles, amounts apart, the other way round", "order has no meaning", []approval.Rule{rule(match{}, noneAsked), rule(match{AmountOver: new(int64(5))}, one("a")), rule(match{AmountUpTo: new(int64(5))}, one("b"))}, ""},
		{"two roles, recipients apart, the other way round", "order has no meaning", []approval.Rule{rule(match{}, noneAsked), rule(match{RecipientsOutside: []string{"a.test"}}, one("a")), rule(match{RecipientsWithin: []string{"a.test"}}, one("b"))}, ""},
		{"two roles, amounts not said", "it is over both", []approval.Rule{rule(match{}, noneAsked), rule(match{AmountOver: new(int64(9))}, one("a")), rule(match{AmountOver: new(int64(5)), Environments: []string{"p"}}, one("b"))}, "rules 1 and 2"},
		{"two roles, currencies apart", "no currency is both", []approval.Rule{rule(match{}, noneAsked), rule(match{Currencies: []string{"EUR"}}, one("a")), rule(match{Currencies: []string{"JPY"}}, one("b"))}, ""},
		{"two roles, currency not said", "it is over both", []approval.Rule{rule(match{}, noneAsked), rule(match{Currencies: []string{"EUR"}, AmountOver: new(int64(1))}, one("a")), rule(match{Currencies: []string{"JPY"}, AmountOver: new(int64(1))}, one("b"))}, "rules 1 and 2"},
		{"two roles, recipients apart", "within the one, outside the other", []approval.Rule{rule(match{}, noneAsked), rule(match{RecipientsWithin: []string{"a.test"}}, one("a")), rule(match{RecipientsOutside: []string{"a.test"}}, one("b"))}, ""},
		{"two roles, an address and its domain", "the address is within both", []approval.Rule{rule(match{}, noneAsked), rule(match{RecipientsWithin: []string{"a.test"}}, one("a")), rule(match{RecipientsWithin: []string{"x@a.test"}}, one("b"))}, "rules 1 and 2"},
		{"two roles, domains apart", "no recipient is within both", []approval.Rule{rule(match{}, noneAsked), rule(match{RecipientsWithin: []string{"a.test"}}, one("a")), rule(match{RecipientsWithin: []string{"b.test"}}, one("b"))}, ""},
		{"two roles, outranked", "a stricter rule decides wherever they meet", []approval.Rule{rule(match{}, noneAsked), rule(match{RecordsOver: new(5)}, one("a")), rule(match{RecordsOver: new(9)}, lasting(one("b"), time.Minute)), rule(match{RecordsOver: new(7)}, two("c"))}, ""},
		{"by itself", "Lint's faults are found as well", []approval.Rule{rule(match{}, one(""))}, "neither role nor group"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := approval.Table{Version: 1, Rules: tc.rules}.LintFor(writes)
			if tc.fault == "" {
				require.NoError(t, err, tc.why)
				return
			}
			require.ErrorIs(t, err, approval.ErrInvalid, tc.why)
			require.ErrorContains(t, err, tc.fault, tc.why)
		})
	}
}
