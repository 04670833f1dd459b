// Package contracts is what stands around the snippets of provider-contracts.md.
package contracts

import (
	"context"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

type (
	address struct{ Line1 string }
	changed struct{ tool.Evidence }
	change  struct {
		Version string
		At      time.Time
	}
	client interface {
		Replace(ctx context.Context, key, version string, to address) (change, error)
		ChangeByKey(ctx context.Context, tenant, key string) (change, error)
	}
)

// Answers of the provider.
var (
	ErrUnknownKey   = errors.New("unknown key")
	ErrStaleVersion = errors.New("stale version")
)

var crm client

func declare(transfer, ticket, address tool.Write[address, address, changed], askTicketByKey func(context.Context, tool.Approved[address], string) (changed, error)) []tool.Definition {
	//snippet:replay
	return []tool.Definition{transfer, ticket, address}
}

//snippet:status

func commit(ctx context.Context, cmd tool.Approved[address]) (changed, error) {
	//snippet:outdated
	return changed{Evidence: tool.Evidence{NewVersion: answer.Version, CommittedAt: answer.At}}, err
}
