package main

import (
	"context"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/addresschange/internal/crm"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

// desk holds what the handlers need. They reach the customer service over its network, one connection a call.
type desk struct{ crm *crm.Service }

// failure says what the service's answer means to a model. Whatever has no meaning here stays as it is: the model reads
// INTERNAL and a request id, the operators read the cause.
func failure(err error, field string) error {
	switch {
	case errors.Is(err, crm.ErrNotFound):
		return envelope.New(envelope.NotFound).At(field)
	case errors.Is(err, crm.ErrCursor):
		return envelope.New(envelope.PreconditionFailed).At("cursor")
	case errors.Is(err, crm.ErrUnreachable):
		return envelope.New(envelope.UpstreamUnavailable).WithCause(err)
	}
	return err
}

// address is a postal address as the tools speak of it.
type address struct {
	Line1   string `json:"line1" jsonschema:"minLength=1,maxLength=200" redact:"personal"`
	Line2   string `json:"line2,omitzero" redact:"personal"`
	City    string `json:"city" jsonschema:"minLength=1,maxLength=100" redact:"personal"`
	Country string `json:"country" jsonschema:"pattern=^[A-Z]{2}$"`
}

type customerQuery struct {
	CustomerID string `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
}

type customerView struct {
	CustomerID  string         `json:"customer_id" jsonschema:"minLength=1,maxLength=64" redact:"trusted"`
	Name        string         `json:"name" jsonschema:"maxLength=200" redact:"personal"`
	Version     int64          `json:"version" jsonschema:"minimum=1"`
	Address     address        `json:"address"`
	AddressBook []savedAddress `json:"address_book" jsonschema:"maxItems=20"`
}

type savedAddress struct {
	AddressID string  `json:"address_id" jsonschema:"minLength=1,maxLength=64" redact:"trusted"`
	Address   address `json:"address"`
}

func (d desk) getCustomer() tool.Tool[customerQuery, customerView] {
	return tool.Tool[customerQuery, customerView]{
		Spec: tool.Spec{
			Name: "get_customer", Version: 1, Owner: "support", Timeout: 5 * time.Second,
			Description: "Read one customer: name, version, shipping address and address book.",
			Purpose:     "Answering a customer's question about their own record.",
		},
		Handle: func(ctx context.Context, by tool.Caller, in customerQuery) (customerView, error) {
			conn, err := d.dial(ctx)
			if err != nil {
				return customerView{}, failure(err, "")
			}
			c, err := conn.Customer(ctx, by.Principal.Tenant, in.CustomerID)
			if err != nil {
				return customerView{}, failure(err, "customer_id")
			}
			view := customerView{CustomerID: c.ID, Name: c.Name, Version: c.Version, Address: address(c.Address)}
			for _, s := range c.Book {
				view.AddressBook = append(view.AddressBook, savedAddress{s.ID, address(s.Address)})
			}
			return view, nil
		},
		Verify: func(_ context.Context, _ tool.Caller, in customerQuery, out customerView) error {
			return validate.Same("customer_id", in.CustomerID, out.CustomerID)
		},
	}
}

type orderQuery struct {
	CustomerID string `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
	Status     string `json:"status,omitzero" jsonschema:"enum=open,enum=shipped,enum=cancelled"`
	Limit      int    `json:"limit,omitzero" jsonschema:"minimum=1,maximum=100"`
	Cursor     string `json:"cursor,omitzero" jsonschema:"maxLength=4096"`
}

type orderView struct {
	OrderID    string    `json:"order_id" jsonschema:"minLength=1,maxLength=64" redact:"trusted"`
	Status     string    `json:"status" jsonschema:"enum=open,enum=shipped,enum=cancelled"`
	PlacedAt   time.Time `json:"placed_at"`
	TotalMinor int64     `json:"total_minor" jsonschema:"minimum=0"`
	Currency   string    `json:"currency" jsonschema:"pattern=^[A-Z]{3}$"`
}

// usualPage is the number of orders for a model that asks for no number.
const usualPage = 20

func (d desk) listOrders() tool.Tool[orderQuery, validate.Page[orderView]] {
	return tool.Tool[orderQuery, validate.Page[orderView]]{
		Spec: tool.Spec{
			Name: "list_orders", Version: 1, Owner: "support", Timeout: 5 * time.Second,
			Description: "List a customer's orders, oldest first, a page at a time: pass next_cursor as cursor for the next page.",
			Purpose:     "Finding the order that a customer asks about.",
		},
		Handle: func(ctx context.Context, by tool.Caller, in orderQuery) (validate.Page[orderView], error) {
			var page validate.Page[orderView]
			conn, err := d.dial(ctx)
			if err != nil {
				return page, failure(err, "")
			}
			if in.Limit == 0 {
				in.Limit = usualPage
			}
			orders, next, err := conn.Orders(ctx, by.Principal.Tenant, in.CustomerID, in.Status, in.Limit, in.Cursor)
			if err != nil {
				return page, failure(err, "customer_id")
			}
			page.NextCursor = next
			for _, o := range orders {
				page.Items = append(page.Items, orderView{o.ID, o.Status, o.PlacedAt, o.TotalMinor, o.Currency})
			}
			return page, nil
		},
	}
}

type noArguments struct{}

type warehouseList struct {
	Warehouses []warehouseView `json:"warehouses" jsonschema:"maxItems=100"`
}

type warehouseView struct {
	WarehouseID string `json:"warehouse_id" jsonschema:"minLength=1,maxLength=64" redact:"trusted"`
	City        string `json:"city" jsonschema:"maxLength=100"`
	Country     string `json:"country" jsonschema:"pattern=^[A-Z]{2}$"`
}

func (d desk) listWarehouses() tool.Tool[noArguments, warehouseList] {
	return tool.Tool[noArguments, warehouseList]{
		Spec: tool.Spec{
			Name: "list_warehouses", Version: 1, Owner: "logistics", Timeout: 5 * time.Second,
			Description: "List the warehouses that ship. Takes no arguments: send {}.",
			Purpose:     "Saying where a parcel comes from.",
		},
		Handle: func(ctx context.Context, by tool.Caller, _ noArguments) (warehouseList, error) {
			conn, err := d.dial(ctx)
			if err != nil {
				return warehouseList{}, failure(err, "")
			}
			ws, err := conn.Warehouses(ctx, by.Principal.Tenant)
			if err != nil {
				return warehouseList{}, failure(err, "")
			}
			var out warehouseList
			for _, w := range ws {
				out.Warehouses = append(out.Warehouses, warehouseView{w.ID, w.City, w.Country})
			}
			return out, nil
		},
	}
}

type reviewQuery struct {
	CaseRef     string `json:"case_ref" jsonschema:"pattern=^case_[A-Za-z0-9]{16}$"`
	ReasonCode  string `json:"reason_code" jsonschema:"enum=duplicate_charge,enum=service_not_received,enum=other"`
	AmountMinor *int64 `json:"amount_minor,omitzero" jsonschema:"minimum=1,maximum=100000000"`
	Currency    string `json:"currency,omitzero" jsonschema:"pattern=^[A-Z]{3}$"`
}

type reviewView struct {
	CaseRef   string `json:"case_ref" jsonschema:"pattern=^case_[A-Za-z0-9]{16}$"`
	Qualifies bool   `json:"qualifies"`
	Reason    string `json:"reason" jsonschema:"enum=qualifies,enum=case_closed,enum=other_currency,enum=more_than_charged"`
}

func (d desk) requestRefundReview() tool.Tool[reviewQuery, reviewView] {
	return tool.Tool[reviewQuery, reviewView]{
		Spec: tool.Spec{
			Name: "request_refund_review", Version: 1, Owner: "billing", Timeout: 5 * time.Second,
			Description: "Say whether a refund case qualifies for a review. Changes nothing. amount_minor and currency go together.",
			Purpose:     "Telling a customer whether a review can be asked for.",
		},
		// What a schema cannot say: an amount without a currency is no amount.
		Check: func(_ context.Context, _ tool.Caller, in reviewQuery) error {
			if (in.AmountMinor == nil) != (in.Currency == "") {
				return envelope.New(envelope.PreconditionFailed).At("currency")
			}
			return nil
		},
		Handle: func(ctx context.Context, by tool.Caller, in reviewQuery) (reviewView, error) {
			conn, err := d.dial(ctx)
			if err != nil {
				return reviewView{}, failure(err, "")
			}
			c, err := conn.RefundCase(ctx, by.Principal.Tenant, in.CaseRef)
			if err != nil {
				return reviewView{}, failure(err, "case_ref")
			}
			reason := qualifies(c, in)
			return reviewView{CaseRef: c.Ref, Qualifies: reason == "qualifies", Reason: reason}, nil
		},
		Verify: func(_ context.Context, _ tool.Caller, in reviewQuery, out reviewView) error {
			return validate.Same("case_ref", in.CaseRef, out.CaseRef)
		},
	}
}

func qualifies(c crm.RefundCase, in reviewQuery) string {
	switch {
	case !c.Open:
		return "case_closed"
	case in.AmountMinor == nil:
		return "qualifies"
	case in.Currency != c.Currency:
		return "other_currency"
	case *in.AmountMinor > c.ChargedMinor:
		return "more_than_charged"
	}
	return "qualifies"
}
