package tool_test

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"strconv"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

type articleQuery struct {
	SKU string `json:"sku" jsonschema:"pattern=^[A-Z]{2}-[0-9]{3}$"`
}

type article struct {
	Cents int64 `json:"cents" jsonschema:"minimum=0"`
}

// A read, from its definition to an answer and a refusal.
func ExampleTool() {
	getArticle := tool.Tool[articleQuery, article]{
		Spec: tool.Spec{Name: "get_article", Version: 1, Description: "Read an article.", Timeout: 2 * time.Second},
		Handle: func(_ context.Context, by tool.Caller, in articleQuery) (article, error) {
			if by.Principal.Tenant != "acme" || in.SKU != "KE-001" {
				return article{}, envelope.New(envelope.NotFound).At("sku")
			}
			return article{Cents: 499}, nil
		},
	}
	run := start(tool.Config{}, []string{"get_article_v1"}, getArticle)
	for _, arguments := range []string{`{"sku":"KE-001"}`, `{"sku":"KE-002"}`, `{"sku":"ke-001"}`, `{"sku":"KE-001","sku":"KE-002"}`} {
		r := run.Call(context.Background(), envelope.Call{Tool: "get_article_v1", Arguments: jsontext.Value(arguments)})
		fmt.Println(string(r.Data), r.Err())
	}
	// Output:
	// {"cents":499} <nil>
	//  NOT_FOUND at sku
	//  INVALID_ARGUMENT at sku
	//  DUPLICATE_MEMBER at sku
}

type stock struct {
	SKU   string `json:"sku" jsonschema:"pattern=^[A-Z]{2}-[0-9]{3}$"`
	Count int    `json:"count" jsonschema:"minimum=0,maximum=1000"`
}

type stocked struct{ tool.Evidence }

// A write is two tools: one that shows what would be done, one that does what was shown. Here the policy asks for nobody.
func ExampleWrite() {
	count, version := 3, 1
	setStock := tool.Write[stock, stock, stocked]{
		Spec:  tool.Spec{Name: "set_stock", Version: 1, Description: "Set how many are there.", Timeout: 2 * time.Second},
		Class: tool.Reversible,
		Preview: func(_ context.Context, _ tool.Caller, in stock) (tool.Draft[stock], error) {
			return tool.Draft[stock]{
				Plan: in, Target: approval.Target{Type: "article", ID: in.SKU, Version: strconv.Itoa(version)}, Summary: "Set the stock of " + in.SKU,
				Diffs: []approval.Diff{{Field: "count", Before: strconv.Itoa(count), After: strconv.Itoa(in.Count)}},
			}, nil
		},
		Current: func(context.Context, tool.Caller, approval.Target) (string, error) { return strconv.Itoa(version), nil },
		Commit: func(ctx context.Context, cmd tool.Approved[stock]) (stocked, error) {
			envelope.Sent(ctx)
			count, version = cmd.Plan.Count, version+1
			return stocked{tool.Evidence{NewVersion: strconv.Itoa(version), CommittedAt: time.Now()}}, nil
		},
	}
	cfg := tool.Development(approval.Everything(approval.Requirement{Level: approval.None}))
	cfg.Logger = nil
	run := start(cfg, []string{"preview_set_stock_v1", "commit_set_stock_v1"}, setStock)
	call := func(name, arguments string) envelope.Result {
		return run.Call(context.Background(), envelope.Call{Tool: name, Arguments: jsontext.Value(arguments)})
	}
	proposal, err := call("preview_set_stock_v1", `{"sku":"KE-001","count":7}`).Decode[map[string]any]()
	fmt.Println(proposal["state"], proposal["summary"], err)

	commit := fmt.Sprintf(`{"proposal_id":%q}`, proposal["proposal_id"])
	first := call("commit_set_stock_v1", commit)
	again := call("commit_set_stock_v1", commit)
	fmt.Println(first.OK, again.OK, again.Replayed, count, version)
	// Output:
	// approved Set the stock of KE-001 <nil>
	// true true true 7 2
}

// Everything that is wrong with the definitions is said at once, where the catalogue is built.
func ExampleNewCatalog() {
	_, err := tool.NewCatalog(
		tool.Tool[struct{}, article]{Spec: tool.Spec{Name: "list_articles", Version: 1, Description: "List all."}},
		tool.Write[stock, stock, stocked]{Spec: tool.Spec{Name: "set_stock", Description: "Set.", Timeout: time.Second}},
	)
	fmt.Println(err)
	// Output:
	// tool "list_articles_v1": timeout: must be set
	// tool "list_articles_v1": handle: must be set
	// tool "commit_set_stock_v0": version: must be 1 or more
	// tool "commit_set_stock_v0": class: must be Reversible or Irreversible
	// tool "commit_set_stock_v0": preview: must be set
	// tool "commit_set_stock_v0": commit: must be set
	// tool "commit_set_stock_v0": current: must be set, unless the target is declared Unversioned
}

// start begins a run of an agent that may call the named tools.
func start(cfg tool.Config, names []string, defs ...tool.Definition) *tool.Run {
	catalog, err := tool.NewCatalog(defs...)
	if err != nil {
		panic(err)
	}
	role, err := catalog.Role("example", names...)
	if err != nil {
		panic(err)
	}
	d, err := tool.NewDispatcher(catalog, cfg)
	if err != nil {
		panic(err)
	}
	run, err := d.Start(tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent"}, Role: role,
		Budget: tool.Budget{Calls: 20}, Deadline: time.Now().Add(time.Minute),
	})
	if err != nil {
		panic(err)
	}
	return run
}
