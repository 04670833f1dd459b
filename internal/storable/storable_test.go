package storable_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/storable"
)

func TestText(t *testing.T) {
	t.Parallel()
	require.True(t, storable.Text())
	require.True(t, storable.Text("", "größe", "\u202e\x01"))
	require.False(t, storable.Text("a", "a\x00b"))
	require.False(t, storable.Text("\xff", "a"))
}
