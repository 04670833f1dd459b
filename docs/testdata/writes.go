// Package writes is what stands around the snippets of writes.md.
package writes

import (
	"context"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

type (
	refund struct{ OrderID string }
	plan   struct {
		OrderID, Currency, Account string
		AmountMinor                int64
	}
	refunded struct {
		tool.Evidence
		OrderID string
	}

	order struct {
		ID, Version, Currency, PaidFrom string
		AmountMinor                     int64
		Refunded                        bool
	}
	shop interface {
		Order(ctx context.Context, tenant, id string) (order, error)
	}
	receipt struct {
		OrderID, OrderVersion string
		At                    time.Time
	}
	bank interface {
		Dial(ctx context.Context) (bank, error)
		Pay(ctx context.Context, key, account string, amountMinor int64, currency string) (receipt, error)
	}
	desk struct {
		shop shop
		bank bank
	}
)

// ErrNoSuchAccount is an answer of the bank.
var ErrNoSuchAccount = errors.New("no such account")

//snippet:preview

//snippet:current

//snippet:commit

func (d desk) status(context.Context, tool.Approved[plan], string) (refunded, error) {
	return refunded{}, idem.ErrNotFound
}

func (d desk) write() tool.Definition {
	//snippet:write
}
