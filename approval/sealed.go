package approval

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/redact"
)

// storedForm names the form in which proposals and decisions are sealed; a reader refuses one that it does not know.
const storedForm = 1

type storedProposal struct {
	Form          int               `json:"form"`
	ID            string            `json:"id"`
	Tenant        string            `json:"tenant"`
	Run           string            `json:"run"`
	Tool          string            `json:"tool"`
	Requester     Principal         `json:"requester"`
	Plan          []byte            `json:"plan"` // base64: JSON inside JSON would be respelt
	Digest        string            `json:"digest"`
	Target        Target            `json:"target"`
	Resource      string            `json:"resource"`
	Seq           int64             `json:"seq"`
	Summary       string            `json:"summary"`
	Diffs         []Diff            `json:"diffs"`
	Consequence   Consequence       `json:"consequence"`
	PolicyVersion int               `json:"policy_version"`
	Requirement   storedRequirement `json:"requirement"`
	LifetimeNS    int64             `json:"lifetime_ns"`
	CreatedAt     time.Time         `json:"created_at"`
	ExpiresAt     time.Time         `json:"expires_at"`
}

type storedRequirement struct {
	Level      Level  `json:"level"`
	Role       string `json:"role,omitzero"`
	Group      string `json:"group,omitzero"`
	Self       bool   `json:"self,omitzero"`
	LifetimeNS int64  `json:"lifetime_ns"`
}

type storedDecision struct {
	Form     int       `json:"form"`
	ID       string    `json:"id"`
	Approved bool      `json:"approved"`
	By       Principal `json:"by"`
	Reason   string    `json:"reason,omitzero"`
	Digest   string    `json:"digest"`
	At       time.Time `json:"at"`
}

// SealProposal returns the proposal, every member of it and the plan byte for byte, sealed for its tenant and id: what
// a durable store keeps. The form inside is not the one that the digest covers; see [Proposal.Canonical]. ErrInvalid
// when a text in it is not UTF-8, otherwise the sealer's errors.
func SealProposal(ctx context.Context, s redact.Sealer, p Proposal) ([]byte, error) {
	b, err := json.Marshal(storedProposal{
		storedForm, p.ID, p.Tenant, p.Run, p.Tool, p.Requester, p.Plan, p.Digest, p.Target, p.Resource, p.Seq, p.Summary, p.Diffs,
		p.Consequence, p.PolicyVersion,
		storedRequirement{p.Requirement.Level, p.Requirement.Role, p.Requirement.Group, p.Requirement.Self, int64(p.Requirement.Lifetime)},
		int64(p.Lifetime), p.CreatedAt, p.ExpiresAt,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: proposal has no stored form", ErrInvalid) // the cause could quote it
	}
	return s.Seal(ctx, redact.AAD(p.Tenant, p.ID, "proposal", "1"), b)
}

// OpenProposal returns what SealProposal sealed for the tenant and id. Where it opens and is not that, ErrCorrupt.
func OpenProposal(ctx context.Context, s redact.Sealer, tenant, id string, sealed []byte) (Proposal, error) {
	b, err := s.Open(ctx, redact.AAD(tenant, id, "proposal", "1"), sealed)
	if err != nil {
		return Proposal{}, err
	}
	var v storedProposal
	if err := readStored(b, &v, &v.Form); err != nil {
		return Proposal{}, err
	}
	if v.Tenant != tenant || v.ID != id {
		return Proposal{}, fmt.Errorf("%w: another proposal's body", ErrCorrupt)
	}
	return Proposal{
		v.ID, v.Tenant, v.Run, v.Tool, v.Requester, v.Plan, v.Digest, v.Target, v.Resource, v.Seq, v.Summary, v.Diffs,
		v.Consequence, v.PolicyVersion,
		Requirement{v.Requirement.Level, v.Requirement.Role, v.Requirement.Group, v.Requirement.Self, time.Duration(v.Requirement.LifetimeNS)},
		time.Duration(v.LifetimeNS), v.CreatedAt, v.ExpiresAt,
	}, nil
}

// SealDecision returns a decision on the tenant's proposal, sealed for that and its own id.
func SealDecision(ctx context.Context, s redact.Sealer, tenant, proposal string, d Decision) ([]byte, error) {
	b, err := json.Marshal(storedDecision{storedForm, d.ID, d.Approved, d.By, d.Reason, d.Digest, d.At})
	if err != nil {
		return nil, fmt.Errorf("%w: decision has no stored form", ErrInvalid)
	}
	return s.Seal(ctx, redact.AAD(tenant, proposal, "decision", d.ID, "1"), b)
}

// OpenDecision returns what SealDecision sealed for the tenant, the proposal and the decision's id. Where it opens and
// is not that, ErrCorrupt.
func OpenDecision(ctx context.Context, s redact.Sealer, tenant, proposal, id string, sealed []byte) (Decision, error) {
	b, err := s.Open(ctx, redact.AAD(tenant, proposal, "decision", id, "1"), sealed)
	if err != nil {
		return Decision{}, err
	}
	var v storedDecision
	if err := readStored(b, &v, &v.Form); err != nil {
		return Decision{}, err
	}
	if v.ID != id {
		return Decision{}, fmt.Errorf("%w: another decision's body", ErrCorrupt)
	}
	return Decision{v.ID, v.Approved, v.By, v.Reason, v.Digest, v.At}, nil
}

func readStored(b []byte, into any, form *int) error {
	if err := json.Unmarshal(b, into, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: not a stored form", ErrCorrupt)
	}
	if *form != storedForm {
		return fmt.Errorf("%w: stored form %d", ErrCorrupt, *form)
	}
	return nil
}
