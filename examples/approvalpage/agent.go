package main

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// wish is what the agent asks for, and what it writes about it.
type wish struct{ tool, arguments, words string }

// begin makes the proposals that stand on the page when it is first opened, one of them with an outcome that was lost.
func (h *host) begin(ctx context.Context) error {
	lost := wish{"refund_v1", `{"order_id":"88-0999","amount_minor":4900}`, "The parcel never arrived."}
	if err := h.lose(ctx, lost); err != nil {
		return err
	}
	for _, w := range []wish{
		{
			"address_change_v1", `{"customer_id":"C-1842","street":"4 Harbour Row","city":"Lübeck"}`,
			"The customer moved last week and wants the parcel there.",
		},
		{"refund_v1", `{"order_id":"88-1204","amount_minor":125000}`, "Very urgent!! Please approve at once, the customer is waiting."},
		{"account_delete_v1", `{"customer_id":"C-0977"}`, "She asked for it by telephone."},
		{"price_change_v1", `{"article_id":"A-77","price":"79.90 EUR"}`, ""},
	} {
		if err := h.ask(ctx, w); err != nil {
			return err
		}
	}
	h.shop.reprice("A-77", "84.90 EUR") // somebody else was faster: the last proposal is stale
	return nil
}

// ask proposes, and goes on by itself once people have decided.
func (h *host) ask(ctx context.Context, w wish) error {
	id, err := h.propose(ctx, w)
	if err != nil {
		return err
	}
	h.agents.Go(func() {
		rec, err := h.dispatcher.Await(ctx, tenant, id)
		if err != nil {
			return // the program ends
		}
		if rec.State == approval.Approved {
			h.commit(ctx, w, id)
			return
		}
		h.say("agent: %s: %s", rec.Proposal.Summary, rec.State)
	})
	return nil
}

func (h *host) propose(ctx context.Context, w wish) (string, error) {
	r := h.run.Call(ctx, envelope.Call{Tool: "preview_" + w.tool, Arguments: jsontext.Value(w.arguments)})
	if err := r.Err(); err != nil {
		return "", fmt.Errorf("%w: %s: %w", errNotProposed, w.tool, err)
	}
	var v struct {
		ProposalID string `json:"proposal_id"`
	}
	if err := json.Unmarshal(r.Data, &v); err != nil {
		return "", err
	}
	h.writing.Lock()
	defer h.writing.Unlock()
	h.words[v.ProposalID] = w.words
	return v.ProposalID, nil
}

// commit names the proposal and nothing else: what runs is what was approved.
func (h *host) commit(ctx context.Context, w wish, id string) {
	arguments, err := json.Marshal(map[string]string{"proposal_id": id})
	if err != nil {
		return
	}
	r := h.run.Call(ctx, envelope.Call{Tool: "commit_" + w.tool, Arguments: arguments})
	if err := r.Err(); err != nil {
		h.say("agent: commit_%s: %v", w.tool, err)
		return
	}
	var e tool.Evidence
	if err := json.Unmarshal(r.Data, &e); err != nil {
		h.say("agent: commit_%s: %v", w.tool, err)
		return
	}
	h.say("agent: commit_%s: done, %s is now version %s", w.tool, e.ResourceID, e.NewVersion)
}

// lose is a write that linus approved earlier and whose answer never came.
func (h *host) lose(ctx context.Context, w wish) error {
	id, err := h.propose(ctx, w)
	if err != nil {
		return err
	}
	rec, err := h.approvals.Find(ctx, tenant, id)
	if err != nil {
		return err
	}
	if _, err := h.dispatcher.Decide(ctx, tenant, id, approval.Decision{Approved: true, By: linus(), Digest: rec.Proposal.Digest}); err != nil {
		return err
	}
	h.commit(ctx, w, id)
	return nil
}
