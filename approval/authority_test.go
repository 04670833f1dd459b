package approval_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
)

func TestByRole(t *testing.T) {
	t.Parallel()
	who := func(kind approval.Kind, tenant, subject string, roles ...string) approval.Principal {
		return approval.Principal{Kind: kind, Tenant: tenant, Subject: subject, Roles: roles}
	}
	needs := func(r approval.Requirement) approval.Proposal {
		p := proposal("p_1")
		p.Requirement = r
		return p
	}
	group := approval.Requirement{Level: approval.Two, Role: "support", Group: "eu"}
	for _, tc := range []struct {
		name    string
		by      approval.Principal
		need    approval.Requirement
		allowed bool
	}{
		{"the role", who(approval.Person, "t1", "a", "x", "support"), one("support"), true},
		{"a service with the role", who(approval.Service, "t1", "a", "support"), one("support"), true},
		{"no role", who(approval.Person, "t1", "a"), one("support"), false},
		{"another role", who(approval.Person, "t1", "a", "Support"), one("support"), false},
		{"another tenant", who(approval.Person, "t2", "a", "support"), one("support"), false},
		{"nobody", approval.Principal{}, one("support"), false},
		{"no role is named", who(approval.Person, "t1", "a", ""), one(""), false},
		{"role and group", who(approval.Person, "t1", "a", "eu", "support"), group, true},
		{"role without group", who(approval.Person, "t1", "a", "support"), group, false},
		{"group without role", who(approval.Person, "t1", "a", "eu"), group, false},
		{"group alone", who(approval.Person, "t1", "a", "eu"), approval.Requirement{Level: approval.One, Group: "eu"}, true},
		{"the policy for none", who(approval.PolicyDecision, "t1", ""), noneAsked, true},
		{"the policy for one", who(approval.PolicyDecision, "t1", "", "support"), one("support"), false},
		{"a person for none", who(approval.Person, "t1", "a", "support"), noneAsked, false},
		{"deny", who(approval.Person, "t1", "a", "support"), approval.Requirement{Level: approval.Deny, Role: "support"}, false},
		{"no level", who(approval.Person, "t1", "a", "support"), approval.Requirement{Role: "support"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := approval.ByRole{}.MayApprove(t.Context(), tc.by, needs(tc.need))
			if tc.allowed {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, approval.ErrNotAllowed)
		})
	}

	var roles approval.ByRole
	require.NoError(t, roles.MayRequest(t.Context(), who(approval.Service, "t1", "agent"), "commit_a_v1", approval.Target{}))
	require.ErrorIs(t, roles.MayRequest(t.Context(), approval.Principal{}, "commit_a_v1", approval.Target{}), approval.ErrNotAllowed)
	require.ErrorIs(t, roles.MayRequest(t.Context(), who(approval.PolicyDecision, "t1", "p"), "commit_a_v1", approval.Target{}), approval.ErrNotAllowed)

	require.NoError(t, roles.MayResolve(t.Context(), who(approval.Person, "t1", "o", "operator"), "t1", "op_1"))
	require.ErrorIs(t, roles.MayResolve(t.Context(), who(approval.Person, "t1", "o", "support"), "t1", "op_1"), approval.ErrNotAllowed)
	require.ErrorIs(t, roles.MayResolve(t.Context(), who(approval.Person, "t2", "o", "operator"), "t1", "op_1"), approval.ErrNotAllowed)
	require.ErrorIs(t, roles.MayResolve(t.Context(), who(approval.PolicyDecision, "t1", "o", "operator"), "t1", "op_1"), approval.ErrNotAllowed)
	require.ErrorIs(t, roles.MayResolve(t.Context(), who(approval.Person, "", "o", "operator"), "", "op_1"), approval.ErrNotAllowed)
}
