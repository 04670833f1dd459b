package tool

import (
	"context"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// stores puts stores that can only be asked in the place of the host's: what a shadow has no way to do, no fault of its
// own can do either.
func (s *Shadow) stores(c *Config) {
	if s == nil {
		return
	}
	if !isNil(c.Approvals) {
		c.Approvals = askedApprovals{c.Approvals}
	}
	if !isNil(c.Ledger) {
		c.Ledger = askedLedger{c.Ledger}
	}
}

// askedApprovals refuses what changes a proposal.
type askedApprovals struct{ approval.Store }

func (askedApprovals) Create(context.Context, approval.Proposal) (approval.Record, error) {
	return approval.Record{}, ErrNotLive
}

func (askedApprovals) Decide(context.Context, string, string, approval.Decision) (approval.Record, error) {
	return approval.Record{}, ErrNotLive
}

func (askedApprovals) Withdraw(context.Context, string, string, string, approval.Principal) (approval.Record, error) {
	return approval.Record{}, ErrNotLive
}

func (askedApprovals) Consume(context.Context, string, string, string, string) (approval.Record, bool, error) {
	return approval.Record{}, false, ErrNotLive
}

// askedLedger refuses what changes an operation.
type askedLedger struct{ idem.Ledger }

func (askedLedger) Admit(context.Context, idem.Command, bool) (idem.Record, idem.Admission, error) {
	return idem.Record{}, "", ErrNotLive
}

func (askedLedger) Claim(context.Context, idem.Key, string, time.Duration) (idem.Claim, error) {
	return idem.Claim{}, ErrNotLive
}

func (askedLedger) Renew(context.Context, idem.Claim, time.Duration) (idem.Claim, error) {
	return idem.Claim{}, ErrNotLive
}

func (askedLedger) Finish(context.Context, idem.Claim, idem.Outcome) (idem.Record, error) {
	return idem.Record{}, ErrNotLive
}

func (askedLedger) Close(context.Context, idem.Key, idem.State, envelope.Code) (idem.Record, error) {
	return idem.Record{}, ErrNotLive
}

func (askedLedger) Next(context.Context, []string, time.Duration) (idem.Delivery, error) {
	return idem.Delivery{}, ErrNotLive
}

func (askedLedger) Later(context.Context, idem.Delivery, time.Duration) error { return ErrNotLive }

func (askedLedger) ClaimOpen(context.Context, idem.Key, string, time.Duration) (idem.Claim, error) {
	return idem.Claim{}, ErrNotLive
}

func (askedLedger) Resend(context.Context, idem.Claim, time.Duration) (idem.Claim, error) {
	return idem.Claim{}, ErrNotLive
}

func (askedLedger) Resolve(context.Context, idem.Key, idem.Resolution) (idem.Record, error) {
	return idem.Record{}, ErrNotLive
}

func (askedLedger) Sweep(context.Context) (idem.Swept, error) { return idem.Swept{}, ErrNotLive }

func (askedLedger) Purge(context.Context, time.Duration, time.Duration) (int, error) {
	return 0, ErrNotLive
}

func (askedLedger) Restored(context.Context) error { return ErrNotLive }
