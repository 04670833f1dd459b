package pgledger_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem/pgledger"
)

// No statement reads every command or every row of the outbox, however many there are and whatever the statistics say.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	pool := s.pool("")
	_, err := pool.Exec(t.Context(), `
		INSERT INTO agent_command (tenant_id, operation_id, request_hash, run_id, resource, command, seq, state, created_at, updated_at, expires_at, ended_at)
			SELECT 'acme', 'op_' || i, 'h', 'run', 'r' || i, '{}', 0, 'succeeded', now(), now(), now(), now() FROM generate_series(1, 150000) i;
		INSERT INTO agent_command (tenant_id, operation_id, request_hash, run_id, resource, command, seq, state, created_at, updated_at, expires_at)
			SELECT 'acme', 'live_' || i, 'h', 'run_' || i % 100, 'r' || i, '{}', 0, 'pending', now(), now(), now() FROM generate_series(1, 3000) i;
		INSERT INTO command_outbox SELECT 'acme', 'live_' || i, 't' || i % 5, 'run_' || i % 100, now() + i * interval '1 s', now() - interval '1 h' FROM generate_series(1, 3000) i;
		INSERT INTO agent_resource SELECT 'acme', 'r' || i, 0 FROM generate_series(1, 150000) i`)
	require.NoError(t, err)
	for _, statistics := range []string{"", "ANALYZE"} {
		_, err := pool.Exec(t.Context(), statistics)
		require.NoError(t, err)
		for name, st := range pgledger.Statements() {
			plan := explain(t, pool, st[0], st[1])
			require.NotContains(t, plan, "Seq Scan on agent_command", "%s with %q:\n%s", name, statistics, plan)
			require.NotContains(t, plan, "Seq Scan on agent_resource", "%s with %q:\n%s", name, statistics, plan)
			require.NotRegexp(t, "Seq Scan on command_outbox o", plan, "%s with %q:\n%s", name, statistics, plan)
			switch name {
			case "next":
				require.Contains(t, plan, "Index Scan using command_outbox_turn", "%q:\n%s", statistics, plan)
				require.Regexp(t, `Index Cond: \(\(tool = tool.name\) AND \(tenant_id = turn.tenant\) AND \(available_at >= turn.since\) AND \(available_at <= \$`, plan,
					"the tenant, the mark and the time bound the search, with %q:\n%s", statistics, plan)
				require.NotContains(t, plan, "Sort Key: turn", "it stops at the first tenant:\n%s", plan)
			case "tenants":
				require.Equal(t, 2, strings.Count(plan, "Index Only Scan using command_outbox_turn"), "%q:\n%s", statistics, plan)
				require.Contains(t, plan, "AND (tenant_id > first", "from tenant to tenant, with %q:\n%s", statistics, plan)
			}
		}
	}
}

// explain returns the plan that serves any arguments.
func explain(t *testing.T, pool *pgxpool.Pool, statement, args string) string {
	t.Helper()
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	for _, sql := range []string{"SET plan_cache_mode = force_generic_plan", "DEALLOCATE ALL", "PREPARE looked_at AS " + statement} {
		_, err = conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE looked_at "+args, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return strings.Join(lines, "\n")
}
