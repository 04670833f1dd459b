package main

import (
	"context"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/tool"
)

// done is what every write of this catalogue answers: its proof.
type done struct{ tool.Evidence }

type addressIn struct {
	CustomerID string `json:"customer_id" jsonschema:"pattern=^C-[0-9]{4}$"`
	Street     string `json:"street" jsonschema:"minLength=1,maxLength=80"`
	City       string `json:"city" jsonschema:"minLength=1,maxLength=80"`
}

type refundIn struct {
	OrderID     string `json:"order_id" jsonschema:"pattern=^[0-9]{2}-[0-9]{4}$"`
	AmountMinor int64  `json:"amount_minor" jsonschema:"minimum=1,maximum=1000000"`
}

type refundPlan struct {
	OrderID     string `json:"order_id" jsonschema:"maxLength=16"`
	AmountMinor int64  `json:"amount_minor"`
	Currency    string `json:"currency" jsonschema:"maxLength=3"`
	SendTo      string `json:"send_to" jsonschema:"maxLength=200"`
}

type deleteIn struct {
	CustomerID string `json:"customer_id" jsonschema:"pattern=^C-[0-9]{4}$"`
}

type priceIn struct {
	ArticleID string `json:"article_id" jsonschema:"pattern=^A-[0-9]{2}$"`
	Price     string `json:"price" jsonschema:"pattern=^[0-9]{1\\,6}\\.[0-9]{2} EUR$"`
}

const production = "Production"

func definitions(s *shop) []tool.Definition {
	return []tool.Definition{addressChange(s), refund(s), accountDelete(s), priceChange(s)}
}

// supportRole is what the agent may call.
func supportRole(c *tool.Catalog) (tool.Role, error) {
	return c.Role("support", "preview_address_change_v1", "commit_address_change_v1", "preview_refund_v1", "commit_refund_v1",
		"preview_account_delete_v1", "commit_account_delete_v1", "preview_price_change_v1", "commit_price_change_v1")
}

func addressChange(s *shop) tool.Definition {
	return tool.Write[addressIn, addressIn, done]{
		Spec:  tool.Spec{Name: "address_change", Version: 1, Description: "Replaces a customer's shipping address.", Timeout: 5 * time.Second},
		Class: tool.Reversible, Current: s.current,
		Preview: func(ctx context.Context, _ tool.Caller, in addressIn) (tool.Draft[addressIn], error) {
			now, target, err := s.read(ctx, "customer", in.CustomerID)
			if err != nil {
				return tool.Draft[addressIn]{}, err
			}
			return tool.Draft[addressIn]{
				Plan: in, Target: target,
				Summary: "Replace the shipping address of customer " + in.CustomerID,
				Diffs: []approval.Diff{
					{Field: "Street", Before: now.Street, After: in.Street},
					{Field: "City", Before: now.City, After: in.City},
					{Field: "Country", Before: now.Country, After: now.Country},
				},
				Consequence: approval.Consequence{Environment: production, Records: new(1)},
			}, nil
		},
		Commit: func(ctx context.Context, cmd tool.Approved[addressIn]) (done, error) {
			return s.change(ctx, cmd.Target, change{Street: cmd.Plan.Street, City: cmd.Plan.City})
		},
	}
}

func refund(s *shop) tool.Definition {
	return tool.Write[refundIn, refundPlan, done]{
		Spec:  tool.Spec{Name: "refund", Version: 1, Description: "Pays an order back to its customer.", Timeout: 5 * time.Second},
		Class: tool.Irreversible, Current: s.current,
		Preview: func(ctx context.Context, _ tool.Caller, in refundIn) (tool.Draft[refundPlan], error) {
			now, target, err := s.read(ctx, "order", in.OrderID)
			if err != nil {
				return tool.Draft[refundPlan]{}, err
			}
			return tool.Draft[refundPlan]{
				Plan:    refundPlan{OrderID: in.OrderID, AmountMinor: in.AmountMinor, Currency: "EUR", SendTo: now.Email},
				Target:  target,
				Summary: "Pay back order " + in.OrderID + " to its customer",
				Diffs:   []approval.Diff{{Field: "State", Before: "paid, " + now.Paid, After: "paid back"}},
				Consequence: approval.Consequence{
					Environment: production, Recipients: []string{now.Email}, AmountMinor: new(in.AmountMinor), Currency: "EUR", Records: new(1),
					Irreversible: []string{"The bank pays at once and does not take it back."},
				},
			}, nil
		},
		Commit: func(ctx context.Context, cmd tool.Approved[refundPlan]) (done, error) {
			return s.change(ctx, cmd.Target, change{Paid: "paid back"})
		},
	}
}

func accountDelete(s *shop) tool.Definition {
	return tool.Write[deleteIn, deleteIn, done]{
		Spec:  tool.Spec{Name: "account_delete", Version: 1, Description: "Deletes a customer's account.", Timeout: 5 * time.Second},
		Class: tool.Irreversible, Current: s.current,
		Preview: func(ctx context.Context, _ tool.Caller, in deleteIn) (tool.Draft[deleteIn], error) {
			now, target, err := s.read(ctx, "customer", in.CustomerID)
			if err != nil {
				return tool.Draft[deleteIn]{}, err
			}
			return tool.Draft[deleteIn]{
				Plan: in, Target: target,
				Summary: "Delete the account of customer " + in.CustomerID,
				Diffs:   []approval.Diff{{Field: "Account", Before: strings.Join([]string{now.Name, now.Street, now.City}, ", "), After: ""}},
				Consequence: approval.Consequence{
					Environment: production, Records: new(1),
					Irreversible: []string{"The account and its address are erased.", "The customer cannot sign in again."},
				},
			}, nil
		},
		Commit: func(ctx context.Context, cmd tool.Approved[deleteIn]) (done, error) {
			return s.change(ctx, cmd.Target, change{Delete: true})
		},
	}
}

func priceChange(s *shop) tool.Definition {
	return tool.Write[priceIn, priceIn, done]{
		Spec:  tool.Spec{Name: "price_change", Version: 1, Description: "Changes the price of an article.", Timeout: 5 * time.Second},
		Class: tool.Reversible, Current: s.current,
		Preview: func(ctx context.Context, _ tool.Caller, in priceIn) (tool.Draft[priceIn], error) {
			now, target, err := s.read(ctx, "article", in.ArticleID)
			if err != nil {
				return tool.Draft[priceIn]{}, err
			}
			return tool.Draft[priceIn]{
				Plan: in, Target: target,
				Summary:     "Change the price of article " + in.ArticleID,
				Diffs:       []approval.Diff{{Field: "Price", Before: now.Price, After: in.Price}, {Field: "Name", Before: now.Name, After: now.Name}},
				Consequence: approval.Consequence{Environment: production, Records: new(1)},
			}, nil
		},
		Commit: func(ctx context.Context, cmd tool.Approved[priceIn]) (done, error) {
			return s.change(ctx, cmd.Target, change{Price: cmd.Plan.Price})
		},
	}
}
