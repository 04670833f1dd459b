// Package narrow is what stands around the snippets of narrow-tools.md.
package narrow

import (
	"context"
	"fmt"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

type (
	destination interface{ destination() }
	// Saved and Fresh are the branches of shipping.Destination.
	Saved struct{ AddressID string }
	Fresh struct{ Line1, City, Country string }

	change struct {
		CustomerID  string
		Destination struct{ Value destination }
	}

	addresses interface {
		Find(tenant, customer, address string) (Fresh, error)
	}
)

func (Saved) destination() {}
func (Fresh) destination() {}

func resolve(book addresses, by tool.Caller, in change) (Fresh, error) {
	//snippet:branches
	return Fresh{}, envelope.New(envelope.NotFound)
}

type (
	query    struct{ CustomerID string }
	customer struct{ CustomerID string }
)

func bind(getCustomer tool.Tool[query, customer]) tool.Tool[query, customer] {
	//snippet:verify
	return getCustomer
}

func lint(catalog *tool.Catalog) {
	//snippet:lint
}
