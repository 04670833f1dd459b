// Package versioning is what stands around the snippets of versioning.md.
package versioning

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
	"github.com/toolcontract/toolcontract/validate"
)

func compatible(t *testing.T, published, derived *validate.Schema) {
	//snippet:compatible
}

type (
	in  struct{}
	out struct{ tool.Evidence }
)

var (
	listOrdersV1, listOrdersV2, addressChangeV2 tool.Definition
	addressChangeV1                             tool.Write[in, in, out]
)

var (
	cfg      tool.Config
	canaries []redact.Canary
	clock    interface{ set(time.Time) }
)

func startOn(tool.Config) *tool.Run               { return nil }
func dispatcherOf(tool.Config) *tool.Dispatcher { return nil }

func record(ctx context.Context, call envelope.Call, file io.Writer) error {
	//snippet:record
	_ = result
	return err
}

func play(t *testing.T, recorded *trace.Trace) {
	//snippet:play
}

func catalogue() error {
	//snippet:retire
	//snippet:both
	_ = clerk
	return err
}
