// Package versioning is what stands around the snippets of versioning.md.
package versioning

import (
	"testing"

	"github.com/toolcontract/toolcontract/tool"
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

func catalogue() error {
	//snippet:retire
	//snippet:both
	_ = clerk
	return err
}
