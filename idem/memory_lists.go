package idem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolcontract/toolcontract/internal/cursor"
	"github.com/toolcontract/toolcontract/internal/turns"
)

// Next implements [Ledger].
func (m *Memory) Next(ctx context.Context, tools []string, lease time.Duration) (Delivery, error) {
	if lease <= 0 {
		return Delivery{}, invalid("lease")
	}
	now, done, err := m.begin(ctx)
	if err != nil {
		return Delivery{}, err
	}
	defer done()
	var first *item
	last := m.turns.Last(tools)
	for _, it := range m.live {
		if it.DueAt.After(now) || tools != nil && !slices.Contains(tools, it.Command.Tool) {
			continue
		}
		if first == nil || sooner(it, first, last) {
			first = it
		}
	}
	if first == nil {
		return Delivery{}, ErrEmpty
	}
	m.turns.Served(tools, first.Command.Key.Tenant)
	first.Reap(now)
	d := first.Deliver(now, lease)
	first.Saved()
	return d, nil
}

// sooner reports whether a comes before b: tenants take turns by name, from the one after last on.
func sooner(a, b *item, last string) bool {
	s, t := a.Command.Key, b.Command.Key
	if s.Tenant == t.Tenant {
		return cmp.Or(a.DueAt.Compare(b.DueAt), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(s.Operation, t.Operation)) < 0
	}
	return turns.Compare(last, s.Tenant, t.Tenant) < 0
}

// Later implements [Ledger].
func (m *Memory) Later(ctx context.Context, d Delivery, after time.Duration) error {
	now, done, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if it, ok := m.live[d.Key]; ok {
		it.Reap(now)
		it.Entry.Later(now, d, after)
		m.keep(now, it)
	}
	return nil
}

// Open implements [Ledger].
func (m *Memory) Open(ctx context.Context, tenant, run string, page Page) ([]Record, string, error) {
	return m.list(ctx, page, func(it *item) bool { return it.Command.Key.Tenant == tenant && it.Command.Run == run })
}

// Unknown implements [Ledger].
func (m *Memory) Unknown(ctx context.Context, tenant string, page Page) ([]Record, string, error) {
	return m.list(ctx, page, func(it *item) bool { return it.Command.Key.Tenant == tenant && it.State == Unknown })
}

func (m *Memory) list(ctx context.Context, page Page, want func(*item) bool) ([]Record, string, error) {
	at, id, err := cursor.Decode(page.Cursor)
	if err != nil {
		return nil, "", invalid("cursor")
	}
	now, done, err := m.begin(ctx)
	if err != nil {
		return nil, "", err
	}
	defer done()
	var found []*item
	for _, it := range m.live {
		it.Reap(now)
		m.keep(now, it)
		if want(it) && cmp.Or(it.CreatedAt.Compare(at), cmp.Compare(it.Command.Key.Operation, id)) > 0 {
			found = append(found, it)
		}
	}
	slices.SortFunc(found, func(a, b *item) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Command.Key.Operation, b.Command.Key.Operation))
	})
	next := ""
	if size := cursor.Size(page.Size); len(found) > size {
		found = found[:size]
		last := found[size-1]
		next = cursor.Encode(last.CreatedAt, last.Command.Key.Operation)
	}
	recs := make([]Record, len(found))
	for i, it := range found {
		recs[i] = it.record(now)
	}
	return recs, next, nil
}

// Sweep implements [Ledger].
func (m *Memory) Sweep(ctx context.Context) (Swept, error) {
	now, done, err := m.begin(ctx)
	if err != nil {
		return Swept{}, err
	}
	defer done()
	var s Swept
	for _, it := range m.live {
		if it.Reap(now) {
			s.Unknown++
		}
		if it.Expire(now) {
			s.Expired++
		}
		m.keep(now, it)
	}
	return s, nil
}

// Purge implements [Ledger].
func (m *Memory) Purge(ctx context.Context, bodies, tombstones time.Duration) (int, error) {
	if bodies < 0 || tombstones < bodies {
		return 0, invalid("a tombstone stays at least as long as its body")
	}
	now, done, err := m.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	n := 0
	for k, it := range m.items {
		age := now.Sub(it.UpdatedAt)
		switch {
		case !it.State.Terminal() || age < bodies:
			continue
		case age >= tombstones:
			delete(m.items, k)
		case !it.tomb:
			it.bury()
		default:
			continue
		}
		n++
	}
	return n, nil
}

// Restored implements [Ledger].
func (m *Memory) Restored(ctx context.Context) error {
	now, done, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	m.floor = max(m.floor+1, now.UnixMicro())
	for _, s := range m.slots {
		s.Seq = max(s.Seq+1, m.floor)
	}
	m.waiting = 0
	for _, it := range m.live {
		it.Restore(now, m.slot(it.Command))
		m.keep(now, it)
		m.waiting++
	}
	return nil
}

// Wake implements [Waker].
func (m *Memory) Wake(ctx context.Context) (<-chan struct{}, error) {
	return m.bell.Listen(ctx), nil
}
