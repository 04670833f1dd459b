package pgstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/redact"
)

// Store is an [approval.Store] and an [approval.Purger] in PostgreSQL. New makes it; the zero value is of no use. It is
// safe for concurrent use, by any number of processes.
type Store struct {
	pool   *pgxpool.Pool
	sealer redact.Sealer
}

var (
	_ approval.Store  = (*Store)(nil)
	_ approval.Purger = (*Store)(nil)
)

// New returns a store on a pool that the caller keeps and closes. The sealer is required. The schema must be this
// package's own: see Migrate.
func New(ctx context.Context, pool *pgxpool.Pool, sealer redact.Sealer) (*Store, error) {
	if pool == nil {
		return nil, errors.New("pgstore: no pool")
	}
	if sealer == nil {
		return nil, errors.New("pgstore: no sealer: redact.Plain() is written out by those who want none")
	}
	steps, err := Migrations()
	if err != nil {
		return nil, err
	}
	have, err := tables(steps).Version(ctx, pool)
	switch {
	case err != nil:
		return nil, fmt.Errorf("pgstore: read the schema's version: %w", err)
	case have > len(steps):
		return nil, fmt.Errorf("pgstore: %w", laterSchema(have, len(steps)))
	case have < len(steps):
		return nil, fmt.Errorf("pgstore: the database has schema version %d, Migrate brings it to %d", have, len(steps))
	}
	return &Store{pool: pool, sealer: sealer}, nil
}

// Create implements [approval.Store].
func (s *Store) Create(ctx context.Context, p approval.Proposal) (approval.Record, error) {
	if _, err := approval.NewRecord(p, time.Unix(0, 0)); err != nil {
		return approval.Record{}, err
	}
	var sent [][]byte // bodies of attempts whose commit may have reached the database
	return retry(ctx, "create", func() (approval.Record, error) {
		var r approval.Record
		err := s.within(ctx, p.Tenant, func(tx pgx.Tx) error {
			body, err := s.create(ctx, tx, p, &r)
			if errors.Is(err, approval.ErrExists) && len(sent) > 0 {
				return s.created(ctx, tx, &r, sent)
			}
			sent = append(sent, body)
			return err
		})
		return r, err
	})
}

// create inserts the proposal, makes r its record and returns the body that it wrote.
func (s *Store) create(ctx context.Context, tx pgx.Tx, p approval.Proposal, r *approval.Record) ([]byte, error) {
	now, err := clock(ctx, tx)
	if err != nil {
		return nil, err
	}
	if *r, err = approval.NewRecord(p, now); err != nil {
		return nil, err
	}
	body, err := approval.SealProposal(ctx, s.sealer, r.Proposal)
	if err != nil {
		return nil, err
	}
	if err := insertProposal(ctx, tx, r.Proposal, body); err != nil {
		return nil, err
	}
	r.PolicySeen, err = raisePolicy(ctx, tx, p.Tenant, p.PolicyVersion)
	return body, err
}

// created makes r the stored record where it is one that an earlier attempt of this call has written.
func (s *Store) created(ctx context.Context, tx pgx.Tx, r *approval.Record, sent [][]byte) error {
	tenant, id := r.Proposal.Tenant, r.Proposal.ID
	var body []byte
	err := tx.QueryRow(ctx, `SELECT body FROM approval_proposal WHERE tenant_id = $1 AND proposal_id = $2`, tenant, id).Scan(&body)
	if err != nil {
		return err
	}
	if body == nil || !slices.ContainsFunc(sent, func(b []byte) bool { return bytes.Equal(b, body) }) {
		return approval.ErrExists
	}
	found, now, err := s.find(ctx, tx, tenant, id)
	*r = found.At(now)
	return err
}

// Find implements [approval.Store].
func (s *Store) Find(ctx context.Context, tenant, id string) (approval.Record, error) {
	return retry(ctx, "find", func() (approval.Record, error) {
		r, now, err := s.find(ctx, s.pool, tenant, id)
		return r.At(now), err
	})
}

// Alike implements [approval.Store].
func (s *Store) Alike(ctx context.Context, tenant string, digests []string) ([]approval.Record, error) {
	return s.list(ctx, "alike", tenant, selection{
		where: `p.expires_ns > (SELECT ns FROM clock) AND p.digest = ANY($2)
			AND NOT EXISTS (SELECT FROM approval_end e WHERE e.tenant_id = p.tenant_id AND e.proposal_id = p.proposal_id AND e.operation_id IS NOT NULL)`,
		order: `p.created_ns DESC, p.proposal_id DESC`,
		args:  []any{slices.DeleteFunc(slices.Clone(digests), func(d string) bool { return !approval.ValidName(d) })},
	})
}

