package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func isEither(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

func person(subject string) approval.Principal {
	return approval.Principal{Kind: approval.Person, Tenant: "t1", Subject: subject, Roles: []string{"support"}}
}

func stored(t *testing.T, change func(*approval.Proposal)) approval.Record {
	t.Helper()
	p := proposal("p_1")
	if change != nil {
		change(&p)
	}
	r, err := approval.NewRecord(p, noon)
	require.NoError(t, err)
	return r
}

func level(l approval.Level) func(*approval.Proposal) {
	return func(p *approval.Proposal) { p.Requirement.Level = l }
}

func says(by approval.Principal, yes bool) approval.Decision {
	d := approval.Decision{Approved: yes, By: by, Digest: "hmac:k1:abc"}
	if !yes {
		d.Reason = "the wrong customer"
	}
	return d
}

func decide(t *testing.T, r approval.Record, d approval.Decision) approval.Record {
	t.Helper()
	r, changed, err := r.Decide(d, noon)
	require.NoError(t, err)
	require.True(t, changed)
	return r
}

func TestNewRecord(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 3600)
	p := proposal("p_1")
	p.CreatedAt, p.ExpiresAt = noon.Add(time.Hour), noon.Add(time.Hour)
	r, err := approval.NewRecord(p, noon.In(east))
	require.NoError(t, err)
	require.Equal(t, noon, r.Proposal.CreatedAt, "the store's time, in UTC, not the caller's")
	require.Equal(t, noon.Add(15*time.Minute), r.Proposal.ExpiresAt)
	require.Equal(t, approval.Pending, r.State)
	require.Equal(t, 15*time.Minute, r.Left)
	require.Equal(t, 3, r.PolicySeen)

	for name, change := range map[string]func(*approval.Proposal){
		"id":                 func(p *approval.Proposal) { p.ID = "" },
		"tenant":             func(p *approval.Proposal) { p.Tenant = "" },
		"run":                func(p *approval.Proposal) { p.Run = "" },
		"tool":               func(p *approval.Proposal) { p.Tool = "" },
		"digest":             func(p *approval.Proposal) { p.Digest = "" },
		"id, long":           func(p *approval.Proposal) { p.ID = strings.Repeat("x", approval.MaxName+1) },
		"run, U+0000":        func(p *approval.Proposal) { p.Run = "a\x00" },
		"tool, not UTF-8":    func(p *approval.Proposal) { p.Tool = "a\xff" },
		"requester":          func(p *approval.Proposal) { p.Requester = approval.Principal{} },
		"requester, subject": func(p *approval.Proposal) { p.Requester.Subject = "" },
		"requester, kind":    func(p *approval.Proposal) { p.Requester.Kind = 0 },
		"requester, policy":  func(p *approval.Proposal) { p.Requester.Kind = approval.PolicyDecision },
		"requester, tenant":  func(p *approval.Proposal) { p.Requester.Tenant = "t2" },
		"level":              level(0),
		"level, deny":        level(approval.Deny),
		"level, beyond":      level(9),
		"lifetime":           func(p *approval.Proposal) { p.Lifetime = 0 },
		"lifetime, negative": func(p *approval.Proposal) { p.Lifetime = -1 },
		"lifetime, years":    func(p *approval.Proposal) { p.Lifetime = approval.MaxLifetime + 1 },
	} {
		p := proposal("p_1")
		change(&p)
		_, err := approval.NewRecord(p, noon)
		require.ErrorIs(t, err, approval.ErrInvalid, name)
		require.ErrorContains(t, err, strings.Split(name, ",")[0])
	}
}

func TestExpiryIsExact(t *testing.T) {
	t.Parallel()
	end := noon.Add(15 * time.Minute)
	yes := decide(t, stored(t, nil), says(person("a"), true))
	for name, r := range map[string]approval.Record{"pending": stored(t, nil), "approved": yes} {
		require.Equal(t, name, r.At(end.Add(-1)).State.String())
		require.Equal(t, time.Duration(1), r.At(end.Add(-1)).Left)
		require.Equal(t, approval.Expired, r.At(end).State)
		require.Equal(t, approval.Expired, r.At(end.Add(1)).State)
		require.Zero(t, r.At(end.Add(time.Hour)).Left, "never negative")
	}
	no := decide(t, stored(t, nil), says(person("a"), false))
	require.Equal(t, approval.Rejected, no.At(end).State, "a rejection stays one")
}

