package idem_test

import (
	"encoding/json/jsontext"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
)

func TestMemoryPath(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := idem.NewMemory(func() time.Time { return now })
	c := idem.Command{
		Key: idem.Key{Tenant: "acme", Operation: "op_1"}, Tool: "commit_x_v1", RequestHash: "h", Resource: "r",
		Body: jsontext.Value(`{"a":1E2}`), ExpiresIn: time.Hour,
	}
	rec, how, err := m.Admit(t.Context(), c, false)
	require.NoError(t, err)
	require.Equal(t, idem.Admitted, how)
	require.Equal(t, idem.Pending, rec.State)
	claim, err := m.Claim(t.Context(), c.Key, "w", time.Minute)
	require.NoError(t, err)
	require.JSONEq(t, `{"a":1E2}`, string(claim.Command.Body))
	seq, open, err := m.Resource(t.Context(), "acme", "r")
	require.NoError(t, err)
	require.Equal(t, int64(1), seq)
	require.Equal(t, "op_1", open)
	rec, err = m.Finish(t.Context(), claim, idem.Outcome{State: idem.Succeeded, Result: jsontext.Value(`{"ok":true}`)})
	require.NoError(t, err)
	require.Equal(t, idem.Succeeded, rec.State)
	require.Len(t, rec.Attempts, 1)
	rec, how, err = m.Admit(t.Context(), c, false)
	require.NoError(t, err)
	require.Equal(t, idem.Replayed, how)
	require.Equal(t, `{"ok":true}`, string(rec.Result))
	n, err := m.Purge(t.Context(), 0, time.Hour)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	rec, err = m.Find(t.Context(), c.Key)
	require.ErrorIs(t, err, idem.ErrGone)
	require.Equal(t, idem.Succeeded, rec.State)
}
