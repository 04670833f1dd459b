package pgledger

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/internal/turns"
)

// circles remembers, for each set of tools, the tenants that had something due when the outbox was last read through, and
// those that were served before, in the order of their turns, and where each one's last row stood that was due.
//
// The mark is there because entries of delivered rows stay in the index, dead, while somebody holds an old snapshot, and
// every Next would read them all. A mark may pass over a row whose delivery or admission ended late, and a circle does not
// know a tenant that came since: nothing due in the circle, and now and then anyway, Next reads the outbox through.
type circles struct {
	mu  sync.Mutex
	all map[string]*circle
}

const (
	circleTime  = time.Second // a circle is read anew after it,
	circleTurns = 64          // or after so many deliveries, or as many as it has places
	circleSize  = 1024        // of more tenants with something due the next so many are kept
	circleIdle  = 256         // of those without, the last served
)

type circle struct {
	places []place   // the first is whose turn it is; they go by name, from there round
	whole  bool      // no other tenant had something due, and all come round again
	last   string    // the tenant that was served last
	began  int       // Nexts so far
	read   time.Time // by the database's clock
	left   int       // deliveries until it is read anew
	stale  bool
}

type place struct {
	tenant string
	from   time.Time // nothing due stands before it
	served int       // how many Nexts had begun
}

// round is one Next's way through a circle.
type round struct {
	circle *circle
	number int
	places []place
	read   bool // the outbox is to be read through first
}

func (s *circles) of(tools []string) *circle {
	name := turns.Name(tools)
	if s.all[name] == nil {
		if s.all == nil || len(s.all) >= turns.Most {
			s.all = map[string]*circle{}
		}
		s.all[name] = &circle{}
	}
	return s.all[name]
}

// begin returns whom to look at, in order. The first has had its turn with that: of two Nexts at once each begins with
// another tenant. Of many that find the circle stale one reads.
func (s *circles) begin(tools []string) round {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.of(tools)
	r.began++
	w := round{circle: r, number: r.began, places: slices.Clone(r.places), read: r.stale || len(r.places) == 0}
	r.stale = false
	if !w.read {
		r.pass(1)
	}
	return w
}

// pass gives the first n their turn.
func (r *circle) pass(n int) {
	passed := r.places[:n]
	r.last = passed[n-1].tenant
	r.places = slices.Clone(r.places[n:])
	if r.whole {
		r.places = append(r.places, passed...)
	}
}

// served says who was, by a row that stood at that time, at what time of the database. The turn is the next one's, unless
// another Next has begun since and gone on from its own place.
func (s *circles) served(w round, tenant string, at, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := w.circle
	r.left--
	r.stale = r.stale || r.left <= 0 || now.Sub(r.read) > circleTime
	i := slices.IndexFunc(r.places, func(p place) bool { return p.tenant == tenant })
	if i >= 0 {
		r.places[i].served = r.began
		if at.After(r.places[i].from) {
			r.places[i].from = at
		}
	}
	if w.number != r.began {
		return
	}
	if r.last = tenant; i >= 0 {
		r.pass(i + 1)
	}
}

// after is the tenant from which on the outbox is to be read.
func (s *circles) after(w round) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return w.circle.last
}

// fill puts what was read into the circle, and returns the way through it. Who has nothing due is most likely the next to
// have, and is not looked up again then; a Next that finds nothing ends without looking at them once more.
func (s *circles) fill(w round, due []place, now time.Time) round {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := w.circle
	r.began++
	w.number, w.places, w.read = r.began, nil, false
	r.read, r.stale, r.left = now, false, max(circleTurns, len(due))
	if len(due) == 0 {
		return w
	}
	r.whole = len(due) <= circleSize
	due = due[:min(len(due), circleSize)]
	if r.whole {
		due = append(due, r.idle(due, now)...)
	}
	slices.SortFunc(due, func(a, b place) int { return turns.Compare(r.last, a.tenant, b.tenant) })
	w.places = due
	r.places = slices.Clone(due)
	r.pass(1)
	return w
}

// idle returns the places that are not among those with something due: until now they have nothing.
func (r *circle) idle(due []place, now time.Time) []place {
	named := make(map[string]bool, len(due))
	for _, p := range due {
		named[p.tenant] = true
	}
	idle := slices.DeleteFunc(slices.Clone(r.places), func(p place) bool { return named[p.tenant] })
	slices.SortFunc(idle, func(a, b place) int { return cmp.Compare(b.served, a.served) })
	idle = idle[:min(len(idle), circleIdle)]
	for i := range idle {
		idle[i].from = now
	}
	return idle
}