func TestDecideLevels(t *testing.T) {
	t.Parallel()
	r := decide(t, stored(t, level(approval.One)), says(person("a"), true))
	require.Equal(t, approval.Approved, r.State)
	require.Equal(t, noon, r.Decisions[0].At)
	require.NotEmpty(t, r.Decisions[0].ID)

	r = decide(t, stored(t, level(approval.Two)), says(person("a"), true))
	require.Equal(t, approval.Pending, r.State)
	r = decide(t, r, says(person("b"), true))
	require.Equal(t, approval.Approved, r.State)
	require.NotEqual(t, r.Decisions[0].ID, r.Decisions[1].ID)

	r = decide(t, stored(t, level(approval.Two)), says(person("a"), true))
	require.Equal(t, approval.Rejected, decide(t, r, says(person("b"), false)).State, "one rejection is final")

	policy := approval.Principal{Kind: approval.PolicyDecision, Tenant: "t1"}
	require.Equal(t, approval.Approved, decide(t, stored(t, level(approval.None)), says(policy, true)).State)
	namesake := approval.Principal{Kind: approval.PolicyDecision, Tenant: "t1", Subject: "agent-7"}
	require.Equal(t, approval.Approved, decide(t, stored(t, level(approval.None)), says(namesake, true)).State, "the policy is nobody's self, whatever it is called")
	require.Equal(t, approval.Pending, stored(t, level(approval.None)).At(noon).State, "silence is no consent, not even where nobody is asked")
}

func TestDecideIsIdempotent(t *testing.T) {
	t.Parallel()
	r := decide(t, stored(t, level(approval.Two)), says(person("a"), true))
	again := says(person("a"), true)
	again.ID, again.By.Kind, again.By.Roles, again.Reason = "d_other", approval.Service, nil, "yes"
	for name, at := range map[string]time.Time{"at once": noon, "after expiry": noon.Add(time.Hour)} {
		got, changed, err := r.Decide(again, at)
		require.NoError(t, err, name)
		require.False(t, changed, name)
		require.Equal(t, r.At(at), got, name)
	}
	again.Digest = "other"
	_, _, err := r.Decide(again, noon)
	require.ErrorIs(t, err, approval.ErrDigest)

	other := says(person("a"), false)
	_, _, err = r.Decide(other, noon)
	require.ErrorIs(t, err, approval.ErrDecided, "one approver, one verdict: it is taken back by Withdraw")

	taken := says(person("b"), true)
	taken.ID = r.Decisions[0].ID
	_, _, err = r.Decide(taken, noon)
	require.ErrorIs(t, err, approval.ErrInvalid)
}

func TestDecideRefuses(t *testing.T) {
	t.Parallel()
	requester := approval.Principal{Kind: approval.Person, Tenant: "t1", Subject: "agent-7"} // of another kind than it asked as
	policy := approval.Principal{Kind: approval.PolicyDecision, Tenant: "t1", Subject: "policy"}
	reason := func(s string) approval.Decision {
		d := says(person("a"), false)
		d.Reason = s
		return d
	}
	long := says(person("a"), true)
	long.Reason = strings.Repeat("ö", approval.MaxReason+1)
	end := noon.Add(15 * time.Minute)
	yes := decide(t, stored(t, nil), says(person("z"), true))
	no := decide(t, stored(t, nil), says(person("z"), false))
	used, _, err := yes.Consume("hmac:k1:abc", "op_1", noon)
	require.NoError(t, err)
	back, _, err := yes.Withdraw(yes.Decisions[0].ID, person("z"), noon)
	require.NoError(t, err)
	for _, tc := range []struct {
		name   string
		record approval.Record
		d      approval.Decision
		at     time.Time
		want   error
	}{
		{"nobody", stored(t, nil), approval.Decision{Approved: true, Digest: "hmac:k1:abc"}, noon, approval.ErrInvalid},
		{"another digest", stored(t, nil), approval.Decision{Approved: true, By: person("a"), Digest: "hmac:k1:abd"}, noon, approval.ErrDigest},
		{"no digest", stored(t, nil), approval.Decision{Approved: true, By: person("a")}, noon, approval.ErrDigest},
		{"at expiry", stored(t, nil), says(person("a"), true), end, approval.ErrExpired},
		{"approved", yes, says(person("a"), true), noon, approval.ErrDecided},
		{"rejected", no, says(person("a"), true), noon, approval.ErrDecided},
		{"rejected, then over", no, says(person("a"), true), end, approval.ErrDecided},
		{"withdrawn", back, says(person("a"), true), noon, approval.ErrDecided},
		{"consumed", used, says(person("a"), true), noon, approval.ErrConsumed},
		{"the requester", stored(t, nil), says(requester, true), noon, approval.ErrSelf},
		{"the requester, no", stored(t, nil), says(requester, false), noon, approval.ErrSelf},
		{"the policy for one", stored(t, nil), says(policy, true), noon, approval.ErrNotAllowed},
		{"a person for none", stored(t, level(approval.None)), says(person("a"), true), noon, approval.ErrNotAllowed},
		{"the policy says no", stored(t, level(approval.None)), says(policy, false), noon, approval.ErrNotAllowed},
		{"no reason", stored(t, nil), reason(""), noon, approval.ErrReason},
		{"white space", stored(t, nil), reason(" \t\u00a0\n"), noon, approval.ErrReason},
		{"too long", stored(t, nil), reason(strings.Repeat("ö", approval.MaxReason+1)), noon, approval.ErrReason},
		{"too long a comment", stored(t, nil), long, noon, approval.ErrReason},
		{"not UTF-8", stored(t, nil), reason("a\xff"), noon, approval.ErrReason},
		{"U+0000", stored(t, nil), reason("a\x00"), noon, approval.ErrReason},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, changed, err := tc.record.Decide(tc.d, tc.at)
			require.ErrorIs(t, err, tc.want)
			require.False(t, changed)
			require.Zero(t, got)
		})
	}
	decide(t, stored(t, nil), reason(strings.Repeat("ö", approval.MaxReason)))
	decide(t, stored(t, func(p *approval.Proposal) { p.Requirement.Self = true }), says(requester, true))
}

