// Package policy is what stands around the snippets of policy.md.
package policy

import (
	"context"
	"fmt"

	"github.com/toolcontract/toolcontract/approval"
)

func show(table approval.Table) {
	//snippet:evaluate
}

type directory interface {
	Roles(ctx context.Context, tenant, subject string) ([]string, error)
}

type staff struct {
	approval.ByRole
	directory directory
}

//snippet:authority

var _ approval.Authority = staff{}
