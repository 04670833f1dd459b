package ledgertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
)

// Upgraded fills a ledger that is open on old tables, lets upgrade open it on new ones, and holds what is there then to
// what was: what waited still waits, once, and a claim that stood stands.
func Upgraded(t *testing.T, old idem.Ledger, command func(operation string) idem.Command, upgrade func() idem.Ledger) {
	t.Helper()
	for _, tenant := range []string{"a", "b"} {
		for i := range 3 {
			c := command(fmt.Sprint("op_", i))
			c.Key.Tenant = tenant
			_, _, err := old.Admit(t.Context(), c, false)
			require.NoError(t, err)
		}
	}
	claim, err := old.Claim(t.Context(), idem.Key{Tenant: "a", Operation: "op_0"}, "w", time.Hour)
	require.NoError(t, err)
	l := upgrade()
	found := map[idem.Key]int{}
	tools := []string{claim.Command.Tool}
	for range 5 {
		d, err := l.Next(t.Context(), tools, time.Hour)
		require.NoError(t, err)
		found[d.Key]++
	}
	_, err = l.Next(t.Context(), tools, time.Hour)
	require.ErrorIs(t, err, idem.ErrEmpty, "what is claimed is not offered")
	require.Len(t, found, 5, "each once")
	require.NotContains(t, found, claim.Key)
	rec, err := l.Finish(t.Context(), claim, idem.Outcome{State: idem.Succeeded, Result: []byte(`{}`)})
	require.NoError(t, err)
	require.Equal(t, idem.Succeeded, rec.State)
}
