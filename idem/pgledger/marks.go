package pgledger

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// marks remembers, for each set of tools, where in the outbox the last row stood that was due. While somebody holds an
// old snapshot the entries of delivered rows stay in the index, dead, before the first that is due, and every Next would
// read them all. A mark may pass over a row whose delivery or admission ended late: nothing due behind it, and once in
// wholeEvery anyway, Next looks everywhere.
type marks struct {
	mu  sync.Mutex
	all map[string]mark
}

type mark struct {
	at    time.Time // the last row's
	whole time.Time // when Next last looked everywhere
	stale bool
}

const (
	wholeEvery = time.Second
	mostMarks  = 64 // a worker has one
)

func everywhere() pgtype.Timestamptz {
	return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
}

// get returns where to begin.
func (m *marks) get(tools []string) pgtype.Timestamptz {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.all[name(tools)]
	if !ok || k.stale {
		return everywhere()
	}
	return pgtype.Timestamptz{Time: k.at, Valid: true}
}

// set says where a row was found, at what time of the database, and whether Next had looked everywhere.
func (m *marks) set(tools []string, at, now time.Time, whole bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil || len(m.all) >= mostMarks {
		m.all = map[string]mark{}
	}
	k := m.all[name(tools)]
	k.at = at
	if whole {
		k.whole = now
	}
	k.stale = now.Sub(k.whole) > wholeEvery
	m.all[name(tools)] = k
}

func name(tools []string) string {
	return strings.Join(slices.Sorted(slices.Values(tools)), "\x00")
}
