package sqliteledger_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/ledgertest"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
)

func TestAFileWithRowsIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path, cfg := filepath.Join(t.TempDir(), "a.db"), sqliteledger.Config{Sealer: sealer(t)}
	old, err := sqliteledger.Open(t.Context(), path, cfg)
	require.NoError(t, err)
	ledgertest.Upgraded(t, old, command, func() idem.Ledger {
		_, err := old.DB().ExecContext(t.Context(), "DROP INDEX command_outbox_turn; CREATE INDEX command_outbox_tool ON command_outbox (tool, available_at); DELETE FROM ledger_schema WHERE version > 1")
		require.NoError(t, err)
		require.NoError(t, old.Shutdown())
		l, err := sqliteledger.Open(t.Context(), path, cfg)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Shutdown()) })
		return l
	})
}
