package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcontract/toolcontract/approval"
)

func insertProposal(ctx context.Context, tx pgx.Tx, p approval.Proposal, body []byte) error {
	tag, err := tx.Exec(ctx, `INSERT INTO approval_proposal (tenant_id, proposal_id, digest, run_id, tool, requester_kind, requester_subject,
		policy_version, level, created_ns, expires_ns, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (tenant_id, proposal_id) DO NOTHING`,
		p.Tenant, p.ID, p.Digest, p.Run, p.Tool, p.Requester.Kind.String(), p.Requester.Subject, p.PolicyVersion,
		p.Requirement.Level.String(), p.CreatedAt.UnixNano(), p.ExpiresAt.UnixNano(), body)
	if err == nil && tag.RowsAffected() == 0 {
		err = approval.ErrExists
	}
	return err
}

// raisePolicy returns the highest version that the tenant has met, this one included. The row is locked only to raise
// it.
func raisePolicy(ctx context.Context, tx pgx.Tx, tenant string, version int) (int, error) {
	var seen int
	err := tx.QueryRow(ctx, `SELECT version FROM approval_policy WHERE tenant_id = $1`, tenant).Scan(&seen)
	if err == nil && seen >= version {
		return seen, nil
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, err
	}
	err = tx.QueryRow(ctx, `INSERT INTO approval_policy (tenant_id, version) VALUES ($1, $2)
		ON CONFLICT (tenant_id) DO UPDATE SET version = greatest(approval_policy.version, excluded.version) RETURNING version`,
		tenant, version).Scan(&seen)
	return seen, err
}

// insertDecision writes the record's last decision.
func (s *Store) insertDecision(ctx context.Context, tx pgx.Tx, r approval.Record) error {
	n := len(r.Decisions) - 1
	d := r.Decisions[n]
	body, err := approval.SealDecision(ctx, s.sealer, r.Proposal.Tenant, r.Proposal.ID, d)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO approval_decision (tenant_id, proposal_id, n, decision_id, approved, approver_kind, approver_tenant,
		approver_subject, decided_ns, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		r.Proposal.Tenant, r.Proposal.ID, n, d.ID, d.Approved, d.By.Kind.String(), d.By.Tenant, d.By.Subject, d.At.UnixNano(), body)
	return err
}

func insertWithdrawal(ctx context.Context, tx pgx.Tx, r approval.Record) error {
	by := r.WithdrawnBy
	_, err := tx.Exec(ctx, `INSERT INTO approval_end (tenant_id, proposal_id, by_kind, by_tenant, by_subject, ended_ns) VALUES ($1, $2, $3, $4, $5, $6)`,
		r.Proposal.Tenant, r.Proposal.ID, by.Kind.String(), by.Tenant, by.Subject, r.WithdrawnAt.UnixNano())
	return err
}

func insertConsumption(ctx context.Context, tx pgx.Tx, r approval.Record) error {
	_, err := tx.Exec(ctx, `INSERT INTO approval_end (tenant_id, proposal_id, operation_id, ended_ns) VALUES ($1, $2, $3, $4)`,
		r.Proposal.Tenant, r.Proposal.ID, r.ConsumedBy, r.ConsumedAt.UnixNano())
	return err
}

// selection says which of a tenant's proposals (p) are wanted. $1 is the tenant; clock has the database's time in ns.
type selection struct {
	where, order, limit string
	args                []any // $2 and so on
}

// sender is a pool, or a transaction.
type sender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// find returns a record but for its State and Left, and the database's time.
func (s *Store) find(ctx context.Context, db sender, tenant, id string) (approval.Record, time.Time, error) {
	return s.one(ctx, db, tenant, id, "")
}

