package pgledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// at is a time of the database.
func at(s int) time.Time { return time.Date(2026, 3, 1, 12, 0, s, 0, time.UTC) }

func placesOf(names ...string) []place {
	ps := make([]place, len(names))
	for i, n := range names {
		ps[i] = place{tenant: n, from: at(0)}
	}
	return ps
}

func (w round) tenants() (names string) {
	for _, p := range w.places {
		names += p.tenant
	}
	return names
}

func TestCircleGoesRound(t *testing.T) {
	t.Parallel()
	var s circles
	w := s.begin(nil)
	require.True(t, w.read, "nobody is known yet")
	w = s.fill(w, placesOf("a", "b", "c", "d"), at(0))
	require.Equal(t, "abcd", w.tenants())
	s.served(w, "a", at(0), at(0))
	w = s.begin(nil)
	require.Equal(t, "bcda", w.tenants())
	s.served(w, "c", at(7), at(0)) // b has nothing due
	w = s.begin(nil)
	require.Equal(t, "dabc", w.tenants(), "after the one that was served")
	require.Equal(t, []time.Time{at(0), at(7)}, []time.Time{w.places[2].from, w.places[3].from}, "c's queue goes on from its mark")
	s.served(w, "d", at(0), at(0))
	require.Equal(t, "d", s.after(w))
	require.True(t, s.begin([]string{"t"}).read, "other tools have a circle of their own")
}

func TestCircleOfCallsAtOnce(t *testing.T) {
	t.Parallel()
	var s circles
	s.served(s.fill(s.begin(nil), placesOf("a", "b", "c"), at(0)), "a", at(0), at(0))
	one, two := s.begin(nil), s.begin(nil)
	require.Equal(t, "bca", one.tenants())
	require.Equal(t, "cab", two.tenants(), "each begins with another tenant")
	s.served(one, "c", at(0), at(0))
	require.Equal(t, "abc", s.begin(nil).tenants(), "who began last goes on")
}

func TestCircleIsReadAnew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tenants, deliveries int
		after               time.Duration
	}{
		"after a time":                   {3, 1, circleTime + time.Microsecond},
		"after deliveries":               {3, circleTurns, 0},
		"after as many as it has places": {100, 100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s circles
			names := make([]string, c.tenants)
			for i := range names {
				names[i] = fmt.Sprint(i)
			}
			w := s.fill(s.begin(nil), placesOf(names...), at(0))
			for i := range c.deliveries {
				require.False(t, w.read, i)
				s.served(w, w.places[0].tenant, at(0), at(0).Add(c.after))
				w = s.begin(nil)
			}
			require.True(t, w.read)
			require.False(t, s.begin(nil).read, "one reads for all")
			s.fill(w, nil, at(9))
			w = s.begin(nil)
			require.False(t, w.read)
			require.Len(t, w.places, c.tenants, "those are asked first again")
		})
	}
}

// Of more tenants than a circle holds it keeps the next, each for one turn, and reads on behind the last.
func TestCircleIsBounded(t *testing.T) {
	t.Parallel()
	var s circles
	names := make([]string, circleSize+1)
	for i := range names {
		names[i] = fmt.Sprintf("%04d", i)
	}
	w := s.fill(s.begin(nil), placesOf(names...), at(0))
	s.served(w, names[0], at(0), at(0))
	w = s.begin(nil)
	require.Equal(t, circleSize-1, len(w.places)) // not Len, which prints them all
	last := names[circleSize-1]
	s.served(w, last, at(0), at(0)) // nobody else has anything due any more
	w = s.begin(nil)
	require.True(t, w.read, "it does not begin with the first again: there are others")
	require.Equal(t, last, s.after(w))
}

// Who was served before is asked as well, in its place, after a reading that found something for others alone.
func TestCircleKeepsTheIdle(t *testing.T) {
	t.Parallel()
	var s circles
	s.served(s.fill(s.begin(nil), placesOf("b", "d"), at(0)), "b", at(5), at(0))
	w := s.fill(s.begin(nil), placesOf("a", "c"), at(1))
	require.Equal(t, "abcd", w.tenants(), "d had its turn when that Next began")
	require.Equal(t, at(1), w.places[1].from, "it had nothing due then")
	names := make([]string, 3*circleIdle)
	for i := range names {
		names[i] = fmt.Sprintf("%04d", i)
	}
	s.fill(s.begin(nil), placesOf(names...), at(1))
	w = s.fill(s.begin(nil), placesOf("a"), at(2))
	require.Equal(t, 1+circleIdle, len(w.places))
	require.Contains(t, w.tenants(), "b", "the last served are kept")
}
