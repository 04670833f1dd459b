// Package shop is what stands around the snippets of testing.md.
package shop

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

type (
	// Price is asked for, Change is what the provider did.
	Price  struct{ SKU string }
	Change struct {
		Version string
		At      time.Time
	}
	// Provider is what the adapter needs of it.
	Provider interface {
		SetPrice(ctx context.Context, key, version string, to Price) (Change, error)
		ByKey(ctx context.Context, key string) (Change, error)
	}
)

// ErrStaleVersion is an answer of the provider.
var ErrStaleVersion = errors.New("stale version")

// SetPrice is the adapter under test.
func SetPrice(Provider) tool.Definition { return nil }

func (f *fake) touch(sku string) error {
	f.versions[sku]++
	return nil
}

var (
	getPrice       tool.Definition
	catalog        *tool.Catalog
	clerk, auditor tool.Role
)

//snippet:reads

//snippet:fake

//snippet:writes

//snippet:pin