// locked is find under the lock of the proposal's row: whoever decides on it, withdraws or consumes it waits.
func (s *Store) locked(ctx context.Context, tx pgx.Tx, tenant, id string) (approval.Record, time.Time, error) {
	return s.one(ctx, tx, tenant, id, `SELECT FROM approval_proposal WHERE tenant_id = $1 AND proposal_id = $2 FOR NO KEY UPDATE`)
}

func (s *Store) one(ctx context.Context, db sender, tenant, id, before string) (approval.Record, time.Time, error) {
	if !approval.ValidName(id) {
		return approval.Record{}, time.Time{}, approval.ErrNotFound
	}
	rs, now, err := s.records(ctx, db, tenant, selection{where: `p.proposal_id = $2`, order: `p.proposal_id`, args: []any{id}}, before)
	if err == nil && len(rs) == 0 {
		err = approval.ErrNotFound
	}
	if err != nil {
		return approval.Record{}, now, err
	}
	return rs[0], now, nil
}

// records returns the tenant's records that are wanted, and the database's time, as one statement saw them; the
// statements before are sent with it, for the same tenant and arguments. The clock is read once, when the statement
// runs.
func (s *Store) records(ctx context.Context, db sender, tenant string, sel selection, before ...string) (_ []approval.Record, now time.Time, err error) {
	if !approval.ValidName(tenant) {
		return nil, now, nil
	}
	args := append([]any{tenant}, sel.args...)
	var b pgx.Batch
	b.Queue(setTenant, tenant)
	for _, statement := range before {
		if statement != "" {
			b.Queue(statement, args...)
		}
	}
	b.Queue(`WITH clock AS MATERIALIZED (SELECT approval_now_ns() AS ns),
		chosen AS (SELECT p.* FROM approval_proposal p WHERE p.tenant_id = $1 AND `+sel.where+` ORDER BY `+sel.order+` `+sel.limit+`)
		SELECT (SELECT ns FROM clock), coalesce((SELECT version FROM approval_policy WHERE tenant_id = $1), 0),
			p.proposal_id, p.digest, p.run_id, p.tool, p.requester_kind, p.requester_subject, p.policy_version, p.level, p.created_ns, p.expires_ns, p.body,
			e.operation_id, e.by_kind, e.by_tenant, e.by_subject, e.ended_ns,
			d.decision_id, d.approved, d.approver_kind, d.approver_tenant, d.approver_subject, d.decided_ns, d.body
		FROM chosen p
		LEFT JOIN approval_end e ON e.tenant_id = p.tenant_id AND e.proposal_id = p.proposal_id
		LEFT JOIN approval_decision d ON d.tenant_id = p.tenant_id AND d.proposal_id = p.proposal_id
		ORDER BY `+sel.order+`, d.n`, args...)
	results := db.SendBatch(ctx, &b)
	defer func() {
		if closed := results.Close(); err == nil {
			err = closed
		}
	}()
	for range b.Len() - 1 {
		if _, err := results.Exec(); err != nil {
			return nil, now, err
		}
	}
	rows, err := results.Query()
	if err != nil {
		return nil, now, err
	}
	return s.collect(ctx, tenant, rows)
}

// collect makes records of rows: one for each decision, or one where nobody has decided.
func (s *Store) collect(ctx context.Context, tenant string, rows pgx.Rows) (out []approval.Record, now time.Time, err error) {
	defer rows.Close()
	for rows.Next() {
		var row row
		if err := rows.Scan(row.columns()...); err != nil {
			return nil, now, err
		}
		now = time.Unix(0, row.now).UTC()
		if len(out) == 0 || out[len(out)-1].Proposal.ID != row.id {
			r, err := s.record(ctx, tenant, row)
			if err != nil {
				return nil, now, err
			}
			out = append(out, r)
		}
		if row.decision == nil {
			continue
		}
		r := &out[len(out)-1]
		d, err := s.decision(ctx, r.Proposal, row)
		if err != nil {
			return nil, now, err
		}
		r.Decisions = append(r.Decisions, d)
	}
	return out, now, rows.Err()
}
