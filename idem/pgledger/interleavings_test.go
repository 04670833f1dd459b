package pgledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval/pgstore"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool/tooltest"
)

// The interleavings of a write, I1 to I32, on one PostgreSQL database whose clock the test moves.
func TestInterleavings(t *testing.T) {
	t.Parallel()
	tooltest.Interleavings(t, func(t *testing.T) tooltest.Stores {
		t.Helper()
		s := newServer(t)
		ledger, err := s.open()
		require.NoError(t, err)
		pool := s.pool("")
		require.NoError(t, pgstore.Migrate(t.Context(), pool))
		s.exec(`CREATE OR REPLACE FUNCTION approval_now_ns() RETURNS bigint LANGUAGE sql VOLATILE AS
			'SELECT (extract(epoch FROM clock_timestamp() + (SELECT ahead FROM test_clock)) * 1000000)::bigint * 1000'`)
		approvals, err := pgstore.New(t.Context(), pool, sealer(t))
		require.NoError(t, err)
		return tooltest.Stores{
			Approvals: approvals, Ledger: ledger, Advance: s.advance,
			Forgotten: func() idem.Ledger {
				s.exec("TRUNCATE agent_command, command_outbox, agent_resource CASCADE")
				return ledger
			},
		}
	})
}
