package embedding_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json/v2"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvaltest"
	"github.com/toolcontract/toolcontract/redact"
)

// table stands for a database of the host's own: a key-value table that compares before it writes, as many have. It knows
// nothing of approvals.
type table struct {
	mu   sync.Mutex
	rows map[string][]byte
}

// get returns a row, nil where there is none.
func (t *table) get(key string) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows[key]
}

// put writes a row if it still is what was read; nil: if there is none.
func (t *table) put(key string, was, now []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !bytes.Equal(t.rows[key], was) {
		return false
	}
	t.rows[key] = now
	return true
}

// scan returns the rows whose keys begin so, by the rest of the key.
func (t *table) scan(prefix string) map[string][]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := map[string][]byte{}
	for key, row := range t.rows {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			rows[rest] = row
		}
	}
	return rows
}

// kvStore is an approval.Store on that table. The rules of a record are the library's ([approval.NewRecord] and the methods
// of [approval.Record]); what is left to the store is to apply each to a row while nobody else does.
type kvStore struct {
	table  *table
	sealer redact.Sealer
	now    func() time.Time // the database's clock
}

// row is what a record is kept as: the proposal and the decisions sealed by the library's own helpers, the plan byte for
// byte, and the ends. State and what is left of the lifetime are made when the row is read.
type row struct {
	Proposal    []byte
	Decisions   []sealed
	ConsumedBy  string
	WithdrawnBy *approval.Principal

	ConsumedAt, WithdrawnAt time.Time
}

type sealed struct {
	ID   string
	Body []byte
}

func (s kvStore) encode(ctx context.Context, r approval.Record) ([]byte, error) {
	p := r.Proposal
	body, err := approval.SealProposal(ctx, s.sealer, p)
	if err != nil {
		return nil, err
	}
	kept := row{Proposal: body, ConsumedBy: r.ConsumedBy, ConsumedAt: r.ConsumedAt, WithdrawnAt: r.WithdrawnAt}
	if !r.WithdrawnAt.IsZero() {
		kept.WithdrawnBy = &r.WithdrawnBy
	}
	for _, d := range r.Decisions {
		body, err := approval.SealDecision(ctx, s.sealer, p.Tenant, p.ID, d)
		if err != nil {
			return nil, err
		}
		kept.Decisions = append(kept.Decisions, sealed{d.ID, body})
	}
	return json.Marshal(kept)
}

func (s kvStore) decode(ctx context.Context, tenant, id string, text []byte) (r approval.Record, err error) {
	var kept row
	if err := json.Unmarshal(text, &kept); err != nil {
		return r, err
	}
	if r.Proposal, err = approval.OpenProposal(ctx, s.sealer, tenant, id, kept.Proposal); err != nil {
		return r, err
	}
	for _, d := range kept.Decisions {
		opened, err := approval.OpenDecision(ctx, s.sealer, tenant, id, d.ID, d.Body)
		if err != nil {
			return r, err
		}
		r.Decisions = append(r.Decisions, opened)
	}
	r.ConsumedBy, r.ConsumedAt, r.WithdrawnAt = kept.ConsumedBy, kept.ConsumedAt, kept.WithdrawnAt
	if kept.WithdrawnBy != nil {
		r.WithdrawnBy = *kept.WithdrawnBy
	}
	return r, nil
}

var errChanged = errors.New("the row is changed again and again")

func key(tenant, id string) string { return "approval/" + tenant + "\x00" + id }

// Create implements approval.Store.
func (s kvStore) Create(ctx context.Context, p approval.Proposal) (approval.Record, error) {
	if err := ctx.Err(); err != nil {
		return approval.Record{}, err
	}
	r, err := approval.NewRecord(p, s.now())
	if err != nil {
		return approval.Record{}, err
	}
	text, err := s.encode(ctx, r)
	if err != nil {
		return approval.Record{}, err
	}
	if !s.table.put(key(p.Tenant, p.ID), nil, text) {
		return approval.Record{}, approval.ErrExists
	}
	if err := s.seen(p.Tenant, p.PolicyVersion); err != nil {
		return approval.Record{}, err
	}
	return s.show(r), nil
}

// seen keeps the highest policy version that the tenant has met.
func (s kvStore) seen(tenant string, version int) error {
	for range 100 {
		was := s.table.get("policy/" + tenant)
		now, err := json.Marshal(max(version, highest(was)))
		if err != nil || s.table.put("policy/"+tenant, was, now) {
			return err
		}
	}
	return errChanged
}

func highest(row []byte) (version int) {
	_ = json.Unmarshal(row, &version) // no row: zero
	return version
}

func (s kvStore) show(r approval.Record) approval.Record {
	r.PolicySeen = highest(s.table.get("policy/" + r.Proposal.Tenant))
	return r
}

