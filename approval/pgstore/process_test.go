package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/pgstore"
	"github.com/toolcontract/toolcontract/internal/proctest"
)

const contested = 25

// child decides on and consumes proposals as one of several processes.
func child(arg string, begin func()) (string, error) {
	dsn, who, _ := strings.Cut(arg, "|")
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	seal, err := sealer()
	if err != nil {
		return "", err
	}
	s, err := pgstore.New(ctx, pool, seal)
	if err != nil {
		return "", err
	}
	begin()
	won := ""
	for i := range contested {
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
	return won, nil
}

// Four processes decide and consume the same proposals: each has one approver and one operation.
func TestFourProcesses(t *testing.T) {
	t.Parallel()
	dsn, pool := database(t)
	s := on(t, pool)
	for i := range contested {
		_, err := s.Create(t.Context(), proposal(fmt.Sprintf("p_%d", i)))
		require.NoError(t, err)
	}
	lines := proctest.Race(t, dsn+"|a", dsn+"|b", dsn+"|c", dsn+"|d")
	for i := range contested {
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
