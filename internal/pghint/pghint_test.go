package pghint_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/pghint"
)

type state string

func (s state) Error() string    { return "SQLSTATE " + string(s) }
func (s state) SQLState() string { return string(s) }

func TestTables(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"42P01": "look: SQLSTATE 42P01: Migrate makes the tables, in the first schema of the search_path that the role may use",
		"42501": "look: SQLSTATE 42501: the role is neither the tables' owner nor in toolcontract_worker, and has no grant of its own",
		"53300": "look: SQLSTATE 53300",
	} {
		err := fmt.Errorf("look: %w", state(code))
		got := pghint.Tables(err)
		require.EqualError(t, got, want)
		require.ErrorIs(t, got, err)
	}
	other := errors.New("no route to host")
	require.Equal(t, other, pghint.Tables(other))
}