// change applies a rule to a row, again where somebody else was faster.
func (s kvStore) change(ctx context.Context, tenant, id string, rule func(r approval.Record, now time.Time) (approval.Record, bool, error)) (approval.Record, error) {
	for range 100 {
		if err := ctx.Err(); err != nil {
			return approval.Record{}, err
		}
		was := s.table.get(key(tenant, id))
		if was == nil {
			return approval.Record{}, approval.ErrNotFound
		}
		r, err := s.decode(ctx, tenant, id, was)
		if err != nil {
			return approval.Record{}, err
		}
		next, changed, err := rule(r, s.now())
		if err != nil {
			return approval.Record{}, err
		}
		if !changed {
			return s.show(next), nil
		}
		text, err := s.encode(ctx, next)
		if err != nil {
			return approval.Record{}, err
		}
		if s.table.put(key(tenant, id), was, text) {
			return s.show(next), nil
		}
	}
	return approval.Record{}, errChanged
}

// Find implements approval.Store.
func (s kvStore) Find(ctx context.Context, tenant, id string) (approval.Record, error) {
	return s.change(ctx, tenant, id, func(r approval.Record, now time.Time) (approval.Record, bool, error) { return r.At(now), false, nil })
}

// Decide implements approval.Store.
func (s kvStore) Decide(ctx context.Context, tenant, id string, d approval.Decision) (approval.Record, error) {
	return s.change(ctx, tenant, id, func(r approval.Record, now time.Time) (approval.Record, bool, error) { return r.Decide(d, now) })
}

// Withdraw implements approval.Store.
func (s kvStore) Withdraw(ctx context.Context, tenant, id, decision string, by approval.Principal) (approval.Record, error) {
	return s.change(ctx, tenant, id, func(r approval.Record, now time.Time) (approval.Record, bool, error) {
		return r.Withdraw(decision, by, now)
	})
}

// Consume implements approval.Store.
func (s kvStore) Consume(ctx context.Context, tenant, id, digest, operation string) (approval.Record, bool, error) {
	r, err := s.change(ctx, tenant, id, func(r approval.Record, now time.Time) (approval.Record, bool, error) {
		return r.Consume(digest, operation, now)
	})
	return r, err == nil, err
}

// Alike implements approval.Store.
func (s kvStore) Alike(ctx context.Context, tenant string, digests []string) ([]approval.Record, error) {
	list, err := s.list(ctx, tenant, func(r approval.Record) bool {
		return r.State != approval.Consumed && r.Left > 0 && slices.Contains(digests, r.Proposal.Digest)
	})
	slices.Reverse(list)
	return list, err
}

// Pending implements approval.Store.
func (s kvStore) Pending(ctx context.Context, tenant string, page approval.Page) ([]approval.Record, string, error) {
	after, err := approval.ParseCursor(page.Cursor)
	if err != nil {
		return nil, "", err
	}
	list, err := s.list(ctx, tenant, func(r approval.Record) bool { return r.State == approval.Pending && after.Before(r.Proposal) })
	if err != nil || len(list) <= page.Limit() {
		return list, "", err
	}
	list = list[:page.Limit()]
	return list, approval.CursorAt(list[len(list)-1].Proposal).String(), nil
}

// list returns the tenant's records that are wanted, the oldest first.
func (s kvStore) list(ctx context.Context, tenant string, want func(approval.Record) bool) ([]approval.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	list, now := []approval.Record{}, s.now()
	for id, text := range s.table.scan(key(tenant, "")) {
		r, err := s.decode(ctx, tenant, id, text)
		if err != nil {
			return nil, err
		}
		if r = r.At(now); !want(r) {
			continue
		}
		list = append(list, s.show(r))
	}
	slices.SortFunc(list, func(a, b approval.Record) int {
		return cmp.Or(a.Proposal.CreatedAt.Compare(b.Proposal.CreatedAt), cmp.Compare(a.Proposal.ID, b.Proposal.ID))
	})
	return list, nil
}

// The suite knows what every approval store owes, expiry to the nanosecond and a restart included. A store that forgets one
// of it fails for that rule, by its name.
func TestOwnApprovalStore(t *testing.T) {
	t.Parallel()
	fresh := func(now func() time.Time) kvStore {
		return kvStore{&table{rows: map[string][]byte{}}, redact.Plain(), now}
	}
	approvaltest.Run(t, func(*testing.T) approval.Store { return fresh(time.Now) },
		approvaltest.Clock(func(_ *testing.T, now func() time.Time) approval.Store { return fresh(now) }),
		approvaltest.Lasting(func(*testing.T) func() approval.Store {
			kept := &table{rows: map[string][]byte{}}
			return func() approval.Store { return kvStore{kept, redact.Plain(), time.Now} }
		}))
}
