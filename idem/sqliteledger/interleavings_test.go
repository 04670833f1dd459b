package sqliteledger_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval/sqlitestore"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool/tooltest"
)

// The interleavings of a write, I1 to I32, on SQLite files.
func TestInterleavings(t *testing.T) {
	t.Parallel()
	tooltest.Interleavings(t, func(t *testing.T) tooltest.Stores {
		t.Helper()
		var ahead atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		approvals, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "approvals.db"), sealer(t), sqlitestore.WithClock(now))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, approvals.Close()) })
		files := []*opener{newOpener(t)}
		ledger, err := files[0].open()
		require.NoError(t, err)
		return tooltest.Stores{
			Approvals: approvals, Ledger: ledger,
			Advance: func(d time.Duration) {
				ahead.Add(int64(d))
				for _, f := range files {
					require.NoError(t, f.all[0].Advance(t.Context(), d.Milliseconds()))
				}
			},
			Forgotten: func() idem.Ledger {
				f := newOpener(t)
				forgotten, err := f.open()
				require.NoError(t, err)
				require.NoError(t, f.all[0].Advance(t.Context(), time.Duration(ahead.Load()).Milliseconds()))
				files = append(files, f)
				return forgotten
			},
		}
	})
}
