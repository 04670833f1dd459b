package said_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/said"
)

func TestSomething(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, " \t\n": false, "\u200b\u200d\ufeff": false, "\u00a0 \u2003": false, "\x00\x1b": false, "a": true, " ä ": true, "\u200b.": true, "山": true,
	} {
		require.Equal(t, want, said.Something(text), "%q", text)
	}
}
