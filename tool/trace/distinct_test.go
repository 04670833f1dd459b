package trace

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// However short or odd subjects are, no two have one stand-in, and none has its own or another's name. The stand-ins of
// a whole run decide that, which no single trace shows for certain.
func TestSubjectsHaveStandInsOfTheirOwn(t *testing.T) {
	t.Parallel()
	var subjects []string
	for c := 'a'; c <= 'z'; c++ {
		subjects = append(subjects, string(c))
	}
	subjects = append(subjects, "—", "..", "jane@example.org", "Jane@example.org")
	s := standIns{key: bytes.Repeat([]byte{7}, 32), tries: map[string]int{}}
	s.distinct(subjects)
	seen := map[string]bool{}
	for _, subject := range subjects {
		of := s.subjects[subject]
		require.NotContains(t, subjects, of)
		require.False(t, seen[of], subject)
		seen[of] = true
	}
}
