package approval_test

import (
	"encoding/json/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
)

func one(role string) approval.Requirement {
	return approval.Requirement{Level: approval.One, Role: role}
}

func two(role string) approval.Requirement {
	return approval.Requirement{Level: approval.Two, Role: role}
}

func lasting(r approval.Requirement, d time.Duration) approval.Requirement {
	r.Lifetime = d
	return r
}

func TestStrictest(t *testing.T) {
	t.Parallel()
	none, deny := approval.Requirement{Level: approval.None}, approval.Requirement{Level: approval.Deny}
	self := approval.Requirement{Level: approval.One, Role: "support", Self: true}
	for _, tc := range []struct {
		name, why string
		in        []approval.Requirement
		want      approval.Requirement
	}{
		{"nothing", "no rule is no permission", nil, deny},
		{"alone", "one rule is itself", []approval.Requirement{one("support")}, one("support")},
		{"one over none", "the higher level wins", []approval.Requirement{none, one("support")}, one("support")},
		{"two over one", "with its own role, in either order", []approval.Requirement{two("finance"), one("support")}, two("finance")},
		{"deny over all", "deny is the highest", []approval.Requirement{two("finance"), deny, none}, deny},
		{"invalid", "a level that is not one denies", []approval.Requirement{one("support"), {}}, deny},
		{"negative lifetime", "nonsense denies", []approval.Requirement{lasting(one("support"), -1)}, deny},
		{"same role", "agreeing rules stay", []approval.Requirement{one("support"), one("support")}, one("support")},
		{"two roles", "either role alone would be laxer than one of the rules", []approval.Requirement{one("support"), one("finance")}, deny},
		{"two groups", "as with roles", []approval.Requirement{{Level: approval.Two, Group: "a"}, {Level: approval.Two, Group: "b"}}, deny},
		{
			"role and group", "both are asked of each approver",
			[]approval.Requirement{one("support"), {Level: approval.One, Group: "eu"}},
			approval.Requirement{Level: approval.One, Role: "support", Group: "eu"},
		},
		{"self only if all", "one rule forbids it", []approval.Requirement{self, one("support")}, one("support")},
		{"self of the winner", "a laxer rule has no say", []approval.Requirement{self, none}, self},
		{
			"shortest lifetime", "also of a laxer rule, and zero is not said",
			[]approval.Requirement{lasting(none, time.Minute), lasting(two("finance"), time.Hour), one("support")},
			lasting(two("finance"), time.Minute),
		},
		{"none keeps no role", "nobody is asked", []approval.Requirement{{Level: approval.None, Role: "x", Self: true}}, none},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, approval.Strictest(tc.in...), tc.why)
		})
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	group := approval.Requirement{Level: approval.One, Role: "support", Group: "eu"}
	self := approval.Requirement{Level: approval.One, Role: "support", Self: true}
	none := approval.Requirement{Level: approval.None}
	deny := approval.Requirement{Level: approval.Deny}
	for _, tc := range []struct {
		name, why  string
		given, now approval.Requirement
		want       bool
	}{
		{"the same", "nothing more is asked", one("support"), one("support"), true},
		{"relaxed to none", "less is asked", one("support"), none, true},
		{"relaxed to one", "less is asked", two("support"), one("support"), true},
		{"tightened to two", "an approver is missing", one("support"), two("support"), false},
		{"tightened from none", "an approver is missing", none, one("support"), false},
		{"denied", "nobody may", two("support"), deny, false},
		{"given under deny", "cannot be", deny, none, false},
		{"another role", "nobody asked for it", two("support"), one("finance"), false},
		{"a group more", "nobody asked for it", one("support"), group, false},
		{"a group less", "less is asked", group, one("support"), true},
		{"self allowed now", "less is asked", one("support"), self, true},
		{"self forbidden now", "the requester may have decided", self, one("support"), false},
		{"self, none now", "nobody is asked any more", self, none, true},
		{"longer now", "less is asked", lasting(one("support"), time.Minute), lasting(one("support"), time.Hour), true},
		{"shorter now", "it should have ended sooner", lasting(one("support"), time.Hour), lasting(one("support"), time.Minute), false},
		{"a lifetime more", "nothing was said before", one("support"), lasting(one("support"), time.Hour), false},
		{"no lifetime now", "less is asked", lasting(one("support"), time.Hour), one("support"), true},
		{"invalid given", "fails closed", approval.Requirement{}, none, false},
		{"invalid now", "fails closed", two("support"), approval.Requirement{}, false},
		{"negative now", "fails closed", none, lasting(none, -1), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, tc.given.Covers(tc.now), tc.why)
		})
	}
}

func TestProposalCoversWithItsOwnLifetime(t *testing.T) {
	t.Parallel()
	p := approval.Proposal{Requirement: one("support"), Lifetime: 10 * time.Minute}
	require.True(t, p.Covers(lasting(one("support"), 15*time.Minute)), "the proposal ends sooner than the policy asks")
	require.False(t, p.Covers(lasting(one("support"), 5*time.Minute)))
}

func TestWords(t *testing.T) {
	t.Parallel()
	for k, word := range map[approval.Kind]string{approval.Person: "person", approval.Service: "service", approval.PolicyDecision: "policy"} {
		require.Equal(t, word, k.String())
		b, err := json.Marshal(k)
		require.NoError(t, err)
		var back approval.Kind
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, k, back)
	}
	for l, word := range map[approval.Level]string{approval.None: "none", approval.One: "one", approval.Two: "two", approval.Deny: "deny"} {
		require.Equal(t, word, l.String())
		b, err := json.Marshal(l)
		require.NoError(t, err)
		var back approval.Level
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, l, back)
	}
	require.Equal(t, "invalid", approval.Kind(0).String())
	require.Equal(t, "invalid", approval.Level(9).String())
	require.Equal(t, "withdrawn", approval.Withdrawn.String())
	for _, bad := range []any{approval.Kind(0), approval.Kind(4), approval.Level(0), approval.Level(5)} {
		_, err := json.Marshal(bad)
		require.ErrorIs(t, err, approval.ErrInvalid)
	}
	require.ErrorIs(t, new(approval.Kind).UnmarshalText([]byte("Person")), approval.ErrInvalid)
	require.ErrorIs(t, new(approval.Level).UnmarshalText([]byte("")), approval.ErrInvalid)
}
