package pgledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
)

var outboxTool = []string{"commit_x_v1"}

// due admits a command of a tenant.
func due(t *testing.T, l idem.Ledger, tenant, op string) {
	t.Helper()
	c := command(op)
	c.Key.Tenant = tenant
	_, _, err := l.Admit(t.Context(), c, false)
	require.NoError(t, err)
}

func served(t *testing.T, l idem.Ledger) string {
	t.Helper()
	d, err := l.Next(t.Context(), outboxTool, time.Hour)
	require.NoError(t, err)
	return d.Key.Tenant
}

// Whose first row is locked loses its turn where it has no other, and has it where it does.
func TestTurnOfALockedRow(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l, err := s.open()
	require.NoError(t, err)
	for _, op := range []string{"a1", "a2", "b1", "c1", "c2", "c3"} {
		due(t, l, op[:1], op)
	}
	require.Equal(t, "a", served(t, l))
	tx := s.outside("SELECT FROM command_outbox WHERE operation_id IN ('b1', 'c1') FOR UPDATE")
	require.Equal(t, "c", served(t, l), "b has no other row")
	require.Equal(t, "a", served(t, l))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, "b", served(t, l))
	require.Equal(t, "c", served(t, l))
}

// A tenant that the circle does not know waits for so many deliveries, and not for the end of another's queue.
func TestTurnOfANewcomer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l, err := s.open()
	require.NoError(t, err)
	for i := range 100 {
		due(t, l, "a", fmt.Sprint("a", i))
	}
	require.Equal(t, "a", served(t, l))
	due(t, l, "b", "b1")
	for i := 1; served(t, l) != "b"; i++ {
		require.Less(t, i, 65)
	}
}

// More tenants than a circle holds have a turn each, and then one more.
func TestTurnsOfManyTenants(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l, err := s.open()
	require.NoError(t, err)
	const tenants = 1100
	s.exec(fmt.Sprintf(`
		INSERT INTO agent_command (tenant_id, operation_id, request_hash, run_id, resource, command, seq, state, created_at, updated_at, expires_at)
			SELECT 't' || i %% %[1]d, 'op_' || i, 'h', 'run', 'r' || i, '{}', 0, 'pending', now(), now(), now() FROM generate_series(1, 2 * %[1]d) i;
		INSERT INTO command_outbox (tenant_id, operation_id, tool, run_id, available_at)
			SELECT 't' || i %% %[1]d, 'op_' || i, 'commit_x_v1', 'run', now() - interval '1 h' FROM generate_series(1, 2 * %[1]d) i`, tenants))
	for range 2 {
		turns := map[string]int{}
		for range tenants {
			turns[served(t, l)]++
		}
		require.Len(t, turns, tenants, "somebody was served twice before another once")
	}
	_, err = l.Next(t.Context(), outboxTool, time.Hour)
	require.ErrorIs(t, err, idem.ErrEmpty)
}

// Each handle goes round by itself.
func TestTurnsOfTwoHandles(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	here, err := s.open()
	require.NoError(t, err)
	there, err := s.openOn(s.pool(""))
	require.NoError(t, err)
	for _, op := range []string{"a1", "a2", "a3", "a4", "b1", "b2"} {
		due(t, here, op[:1], op)
	}
	for _, tenant := range []string{"a", "b"} {
		require.Equal(t, tenant, served(t, here))
		require.Equal(t, tenant, served(t, there))
	}
	require.Equal(t, "a", served(t, here))
	require.Equal(t, "a", served(t, there))
	_, err = here.Next(t.Context(), outboxTool, time.Hour)
	require.ErrorIs(t, err, idem.ErrEmpty)
}
