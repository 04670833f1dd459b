package sqliteledger_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem/sqliteledger"
)

// Next reads no row of the outbox but by steps into its index, however many there are.
func TestNextSteps(t *testing.T) {
	t.Parallel()
	l, err := sqliteledger.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), sqliteledger.Config{Sealer: sealer(t)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Shutdown()) })
	query, args := sqliteledger.Due()
	rows, err := l.DB().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	require.NoError(t, err)
	defer rows.Close() //nolint:errcheck // it reads
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
		if strings.Contains(detail, "command_outbox") || strings.Contains(detail, " o ") {
			steps = append(steps, detail)
		}
	}
	require.NoError(t, rows.Err())
	require.NotEmpty(t, steps)
	for _, step := range steps {
		require.Contains(t, step, "USING COVERING INDEX command_outbox_turn (tool=? AND tenant_id")
	}
}