func TestWithdrawAndConsume(t *testing.T) {
	t.Parallel()
	end := noon.Add(15 * time.Minute)
	pending := stored(t, nil)
	yes := decide(t, pending, says(person("a"), true))
	half := decide(t, stored(t, level(approval.Two)), says(person("a"), true))
	no := decide(t, pending, says(person("a"), false))
	id := yes.Decisions[0].ID

	back, changed, err := yes.Withdraw(id, person("b"), end.Add(-1))
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, approval.Withdrawn, back.State)
	require.Equal(t, approval.Principal{Kind: approval.Person, Tenant: "t1", Subject: "b"}, back.WithdrawnBy)
	require.Equal(t, end.Add(-1), back.WithdrawnAt)
	again, changed, err := back.Withdraw(id, person("c"), end)
	require.NoError(t, err)
	require.False(t, changed)
	require.Equal(t, back.At(end), again)

	used, changed, err := yes.Consume("hmac:k1:abc", "op_1", end.Add(-1))
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, approval.Consumed, used.State)
	require.Equal(t, "op_1", used.ConsumedBy)
	require.Equal(t, end.Add(-1), used.ConsumedAt)
	again, changed, err = used.Consume("hmac:k1:abc", "op_1", end.Add(time.Hour))
	require.NoError(t, err, "the operation that has it keeps it, also when the time is over")
	require.False(t, changed)
	require.Equal(t, used.At(end.Add(time.Hour)), again)

	withdraw := func(r approval.Record, id string, by approval.Principal, at time.Time) error {
		_, _, err := r.Withdraw(id, by, at)
		return err
	}
	require.ErrorIs(t, withdraw(yes, "d_none", person("a"), noon), approval.ErrNotFound)
	require.ErrorIs(t, withdraw(yes, id, approval.Principal{}, noon), approval.ErrInvalid)
	require.ErrorIs(t, withdraw(used, id, person("a"), noon), approval.ErrConsumed)
	require.ErrorIs(t, withdraw(yes, id, person("a"), end), approval.ErrExpired)
	require.ErrorIs(t, withdraw(no, no.Decisions[0].ID, person("a"), noon), approval.ErrDecided)
	require.NoError(t, withdraw(half, half.Decisions[0].ID, person("a"), noon), "also while the other approval is missing")

	consume := func(r approval.Record, digest, op string, at time.Time) error {
		_, _, err := r.Consume(digest, op, at)
		return err
	}
	require.ErrorIs(t, consume(yes, "hmac:k1:abc", "", noon), approval.ErrInvalid)
	require.ErrorIs(t, consume(yes, "other", "op_1", noon), approval.ErrDigest)
	require.ErrorIs(t, consume(used, "other", "op_1", noon), approval.ErrDigest)
	require.ErrorIs(t, consume(used, "hmac:k1:abc", "op_2", noon), approval.ErrConsumed)
	require.ErrorIs(t, consume(yes, "hmac:k1:abc", "op_1", end), approval.ErrExpired)
	require.ErrorIs(t, consume(pending, "hmac:k1:abc", "op_1", noon), approval.ErrPending)
	require.ErrorIs(t, consume(half, "hmac:k1:abc", "op_1", noon), approval.ErrPending)
	require.ErrorIs(t, consume(pending, "hmac:k1:abc", "op_1", end), approval.ErrExpired)
	require.ErrorIs(t, consume(no, "hmac:k1:abc", "op_1", noon), approval.ErrDecided)
	require.ErrorIs(t, consume(back, "hmac:k1:abc", "op_1", noon), approval.ErrDecided)
}

func TestRulesDoNotTouchTheirRecord(t *testing.T) {
	t.Parallel()
	r := decide(t, stored(t, level(approval.Two)), says(person("a"), true))
	before := r.Clone()
	a := decide(t, r, says(person("b"), true))
	b := decide(t, r, says(person("c"), true))
	require.Equal(t, "b", a.Decisions[1].By.Subject, "two records grown from one do not share memory")
	require.Equal(t, "c", b.Decisions[1].By.Subject)
	a.Proposal.Plan[1], a.Proposal.Diffs[0].After, a.Decisions[0].By.Roles[0] = 'X', "X", "X"
	*a.Proposal.Consequence.AmountMinor, *a.Proposal.Consequence.Records = 9, 9
	a.Proposal.Consequence.Recipients[0], a.Proposal.Consequence.Irreversible[0], a.Proposal.Requester.Roles[0] = "X", "X", "X"
	require.Equal(t, before, r)
}
