package approval

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Memory is a Store that lives and ends with the process. Safe for concurrent use.
type Memory struct {
	now func() time.Time

	mu      sync.Mutex
	tenants map[string]*memoryTenant
}

type memoryTenant struct {
	records map[string]Record
	buried  map[string]bool // the ids of tombstones
	policy  int             // the highest version met
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store on the given clock; nil is time.Now. The clock may be called from any goroutine.
func NewMemory(now func() time.Time) *Memory {
	if now == nil {
		now = time.Now //nolint:forbidigo // the default clock, taken once
	}
	return &Memory{now: now, tenants: map[string]*memoryTenant{}}
}

// Create implements [Store].
func (m *Memory) Create(ctx context.Context, p Proposal) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := NewRecord(p, m.now())
	if err != nil {
		return Record{}, err
	}
	t := m.tenants[p.Tenant]
	if t == nil {
		t = &memoryTenant{records: map[string]Record{}, buried: map[string]bool{}}
		m.tenants[p.Tenant] = t
	}
	if _, taken := t.records[p.ID]; taken {
		return Record{}, ErrExists
	}
	t.records[p.ID] = r
	t.policy = max(t.policy, p.PolicyVersion)
	return t.show(r), nil
}

// Find implements [Store].
func (m *Memory) Find(ctx context.Context, tenant, id string) (Record, error) {
	return m.change(ctx, tenant, id, func(r Record, now time.Time) (Record, bool, error) { return r.At(now), false, nil })
}

// Decide implements [Store].
func (m *Memory) Decide(ctx context.Context, tenant, id string, d Decision) (Record, error) {
	return m.change(ctx, tenant, id, func(r Record, now time.Time) (Record, bool, error) { return r.Decide(d, now) })
}

// Withdraw implements [Store].
func (m *Memory) Withdraw(ctx context.Context, tenant, id, decision string, by Principal) (Record, error) {
	return m.change(ctx, tenant, id, func(r Record, now time.Time) (Record, bool, error) {
		return r.Withdraw(decision, by, now)
	})
}

// Consume implements [Store].
func (m *Memory) Consume(ctx context.Context, tenant, id, digest, operation string) (Record, bool, error) {
	r, err := m.change(ctx, tenant, id, func(r Record, now time.Time) (Record, bool, error) {
		return r.Consume(digest, operation, now)
	})
	return r, err == nil, err
}

// change applies one of the rules to a record while nobody else can.
func (m *Memory) change(ctx context.Context, tenant, id string, rule func(Record, time.Time) (Record, bool, error)) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tenants[tenant]
	if t == nil {
		return Record{}, ErrNotFound
	}
	r, ok := t.records[id]
	if !ok {
		return Record{}, ErrNotFound
	}
	next, changed, err := rule(r, m.now())
	if err != nil {
		return Record{}, err
	}
	if changed {
		t.records[id] = next
	}
	return t.show(next), nil
}

// Alike implements [Store].
func (m *Memory) Alike(ctx context.Context, tenant string, digests []string) ([]Record, error) {
	out, err := m.list(ctx, tenant, func(r Record) bool {
		return r.State != Consumed && r.Left > 0 && slices.Contains(digests, r.Proposal.Digest)
	})
	slices.Reverse(out)
	return out, err
}

// Pending implements [Store].
func (m *Memory) Pending(ctx context.Context, tenant string, page Page) ([]Record, string, error) {
	after, err := ParseCursor(page.Cursor)
	if err != nil {
		return nil, "", err
	}
	out, err := m.list(ctx, tenant, func(r Record) bool { return r.State == Pending && after.Before(r.Proposal) })
	if err != nil || len(out) <= page.Limit() {
		return out, "", err
	}
	out = out[:page.Limit()]
	return out, CursorAt(out[len(out)-1].Proposal).String(), nil
}

// list returns the tenant's records that are wanted as they stand now, the oldest first.
func (m *Memory) list(ctx context.Context, tenant string, want func(Record) bool) ([]Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []Record{}
	t := m.tenants[tenant]
	if t == nil {
		return out, nil
	}
	now := m.now()
	for _, r := range t.records {
		if r = r.At(now); want(r) {
			out = append(out, t.show(r))
		}
	}
	slices.SortFunc(out, func(a, b Record) int {
		return cmp.Or(a.Proposal.CreatedAt.Compare(b.Proposal.CreatedAt), cmp.Compare(a.Proposal.ID, b.Proposal.ID))
	})
	return out, nil
}

// show returns the copy that leaves the store.
func (t *memoryTenant) show(r Record) Record {
	r = r.Clone()
	r.PolicySeen = t.policy
	return r
}
