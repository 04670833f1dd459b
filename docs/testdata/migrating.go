// Package migrating is what stands around the snippets of migrating.md.
package migrating

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/mcptool"
)

type (
	limit struct {
		Account string
		Cents   int64
	}
	limited  struct{ tool.Evidence }
	account  struct{ Version, Limit string }
	database interface {
		Exec(statement string, args ...any) error
		Account(ctx context.Context, tenant, id string) (account, error)
		SetLimit(ctx context.Context, tenant string, to limit, version, key string) (string, time.Time, error)
	}
)

var db database

//snippet:before

func catalogue() (*tool.Catalog, error) {
	//snippet:after
	return tool.NewCatalog(setLimit)
}

type directory interface {
	Principal(ctx context.Context, user string) (approval.Principal, error)
}

func serve(dispatcher *tool.Dispatcher, role tool.Role, staff directory, verify auth.TokenVerifier, page func(string) string) (http.Handler, error) {
	//snippet:serve
	return handler, err
}
