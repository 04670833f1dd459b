package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

func (s *Store) insertProposal(ctx context.Context, tx *sql.Tx, p approval.Proposal) error {
	body, err := approval.SealProposal(ctx, s.sealer, p)
	if err != nil {
		return err
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO approval_proposal (tenant_id, proposal_id, digest, run_id, tool, requester_kind,
		requester_subject, policy_version, level, created_ns, expires_ns, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant_id, proposal_id) DO NOTHING`,
		p.Tenant, p.ID, p.Digest, p.Run, p.Tool, p.Requester.Kind.String(), p.Requester.Subject, p.PolicyVersion,
		p.Requirement.Level.String(), p.CreatedAt.UnixNano(), p.ExpiresAt.UnixNano(), body)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, approval.ErrExists)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO approval_policy (tenant_id, version) VALUES (?, ?)
		ON CONFLICT (tenant_id) DO UPDATE SET version = excluded.version WHERE excluded.version > approval_policy.version`,
		p.Tenant, p.PolicyVersion)
	return err
}

// insertDecision writes the record's last decision.
func (s *Store) insertDecision(ctx context.Context, tx *sql.Tx, r approval.Record) error {
	n := len(r.Decisions) - 1
	d := r.Decisions[n]
	body, err := approval.SealDecision(ctx, s.sealer, r.Proposal.Tenant, r.Proposal.ID, d)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO approval_decision (tenant_id, proposal_id, n, decision_id, approved, approver_kind,
		approver_tenant, approver_subject, decided_ns, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Proposal.Tenant, r.Proposal.ID, n, d.ID, d.Approved, d.By.Kind.String(), d.By.Tenant, d.By.Subject, d.At.UnixNano(), body)
	return err
}

func insertWithdrawal(ctx context.Context, tx *sql.Tx, r approval.Record) error {
	by := r.WithdrawnBy
	_, err := tx.ExecContext(ctx, `INSERT INTO approval_end (tenant_id, proposal_id, by_kind, by_tenant, by_subject, ended_ns) VALUES (?, ?, ?, ?, ?, ?)`,
		r.Proposal.Tenant, r.Proposal.ID, by.Kind.String(), by.Tenant, by.Subject, r.WithdrawnAt.UnixNano())
	return err
}

