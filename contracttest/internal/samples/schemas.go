package samples

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/tool"
)

// Schema is one realistic input schema, and the tool that publishes it.
type Schema struct {
	Wire     string
	Document jsontext.Value
	Catalog  *tool.Catalog
}

// Schemas returns the input schemas of the typical catalogue and of two shapes more: ten and over.
func Schemas() ([]Schema, error) {
	shop := NewShop()
	c, err := tool.NewCatalog(GetCustomer(), ListOrders(), RequestReview(), Search(), Quote(), Tree(), Settings(), bigPage(), command(), booking(), shop.Refund(), shop.Tag(), shop.job())
	if err != nil {
		return nil, err
	}
	f, err := contracttest.Assemble(c)
	if err != nil {
		return nil, err
	}
	names := []string{
		"get_customer_v1", "list_orders_v1", "request_review_v1", "search_v1", "quote_v1", "tree_v1", "check_settings_v1", "page_v1", "read_log_v1", "book_v1",
		"preview_refund_v1", "preview_tag_order_v1",
	}
	role, err := c.Role("all", names...)
	if err != nil {
		return nil, err
	}
	run, err := f.Dispatcher.Start(tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: "t", Subject: "s"}, Role: role, Budget: tool.Budget{Calls: 1}, Deadline: f.Clock.Now().Add(time.Hour),
	})
	if err != nil {
		return nil, err
	}
	var out []Schema
	for _, p := range run.Tools() {
		out = append(out, Schema{p.Name, p.Input, c})
	}
	if len(out) < 10 {
		return nil, errors.New("samples: fewer than ten schemas")
	}
	return out, nil
}

// Current returns the version of a record, as a Write asks for it.
func (s *Shop) Current(ctx context.Context, by tool.Caller, t approval.Target) (string, error) {
	return s.current(ctx, by, t)
}
