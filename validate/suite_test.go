package validate_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// TestParsingSuite runs Nicolas Seriot's JSONTestSuite: y_ is accepted, n_ refused, i_ is left to the implementation.
func TestParsingSuite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "shared", "conformance", "JSONTestSuite", "test_parsing")
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("JSONTestSuite is not here; put it into shared/conformance beside the repository")
	}
	require.NoError(t, err)
	duplicates := map[string]bool{"y_object_duplicated_key.json": true, "y_object_duplicated_key_and_value.json": true}
	limits := validate.Limits{NumberDigits: 100}
	ran := 0
	for _, f := range files {
		doc, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		ran++
		t.Run(f.Name(), func(t *testing.T) {
			t.Parallel()
			err := validate.Parse(doc, limits)
			switch {
			case duplicates[f.Name()]:
				require.Equal(t, envelope.DuplicateMember, codeOf(t, err))
			case strings.HasPrefix(f.Name(), "y_"):
				require.NoError(t, err)
			case strings.HasPrefix(f.Name(), "n_"):
				require.Error(t, err)
			}
		})
	}
	require.Greater(t, ran, 300)
}
