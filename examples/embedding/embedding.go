// Package embedding has Examples of how the library goes into a program that is there already: its sessions in front of a
// run, its logs and traces around the calls, middleware of its own, and stores on a database of its own, which the suites
// check. Each Example stands in a file of its own and can be copied whole; the tools that they call are here.
package embedding

import (
	"context"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// OrderQuery is what a model may ask for.
type OrderQuery struct {
	OrderID string `json:"order_id" jsonschema:"pattern=^[0-9]{4}$"`
}

// Order is what it is told.
type Order struct {
	OrderID string `json:"order_id" jsonschema:"maxLength=4" redact:"trusted"`
	State   string `json:"state" jsonschema:"enum=open,enum=shipped"`
}

// Catalogue has one read, get_order_v1, over two tenants' orders.
func Catalogue() (*tool.Catalog, error) {
	orders := map[string]string{"acme/1001": "open", "acme/1002": "shipped", "zenith/2001": "open"}
	return tool.NewCatalog(tool.Tool[OrderQuery, Order]{
		Spec: tool.Spec{Name: "get_order", Version: 1, Description: "Read an order's state.", Timeout: time.Second},
		Handle: func(_ context.Context, by tool.Caller, in OrderQuery) (Order, error) {
			state, ok := orders[by.Principal.Tenant+"/"+in.OrderID]
			if !ok {
				return Order{}, envelope.New(envelope.NotFound).At("order_id")
			}
			return Order{in.OrderID, state}, nil
		},
	})
}
