package tool_test

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
)

// tap is where a test stands in a call; its error is the store's. The zero value does nothing.
type tap[T any] struct{ f atomic.Pointer[func(T) error] }

func (p *tap[T]) set(f func(T) error) { p.f.Store(&f) }
func (p *tap[T]) off()                { p.f.Store(nil) }

func (p *tap[T]) pass(v T) error {
	if f := p.f.Load(); f != nil {
		return (*f)(v)
	}
	return nil
}

// tappedLedger has taps before its calls, or between what they did and their answer. It is no idem.Waker.
type tappedLedger struct {
	idem.Ledger
	admitting               tap[idem.Command]
	renewing                tap[context.Context]
	finishing               tap[idem.Outcome]
	sweeping                tap[struct{}]
	claimed, resent, opened tap[*idem.Claim]
	delivered               tap[idem.Delivery]
}

// tapped puts taps into the world's ledger.
func (w *world) tapped() *tappedLedger {
	l := &tappedLedger{Ledger: w.ledger}
	w.config.Ledger = l
	return l
}

func (l *tappedLedger) Admit(ctx context.Context, c idem.Command, consumedBefore bool) (idem.Record, idem.Admission, error) {
	if err := l.admitting.pass(c); err != nil {
		return idem.Record{}, "", err
	}
	return l.Ledger.Admit(ctx, c, consumedBefore)
}

func (l *tappedLedger) Claim(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	return answered(&l.claimed)(l.Ledger.Claim(ctx, k, worker, lease))
}

func (l *tappedLedger) ClaimOpen(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	return answered(&l.opened)(l.Ledger.ClaimOpen(ctx, k, worker, lease))
}

func (l *tappedLedger) Resend(ctx context.Context, c idem.Claim, lease time.Duration) (idem.Claim, error) {
	return answered(&l.resent)(l.Ledger.Resend(ctx, c, lease))
}

// answered lets a tap at a claim that was made.
func answered(p *tap[*idem.Claim]) func(idem.Claim, error) (idem.Claim, error) {
	return func(c idem.Claim, err error) (idem.Claim, error) {
		if err == nil {
			err = p.pass(&c)
		}
		return c, err
	}
}

func (l *tappedLedger) Renew(ctx context.Context, c idem.Claim, lease time.Duration) (idem.Claim, error) {
	if err := l.renewing.pass(ctx); err != nil {
		return idem.Claim{}, err
	}
	return l.Ledger.Renew(ctx, c, lease)
}

func (l *tappedLedger) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	if err := l.finishing.pass(o); err != nil {
		return idem.Record{}, err
	}
	return l.Ledger.Finish(ctx, c, o)
}

func (l *tappedLedger) Next(ctx context.Context, tools []string, lease time.Duration) (idem.Delivery, error) {
	d, err := l.Ledger.Next(ctx, tools, lease)
	if err == nil {
		err = l.delivered.pass(d)
	}
	return d, err
}

func (l *tappedLedger) Sweep(ctx context.Context) (idem.Swept, error) {
	if err := l.sweeping.pass(struct{}{}); err != nil {
		return idem.Swept{}, err
	}
	return l.Ledger.Sweep(ctx)
}

// alteredStore shows another record than it keeps.
type alteredStore struct {
	approval.Store
	shown tap[*approval.Record]
}

func (a *alteredStore) Find(ctx context.Context, tenant, id string) (approval.Record, error) {
	r, err := a.Store.Find(ctx, tenant, id)
	if err == nil {
		err = a.shown.pass(&r)
	}
	return r, err
}

// audited counts the events of a kind.
func (w *world) audited(kind string) int {
	w.audit.mu.Lock()
	defer w.audit.mu.Unlock()
	n := 0
	for _, e := range w.audit.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// key is the ledger's, of the operation of a proposal of tenant t1.
func key(proposal string) idem.Key {
	return idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", proposal)}
}
