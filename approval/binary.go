package approval

import (
	"encoding/json/v2"
	"fmt"
	"time"
)

// storedForm names the form of MarshalBinary; a reader refuses one that it does not know.
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

// MarshalBinary returns the form in which a store keeps the proposal, every member of it, the plan byte for byte. It is
// not the form that the digest covers; see [Proposal.Canonical]. It holds all that the proposal says: seal it.
func (p Proposal) MarshalBinary() ([]byte, error) {
	b, err := json.Marshal(storedProposal{
		storedForm, p.ID, p.Tenant, p.Run, p.Tool, p.Requester, p.Plan, p.Digest, p.Target, p.Resource, p.Seq, p.Summary, p.Diffs,
		p.Consequence, p.PolicyVersion,
		storedRequirement{p.Requirement.Level, p.Requirement.Role, p.Requirement.Group, p.Requirement.Self, int64(p.Requirement.Lifetime)},
		int64(p.Lifetime), p.CreatedAt, p.ExpiresAt,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: proposal has no stored form", ErrInvalid) // the cause could quote it
	}
	return b, nil
}

// UnmarshalBinary reads what MarshalBinary wrote. Anything else is ErrCorrupt, which holds none of it.
func (p *Proposal) UnmarshalBinary(b []byte) error {
	var s storedProposal
	if err := readStored(b, &s, &s.Form); err != nil {
		return err
	}
	*p = Proposal{
		s.ID, s.Tenant, s.Run, s.Tool, s.Requester, s.Plan, s.Digest, s.Target, s.Resource, s.Seq, s.Summary, s.Diffs,
		s.Consequence, s.PolicyVersion,
		Requirement{s.Requirement.Level, s.Requirement.Role, s.Requirement.Group, s.Requirement.Self, time.Duration(s.Requirement.LifetimeNS)},
		time.Duration(s.LifetimeNS), s.CreatedAt, s.ExpiresAt,
	}
	return nil
}

// MarshalBinary returns the form in which a store keeps the decision, with the approver's name and reason: seal it.
func (d Decision) MarshalBinary() ([]byte, error) {
	b, err := json.Marshal(storedDecision{storedForm, d.ID, d.Approved, d.By, d.Reason, d.Digest, d.At})
	if err != nil {
		return nil, fmt.Errorf("%w: decision has no stored form", ErrInvalid)
	}
	return b, nil
}

// UnmarshalBinary reads what MarshalBinary wrote. Anything else is ErrCorrupt, which holds none of it.
func (d *Decision) UnmarshalBinary(b []byte) error {
	var s storedDecision
	if err := readStored(b, &s, &s.Form); err != nil {
		return err
	}
	*d = Decision{s.ID, s.Approved, s.By, s.Reason, s.Digest, s.At}
	return nil
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
