// Package readme is what stands around the README's snippets.
package readme

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"net/http"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"go.uber.org/zap"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export"
	"github.com/toolcontract/toolcontract/tool/mcptool"
)

type change struct{ SKU string }

type changed struct{ tool.Evidence }

// ErrStaleVersion is an answer of the provider.
var ErrStaleVersion = errors.New("the version is another")

// client is the provider's.
type client interface {
	Dial(ctx context.Context) (client, error)
	Replace(ctx context.Context, key, version string, to change) (changed, error)
}

var crm client

func commit(ctx context.Context, cmd tool.Approved[change]) (changed, error) {
	//snippet:commit
	return answer, nil
}

func config(
	table approval.Table, approvals approval.Store, ledger idem.Ledger, authority approval.Authority, digester *redact.Digester,
	sink audit.Sink, quarantine audit.Quarantine, logger *zap.Logger,
) tool.Config {
	//snippet:config
	return cfg
}

func work(ctx context.Context, dispatcher *tool.Dispatcher) error {
	//snippet:worker
	return err
}

func answer(ctx context.Context, role tool.Role, run *tool.Run, message jsontext.Value) (results []envelope.Result, err error) {
	//snippet:export
	return results, err
}

func serve(
	ctx context.Context, run *tool.Run, dispatcher *tool.Dispatcher, address func(proposal string) string, verify auth.TokenVerifier,
	open func(context.Context, *auth.TokenInfo) (tool.RunConfig, error),
) (http.Handler, error) {
	//snippet:mcp
	return handler, err
}

var (
	getPrice tool.Tool[struct{}, struct{}]
	setPrice tool.Write[change, change, changed]
	provider interface {
		Reset() (*contracttest.Upstream, func(ctx context.Context, t approval.Target) error)
	}
)

//snippet:contract
