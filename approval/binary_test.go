package approval_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
)

func TestStoredForms(t *testing.T) {
	t.Parallel()
	r := stored(t, func(p *approval.Proposal) {
		p.Plan = []byte(" {\"b\":1E2,\n\"a\":\"\\u00f6\"}")
		p.Requirement.Self = true
		p.Seq = 1<<62 + 1
	})
	b, err := r.Proposal.MarshalBinary()
	require.NoError(t, err)
	var back approval.Proposal
	require.NoError(t, back.UnmarshalBinary(b))
	require.Equal(t, r.Proposal, back)

	d := decide(t, r, says(person("a"), false)).Decisions[0]
	db, err := d.MarshalBinary()
	require.NoError(t, err)
	var dback approval.Decision
	require.NoError(t, dback.UnmarshalBinary(db))
	require.Equal(t, d, dback)

	for name, bad := range map[string][]byte{
		"nothing": nil, "cut": b[:len(b)-1], "trailing": append(bytes.Clone(b), '1'),
		"another form":     bytes.Replace(b, []byte(`"form":1`), []byte(`"form":2`), 1),
		"a member more":    bytes.Replace(b, []byte(`"form":1`), []byte(`"form":1,"canary":1`), 1),
		"an unknown level": bytes.Replace(b, []byte(`"level":"one"`), []byte(`"level":"canary"`), 1),
	} {
		err := back.UnmarshalBinary(bad)
		require.ErrorIs(t, err, approval.ErrCorrupt, name)
		require.NotContains(t, err.Error(), "canary", name)
		require.ErrorIs(t, dback.UnmarshalBinary(bad), approval.ErrCorrupt, name)
	}
	require.Equal(t, r.Proposal, back, "what does not read changes nothing")

	r.Proposal.Summary = "canary\xff"
	_, err = r.Proposal.MarshalBinary()
	require.ErrorIs(t, err, approval.ErrInvalid)
	require.NotContains(t, err.Error(), "canary")
}