func insertConsumption(ctx context.Context, tx *sql.Tx, r approval.Record) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO approval_end (tenant_id, proposal_id, operation_id, ended_ns) VALUES (?, ?, ?, ?)`,
		r.Proposal.Tenant, r.Proposal.ID, r.ConsumedBy, r.ConsumedAt.UnixNano())
	return err
}

func policySeen(ctx context.Context, tx *sql.Tx, tenant string) (int, error) {
	var version int
	err := tx.QueryRowContext(ctx, `SELECT version FROM approval_policy WHERE tenant_id = ?`, tenant).Scan(&version)
	return version, err
}

// find returns a record but for its State and Left, which a rule or At makes.
func (s *Store) find(ctx context.Context, tx *sql.Tx, tenant, id string) (approval.Record, error) {
	rs, err := s.records(ctx, tx, tenant, `proposal_id = ?`, id)
	if err != nil {
		return approval.Record{}, err
	}
	if len(rs) == 0 {
		return approval.Record{}, approval.ErrNotFound
	}
	return rs[0], nil
}

// records returns the tenant's records that match a condition on approval_proposal p, in its order.
func (s *Store) records(ctx context.Context, tx *sql.Tx, tenant, where string, args ...any) ([]approval.Record, error) {
	//nolint:gosec // the conditions are constants of this package
	rows, err := tx.QueryContext(ctx, `SELECT proposal_id, digest, run_id, tool, requester_kind, requester_subject, policy_version, level,
		created_ns, expires_ns, body FROM approval_proposal p WHERE tenant_id = ? AND `+where, append([]any{tenant}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err and the transaction tell
	var out []approval.Record
	ids := []string{}
	for rows.Next() {
		var row proposalRow
		if err := rows.Scan(&row.id, &row.digest, &row.run, &row.tool, &row.kind, &row.subject, &row.policy, &row.level, &row.created, &row.expires, &row.body); err != nil {
			return nil, err
		}
		p, err := s.proposal(ctx, tenant, row)
		if err != nil {
			return nil, err
		}
		out = append(out, approval.Record{Proposal: p})
		ids = append(ids, p.ID)
	}
	if err := rows.Err(); err != nil || len(out) == 0 {
		return nil, err
	}
	return out, s.complete(ctx, tx, tenant, ids, out)
}

type proposalRow struct {
	id, digest, run, tool, kind, subject, level string
	policy                                      int
	created, expires                            int64
	body                                        []byte // nil: erased
}

// proposal opens the body, which is what counts, and compares it with the columns beside it.
func (s *Store) proposal(ctx context.Context, tenant string, row proposalRow) (approval.Proposal, error) {
	plain := approval.Proposal{
		ID: row.id, Tenant: tenant, Run: row.run, Tool: row.tool, Digest: row.digest, PolicyVersion: row.policy,
		Requester: approval.Principal{Tenant: tenant, Subject: row.subject},
		CreatedAt: time.Unix(0, row.created).UTC(), ExpiresAt: time.Unix(0, row.expires).UTC(),
	}
	plain.Lifetime = plain.ExpiresAt.Sub(plain.CreatedAt)
	err := errors.Join(plain.Requester.Kind.UnmarshalText([]byte(row.kind)), plain.Requirement.Level.UnmarshalText([]byte(row.level)))
	if err != nil {
		return plain, fmt.Errorf("%w: columns", approval.ErrCorrupt)
	}
	if row.body == nil {
		return plain, nil
	}
	p, err := approval.OpenProposal(ctx, s.sealer, tenant, row.id, row.body)
	if err != nil {
		return plain, err
	}
	if !sameProposal(approval.Record{Proposal: p}.Tombstone().Proposal, plain) {
		return plain, fmt.Errorf("%w: columns and body differ", approval.ErrCorrupt)
	}
	return p, nil
}

func sameProposal(a, b approval.Proposal) bool {
	return a.Run == b.Run && a.Tool == b.Tool && a.Digest == b.Digest && a.PolicyVersion == b.PolicyVersion &&
		a.Requester.Kind == b.Requester.Kind && a.Requester.Is(b.Requester) && a.Requirement == b.Requirement &&
		a.CreatedAt.Equal(b.CreatedAt) && a.ExpiresAt.Equal(b.ExpiresAt)
}

// complete adds to the records what was decided and what ended them, and the tenant's policy version.
func (s *Store) complete(ctx context.Context, tx *sql.Tx, tenant string, ids []string, rs []approval.Record) error {
	version, err := policySeen(ctx, tx, tenant)
	if err != nil {
		return err
	}
	at := make(map[string]*approval.Record, len(rs))
	for i := range rs {
		rs[i].PolicySeen = version
		at[rs[i].Proposal.ID] = &rs[i]
	}
	list, err := textList(ids)
	if err != nil {
		return err
	}
	if err := s.addDecisions(ctx, tx, tenant, list, at); err != nil {
		return err
	}
	return addEnds(ctx, tx, tenant, list, at)
}

func (s *Store) addDecisions(ctx context.Context, tx *sql.Tx, tenant, ids string, at map[string]*approval.Record) error {
	rows, err := tx.QueryContext(ctx, `SELECT proposal_id, decision_id, approved, approver_kind, approver_tenant, approver_subject, decided_ns, body
		FROM approval_decision WHERE tenant_id = ? AND proposal_id IN (SELECT value FROM json_each(?)) ORDER BY proposal_id, n`, tenant, ids)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err and the transaction tell
	for rows.Next() {
		var id, kind string
		var decided int64
		var body []byte
		var d approval.Decision
		if err := rows.Scan(&id, &d.ID, &d.Approved, &kind, &d.By.Tenant, &d.By.Subject, &decided, &body); err != nil {
			return err
		}
		r := at[id]
		d.At, d.Digest = time.Unix(0, decided).UTC(), r.Proposal.Digest
		if d.By.Kind.UnmarshalText([]byte(kind)) != nil {
			return fmt.Errorf("%w: columns", approval.ErrCorrupt)
		}
		if d, err = s.decision(ctx, tenant, id, d, body); err != nil {
			return err
		}
		r.Decisions = append(r.Decisions, d)
	}
	return rows.Err()
}

// decision opens the body of a decision, as proposal does.
func (s *Store) decision(ctx context.Context, tenant, proposal string, plain approval.Decision, body []byte) (approval.Decision, error) {
	if body == nil {
		return plain, nil
	}
	d, err := approval.OpenDecision(ctx, s.sealer, tenant, proposal, plain.ID, body)
	if err != nil {
		return plain, err
	}
	if d.Approved != plain.Approved || d.Digest != plain.Digest || d.By.Kind != plain.By.Kind || !d.By.Is(plain.By) || !d.At.Equal(plain.At) {
		return plain, fmt.Errorf("%w: columns and body of a decision differ", approval.ErrCorrupt)
	}
	return d, nil
}

func addEnds(ctx context.Context, tx *sql.Tx, tenant, ids string, at map[string]*approval.Record) error {
	rows, err := tx.QueryContext(ctx, `SELECT proposal_id, coalesce(operation_id, ''), coalesce(by_kind, ''), coalesce(by_tenant, ''), coalesce(by_subject, ''), ended_ns
		FROM approval_end WHERE tenant_id = ? AND proposal_id IN (SELECT value FROM json_each(?))`, tenant, ids)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err and the transaction tell
	for rows.Next() {
		var id, operation, kind string
		var by approval.Principal
		var ended int64
		if err := rows.Scan(&id, &operation, &kind, &by.Tenant, &by.Subject, &ended); err != nil {
			return err
		}
		r, when := at[id], time.Unix(0, ended).UTC()
		if operation != "" {
			r.ConsumedBy, r.ConsumedAt = operation, when
			continue
		}
		if by.Kind.UnmarshalText([]byte(kind)) != nil {
			return fmt.Errorf("%w: columns", approval.ErrCorrupt)
		}
		r.WithdrawnBy, r.WithdrawnAt = by, when
	}
	return rows.Err()
}
