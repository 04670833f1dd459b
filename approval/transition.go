package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/internal/ids"
	"github.com/toolcontract/toolcontract/internal/said"
)

// NewRecord returns the record of a proposal that is stored at now: Pending, with the store's times. ErrInvalid when
// the id, tenant, run, tool, digest or requester is missing, longer than MaxName, not UTF-8 or holds U+0000, the
// requester is the policy or of another tenant, the level is not None, One or Two, or the lifetime is not above zero
// and at most MaxLifetime.
func NewRecord(p Proposal, now time.Time) (Record, error) {
	if fault := p.fault(); fault != "" {
		return Record{}, fmt.Errorf("%w: %s", ErrInvalid, fault)
	}
	p = p.Clone()
	p.CreatedAt = now.UTC().Round(0)
	p.ExpiresAt = p.CreatedAt.Add(p.Lifetime)
	return Record{Proposal: p, PolicySeen: p.PolicyVersion}.At(now), nil
}

func (p Proposal) fault() string {
	switch {
	case !ValidName(p.ID):
		return "id"
	case !ValidName(p.Tenant):
		return "tenant"
	case !ValidName(p.Run):
		return "run"
	case !ValidName(p.Tool):
		return "tool"
	case !ValidName(p.Digest):
		return "digest"
	case !p.Requester.Valid() || p.Requester.Kind == PolicyDecision || p.Requester.Tenant != p.Tenant:
		return "requester"
	case !p.Requirement.Level.Valid() || p.Requirement.Level == Deny:
		return "level"
	case p.Lifetime <= 0 || p.Lifetime > MaxLifetime:
		return "lifetime"
	}
	return ""
}

// ValidName reports whether every store can keep s as an id or a name: not empty, at most MaxName bytes, UTF-8, without
// U+0000.
func ValidName(s string) bool {
	return s != "" && len(s) <= MaxName && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}

// At returns the record as it stands at now: State and Left are made from what happened and the time. Expired begins
// exactly at ExpiresAt. Rejected, Withdrawn and Consumed stay what they are.
func (r Record) At(now time.Time) Record {
	r.Left = max(0, r.Proposal.ExpiresAt.Sub(now))
	r.State = r.standing()
	if (r.State == Pending || r.State == Approved) && !now.Before(r.Proposal.ExpiresAt) {
		r.State = Expired
	}
	return r
}

// standing is the state but for the time.
func (r Record) standing() State {
	switch {
	case r.ConsumedBy != "":
		return Consumed
	case !r.WithdrawnAt.IsZero():
		return Withdrawn
	case slices.ContainsFunc(r.Decisions, func(d Decision) bool { return !d.Approved }):
		return Rejected
	case len(r.Decisions) >= r.needed():
		return Approved
	}
	return Pending
}

// needed is how many approvals the level asks for; one decides once, so they are of different approvers.
func (r Record) needed() int {
	switch r.Proposal.Requirement.Level {
	case None, One:
		return 1
	case Two:
		return 2
	case Deny:
	}
	return int(^uint(0) >> 1)
}

// final returns the error that tells why nothing can be decided any more.
func (r Record) final() error {
	switch r.State {
	case Consumed:
		return ErrConsumed
	case Expired:
		return ErrExpired
	case Approved, Rejected, Withdrawn:
		return ErrDecided
	case Pending:
		return nil
	}
	return ErrInvalid
}

