package embedding_test

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/embedding"
	"github.com/toolcontract/toolcontract/tool"
)

// maintenance is a middleware of the host's own: it refuses the calls of tenants whose systems are being worked on, with
// a code that the model knows how to take.
func maintenance(closed map[string]bool) tool.Middleware {
	return func(next tool.Handler) tool.Handler {
		return func(ctx context.Context, i tool.Invocation) envelope.Result {
			if closed[i.Caller.Principal.Tenant] {
				return envelope.Result{Error: envelope.New(envelope.Unavailable).After(time.Minute)}
			}
			return next(ctx, i)
		}
	}
}

// decorated is one that goes too far: it puts a member of its own into the answers. The output check stands outside of
// every middleware and does not let it pass.
func decorated(next tool.Handler) tool.Handler {
	return func(ctx context.Context, i tool.Invocation) envelope.Result {
		r := next(ctx, i)
		if r.OK {
			r.Data = jsontext.Value(`{"order_id":"1001","state":"open","advertisement":"buy more"}`)
		}
		return r
	}
}

// Middleware wraps the calls that role and budget admit, the first outermost. It can refuse, measure and pass on; it can
// loosen nothing.
func Example_middleware() {
	for _, m := range []tool.Middleware{maintenance(map[string]bool{"zenith": true}), decorated} {
		catalog, err := embedding.Catalogue()
		if err != nil {
			panic(err)
		}
		role, err := catalog.Role("reader", "get_order_v1")
		if err != nil {
			panic(err)
		}
		d, err := tool.NewDispatcher(catalog, tool.Config{Middleware: []tool.Middleware{m}})
		if err != nil {
			panic(err)
		}
		for _, tenant := range []string{"acme", "zenith"} {
			run, err := d.Start(tool.RunConfig{
				Principal: approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "agent"}, Role: role,
				Budget: tool.Budget{Calls: 10}, Deadline: time.Now().Add(time.Minute),
			})
			if err != nil {
				panic(err)
			}
			r := run.Call(context.Background(), envelope.Call{Tool: "get_order_v1", Arguments: jsontext.Value(`{"order_id":"1001"}`)})
			fmt.Println(tenant, string(r.Data), r.Err())
		}
	}

	// Output:
	// acme {"order_id":"1001","state":"open"} <nil>
	// zenith  UNAVAILABLE
	// acme  OUTPUT_INVALID
	// zenith  NOT_FOUND at order_id
}
