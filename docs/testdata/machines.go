// Package machines is what stands around the snippets of machines.md.
package machines

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/pgstore"
	"github.com/toolcontract/toolcontract/idem/pgledger"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/pgbudget"
)

type keys struct{ Seal, Digest []redact.Key }

//snippet:stores

func work(ctx context.Context, dispatcher *tool.Dispatcher) error {
	//snippet:worker
}
