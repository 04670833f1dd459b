package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/pgtest/pgxtest"

	"github.com/toolcontract/toolcontract/internal/pgtest"
)

// A short campaign for each contract on each durable ledger. The long one is a command.
func TestShortCampaign(t *testing.T) {
	for _, ledger := range []string{"sqlite", "postgres"} {
		t.Run(ledger, func(t *testing.T) {
			if ledger == "postgres" { // skipped by name where there is none, a failure in CI
				pgtest.Schema(t, pgxtest.Exec)
			}
			for _, contract := range []string{"replay_safe", "status_queryable", "none"} {
				t.Run(contract, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
					defer cancel()
					c := campaign{ledger: ledger, kills: 10, contract: contract, verbose: testing.Verbose() || os.Getenv("CI") != ""}
					r, err := c.run(ctx)
					require.NoError(t, err)
					require.Equal(t, 10, r.kills)
					require.True(t, r.clean(), r.String())
				})
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	for _, r := range []report{
		{"replay_safe", 5, 4, 0, 0, 0, 0},
		{"replay_safe", 5, 5, 0, 1, 0, 0},
		{"replay_safe", 5, 5, 0, 0, 1, 0},
		{"replay_safe", 5, 5, 0, 0, 0, 1},
		{"replay_safe", 5, 5, 1, 0, 0, 0},
		{"none", 5, 3, 1, 0, 0, 0},
		{"none", 5, 3, 2, 0, 1, 0},
		{"status_queryable", 5, 4, 0, 0, 0, 0},
	} {
		require.False(t, r.clean(), r.String())
	}
	r := report{"replay_safe", 5, 5, 0, 0, 0, 0}
	require.True(t, r.clean())
	require.Equal(t, "kills 5 effects 5 duplicates 0 lost 0 stuck 0", r.String())
	r = report{"none", 5, 3, 2, 0, 0, 0}
	require.True(t, r.clean(), "without a promise some stay unknown")
	require.Equal(t, "kills 5 effects 3 unknown 2 duplicates 0 lost 0 stuck 0", r.String())
	require.True(t, report{"none", 5, 5, 2, 0, 0, 0}.clean(), "and some of them ran")
}
