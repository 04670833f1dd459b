package approval

import (
	"encoding/json/jsontext"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/redact"
)

// canonicalForm names the form of Canonical. A change of the form is a new name, so that no digest of one form can be
// taken for one of another.
const canonicalForm = "toolcontract/proposal/1"

type covered struct {
	Form          string          `json:"form"`
	Tenant        string          `json:"tenant"`
	Run           string          `json:"run"`
	Requester     coveredIdentity `json:"requester"`
	Tool          string          `json:"tool"`
	Plan          jsontext.Value  `json:"plan"`
	Target        coveredTarget   `json:"target"`
	Resource      string          `json:"resource"`
	Sequence      int64           `json:"resource_sequence"`
	Summary       string          `json:"summary"`
	Diffs         []Diff          `json:"diffs"`
	Consequence   coveredEffects  `json:"consequence"`
	PolicyVersion int             `json:"policy_version"`
	Level         coveredLevel    `json:"level"`
	Lifetime      int64           `json:"lifetime_ns"`
}

type coveredIdentity struct {
	Tenant  string `json:"tenant"`
	Subject string `json:"subject"`
}

type coveredTarget struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Version string `json:"version"`
}

type coveredEffects struct {
	Environment  string   `json:"environment"`
	Recipients   []string `json:"recipients"`
	AmountMinor  *int64   `json:"amount_minor"`
	Currency     string   `json:"currency"`
	Records      *int     `json:"records"`
	Irreversible []string `json:"irreversible"`
}

type coveredLevel struct {
	Level    Level  `json:"level"`
	Role     string `json:"role"`
	Group    string `json:"group"`
	Self     bool   `json:"self"`
	Lifetime int64  `json:"lifetime_ns"`
}

// Canonical returns the bytes that the digest is over, in the form of [redact.Canonical], each part by its name:
// tenant, run, requester (tenant and subject), tool, plan, target, resource and its sequence, summary, diffs,
// consequence, policy version, the whole requirement, lifetime. Not covered are the id, the times, the digest itself,
// and what the host says about the requester besides who it is (kind and roles). Equal proposals have equal bytes,
// however the plan is spelt. An error when the plan is missing or is no JSON, a text is not UTF-8, or the level is
// invalid.
func (p Proposal) Canonical() ([]byte, error) {
	if len(p.Plan) == 0 {
		return nil, fmt.Errorf("%w: plan", ErrInvalid)
	}
	b, err := redact.Canonical(covered{
		Form: canonicalForm, Tenant: p.Tenant, Run: p.Run,
		Requester: coveredIdentity{p.Requester.Tenant, p.Requester.Subject},
		Tool:      p.Tool, Plan: p.Plan, Target: coveredTarget(p.Target), Resource: p.Resource, Sequence: p.Seq,
		Summary: p.Summary, Diffs: p.Diffs, Consequence: coveredEffects(p.Consequence), PolicyVersion: p.PolicyVersion,
		Level: coveredLevel{
			p.Requirement.Level, p.Requirement.Role, p.Requirement.Group, p.Requirement.Self,
			int64(p.Requirement.Lifetime / time.Nanosecond),
		},
		Lifetime: int64(p.Lifetime / time.Nanosecond),
	})
	if err != nil {
		return nil, fmt.Errorf("approval: canonical: %w", err)
	}
	return b, nil
}
