package sqlitestore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/sqlitestore"
	"github.com/toolcontract/toolcontract/internal/proctest"
	"github.com/toolcontract/toolcontract/redact"
)

// child decides or consumes one proposal as one of several processes.
func child(arg string, begin func()) (string, error) {
	path, who, _ := strings.Cut(arg, "|")
	ctx := context.Background()
	sealer, err := redact.NewSealer(redact.Key{ID: "k1", Secret: bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		return "", err
	}
	s, err := sqlitestore.Open(ctx, path, sealer)
	if err != nil {
		return "", err
	}
	begin()
	won := ""
	for i := range 25 {
		id := fmt.Sprintf("p_%d", i)
		if _, err := s.Decide(ctx, "t1", id, yes(who)); err == nil {
			won += fmt.Sprintf("d%d,", i)
		} else if !errors.Is(err, approval.ErrDecided) && !errors.Is(err, approval.ErrConsumed) {
			return "", err
		}
		if _, _, err := s.Consume(ctx, "t1", id, "digest", "op_"+who); err == nil {
			won += fmt.Sprintf("c%d,", i)
		} else if !errors.Is(err, approval.ErrConsumed) {
			return "", err
		}
	}
	return won, s.Close()
}

// Four processes decide and consume the same proposals: each has one approver and one operation.
func TestFourProcesses(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := open(t, path)
	for i := range 25 {
		_, err := s.Create(t.Context(), proposal(fmt.Sprintf("p_%d", i)))
		require.NoError(t, err)
	}
	lines := proctest.Race(t, path+"|a", path+"|b", path+"|c", path+"|d")
	for i := range 25 {
		r, err := s.Find(t.Context(), "t1", fmt.Sprintf("p_%d", i))
		require.NoError(t, err)
		require.Len(t, r.Decisions, 1)
		decided, consumed := winners(lines, fmt.Sprintf("d%d,", i)), winners(lines, fmt.Sprintf("c%d,", i))
		require.Equal(t, []string{r.Decisions[0].By.Subject}, decided, "one decides, and knows it")
		require.Equal(t, []string{strings.TrimPrefix(r.ConsumedBy, "op_")}, consumed, "one consumes, and knows it")
	}
}

// winners are the processes whose line has the mark.
func winners(lines []string, mark string) []string {
	var out []string
	for i, line := range lines {
		if strings.Contains(","+line, ","+mark) {
			out = append(out, string(rune('a'+i)))
		}
	}
	return out
}
