package approvaltest_test

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// sloppy keeps every rule but those of races: in the methods that it is told, it reads, lets others do the same, and
// then writes.
type sloppy struct {
	now    func() time.Time
	racy   []string
	honest bool          // it notices, and answers ErrDecided
	meet   chan struct{} // where goroutines find each other

	mu      sync.Mutex
	records map[[2]string]approval.Record
	policy  map[string]int // the highest version by tenant
}

func racing(honest bool, methods ...string) func(now func() time.Time) approval.Store {
	return func(now func() time.Time) approval.Store {
		return &sloppy{now: now, racy: methods, honest: honest, meet: make(chan struct{}), records: map[[2]string]approval.Record{}, policy: map[string]int{}}
	}
}

// between lets others in, in a method that is to be racy: it waits for another goroutine here, or a while if none
// comes.
func (s *sloppy) between(method string) {
	if !slices.Contains(s.racy, method) {
		return
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	alone := time.NewTimer(20 * time.Millisecond)
	defer alone.Stop()
	select {
	case s.meet <- struct{}{}:
	case <-s.meet:
	case <-alone.C:
	}
}

// lowerLast lets others in between reading and writing the highest version, so that lower ones overwrite it.
func (s *sloppy) lowerLast(version int) {
	if !slices.Contains(s.racy, "policy") {
		return
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	<-time.After(time.Duration(21-version) * time.Millisecond)
}

func (s *sloppy) show(r approval.Record) approval.Record {
	r = r.Clone().At(s.now())
	r.PolicySeen = s.policy[r.Proposal.Tenant]
	return r
}

func (s *sloppy) Create(c ctx, p approval.Proposal) (approval.Record, error) {
	if err := c.Err(); err != nil {
		return approval.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := approval.NewRecord(p, s.now())
	if err != nil {
		return r, err
	}
	key := [2]string{p.Tenant, p.ID}
	if _, taken := s.records[key]; taken {
		return approval.Record{}, approval.ErrExists
	}
	s.between("create")
	s.records[key] = r
	version := max(s.policy[p.Tenant], p.PolicyVersion)
	s.lowerLast(p.PolicyVersion)
	s.policy[p.Tenant] = version
	return s.show(r), nil
}

func (s *sloppy) change(c ctx, method, tenant, id string, rule func(approval.Record, time.Time) (approval.Record, bool, error)) (approval.Record, error) {
	if err := c.Err(); err != nil {
		return approval.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]string{tenant, id}
	before, ok := s.records[key]
	if !ok {
		return approval.Record{}, approval.ErrNotFound
	}
	next, changed, err := rule(before, s.now())
	if err != nil {
		return approval.Record{}, err
	}
	if changed {
		s.between(method)
		if s.honest && len(s.records[key].Decisions) != len(before.Decisions) {
			return approval.Record{}, approval.ErrDecided
		}
		s.records[key] = next
	}
	return s.show(next), nil
}

func (s *sloppy) Find(c ctx, tenant, id string) (approval.Record, error) {
	return s.change(c, "find", tenant, id, func(r approval.Record, _ time.Time) (approval.Record, bool, error) { return r, false, nil })
}

func (s *sloppy) Decide(c ctx, tenant, id string, d approval.Decision) (approval.Record, error) {
	return s.change(c, "decide", tenant, id, func(r approval.Record, now time.Time) (approval.Record, bool, error) { return r.Decide(d, now) })
}

func (s *sloppy) Withdraw(c ctx, tenant, id, decision string, by approval.Principal) (approval.Record, error) {
	return s.change(c, "withdraw", tenant, id, func(r approval.Record, now time.Time) (approval.Record, bool, error) {
		return r.Withdraw(decision, by, now)
	})
}

func (s *sloppy) Consume(c ctx, tenant, id, digest, op string) (approval.Record, bool, error) {
	r, err := s.change(c, "consume", tenant, id, func(r approval.Record, now time.Time) (approval.Record, bool, error) {
		return r.Consume(digest, op, now)
	})
	return r, err == nil, err
}

func (s *sloppy) Purge(c ctx, bodies, tombstones time.Duration) (int, error) {
	if err := cmp.Or(c.Err(), approval.CheckRetention(bodies, tombstones)); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for key, r := range s.records {
		over := s.now().Sub(r.Proposal.ExpiresAt)
		switch {
		case over >= tombstones:
			delete(s.records, key)
		case over >= bodies && r.Proposal.Plan != nil:
			s.records[key] = r.Tombstone()
		default:
			continue
		}
		n++
	}
	return n, nil
}

func (s *sloppy) Alike(c ctx, tenant string, digests []string) ([]approval.Record, error) {
	rs, err := s.list(c, tenant, func(r approval.Record) bool {
		return r.Left > 0 && r.State != approval.Consumed && slices.Contains(digests, r.Proposal.Digest)
	})
	slices.Reverse(rs)
	return rs, err
}

func (s *sloppy) Pending(c ctx, tenant string, page approval.Page) ([]approval.Record, string, error) {
	after, err := approval.ParseCursor(page.Cursor)
	if err != nil {
		return nil, "", err
	}
	rs, err := s.list(c, tenant, func(r approval.Record) bool { return r.State == approval.Pending && after.Before(r.Proposal) })
	if err != nil || len(rs) <= page.Limit() {
		return rs, "", err
	}
	rs = rs[:page.Limit()]
	return rs, approval.CursorAt(rs[len(rs)-1].Proposal).String(), nil
}

func (s *sloppy) list(c ctx, tenant string, want func(approval.Record) bool) ([]approval.Record, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []approval.Record{}
	for key, r := range s.records {
		if r = s.show(r); key[0] == tenant && want(r) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b approval.Record) int {
		return cmp.Or(a.Proposal.CreatedAt.Compare(b.Proposal.CreatedAt), cmp.Compare(a.Proposal.ID, b.Proposal.ID))
	})
	return out, nil
}
