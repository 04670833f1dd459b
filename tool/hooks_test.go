package tool_test

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
)

var errDown = errors.New("the store at postgres://admin:hunter2@10.0.0.7 is down")

// hookedStore runs something before a consumption; an error of it is the store's.
type hookedStore struct {
	approval.Store
	beforeConsume atomic.Pointer[func() error]
	beforeFind    atomic.Pointer[func() error]
}

func (h *hookedStore) Consume(ctx context.Context, tenant, id, digest, operation string) (approval.Record, bool, error) {
	if f := h.beforeConsume.Load(); f != nil {
		if err := (*f)(); err != nil {
			return approval.Record{}, false, err
		}
	}
	return h.Store.Consume(ctx, tenant, id, digest, operation)
}

func (h *hookedStore) Find(ctx context.Context, tenant, id string) (approval.Record, error) {
	if f := h.beforeFind.Load(); f != nil {
		if err := (*f)(); err != nil {
			return approval.Record{}, err
		}
	}
	return h.Store.Find(ctx, tenant, id)
}

// hookedLedger runs something before a claim or a finish; an error of it is the ledger's.
type hookedLedger struct {
	idem.Ledger
	beforeClaim, beforeFinish, beforeAdmit, beforeRenew atomic.Pointer[func() error]
}

func (h *hookedLedger) Renew(ctx context.Context, c idem.Claim, lease time.Duration) (idem.Claim, error) {
	if f := h.beforeRenew.Load(); f != nil {
		if err := (*f)(); err != nil {
			return idem.Claim{}, err
		}
	}
	return h.Ledger.Renew(ctx, c, lease)
}

func (h *hookedLedger) Admit(ctx context.Context, c idem.Command, consumedBefore bool) (idem.Record, idem.Admission, error) {
	if f := h.beforeAdmit.Load(); f != nil {
		if err := (*f)(); err != nil {
			return idem.Record{}, "", err
		}
	}
	return h.Ledger.Admit(ctx, c, consumedBefore)
}

func (h *hookedLedger) Claim(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	if f := h.beforeClaim.Load(); f != nil {
		if err := (*f)(); err != nil {
			return idem.Claim{}, err
		}
	}
	return h.Ledger.Claim(ctx, k, worker, lease)
}

func (h *hookedLedger) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	if f := h.beforeFinish.Load(); f != nil {
		if err := (*f)(); err != nil {
			return idem.Record{}, err
		}
	}
	return h.Ledger.Finish(ctx, c, o)
}

// failing always answers with err.
func failing(err error) *func() error { return new(func() error { return err }) }
