package audit

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Recorder keeps events in memory without bound: for tests. The zero value is ready; safe for concurrent use.
type Recorder struct {
	mu     sync.Mutex
	events []Event
}

// Record implements [Sink].
func (r *Recorder) Record(_ context.Context, e Event) error {
	if err := e.check(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e.clone())
	return nil
}

// Events returns what was recorded, the earliest first; the caller may change it.
func (r *Recorder) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Event, 0, len(r.events))
	for _, e := range r.events {
		out = append(out, e.clone())
	}
	return out
}

func (e Event) clone() Event {
	e.Fields, e.Digests = slices.Clone(e.Fields), maps.Clone(e.Digests)
	return e
}
