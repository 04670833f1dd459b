package tooltest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// The write of the suite changes the limit of one account at a provider that outlives every dispatcher.

type change struct {
	Limit int64   `json:"limit" jsonschema:"minimum=0"`
	Rate  float64 `json:"rate,omitzero" jsonschema:"minimum=0,maximum=1000"`
	Note  string  `json:"note,omitzero" jsonschema:"maxLength=200"`
}

type changed struct {
	tool.Evidence
	Limit int64 `json:"limit"`
}

type approved = tool.Approved[change]

// provider promises nothing by itself: each request has an effect. It remembers what each key did.
type provider struct {
	mu      sync.Mutex
	version int
	limit   int64
	effects int
	byKey   map[string]changed
}

func newProvider() *provider { return &provider{version: 17, limit: 100, byKey: map[string]changed{}} }

func (p *provider) apply(cmd approved) changed {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version, p.limit, p.effects = p.version+1, cmd.Plan.Limit, p.effects+1
	out := changed{Limit: cmd.Plan.Limit}
	out.NewVersion, out.CommittedAt = strconv.Itoa(p.version), time.Date(2026, 8, 14, 16, 25, 0, 0, time.UTC)
	p.byKey[cmd.ProviderKey] = out
	return out
}

// touch is an outsider's change.
func (p *provider) touch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version++
}

func (p *provider) now() (version string, limit int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strconv.Itoa(p.version), p.limit
}

func (p *provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.effects
}

func (p *provider) status(_ context.Context, cmd approved, _ string) (changed, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, ok := p.byKey[cmd.ProviderKey]
	if !ok {
		return changed{}, idem.ErrNotFound
	}
	return out, nil
}

// write is the suite's write, before an interleaving bends it.
func (p *provider) write() tool.Write[change, change, changed] {
	return tool.Write[change, change, changed]{
		Spec:  tool.Spec{Name: "limit_change", Version: 2, Description: "Changes a limit.", Timeout: time.Minute},
		Class: tool.Reversible,
		Preview: func(_ context.Context, _ tool.Caller, in change) (tool.Draft[change], error) {
			version, limit := p.now()
			return tool.Draft[change]{
				Plan: in, Target: approval.Target{Type: "account", ID: "a1", Version: version}, Summary: "Change the limit",
				Diffs: []approval.Diff{{Field: "limit", Before: fmt.Sprint(limit), After: fmt.Sprint(in.Limit)}},
			}, nil
		},
		Current: func(context.Context, tool.Caller, approval.Target) (string, error) {
			version, _ := p.now()
			return version, nil
		},
		Commit: func(ctx context.Context, cmd approved) (changed, error) {
			envelope.Sent(ctx)
			return p.apply(cmd), nil
		},
	}
}

// authority is approval.ByRole with switches.
type authority struct {
	approval.ByRole
	mu               sync.Mutex
	approve, request error
}

func (a *authority) set(approve, request error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.approve, a.request = approve, request
}

// MayApprove implements approval.Authority.
func (a *authority) MayApprove(ctx context.Context, by approval.Principal, p approval.Proposal) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.approve != nil {
		return a.approve
	}
	return a.ByRole.MayApprove(ctx, by, p)
}

// MayRequest implements approval.Authority.
func (a *authority) MayRequest(ctx context.Context, by approval.Principal, name string, t approval.Target) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.request != nil {
		return a.request
	}
	return a.ByRole.MayRequest(ctx, by, name, t)
}
