package idem

import (
	"slices"
	"time"
)

func (it *item) record(now time.Time) Record {
	it.attempt()
	ev := make([]Evidence, len(it.evidence))
	for i, e := range it.evidence {
		ev[i] = Evidence{e.Generation, e.At, e.Outcome.clone()}
	}
	return it.Record(now, slices.Clone(it.attempts), ev)
}

// attempt keeps the entry's last attempt beside those before it.
func (it *item) attempt() {
	a, n := it.Attempt, len(it.attempts)
	switch {
	case a.Generation == 0:
	case n > 0 && it.attempts[n-1].Generation == a.Generation:
		it.attempts[n-1] = a
	default:
		it.attempts = append(it.attempts, a)
	}
}

func (it *item) late(now time.Time, c Claim, o Outcome) {
	ev, ok := it.Late(now, c, o)
	if !ok || slices.ContainsFunc(it.evidence, func(e Evidence) bool {
		return e.Generation == ev.Generation && e.Outcome.State == ev.Outcome.State
	}) {
		return
	}
	it.evidence = append(it.evidence, ev)
}

func (it *item) tombstone() Record {
	return Record{Command: Command{Key: it.Command.Key}, State: it.State}
}

// bury strips the row down to what a tombstone keeps.
func (it *item) bury() {
	*it = item{Entry: Entry{Command: Command{Key: it.Command.Key}, State: it.State, UpdatedAt: it.UpdatedAt}, tomb: true}
}
