package mcptool

import (
	"context"
	"encoding/json/v2"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// roundTrips is the first protocol in which a server asks its client by an answer, not by a request of its own.
const roundTrips = "2026-07-28"

// asked is the state that comes back with the client's answer to the one question of this package.
const asked = "asked"

const (
	decideHere   = "A person decides about this proposal on this page: "
	decideThere  = "A person has to decide about this change. The page opens in your browser; nothing is approved by opening it."
	questionName = "decision"
)

// undecided returns the proposal that a person has to decide about before the answered call can go on, empty when there is none.
func (s *service) undecided(r envelope.Result) string {
	if r.Error != nil {
		if r.Error.Code == envelope.ApprovalPending {
			return r.Error.ProposalID
		}
		return ""
	}
	var v struct {
		ProposalID string `json:"proposal_id"`
		State      string `json:"state"`
	}
	if !r.OK || s.classes[r.Tool] != "preview" || json.Unmarshal(r.Data, &v) != nil || v.State != "pending" {
		return ""
	}
	return v.ProposalID
}

// page is the host's word on where a proposal is decided; empty where it has none.
func (s *service) page(proposal string) string {
	if proposal == "" || s.cfg.Page == nil {
		return ""
	}
	address, err := contained(func() (string, error) { return s.cfg.Page(proposal), nil })
	if err != nil {
		s.cfg.failed("page", err)
	}
	return address
}

// askFor answers with the address of the page. A client that can open it for its user is asked to at a commit, once; what it
// answers is not looked at: the commit is tried again, and decides by what is stored.
func (s *service) askFor(ctx context.Context, req *mcp.CallToolRequest, run *tool.Run, r envelope.Result, address string) (*mcp.CallToolResult, error) {
	if r.OK || req.Params.RequestState == asked || !opensAddresses(req.ClientCapabilities()) {
		return addressed(r, address), nil
	}
	question := &mcp.ElicitParams{Mode: "url", Message: decideThere, URL: address, ElicitationID: r.Error.ProposalID}
	if req.ProtocolVersion() >= roundTrips {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{questionName: question}, RequestState: asked}, nil
	}
	if _, err := req.Session.Elicit(ctx, question); err != nil {
		return addressed(r, address), nil //nolint:nilerr // a client that cannot be asked reads the address
	}
	r = run.Call(ctx, called(req.Params))
	if s.undecided(r) == "" {
		return result(r), nil
	}
	return addressed(r, address), nil
}

// addressed is the envelope with the address beside it: in a text of its own, which every client of every protocol shows.
func addressed(r envelope.Result, address string) *mcp.CallToolResult {
	answer := result(r)
	answer.Content = append(answer.Content, &mcp.TextContent{Text: decideHere + address})
	return answer
}

func opensAddresses(c *mcp.ClientCapabilities) bool {
	return c != nil && c.Elicitation != nil && c.Elicitation.URL != nil
}