// Decide returns the record with the decision added at now, and true; or, where the same approver has given the same
// verdict before, the record as it stands, and false. An approver is a tenant and a subject, whatever kind and roles.
//
// Refused are, in this order: a principal that is not valid (ErrInvalid), another digest (ErrDigest), a proposal that
// is consumed (ErrConsumed), past its time (ErrExpired) or finally decided (ErrDecided), a second and other verdict of
// one approver (ErrDecided), the policy where a level asks for approvers and anybody else where it asks for none
// (ErrNotAllowed), the requester (ErrSelf) unless the requirement has Self, a rejection without a reason or a reason
// that is too long or is not text (ErrReason), and an ID that is malformed or that another decision has (ErrInvalid).
func (r Record) Decide(d Decision, now time.Time) (Record, bool, error) {
	r = r.At(now)
	if !d.By.Valid() {
		return Record{}, false, fmt.Errorf("%w: approver", ErrInvalid)
	}
	if d.Digest != r.Proposal.Digest {
		return Record{}, false, ErrDigest
	}
	before := slices.IndexFunc(r.Decisions, func(o Decision) bool { return o.By.Is(d.By) })
	if before >= 0 && r.Decisions[before].Approved == d.Approved {
		return r, false, nil
	}
	if err := r.final(); err != nil {
		return Record{}, false, err
	}
	if before >= 0 {
		return Record{}, false, ErrDecided
	}
	if err := r.admits(d); err != nil {
		return Record{}, false, err
	}
	if d.ID == "" {
		d.ID = decisionID(r.Proposal, d.By)
	}
	if !ValidName(d.ID) || slices.ContainsFunc(r.Decisions, func(o Decision) bool { return o.ID == d.ID }) {
		return Record{}, false, fmt.Errorf("%w: decision id", ErrInvalid)
	}
	d.By, d.At = d.By.clone(), now.UTC().Round(0)
	r = r.Clone()
	r.Decisions = append(r.Decisions, d)
	return r.At(now), true, nil
}

// admits says whether this principal may decide at all, and whether the reason will do.
func (r Record) admits(d Decision) error {
	need := r.Proposal.Requirement
	byPolicy := d.By.Kind == PolicyDecision
	switch {
	case byPolicy != (need.Level == None), byPolicy && !d.Approved:
		return ErrNotAllowed
	case d.By.Is(r.Proposal.Requester) && !need.Self:
		return ErrSelf
	case !d.Approved && !said.Something(d.Reason),
		utf8.RuneCountInString(d.Reason) > MaxReason,
		!utf8.ValidString(d.Reason), strings.ContainsRune(d.Reason, 0):
		return ErrReason
	}
	return nil
}

// decisionID names the one decision that an approver can make on a proposal; so a write that is repeated because its
// answer was lost makes no second one.
func decisionID(p Proposal, by Principal) string {
	return ids.Encode("d_", ids.Hash("toolcontract/decision/1", p.Tenant, p.ID, by.Kind.String(), by.Tenant, by.Subject)[:16])
}

// Withdraw returns the record with the approval of the decision taken back at now, and true; or, where it is withdrawn
// already, the record as it stands, and false. Refused are, in this order: a principal that is not valid (ErrInvalid),
// a decision that is not there (ErrNotFound), a proposal that is consumed (ErrConsumed), past its time (ErrExpired) or
// rejected (ErrDecided).
func (r Record) Withdraw(decision string, by Principal, now time.Time) (Record, bool, error) {
	r = r.At(now)
	if !by.Valid() {
		return Record{}, false, fmt.Errorf("%w: principal", ErrInvalid)
	}
	if !slices.ContainsFunc(r.Decisions, func(d Decision) bool { return d.ID == decision }) {
		return Record{}, false, ErrNotFound
	}
	switch r.State {
	case Withdrawn:
		return r, false, nil
	case Consumed, Expired, Rejected:
		return Record{}, false, r.final()
	case Pending, Approved:
	}
	r = r.Clone()
	r.WithdrawnBy, r.WithdrawnAt = by.bare(), now.UTC().Round(0)
	return r.At(now), true, nil
}

// Consume returns the record bound to the operation at now, and true; or, where it is bound to this operation already,
// the record as it stands, and false. Refused are, in this order: no valid operation (ErrInvalid), another digest
// (ErrDigest), a proposal that another operation has consumed (ErrConsumed), that is past its time (ErrExpired),
// rejected or withdrawn (ErrDecided), or for which approvals are missing (ErrPending).
func (r Record) Consume(digest, operation string, now time.Time) (Record, bool, error) {
	r = r.At(now)
	switch {
	case !ValidName(operation):
		return Record{}, false, fmt.Errorf("%w: operation", ErrInvalid)
	case digest != r.Proposal.Digest:
		return Record{}, false, ErrDigest
	case r.ConsumedBy == operation:
		return r, false, nil
	case r.State == Pending:
		return Record{}, false, ErrPending
	case r.State != Approved:
		return Record{}, false, r.final()
	}
	r = r.Clone()
	r.ConsumedBy, r.ConsumedAt = operation, now.UTC().Round(0)
	return r.At(now), true, nil
}
