package toolcontract_test

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"log"
	"strconv"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

type query struct {
	SKU string `json:"sku" jsonschema:"minLength=1,maxLength=32"`
}

type price struct {
	Cents   int `json:"cents" jsonschema:"minimum=1,maximum=100000"`
	Version int `json:"version" jsonschema:"minimum=1"`
}

type change struct {
	SKU   string `json:"sku" jsonschema:"minLength=1,maxLength=32"`
	Cents int    `json:"cents" jsonschema:"minimum=1,maximum=100000"`
}

type changed struct{ tool.Evidence } // which record, from which version to which; the library checks it

func Example() {
	ctx := context.Background()
	prices := map[string]price{"acme/kettle": {499, 7}} // stands for the system that your tools act on
	find := func(by tool.Caller, sku string) (price, error) {
		if p, ok := prices[by.Principal.Tenant+"/"+sku]; ok {
			return p, nil
		}
		return price{}, envelope.New(envelope.NotFound).At("sku")
	}

	getPrice := tool.Tool[query, price]{
		Spec:   tool.Spec{Name: "get_price", Version: 1, Description: "Read an article's price.", Timeout: 2 * time.Second},
		Handle: func(_ context.Context, by tool.Caller, in query) (price, error) { return find(by, in.SKU) },
	}
	setPrice := tool.Write[change, change, changed]{
		Spec:  tool.Spec{Name: "set_price", Version: 1, Description: "Set an article's price.", Timeout: 5 * time.Second},
		Class: tool.Reversible,
		Preview: func(_ context.Context, by tool.Caller, in change) (tool.Draft[change], error) { // only reads
			p, err := find(by, in.SKU)
			return tool.Draft[change]{
				Plan: in, Target: approval.Target{Type: "article", ID: in.SKU, Version: strconv.Itoa(p.Version)},
				Summary: "Set the price of " + in.SKU,
				Diffs:   []approval.Diff{{Field: "cents", Before: strconv.Itoa(p.Cents), After: strconv.Itoa(in.Cents)}},
			}, err
		},
		Current: func(_ context.Context, by tool.Caller, t approval.Target) (string, error) { // still what was approved?
			p, err := find(by, t.ID)
			return strconv.Itoa(p.Version), err
		},
		Commit: func(ctx context.Context, cmd tool.Approved[change]) (changed, error) { // the plan, as approved
			p, err := find(cmd.By, cmd.Plan.SKU)
			if err != nil {
				return changed{}, envelope.NotSent(err)
			}
			envelope.Sent(ctx) // now the first byte leaves
			prices[cmd.By.Principal.Tenant+"/"+cmd.Plan.SKU] = price{cmd.Plan.Cents, p.Version + 1}
			return changed{tool.Evidence{NewVersion: strconv.Itoa(p.Version + 1), CommittedAt: time.Now()}}, nil
		},
	}

	catalog := must(tool.NewCatalog(getPrice, setPrice))
	role := must(catalog.Role("clerk", "get_price_v1", "preview_set_price_v1", "commit_set_price_v1"))
	cfg := tool.Development(approval.Everything(approval.Requirement{Level: approval.One, Role: "lead"}))
	d := must(tool.NewDispatcher(catalog, cfg))
	agent := approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent"} // of your session, not of the model
	run := must(d.Start(tool.RunConfig{Principal: agent, Role: role, Budget: tool.Budget{Calls: 20}, Deadline: time.Now().Add(time.Minute)}))
	call := func(name, arguments string) {
		r := run.Call(ctx, envelope.Call{Tool: name, Arguments: jsontext.Value(arguments)})
		fmt.Println(name, r.OK, r.Err())
	}

	call("get_price_v1", `{"sku":"kettle"}`)
	call("get_price_v1", `{"sku":"kettle","currency":"EUR"}`)
	call("preview_set_price_v1", `{"sku":"kettle","cents":549}`)

	waiting, _, _ := cfg.Approvals.Pending(ctx, "acme", approval.Page{}) // what a lead's console shows
	p := waiting[0].Proposal
	call("commit_set_price_v1", `{"proposal_id":"`+p.ID+`"}`)
	lead := approval.Principal{Kind: approval.Person, Tenant: "acme", Subject: "lea", Roles: []string{"lead"}}
	must(d.Decide(ctx, "acme", p.ID, approval.Decision{Approved: true, By: lead, Digest: p.Digest}))
	call("commit_set_price_v1", `{"proposal_id":"`+p.ID+`"}`)
	fmt.Println(prices["acme/kettle"])

	// Output:
	// get_price_v1 true <nil>
	// get_price_v1 false UNKNOWN_FIELD at currency
	// preview_set_price_v1 true <nil>
	// commit_set_price_v1 false APPROVAL_PENDING
	// commit_set_price_v1 true <nil>
	// {549 8}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
