package cursor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/cursor"
)

func TestCursor(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{time.Unix(0, 1).UTC(), time.Unix(0, 0).UTC(), time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC), time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC)} {
		for _, id := range []string{"", "op_1", "größe"} {
			gotAt, gotID, err := cursor.Decode(cursor.Encode(at, id))
			require.NoError(t, err)
			require.Equal(t, at, gotAt)
			require.Equal(t, id, gotID)
		}
	}
	for _, bad := range []string{"x", "AAAA", "no cursor", "====", cursor.Encode(time.Unix(0, 0), "a\x00"), cursor.Encode(time.Unix(0, 0), "\xff")} {
		_, _, err := cursor.Decode(bad)
		require.Error(t, err, bad)
	}
	at, id, err := cursor.Decode("")
	require.NoError(t, err)
	require.Empty(t, id)
	require.True(t, at.Before(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)), "before everything")
}

func TestSize(t *testing.T) {
	t.Parallel()
	for asked, got := range map[int]int{-1: 100, 0: 100, 1: 1, 1000: 1000, 1001: 1000} {
		require.Equal(t, got, cursor.Size(asked))
	}
}
