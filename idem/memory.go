package idem

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/bell"
	"github.com/toolcontract/toolcontract/internal/turns"
)

// Memory is a Ledger in the process: nothing outlives it. It is safe for concurrent use; NewMemory makes one. It is
// also a [Waker].
type Memory struct {
	now func() time.Time

	mu      sync.Mutex
	items   map[Key]*item
	live    map[Key]*item // not terminal
	slots   map[slotKey]*Slot
	floor   int64 // sequence of a resource never seen
	waiting int   // rows of a restore that wait for an operator
	bell    bell.Bell
	turns   turns.Turns
}

type slotKey struct{ tenant, resource string }

// item is a row with what stands beside it. A tombstone has no entry but key and state.
type item struct {
	Entry
	attempts []Attempt
	evidence []Evidence
	tomb     bool
}

var (
	_ Ledger = (*Memory)(nil)
	_ Waker  = (*Memory)(nil)
)

// NewMemory returns an empty ledger whose clock is now; nil is time.Now.
func NewMemory(now func() time.Time) *Memory {
	if now == nil {
		now = time.Now //nolint:forbidigo // the default, taken once
	}
	return &Memory{
		now: now, items: map[Key]*item{}, live: map[Key]*item{}, slots: map[slotKey]*Slot{},
	}
}

// Admit implements [Ledger].
func (m *Memory) Admit(ctx context.Context, c Command, consumedBefore bool) (Record, Admission, error) {
	if err := c.Validate(); err != nil {
		return Record{}, "", err
	}
	now, done, err := m.begin(ctx)
	if err != nil {
		return Record{}, "", err
	}
	defer done()
	if it, ok := m.items[c.Key]; ok {
		return m.again(now, it, c.RequestHash)
	}
	if m.waiting > 0 {
		return Record{}, "", ErrBusy
	}
	e, err := NewEntry(now, c, consumedBefore, m.slot(c))
	if err != nil {
		return Record{}, "", err
	}
	it := &item{Entry: e}
	m.items[c.Key], m.live[c.Key] = it, it
	m.bell.Ring()
	return it.record(now), Admitted, nil
}

func (m *Memory) again(now time.Time, it *item, hash string) (Record, Admission, error) {
	if it.tomb {
		return it.tombstone(), "", &Gone{it.State}
	}
	it.Reap(now)
	m.keep(now, it)
	switch {
	case it.Command.RequestHash != hash:
		return Record{}, "", ErrConflict
	case it.State.Terminal():
		return it.record(now), Replayed, nil
	}
	return it.record(now), InProgress, nil
}

// Claim implements [Ledger].
func (m *Memory) Claim(ctx context.Context, k Key, worker string, lease time.Duration) (c Claim, err error) {
	err = m.with(ctx, k, func(now time.Time, it *item) error {
		it.Reap(now)
		c, err = it.Entry.Claim(now, m.slot(it.Command), m.waiting > 0, rand.Text(), worker, lease)
		return err
	})
	return c, err
}

// Renew implements [Ledger].
func (m *Memory) Renew(ctx context.Context, c Claim, lease time.Duration) (renewed Claim, err error) {
	err = m.with(ctx, c.Key, func(now time.Time, it *item) error {
		it.Reap(now)
		renewed, err = it.Entry.Renew(now, c, lease)
		return err
	})
	return renewed, err
}

// Finish implements [Ledger].
func (m *Memory) Finish(ctx context.Context, c Claim, o Outcome) (r Record, err error) {
	err = m.with(ctx, c.Key, func(now time.Time, it *item) error {
		err := it.Entry.Finish(now, c, o, m.slot(it.Command))
		if err == ErrFenced { //nolint:errorlint // Entry's own value
			it.late(now, c, o)
		}
		r = it.record(now)
		return err
	})
	if err != nil {
		return Record{}, err
	}
	return r, nil
}

// Close implements [Ledger].
func (m *Memory) Close(ctx context.Context, k Key, to State, reason envelope.Code) (r Record, err error) {
	err = m.with(ctx, k, func(now time.Time, it *item) error {
		it.Reap(now)
		err := it.Entry.Close(now, to, reason)
		r = it.record(now)
		return err
	})
	return r, err
}

// ClaimOpen implements [Ledger].
func (m *Memory) ClaimOpen(ctx context.Context, k Key, worker string, lease time.Duration) (c Claim, err error) {
	err = m.with(ctx, k, func(now time.Time, it *item) error {
		it.Reap(now)
		c, err = it.Entry.ClaimOpen(now, rand.Text(), worker, lease)
		return err
	})
	return c, err
}

// Resend implements [Ledger].
func (m *Memory) Resend(ctx context.Context, c Claim, lease time.Duration) (sent Claim, err error) {
	err = m.with(ctx, c.Key, func(now time.Time, it *item) error {
		it.Reap(now)
		sent, err = it.Entry.Resend(now, c, m.waiting > 0, rand.Text(), lease)
		return err
	})
	return sent, err
}

// Find implements [Ledger].
func (m *Memory) Find(ctx context.Context, k Key) (r Record, err error) {
	err = m.with(ctx, k, func(now time.Time, it *item) error {
		it.Reap(now)
		r = it.record(now)
		return nil
	})
	if g, ok := err.(*Gone); ok { //nolint:errorlint // with's own value
		return Record{Command: Command{Key: k}, State: g.State}, err
	}
	return r, err
}

// Resource implements [Ledger].
func (m *Memory) Resource(ctx context.Context, tenant, resource string) (seq int64, open string, err error) {
	_, done, err := m.begin(ctx)
	if err != nil {
		return 0, "", err
	}
	defer done()
	if s, ok := m.slots[slotKey{tenant, resource}]; ok {
		return s.Seq, s.Open, nil
	}
	return m.floor, "", nil
}

// Resolve implements [Ledger].
func (m *Memory) Resolve(ctx context.Context, k Key, res Resolution) (r Record, err error) {
	err = m.with(ctx, k, func(now time.Time, it *item) error {
		it.Reap(now)
		waited := it.Restored
		if err := it.Entry.Resolve(now, res, m.slot(it.Command)); err != nil {
			return err
		}
		if waited {
			m.waiting--
		}
		r = it.record(now)
		return nil
	})
	return r, err
}

// begin locks the ledger and reads its clock.
func (m *Memory) begin(ctx context.Context) (time.Time, func(), error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, nil, fmt.Errorf("idem: memory: %w", err)
	}
	m.mu.Lock()
	return m.now(), m.mu.Unlock, nil
}

// with runs f on the row of k and puts what it changed into the indexes.
func (m *Memory) with(ctx context.Context, k Key, f func(time.Time, *item) error) error {
	now, done, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	it, ok := m.items[k]
	switch {
	case !ok:
		return ErrNotFound
	case it.tomb:
		return &Gone{it.State}
	}
	err = f(now, it)
	m.keep(now, it)
	return err
}

func (m *Memory) keep(now time.Time, it *item) {
	if !it.Changed() {
		return
	}
	it.Saved()
	it.attempt()
	switch {
	case it.State.Terminal():
		delete(m.live, it.Command.Key)
	case !it.DueAt.After(now):
		m.bell.Ring()
	}
}

func (m *Memory) slot(c Command) *Slot {
	k := slotKey{c.Key.Tenant, c.Resource}
	s, ok := m.slots[k]
	if !ok {
		s = &Slot{Seq: m.floor}
		m.slots[k] = s
	}
	return s
}