// Pending implements [approval.Store].
func (s *Store) Pending(ctx context.Context, tenant string, page approval.Page) ([]approval.Record, string, error) {
	after, err := approval.ParseCursor(page.Cursor)
	if err == nil && after.ID != "" && !approval.ValidName(after.ID) {
		err = fmt.Errorf("%w: cursor", approval.ErrInvalid)
	}
	if err != nil {
		return nil, "", err
	}
	from := int64(math.MinInt64)
	if after != (approval.Cursor{}) {
		from = after.CreatedAt.UnixNano()
	}
	out, err := s.list(ctx, "pending", tenant, selection{
		// The level says how many approvals are missing; a rejection weighs as much as any number of them. Scalar
		// subqueries, for the planner takes EXISTS for a join and reads all decisions that were ever made.
		where: `p.expires_ns > (SELECT ns FROM clock) AND (p.created_ns, p.proposal_id) > ($2, $3)
			AND (SELECT count(*) FROM approval_end e WHERE e.tenant_id = p.tenant_id AND e.proposal_id = p.proposal_id) = 0
			AND (SELECT coalesce(sum(CASE WHEN d.approved THEN 1 ELSE 2 END), 0) FROM approval_decision d WHERE d.tenant_id = p.tenant_id AND d.proposal_id = p.proposal_id)
				< CASE p.level WHEN 'two' THEN 2 ELSE 1 END`,
		order: `p.created_ns, p.proposal_id`,
		limit: `LIMIT $4`,
		args:  []any{from, after.ID, page.Limit() + 1},
	})
	if err != nil || len(out) <= page.Limit() {
		return out, "", err
	}
	out = out[:page.Limit()]
	return out, approval.CursorAt(out[len(out)-1].Proposal).String(), nil
}

// list returns records as they stand at the database's clock.
func (s *Store) list(ctx context.Context, what, tenant string, sel selection) ([]approval.Record, error) {
	return retry(ctx, what, func() ([]approval.Record, error) {
		rs, now, err := s.records(ctx, s.pool, tenant, sel)
		if err != nil {
			return nil, err
		}
		out := make([]approval.Record, len(rs))
		for i, r := range rs {
			out[i] = r.At(now)
		}
		return out, nil
	})
}

// Decide implements [approval.Store].
func (s *Store) Decide(ctx context.Context, tenant, id string, d approval.Decision) (approval.Record, error) {
	return s.change(ctx, "decide", tenant, id,
		func(r approval.Record, now time.Time) (approval.Record, bool, error) { return r.Decide(d, now) },
		s.insertDecision)
}

// Withdraw implements [approval.Store].
func (s *Store) Withdraw(ctx context.Context, tenant, id, decision string, by approval.Principal) (approval.Record, error) {
	return s.change(ctx, "withdraw", tenant, id,
		func(r approval.Record, now time.Time) (approval.Record, bool, error) {
			return r.Withdraw(decision, by, now)
		}, insertWithdrawal)
}

// Consume implements [approval.Store].
func (s *Store) Consume(ctx context.Context, tenant, id, digest, operation string) (approval.Record, bool, error) {
	r, err := s.change(ctx, "consume", tenant, id,
		func(r approval.Record, now time.Time) (approval.Record, bool, error) {
			return r.Consume(digest, operation, now)
		}, insertConsumption)
	return r, err == nil, err
}

// change reads a record under its row's lock, applies a rule and inserts what it added, in one transaction. Each rule
// takes its own repetition for what it is, so a commit whose answer was lost is simply tried again.
func (s *Store) change(
	ctx context.Context, what, tenant, id string,
	rule func(approval.Record, time.Time) (approval.Record, bool, error),
	insert func(ctx context.Context, tx pgx.Tx, r approval.Record) error,
) (approval.Record, error) {
	return retry(ctx, what, func() (approval.Record, error) {
		var next approval.Record
		err := s.within(ctx, tenant, func(tx pgx.Tx) error {
			r, now, err := s.locked(ctx, tx, tenant, id)
			if err != nil {
				return err
			}
			var changed bool
			if next, changed, err = rule(r, now); err != nil || !changed {
				return err
			}
			return insert(ctx, tx, next)
		})
		return next, err
	})
}
