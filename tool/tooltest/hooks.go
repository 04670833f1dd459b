package tooltest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
)

var errDown = errors.New("tooltest: the store is down")

// hook is something that happens before a call; its error is the store's. The zero value does nothing.
type hook struct{ f atomic.Pointer[func() error] }

func (h *hook) set(f func() error) { h.f.Store(&f) }
func (h *hook) clear()             { h.f.Store(nil) }
func (h *hook) fail()              { h.set(func() error { return errDown }) }

func (h *hook) run() error {
	if f := h.f.Load(); f != nil {
		return (*f)()
	}
	return nil
}

type approvals struct {
	approval.Store
	consume hook
}

// Consume implements approval.Store.
func (a *approvals) Consume(ctx context.Context, tenant, id, digest, operation string) (approval.Record, bool, error) {
	if err := a.consume.run(); err != nil {
		return approval.Record{}, false, err
	}
	return a.Store.Consume(ctx, tenant, id, digest, operation)
}

type ledger struct {
	idem.Ledger
	claim, finish, renew hook
	altered              atomic.Bool // hand out another body than was admitted
}

// Claim implements idem.Ledger.
func (l *ledger) Claim(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	if err := l.claim.run(); err != nil {
		return idem.Claim{}, err
	}
	c, err := l.Ledger.Claim(ctx, k, worker, lease)
	if l.altered.Load() {
		c.Command.Body = alter(c.Command.Body)
	}
	return c, err
}

// Finish implements idem.Ledger.
func (l *ledger) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	if err := l.finish.run(); err != nil {
		return idem.Record{}, err
	}
	return l.Ledger.Finish(ctx, c, o)
}

// Renew implements idem.Ledger.
func (l *ledger) Renew(ctx context.Context, c idem.Claim, lease time.Duration) (idem.Claim, error) {
	if err := l.renew.run(); err != nil {
		return idem.Claim{}, err
	}
	return l.Ledger.Renew(ctx, c, lease)
}
