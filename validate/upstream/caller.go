package upstream

import (
	"context"
	"errors"

	"github.com/toolcontract/toolcontract/redact"
)

// Caller says on whose behalf an upstream is asked. Take it from the verified session (tool.Caller), never from a call.
type Caller struct {
	Tenant string // whose credentials are used and whose cache is read; must be set
	Tool   string // the wire name of the tool; may be empty
	// RequestID is by which operators find a refused response. Empty where nobody asked (a check before a dispatch):
	// then it is kept under the operation's name.
	RequestID string
}

// ErrCaller says that a Caller lacks its tenant. Nothing was sent.
var ErrCaller = errors.New("upstream: the caller needs a tenant")

func (c Caller) check() error {
	if c.Tenant == "" {
		return ErrCaller
	}
	return nil
}

// Credentials are what an upstream wants to see, held by the host. Implementations are safe for concurrent use.
type Credentials interface {
	// For returns the credentials of the caller's tenant for the upstream's operation of that name, fresh for each
	// request. An error, or none at all, sends nothing.
	For(ctx context.Context, by Caller, operation string) ([]Credential, error)
}

// Credential is one of them: the header, or the variable of a command's environment, of that name.
type Credential struct {
	Name  string
	Value redact.Secret[string]
}
