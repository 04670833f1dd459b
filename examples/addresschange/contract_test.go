package main

import (
	"context"
	"encoding/json/jsontext"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/addresschange/internal/crm"
	"github.com/toolcontract/toolcontract/tool"
)

// TestContract is all that it takes to have every bound of the catalogue refused once, and every fault of the network
// made once: the service's network goes through the harness, which counts effects where they happen.
func TestContract(t *testing.T) {
	service, err := crm.Open(t.Context(), t.TempDir(), time.Now)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, service.Close()) })
	catalogue, err := tool.NewCatalog(definitions(service)...)
	require.NoError(t, err)
	contracttest.Run(t, func(tb testing.TB) *contracttest.Fixture {
		tb.Helper()
		require.NoError(tb, service.Reset(tb.Context()))
		f := contracttest.NewFixture(tb, catalogue)
		f.Upstream = contracttest.NewUpstream()
		f.Authority = func(role string) approval.Principal {
			p := approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "support-agent"}
			if role != "" {
				p = approval.Principal{Kind: approval.Person, Tenant: "acme", Subject: "lead", Roles: []string{role}}
			}
			return p
		}
		const commit = "commit_address_change_v2"
		service.Through(func(ctx context.Context, request string, deliver func() (bool, error)) error {
			op := commit
			if request == crm.Ask {
				op = contracttest.StatusOf(commit)
			}
			return f.Upstream.Do(ctx, op, deliver)
		})
		f.Touch = func(ctx context.Context, target approval.Target) error { return service.Touch(ctx, "acme", target.ID) }
		return f
	},
		contracttest.Examples("preview_address_change_v2",
			jsontext.Value(`{"customer_id":"cus_9Qm4","destination":{"kind":"saved","address_id":"addr_2"}}`)),
		// Without an id that is there, no read would ever be seen to answer.
		contracttest.Examples("get_customer_v1", jsontext.Value(`{"customer_id":"cus_9Qm4"}`)),
		contracttest.Examples("list_orders_v1", jsontext.Value(`{"customer_id":"cus_9Qm4"}`)),
		contracttest.Examples("request_refund_review_v1", jsontext.Value(`{"case_ref":"case_A1b2C3d4E5f6G7h8","reason_code":"other"}`)),
		// The Check of this tool refuses an amount without a currency, which the schema admits.
		contracttest.Expect("input/request_refund_review_v1/**", contracttest.Refusal{Code: envelope.PreconditionFailed, Field: "currency"}),
	)
}
