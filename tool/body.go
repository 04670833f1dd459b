package tool

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
)

// body is what the ledger keeps of a command, in canonical form: what runs is made from it and from nothing else.
type body struct {
	Proposal  string               `json:"proposal"`
	Digest    string               `json:"digest"`
	Requester approval.Principal   `json:"requester"`
	Run       string               `json:"run"`
	RequestID string               `json:"request_id"`
	Target    approval.Target      `json:"target"`
	Plan      jsontext.Value       `json:"plan"`
	Approvers []approval.Principal `json:"approvers"`
}

func bodyOf(p approval.Proposal, requestID string, decisions []approval.Decision) (jsontext.Value, error) {
	b := body{Proposal: p.ID, Digest: p.Digest, Requester: p.Requester, Run: p.Run, RequestID: requestID, Target: p.Target, Plan: p.Plan}
	for _, d := range decisions {
		if d.Approved {
			b.Approvers = append(b.Approvers, d.By)
		}
	}
	doc, err := redact.Canonical(b)
	if err != nil {
		return nil, fmt.Errorf("tool: body: %w", err)
	}
	return doc, nil
}

func readBody(doc jsontext.Value) (body, error) {
	var b body
	if err := json.Unmarshal(doc, &b, json.RejectUnknownMembers(true)); err != nil {
		return body{}, errBody
	}
	return b, nil
}

// requestOf is the request that a command was admitted for, empty where its body is not what was admitted.
func requestOf(cmd idem.Command) string {
	b, err := readBody(cmd.Body)
	if err != nil {
		return ""
	}
	return b.RequestID
}

var errBody = errors.New("tool: the stored command is not what was admitted")

// verify checks the body that a claim returned against the digest that was approved: plan, target, requester and run
// from the body, the rest from the stored proposal.
func (d *Dispatcher) verify(b body, cmd idem.Command, p approval.Proposal) error {
	if b.Proposal != p.ID || b.Digest != p.Digest || cmd.RequestHash != p.Digest {
		return errBody
	}
	p.Plan, p.Target, p.Requester, p.Run = b.Plan, b.Target, b.Requester, b.Run
	canonical, err := p.Canonical()
	if err != nil {
		return errBody
	}
	if err := d.cfg.Digester.Verify(p.Tenant, canonical, p.Digest); err != nil {
		return errBody
	}
	return nil
}

// command rebuilds what a handler is given.
func (b body) command(cmd idem.Command, attempt int) command {
	return command{
		Plan: b.Plan, Target: b.Target, By: Caller{Principal: b.Requester, Run: b.Run, Tool: cmd.Tool, RequestID: b.RequestID},
		Operation: cmd.Key.Operation, ProviderKey: cmd.ProviderKey, Proposal: b.Proposal, ApprovedBy: b.Approvers, Attempt: attempt,
	}
}

// meta is what may stand in a ledger unsealed.
func meta(def *definition, rec approval.Record) map[string]string {
	p := rec.Proposal
	decisions := make([]string, 0, len(rec.Decisions))
	for _, d := range rec.Decisions {
		decisions = append(decisions, d.ID)
	}
	return map[string]string{
		"tool_version": strconv.Itoa(def.spec.Version), "target_type": p.Target.Type, "policy_version": strconv.Itoa(p.PolicyVersion),
		"decisions": strings.Join(decisions, ","), "digest": p.Digest,
	}
}
