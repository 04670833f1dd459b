package pgledger_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/ledgertest"
	"github.com/toolcontract/toolcontract/idem/pgledger"
)

func TestTablesWithRowsAreBroughtUpToDate(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	pool := s.pool("")
	old, err := s.openOn(pool)
	require.NoError(t, err)
	ledgertest.Upgraded(t, old, command, func() idem.Ledger {
		s.exec("DROP INDEX command_outbox_turn; CREATE INDEX command_outbox_tool ON command_outbox (tool, available_at); DELETE FROM ledger_schema WHERE version > 1")
		_, err := s.openOn(pool)
		require.ErrorContains(t, err, "Migrate")
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := pgledger.Migrate(t.Context(), pool); err != nil {
					t.Errorf("one of many at once: %v", err)
				}
			})
		}
		wg.Wait()
		l, err := s.openOn(pool)
		require.NoError(t, err)
		return l
	})
}
