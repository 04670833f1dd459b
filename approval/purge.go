package approval

import (
	"context"
	"fmt"
	"time"
)

// Purger is what a Store has that ends what it keeps. The library's stores have it.
type Purger interface {
	// Purge forgets in two steps, both counted from ExpiresAt on the store's clock, when no proposal can change any
	// more but by the operation that has it. After bodies, what it says is erased: see [Record.Tombstone]. After
	// tombstones, not less than bodies, the record is gone. It returns how many proposals lost something. ErrInvalid
	// when a duration is not above zero, or tombstones is less than bodies.
	//
	// An operation that has consumed a proposal is checked against its body before every dispatch, so bodies is
	// longer than an operation can wait or be resolved; and tombstones is longer than the ledger keeps its own and
	// than any client comes back with an old proposal id, for without one the answer is only "not found".
	Purge(ctx context.Context, bodies, tombstones time.Duration) (int, error)
}

// CheckRetention returns ErrInvalid for durations that Purge refuses.
func CheckRetention(bodies, tombstones time.Duration) error {
	if bodies <= 0 || tombstones < bodies {
		return fmt.Errorf("%w: retention", ErrInvalid)
	}
	return nil
}

// Tombstone returns what remains of a record whose body is erased: who asked for which tool in which run, for which
// digest, under which policy version and level, when, who decided what and when, and what became of it. Gone are the
// plan, target, resource, summary, diffs, consequence, roles, groups and reasons. It answers for the past; nothing can
// run from it.
func (r Record) Tombstone() Record {
	p := r.Proposal
	r.Proposal = Proposal{
		ID: p.ID, Tenant: p.Tenant, Run: p.Run, Tool: p.Tool, Requester: p.Requester.bare(), Digest: p.Digest,
		PolicyVersion: p.PolicyVersion, Requirement: Requirement{Level: p.Requirement.Level},
		Lifetime: p.Lifetime, CreatedAt: p.CreatedAt, ExpiresAt: p.ExpiresAt,
	}
	ds := make([]Decision, len(r.Decisions))
	for i, d := range r.Decisions {
		ds[i] = Decision{ID: d.ID, Approved: d.Approved, By: d.By.bare(), Digest: d.Digest, At: d.At}
	}
	r.Decisions = ds
	return r
}

func (p Principal) bare() Principal {
	p.Roles = nil
	return p
}

var _ Purger = (*Memory)(nil)

// Purge implements [Purger].
func (m *Memory) Purge(ctx context.Context, bodies, tombstones time.Duration) (int, error) {
	if err := CheckRetention(bodies, tombstones); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now, n := m.now(), 0
	for _, t := range m.tenants {
		for id, r := range t.records {
			over := now.Sub(r.Proposal.ExpiresAt)
			switch {
			case over >= tombstones:
				delete(t.records, id)
				delete(t.buried, id)
			case over >= bodies && !t.buried[id]:
				t.records[id], t.buried[id] = r.Tombstone(), true
			default:
				continue
			}
			n++
		}
	}
	return n, nil
}
