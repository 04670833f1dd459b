package main

import (
	"context"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// desk holds what the handlers need. The model sees none of it.
type desk struct {
	cases   []openCase
	refs    *redact.References
	charges *upstream.Client[chargeQuery, charge]
	now     func() time.Time
}

// openCase is a line of the desk's own queue: behind the boundary, with everything.
type openCase struct {
	tenant, id, customer string
	reason               string
	opened               time.Time
}

// referenceLife is how long a reference is good: as long as an agent works on a queue.
const referenceLife = 10 * time.Minute

// binding says whose reference it is and for what: of this tenant, to this agent, for this one tool.
func binding(by tool.Caller, action string) redact.Binding {
	return redact.Binding{Tenant: by.Principal.Tenant, Issuer: "refund-desk", Audience: by.Principal.Subject, Action: action}
}

type noArguments struct{}

type caseList struct {
	Items []caseView `json:"items" jsonschema:"maxItems=50"`
}

type caseView struct {
	CaseRef    string `json:"case_ref" jsonschema:"pattern=^ref_[0-9a-z]{20\\,600}$"`
	ReasonCode string `json:"reason_code" jsonschema:"enum=duplicate_charge,enum=service_not_received,enum=other"`
	OpenDays   int    `json:"open_days" jsonschema:"minimum=0"`
}

const reviewTool, statusTool = "request_refund_review_v1", "get_refund_status_v1"

func (d desk) listCases() tool.Tool[noArguments, caseList] {
	return tool.Tool[noArguments, caseList]{
		Spec: tool.Spec{
			Name: "list_refund_cases", Version: 1, Owner: "refund desk", Timeout: 2 * time.Second,
			Description:  "List the open refund cases. A case_ref is good for request_refund_review_v1, for you, for ten minutes.",
			Purpose:      "Working through the queue without knowing whose cases they are.",
			Lookups:      []string{"the case behind each reference"},
			NeverCrosses: []string{"case numbers", "customers"},
		},
		Handle: func(_ context.Context, by tool.Caller, _ noArguments) (caseList, error) {
			var out caseList
			for _, c := range d.cases {
				if c.tenant != by.Principal.Tenant {
					continue
				}
				ref, err := d.refs.Issue(binding(by, reviewTool), c.id, referenceLife)
				if err != nil {
					return caseList{}, err
				}
				out.Items = append(out.Items, caseView{ref, c.reason, int(d.now().Sub(c.opened) / (24 * time.Hour))})
			}
			return out, nil
		},
	}
}

type reviewRequest struct {
	CaseRef    string `json:"case_ref" jsonschema:"pattern=^ref_[0-9a-z]{20\\,600}$"`
	ReasonCode string `json:"reason_code" jsonschema:"enum=duplicate_charge,enum=service_not_received,enum=other"`
}

type reviewAnswer struct {
	Qualifies bool   `json:"qualifies"`
	Reason    string `json:"reason" jsonschema:"enum=qualifies,enum=too_late,enum=already_refunded"`
	StatusRef string `json:"status_ref" jsonschema:"pattern=^ref_[0-9a-z]{20\\,600}$"`
}

func (d desk) requestReview() tool.Tool[reviewRequest, reviewAnswer] {
	return tool.Tool[reviewRequest, reviewAnswer]{
		Spec: tool.Spec{
			Name: "request_refund_review", Version: 1, Owner: "refund desk", Timeout: 5 * time.Second,
			Description: "Say whether a refund case qualifies for a review. status_ref is good for get_refund_status_v1.",
			Purpose:     "Deciding which cases a person looks at.",
			Failures: []envelope.Failure{
				{Code: envelope.NotFound, Message: "no case behind this reference for you; list the cases for fresh references"},
			},
			Lookups:      []string{"the case behind case_ref", "billing's record of the charge"},
			NeverCrosses: []string{"customer", "payment data", "notes", "amounts", "billing's credentials"},
		},
		Handle: func(ctx context.Context, by tool.Caller, in reviewRequest) (reviewAnswer, error) {
			c, id, err := d.charge(ctx, by, in.CaseRef)
			if err != nil {
				return reviewAnswer{}, err
			}
			status, err := d.refs.Issue(binding(by, statusTool), id, referenceLife)
			if err != nil {
				return reviewAnswer{}, err
			}
			reason := "qualifies"
			switch {
			case c.Status == "refunded":
				reason = "already_refunded"
			case d.now().After(c.RefundableUntil):
				reason = "too_late"
			}
			return reviewAnswer{Qualifies: reason == "qualifies", Reason: reason, StatusRef: status}, nil
		},
	}
}

type statusQuery struct {
	CaseRef string `json:"status_ref" jsonschema:"pattern=^ref_[0-9a-z]{20\\,600}$"`
}

type statusView struct {
	Status string `json:"status" jsonschema:"enum=settled,enum=disputed,enum=refunded"`
}

func (d desk) status() tool.Tool[statusQuery, statusView] {
	return tool.Tool[statusQuery, statusView]{
		Spec: tool.Spec{
			Name: "get_refund_status", Version: 1, Owner: "refund desk", Timeout: 5 * time.Second,
			Description:  "Say where a case stands at billing. Takes a status_ref.",
			Purpose:      "Following a case that was sent to review.",
			Lookups:      []string{"the case behind status_ref", "billing's record of the charge"},
			NeverCrosses: []string{"customer", "payment data", "notes", "amounts", "billing's credentials"},
		},
		Handle: func(ctx context.Context, by tool.Caller, in statusQuery) (statusView, error) {
			c, _, err := d.charge(ctx, by, in.CaseRef)
			return statusView{c.Status}, err
		},
	}
}

// charge resolves a reference for the tool that was called, and asks billing. What is wrong with a reference is
// nobody's business: every fault of it is the same "not found".
func (d desk) charge(ctx context.Context, by tool.Caller, ref string) (charge, string, error) {
	id, err := d.refs.Resolve(binding(by, by.Tool), ref)
	if err != nil {
		return charge{}, "", envelope.New(envelope.NotFound).WithCause(err)
	}
	c, err := d.charges.Ask(ctx, upstream.Caller{Tenant: by.Principal.Tenant, Tool: by.Tool, RequestID: by.RequestID}, chargeQuery{id})
	return c, id, err
}
