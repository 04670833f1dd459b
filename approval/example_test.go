package approval_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

func ExampleParseTable() {
	table, err := approval.ParseTable(strings.NewReader(`{"version":3,"rules":[
		{"when":{"tools":["commit_refund_v1"],"amount_up_to":5000,"currencies":["EUR"]},"require":{"level":"none"}},
		{"when":{"tools":["commit_refund_v1"],"amount_over":5000,"currencies":["EUR"]},"require":{"level":"one","role":"support","lifetime":"15m"}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range []approval.Consequence{
		{AmountMinor: new(int64(4900)), Currency: "EUR"},
		{AmountMinor: new(int64(9900)), Currency: "EUR"},
		{}, // not said is not small
		{AmountMinor: new(int64(4900)), Currency: "JPY"},
	} {
		need, matched := table.Evaluate(approval.Facts{Tool: "commit_refund_v1", Class: "irreversible", Consequence: c})
		fmt.Println(need.Level, need.Role, matched)
	}
	// Output:
	// none  true
	// one support true
	// one support true
	// deny  false
}

func ExampleMemory() {
	ctx := context.Background()
	store := approval.NewMemory(nil)
	_, err := store.Create(ctx, approval.Proposal{
		ID: "p_1", Tenant: "acme", Run: "run_1", Tool: "commit_address_change_v2", Digest: "…", Lifetime: 15 * time.Minute,
		Requester:   approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent-7"},
		Requirement: approval.Requirement{Level: approval.One, Role: "support"},
	})
	fmt.Println(err)

	kim := approval.Principal{Kind: approval.Person, Tenant: "acme", Subject: "kim", Roles: []string{"support"}}
	r, err := store.Decide(ctx, "acme", "p_1", approval.Decision{Approved: true, By: kim, Digest: "…"})
	fmt.Println(r.State, err)

	_, bound, err := store.Consume(ctx, "acme", "p_1", "…", "op_1")
	fmt.Println(bound, err)
	_, bound, err = store.Consume(ctx, "acme", "p_1", "…", "op_2")
	fmt.Println(bound, err)
	// Output:
	// <nil>
	// approved <nil>
	// true <nil>
	// false approval: consumed
}
