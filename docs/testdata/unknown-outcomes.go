// Package unknown is what stands around the snippets of unknown-outcomes.md.
package unknown

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

//snippet:queue

func resolve(ctx context.Context, dispatcher *tool.Dispatcher, operation idem.Key, operator approval.Principal) error {
	//snippet:resolve
	return err
}

func cause(ctx context.Context, quarantine audit.Quarantine, requestID string) error {
	//snippet:quarantine
	return nil
}
