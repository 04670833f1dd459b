package upstream

import (
	"context"
	"errors"

	"github.com/toolcontract/toolcontract/redact"
)

// Caller says on whose behalf an upstream is asked. Take it from the verified session (tool.Caller), never from a call.
type Caller struct {
	Tenant    string // whose credentials are used and whose cache is read; must be set
	Tool      string // the wire name of the tool; may be empty
	RequestID string // by which operators find a refused response; must be set
}

// ErrCaller says that a Caller lacks its tenant or its request id. Nothing was sent.
var ErrCaller = errors.New("upstream: the caller needs a tenant and a request id")

func (c Caller) check() error {
	if c.Tenant == "" || c.RequestID == "" {
		return ErrCaller
	}
	return nil
}

// Credentials are what an upstream wants to see, held by the host. Implementations are safe for concurrent use.
type Credentials interface {
	// For returns the credentials of the caller's tenant for the upstream's operation of that name, fresh for each request. An
	// error, or none at all, sends nothing.
	For(ctx context.Context, by Caller, operation string) ([]Credential, error)
}

// Credential is one of them: the header, or the variable of a command's environment, of that name.
type Credential struct {
	Name  string
	Value redact.Secret[string]
}
