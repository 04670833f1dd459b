package samples

import (
	"context"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

func spec(name, description string) tool.Spec {
	return tool.Spec{Name: name, Version: 1, Description: description, Purpose: "The suites.", Owner: "tests", Timeout: 20 * time.Second}
}

type customerIn struct {
	CustomerID string `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
}

type customerOut struct {
	CustomerID string   `json:"customer_id" jsonschema:"minLength=1,maxLength=64" redact:"trusted"`
	Name       string   `json:"name" jsonschema:"maxLength=200"`
	Emails     []string `json:"emails" jsonschema:"maxItems=5,maxLength=100"`
	Vip        bool     `json:"vip,omitzero"`
}

// GetCustomer looks one record up.
func GetCustomer() tool.Definition {
	return tool.Tool[customerIn, customerOut]{
		Spec: spec("get_customer", "Read one customer."),
		Handle: func(_ context.Context, _ tool.Caller, in customerIn) (customerOut, error) {
			return customerOut{CustomerID: in.CustomerID, Name: "A. Customer", Emails: []string{"a@example.com"}}, nil
		},
		Verify: func(_ context.Context, _ tool.Caller, in customerIn, out customerOut) error {
			return validate.Same("customer_id", in.CustomerID, out.CustomerID)
		},
	}
}

type ordersIn struct {
	CustomerID string `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
	Status     string `json:"status,omitzero" jsonschema:"enum=open,enum=shipped,enum=cancelled"`
	Limit      int    `json:"limit,omitzero" jsonschema:"minimum=1,maximum=100"`
	Cursor     string `json:"cursor,omitzero" jsonschema:"maxLength=4096"`
}

type order struct {
	ID    string    `json:"id" jsonschema:"pattern=^o_[0-9]{1\\,12}$"`
	Total int64     `json:"total" jsonschema:"minimum=0"`
	At    time.Time `json:"at"`
}

// ListOrders answers a page.
func ListOrders() tool.Definition {
	return tool.Tool[ordersIn, validate.Page[order]]{
		Spec:  spec("list_orders", "List a customer's orders."),
		Retry: tool.Retry{Attempts: 2, On: []envelope.Code{envelope.UpstreamUnavailable}},
		Handle: func(context.Context, tool.Caller, ordersIn) (validate.Page[order], error) {
			return validate.Page[order]{Items: []order{{"o_1", 1200, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}}}, nil
		},
	}
}

type nothingIn struct{}

type warehousesOut struct {
	Warehouses []string `json:"warehouses" jsonschema:"maxItems=20,maxLength=40"`
}

// ListWarehouses takes no arguments.
func ListWarehouses() tool.Definition {
	return tool.Tool[nothingIn, warehousesOut]{
		Spec: spec("list_warehouses", "List the warehouses."),
		Handle: func(context.Context, tool.Caller, nothingIn) (warehousesOut, error) {
			return warehousesOut{Warehouses: []string{"north", "south"}}, nil
		},
	}
}

type reviewIn struct {
	CaseRef  string `json:"case_ref" jsonschema:"pattern=^case_[A-Za-z0-9]{16}$"`
	Reason   string `json:"reason_code" jsonschema:"enum=duplicate_charge,enum=service_not_received,enum=other"`
	Amount   int64  `json:"amount_minor,omitzero" jsonschema:"minimum=1,maximum=100000000"`
	Currency string `json:"currency,omitzero" jsonschema:"pattern=^[A-Z]{3}$"`
}

type reviewOut struct {
	Qualifies bool   `json:"qualifies"`
	Why       string `json:"why" jsonschema:"maxLength=300"`
}

// RequestReview refuses some documents that its schema admits.
func RequestReview() tool.Definition {
	return tool.Tool[reviewIn, reviewOut]{
		Spec: spec("request_review", "Say whether a case qualifies for a review."),
		Handle: func(_ context.Context, _ tool.Caller, in reviewIn) (reviewOut, error) {
			if in.Reason == "other" {
				return reviewOut{}, envelope.New(envelope.NotFound).At("case_ref")
			}
			return reviewOut{Qualifies: true, Why: "it is recent"}, nil
		},
	}
}

type searchIn struct {
	Text  string            `json:"text" jsonschema:"minLength=2,maxLength=200"`
	When  period            `json:"when,omitzero"`
	Sort  []sorting         `json:"sort,omitzero" jsonschema:"maxItems=3"`
	Tags  []string          `json:"tags,omitzero" jsonschema:"maxItems=10,uniqueItems=true,minLength=1,maxLength=20"`
	Facet map[string]string `json:"facet,omitzero" jsonschema:"maxProperties=4"`
}

type period struct {
	From time.Time  `json:"from"`
	To   *time.Time `json:"to,omitzero"`
}

type sorting struct {
	Field string `json:"field" jsonschema:"enum=name,enum=price,enum=age"`
	Down  bool   `json:"down,omitzero"`
}

type searchOut struct {
	Found []string       `json:"found" jsonschema:"maxItems=100,maxLength=64"`
	Count map[string]int `json:"count" jsonschema:"maxProperties=10"`
}

// Search has nested objects, a list, a set and a map.
func Search() tool.Definition {
	return tool.Tool[searchIn, searchOut]{
		Spec: spec("search", "Search the catalogue."),
		Handle: func(context.Context, tool.Caller, searchIn) (searchOut, error) {
			return searchOut{Found: []string{}, Count: map[string]int{"all": 0}}, nil
		},
	}
}

type quoteIn struct {
	Amount  float64  `json:"amount" jsonschema:"minimum=0,exclusiveMaximum=1000000"`
	Rate    float64  `json:"rate" jsonschema:"exclusiveMinimum=0,maximum=10,multipleOf=0.01"`
	Percent uint8    `json:"percent,omitzero" jsonschema:"maximum=100,multipleOf=5"`
	Single  float32  `json:"single,omitzero"`
	Ratio   *float64 `json:"ratio" jsonschema:"nullable,minimum=-1,maximum=1"`
}

type quoteOut struct {
	Quote float64 `json:"quote"`
}

// Quote takes numbers of every kind.
func Quote() tool.Definition {
	return tool.Tool[quoteIn, quoteOut]{
		Spec: spec("quote", "Quote a price."),
		Handle: func(_ context.Context, _ tool.Caller, in quoteIn) (quoteOut, error) {
			return quoteOut{Quote: in.Amount / 2}, nil
		},
	}
}

type node struct {
	Name     string `json:"name" jsonschema:"minLength=1,maxLength=40"`
	Children []node `json:"children,omitzero" jsonschema:"maxItems=8"`
}

type treeIn struct {
	Root node `json:"root"`
}

type treeOut struct {
	Nodes int `json:"nodes" jsonschema:"minimum=0"`
}

// Tree is recursive.
func Tree() tool.Definition {
	return tool.Tool[treeIn, treeOut]{
		Spec: spec("tree", "Count the nodes of a tree."),
		Handle: func(_ context.Context, _ tool.Caller, in treeIn) (treeOut, error) {
			return treeOut{Nodes: in.Root.count()}, nil
		},
	}
}

func (n node) count() int {
	sum := 1
	for _, c := range n.Children {
		sum += c.count()
	}
	return sum
}

type settingsIn struct {
	Enabled  bool     `json:"enabled"`
	Level    *int     `json:"level" jsonschema:"nullable,minimum=0,maximum=9"`
	Contact  string   `json:"contact,omitzero" jsonschema:"format=email"`
	Callback string   `json:"callback,omitzero" jsonschema:"format=uri,maxLength=200"`
	Host     string   `json:"host,omitzero" jsonschema:"format=hostname"`
	Pair     [2]int   `json:"pair,omitzero"`
	Days     []string `json:"days,omitzero" jsonschema:"minItems=1,maxItems=7,uniqueItems=true,format=date"`
}

type settingsOut struct {
	Saved bool `json:"saved"`
}

// Settings has optional, nullable and formatted members. It is a read: it says what would be saved.
func Settings() tool.Definition {
	return tool.Tool[settingsIn, settingsOut]{
		Spec: spec("check_settings", "Say whether settings would be accepted."),
		Handle: func(context.Context, tool.Caller, settingsIn) (settingsOut, error) {
			return settingsOut{Saved: true}, nil
		},
	}
}

// OldReview is a retired version of another tool.
func OldReview() tool.Definition {
	s := spec("old_review", "Say whether a case qualified, once.")
	s.Retired = true
	return tool.Tool[nothingIn, settingsOut]{
		Spec:   s,
		Handle: func(context.Context, tool.Caller, nothingIn) (settingsOut, error) { return settingsOut{}, nil },
	}
}
