package approval_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/redact"
)

func TestSealedForms(t *testing.T) {
	t.Parallel()
	sealer, err := redact.NewSealer(redact.Key{ID: "k1", Secret: bytes.Repeat([]byte{7}, 32)})
	require.NoError(t, err)
	r := stored(t, func(p *approval.Proposal) {
		p.Plan = []byte(" {\"b\":1E2,\n\"a\":\"\\u00f6\"}")
		p.Requirement.Self = true
		p.Seq = 1<<62 + 1
	})
	d := decide(t, r, says(person("a"), false)).Decisions[0]
	for name, s := range map[string]redact.Sealer{"sealed": sealer, "plain": redact.Plain()} {
		b, err := approval.SealProposal(t.Context(), s, r.Proposal)
		require.NoError(t, err, name)
		back, err := approval.OpenProposal(t.Context(), s, "t1", "p_1", b)
		require.NoError(t, err, name)
		require.Equal(t, r.Proposal, back, name)
		db, err := approval.SealDecision(t.Context(), s, "t1", "p_1", d)
		require.NoError(t, err, name)
		dback, err := approval.OpenDecision(t.Context(), s, "t1", "p_1", d.ID, db)
		require.NoError(t, err, name)
		require.Equal(t, d, dback, name)

		// What was sealed for one place opens in no other.
		for _, at := range [][2]string{{"t2", "p_1"}, {"t1", "p_2"}} {
			_, err = approval.OpenProposal(t.Context(), s, at[0], at[1], b)
			require.Error(t, err, name)
		}
		_, err = approval.OpenDecision(t.Context(), s, "t1", "p_1", "d_other", db)
		require.Error(t, err, name)
		_, err = approval.OpenDecision(t.Context(), s, "t1", "p_1", d.ID, b)
		require.Error(t, err, name)
		_, err = approval.OpenProposal(t.Context(), s, "t1", "p_1", db)
		require.Error(t, err, name)
	}
	b, err := approval.SealDecision(t.Context(), sealer, "t1", "p_1", d)
	require.NoError(t, err)
	_, err = approval.OpenDecision(t.Context(), sealer, "t1", "p_2", d.ID, b)
	require.ErrorIs(t, err, redact.ErrSealed, "a decision on one proposal is none on another")
}

func TestStoredFormsAreReadStrictly(t *testing.T) {
	t.Parallel()
	r := stored(t, nil)
	b, err := approval.SealProposal(t.Context(), redact.Plain(), r.Proposal)
	require.NoError(t, err)
	for name, bad := range map[string][]byte{
		"nothing": nil, "cut": b[:len(b)-1], "trailing": append(bytes.Clone(b), '1'),
		"another form":     bytes.Replace(b, []byte(`"form":1`), []byte(`"form":2`), 1),
		"a member more":    bytes.Replace(b, []byte(`"form":1`), []byte(`"form":1,"canary":1`), 1),
		"an unknown level": bytes.Replace(b, []byte(`"level":"one"`), []byte(`"level":"canary"`), 1),
	} {
		_, err := approval.OpenProposal(t.Context(), redact.Plain(), "t1", "p_1", bad)
		require.ErrorIs(t, err, approval.ErrCorrupt, name)
		require.NotContains(t, err.Error(), "canary", name)
		_, err = approval.OpenDecision(t.Context(), redact.Plain(), "t1", "p_1", "d", bad)
		require.ErrorIs(t, err, approval.ErrCorrupt, name)
	}
	r.Proposal.Summary = "canary\xff"
	_, err = approval.SealProposal(t.Context(), redact.Plain(), r.Proposal)
	require.ErrorIs(t, err, approval.ErrInvalid)
	require.NotContains(t, err.Error(), "canary")
}
