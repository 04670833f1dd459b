package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json/v2"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// Create implements [approval.Store].
func (s *Store) Create(ctx context.Context, p approval.Proposal) (approval.Record, error) {
	var r approval.Record
	err := s.writing(ctx, func(tx *sql.Tx) error {
		var err error
		if r, err = approval.NewRecord(p, s.now()); err != nil {
			return err
		}
		if err := s.insertProposal(ctx, tx, r.Proposal); err != nil {
			return err
		}
		r.PolicySeen, err = policySeen(ctx, tx, p.Tenant)
		return err
	})
	return answer("create", r, err)
}

// Find implements [approval.Store].
func (s *Store) Find(ctx context.Context, tenant, id string) (approval.Record, error) {
	var r approval.Record
	err := s.reading(ctx, func(tx *sql.Tx) error {
		var err error
		r, err = s.find(ctx, tx, tenant, id)
		r = r.At(s.now())
		return err
	})
	return answer("find", r, err)
}

// Alike implements [approval.Store].
func (s *Store) Alike(ctx context.Context, tenant string, digests []string) ([]approval.Record, error) {
	out := []approval.Record{}
	list, err := textList(digests)
	if err != nil {
		return nil, fmt.Errorf("sqlitestore: alike: %w", err)
	}
	err = s.reading(ctx, func(tx *sql.Tx) error {
		now := s.now()
		rs, err := s.records(ctx, tx, tenant, `expires_ns > ? AND digest IN (SELECT value FROM json_each(?))
			AND NOT EXISTS (SELECT 1 FROM approval_end e WHERE e.tenant_id = p.tenant_id AND e.proposal_id = p.proposal_id AND e.operation_id IS NOT NULL)
			ORDER BY created_ns DESC, proposal_id DESC`, now.UnixNano(), list)
		for _, r := range rs {
			out = append(out, r.At(now))
		}
		return err
	})
	if err != nil {
		return nil, wrap("alike", err)
	}
	return out, nil
}

// pendingWhere: the level says how many approvals are missing; a rejection weighs as much as any number of them.
const pendingWhere = `expires_ns > ? AND (created_ns, proposal_id) > (?, ?)
	AND NOT EXISTS (SELECT 1 FROM approval_end e WHERE e.tenant_id = p.tenant_id AND e.proposal_id = p.proposal_id)
	AND (SELECT coalesce(sum(CASE WHEN d.approved THEN 1 ELSE 2 END), 0) FROM approval_decision d WHERE d.tenant_id = p.tenant_id AND d.proposal_id = p.proposal_id)
		< CASE level WHEN 'two' THEN 2 ELSE 1 END
	ORDER BY created_ns, proposal_id LIMIT ?`

// Pending implements [approval.Store].
func (s *Store) Pending(ctx context.Context, tenant string, page approval.Page) ([]approval.Record, string, error) {
	after, err := approval.ParseCursor(page.Cursor)
	if err != nil {
		return nil, "", err
	}
	from := int64(math.MinInt64)
	if after != (approval.Cursor{}) {
		from = after.CreatedAt.UnixNano()
	}
	out := []approval.Record{}
	err = s.reading(ctx, func(tx *sql.Tx) error {
		now := s.now()
		rs, err := s.records(ctx, tx, tenant, pendingWhere, now.UnixNano(), from, after.ID, page.Limit()+1)
		for _, r := range rs {
			out = append(out, r.At(now))
		}
		return err
	})
	if err != nil {
		return nil, "", wrap("pending", err)
	}
	if len(out) <= page.Limit() {
		return out, "", nil
	}
	out = out[:page.Limit()]
	return out, approval.CursorAt(out[len(out)-1].Proposal).String(), nil
}

// Decide implements [approval.Store].
func (s *Store) Decide(ctx context.Context, tenant, id string, d approval.Decision) (approval.Record, error) {
	r, err := s.change(ctx, tenant, id,
		func(r approval.Record, now time.Time) (approval.Record, bool, error) { return r.Decide(d, now) },
		s.insertDecision)
	return answer("decide", r, err)
}

// Withdraw implements [approval.Store].
func (s *Store) Withdraw(ctx context.Context, tenant, id, decision string, by approval.Principal) (approval.Record, error) {
	r, err := s.change(ctx, tenant, id,
		func(r approval.Record, now time.Time) (approval.Record, bool, error) {
			return r.Withdraw(decision, by, now)
		}, insertWithdrawal)
	return answer("withdraw", r, err)
}

// Consume implements [approval.Store].
func (s *Store) Consume(ctx context.Context, tenant, id, digest, operation string) (approval.Record, bool, error) {
	r, err := s.change(ctx, tenant, id,
		func(r approval.Record, now time.Time) (approval.Record, bool, error) {
			return r.Consume(digest, operation, now)
		}, insertConsumption)
	r, err = answer("consume", r, err)
	return r, err == nil, err
}

// change reads a record, applies a rule and inserts what it added, in one transaction that has the writer's lock.
func (s *Store) change(
	ctx context.Context, tenant, id string,
	rule func(approval.Record, time.Time) (approval.Record, bool, error),
	insert func(ctx context.Context, tx *sql.Tx, r approval.Record) error,
) (approval.Record, error) {
	var next approval.Record
	err := s.writing(ctx, func(tx *sql.Tx) error {
		r, err := s.find(ctx, tx, tenant, id)
		if err != nil {
			return err
		}
		var changed bool
		if next, changed, err = rule(r, s.now()); err != nil || !changed {
			return err
		}
		return insert(ctx, tx, next)
	})
	return next, err
}

func (s *Store) writing(ctx context.Context, run func(tx *sql.Tx) error) error {
	return within(ctx, s.write, run)
}

func (s *Store) reading(ctx context.Context, run func(tx *sql.Tx) error) error {
	return within(ctx, s.read, run)
}

func within(ctx context.Context, db *sql.DB, run func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := run(tx); err != nil {
		return errors.Join(err, rollback(tx))
	}
	return tx.Commit()
}

func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); !errors.Is(err, sql.ErrTxDone) { // done: the context's end rolled back before
		return err
	}
	return nil
}

// answer is the record, or an error and nothing beside it.
func answer(what string, r approval.Record, err error) (approval.Record, error) {
	if err != nil {
		return approval.Record{}, wrap(what, err)
	}
	return r, nil
}

// wrap names the operation in errors of the machinery; the contract's own pass as they are.
func wrap(what string, err error) error {
	for _, known := range []error{
		approval.ErrNotFound, approval.ErrExpired, approval.ErrConsumed, approval.ErrDecided, approval.ErrDigest, approval.ErrSelf,
		approval.ErrNotAllowed, approval.ErrPending, approval.ErrReason, approval.ErrExists, approval.ErrInvalid,
	} {
		if errors.Is(err, known) {
			return err
		}
	}
	return fmt.Errorf("sqlitestore: %s: %w", what, err)
}

// textList is a JSON array for json_each.
func textList(list []string) (string, error) {
	b, err := json.Marshal(slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !approval.ValidName(s) }))
	return string(b), err
}
