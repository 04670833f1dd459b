package approval_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvaltest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	approvaltest.Run(t,
		func(*testing.T) approval.Store { return approval.NewMemory(nil) },
		approvaltest.Clock(func(_ *testing.T, now func() time.Time) approval.Store { return approval.NewMemory(now) }))
}

func TestMemoryOnTheSystemClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := approval.NewMemory(nil)
		r, err := m.Create(t.Context(), proposal("p_1"))
		require.NoError(t, err)
		require.Equal(t, time.Now().UTC().Round(0), r.Proposal.CreatedAt)
		time.Sleep(15*time.Minute - 1)
		r, err = m.Find(t.Context(), "t1", "p_1")
		require.NoError(t, err)
		require.Equal(t, approval.Pending, r.State)
		time.Sleep(time.Nanosecond)
		r, err = m.Find(t.Context(), "t1", "p_1")
		require.NoError(t, err)
		require.Equal(t, approval.Expired, r.State)
	})
}

func TestMemoryForgetsTombstonesWhole(t *testing.T) {
	t.Parallel()
	now := noon
	m := approval.NewMemory(func() time.Time { return now })
	for range 2 { // an id that is used again is as good as new
		_, err := m.Create(t.Context(), proposal("p_1"))
		require.NoError(t, err)
		now = now.Add(2 * time.Hour)
		for _, tombstones := range []time.Duration{3 * time.Hour, time.Hour} {
			n, err := m.Purge(t.Context(), time.Hour, tombstones)
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
	}
}

func TestCursor(t *testing.T) {
	t.Parallel()
	r := stored(t, nil)
	c := approval.CursorAt(r.Proposal)
	back, err := approval.ParseCursor(c.String())
	require.NoError(t, err)
	require.Equal(t, c, back)
	require.False(t, c.Before(r.Proposal), "a place is not before itself")

	later := r.Proposal
	later.ID = "p_0"
	later.CreatedAt = later.CreatedAt.Add(1)
	require.True(t, c.Before(later), "time comes first")
	same := r.Proposal
	same.ID = "p_10"
	require.True(t, c.Before(same), "then the id")

	var first approval.Cursor
	require.Empty(t, first.String())
	require.True(t, first.Before(r.Proposal))
	for _, bad := range []string{"A", "AAAAAAAAAAA", c.String() + "=", c.String() + "\n", "//" + c.String(), "gAAAAAAAAABw"} {
		_, err := approval.ParseCursor(bad)
		require.ErrorIs(t, err, approval.ErrInvalid, bad)
	}
}

func TestPageLimit(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{-1: approval.DefaultPage, 0: approval.DefaultPage, 1: 1, 200: 200, 201: approval.MaxPage} {
		require.Equal(t, want, approval.Page{Size: size}.Limit())
	}
}

// What a person is shown is what is stored, whatever becomes of the copies that others hold.
func TestMemoryUnderLoad(t *testing.T) {
	t.Parallel()
	m := approval.NewMemory(nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				p := proposal(string(rune('a'+i)) + string(rune('0'+n)))
				r, err := m.Create(t.Context(), p)
				if err == nil {
					p.Plan[0], r.Proposal.Plan[0] = 'X', 'X'
				}
				_, _, _ = m.Pending(t.Context(), "t1", approval.Page{Size: 3})
				_, _ = m.Alike(t.Context(), "t1", []string{p.Digest})
			}
		})
	}
	wg.Wait()
	all, _, err := m.Pending(t.Context(), "t1", approval.Page{Size: approval.MaxPage})
	require.NoError(t, err)
	require.Len(t, all, approval.MaxPage)
	for _, r := range all {
		require.Equal(t, byte('{'), r.Proposal.Plan[0])
	}
}
