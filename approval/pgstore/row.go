package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// row is a proposal, what ended it and one decision on it; pointers are nil where there is none.
type row struct {
	now    int64
	policy int

	id, digest, run, tool, kind, subject, level string
	version                                     int
	created, expires                            int64
	body                                        []byte // nil: erased

	operation, byKind, byTenant, bySubject *string
	ended                                  *int64

	decision, approverKind, approverTenant, approverSubject *string
	approved                                                *bool
	decided                                                 *int64
	decisionBody                                            []byte // nil: erased
}

// columns are the places of the row's members in the order of the query.
func (r *row) columns() []any {
	return []any{
		&r.now, &r.policy,
		&r.id, &r.digest, &r.run, &r.tool, &r.kind, &r.subject, &r.version, &r.level, &r.created, &r.expires, &r.body,
		&r.operation, &r.byKind, &r.byTenant, &r.bySubject, &r.ended,
		&r.decision, &r.approved, &r.approverKind, &r.approverTenant, &r.approverSubject, &r.decided, &r.decisionBody,
	}
}

// record is the proposal and what ended it.
func (s *Store) record(ctx context.Context, tenant string, row row) (approval.Record, error) {
	p, err := s.proposal(ctx, tenant, row)
	if err != nil {
		return approval.Record{}, err
	}
	r := approval.Record{Proposal: p, PolicySeen: row.policy}
	switch {
	case row.ended == nil:
	case row.operation != nil:
		r.ConsumedBy, r.ConsumedAt = *row.operation, time.Unix(0, *row.ended).UTC()
	default:
		r.WithdrawnAt = time.Unix(0, *row.ended).UTC()
		if r.WithdrawnBy, err = principal(row.byKind, row.byTenant, row.bySubject); err != nil {
			return approval.Record{}, err
		}
	}
	return r, nil
}

// proposal opens the body, which is what counts, and compares it with the columns beside it.
func (s *Store) proposal(ctx context.Context, tenant string, row row) (approval.Proposal, error) {
	plain := approval.Proposal{
		ID: row.id, Tenant: tenant, Run: row.run, Tool: row.tool, Digest: row.digest, PolicyVersion: row.version,
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

// decision opens the body of a decision, as proposal does.
func (s *Store) decision(ctx context.Context, p approval.Proposal, row row) (approval.Decision, error) {
	by, err := principal(row.approverKind, row.approverTenant, row.approverSubject)
	if err != nil {
		return approval.Decision{}, err
	}
	plain := approval.Decision{ID: *row.decision, Approved: *row.approved, By: by, Digest: p.Digest, At: time.Unix(0, *row.decided).UTC()}
	if row.decisionBody == nil {
		return plain, nil
	}
	d, err := approval.OpenDecision(ctx, s.sealer, p.Tenant, p.ID, plain.ID, row.decisionBody)
	if err != nil {
		return plain, err
	}
	if d.Approved != plain.Approved || d.Digest != plain.Digest || d.By.Kind != by.Kind || !d.By.Is(by) || !d.At.Equal(plain.At) {
		return plain, fmt.Errorf("%w: columns and body of a decision differ", approval.ErrCorrupt)
	}
	return d, nil
}

func principal(kind, tenant, subject *string) (approval.Principal, error) {
	p := approval.Principal{Tenant: *tenant, Subject: *subject}
	if p.Kind.UnmarshalText([]byte(*kind)) != nil {
		return p, fmt.Errorf("%w: columns", approval.ErrCorrupt)
	}
	return p, nil
}
