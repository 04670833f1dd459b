package turns_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/turns"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	var s turns.Turns
	require.Empty(t, s.Last(nil))
	s.Served([]string{"a", "b"}, "acme")
	s.Served(nil, "globex")
	require.Equal(t, "acme", s.Last([]string{"b", "a", "b"}), "a set has no order")
	require.Equal(t, "globex", s.Last(nil))
	require.Empty(t, s.Last([]string{"a"}), "another set goes round by itself")
	s.Served([]string{"a", "b"}, "initech")
	require.Equal(t, "initech", s.Last([]string{"a", "b"}))
}

func TestTurnsAreBounded(t *testing.T) {
	t.Parallel()
	var s turns.Turns
	known := func() (n int) {
		for i := range 3 * turns.Most {
			if s.Last([]string{fmt.Sprint(i)}) != "" {
				n++
			}
		}
		return n
	}
	for i := range 3 * turns.Most {
		s.Served([]string{fmt.Sprint(i)}, "acme")
		require.Equal(t, "acme", s.Last([]string{fmt.Sprint(i)}))
		require.LessOrEqual(t, known(), turns.Most)
	}
}

func TestTurnsGoByNameFromTheLastOn(t *testing.T) {
	t.Parallel()
	for last, want := range map[string]string{"": "a b c", "a": "b c a", "b": "c a b", "bb": "c a b", "c": "a b c", "d": "a b c"} {
		tenants := []string{"c", "a", "b"}
		slices.SortFunc(tenants, func(a, b string) int { return turns.Compare(last, a, b) })
		require.Equal(t, want, strings.Join(tenants, " "), "after %q", last)
	}
}
