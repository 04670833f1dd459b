package approvalweb

import (
	"context"
	"net/http"
	"strings"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/redact"
)

func (h *Handler) approve(r *http.Request, by approval.Principal) answer {
	return h.decide(r, by, true)
}

func (h *Handler) reject(r *http.Request, by approval.Principal) answer {
	return h.decide(r, by, false)
}

// decide takes a form and stores what it says, if it is for what was shown.
func (h *Handler) decide(r *http.Request, by approval.Principal, approved bool) answer {
	ctx := r.Context()
	v, no := h.load(ctx, by, r.PathValue("id"))
	if no != none {
		return h.refused(by, no)
	}
	s, no := read(r)
	if no != none {
		return h.refused(by, no)
	}
	d := approval.Decision{Approved: approved, By: by, Digest: s.field("digest")}
	if !approved {
		d.Reason = s.text("reason")
	}
	if no := h.objection(ctx, v, d, s); no != none {
		return h.proposal(ctx, v, no, s)
	}
	if !repeated(v, d) {
		if _, err := h.cfg.Decide(ctx, by.Tenant, v.rec.Proposal.ID, d); err != nil {
			return h.notDecided(ctx, v, h.undecided(err), s)
		}
	}
	return answer{to: h.ProposalPath(v.rec.Proposal.ID)}
}

// repeated reports whether this decision has been stored before: the second click of two.
func repeated(v view, d approval.Decision) bool {
	m, has := v.mine()
	return has && m.Approved == d.Approved && d.Digest == v.rec.Proposal.Digest
}

// objection says why a decision is not even handed on.
func (h *Handler) objection(ctx context.Context, v view, d approval.Decision, s sent) problem {
	p := v.rec.Proposal
	switch {
	case !h.signer.verify(s.field("token"), v.by, toDecide, p.ID, d.Digest):
		return wrongToken
	case d.Digest != p.Digest:
		return wrongDigest
	case repeated(v, d):
		return none
	case v.barred():
		return ownProposal
	case !v.may:
		return notYours
	case v.rec.State != approval.Pending:
		return late(v.rec.State)
	case !d.Approved:
		return reasonProblem(d.Reason)
	case h.final(p) && !names(s.field("target"), p.Target.ID):
		return targetWrong
	}
	switch h.fresh(ctx, p) {
	case isFresh:
		return none
	case isStale:
		return stale
	}
	return notChecked
}

func late(s approval.State) problem {
	switch s {
	case approval.Expired:
		return tooLate
	case approval.Consumed:
		return consumed
	case approval.Pending, approval.Approved, approval.Rejected, approval.Withdrawn:
	}
	return decided
}

func reasonProblem(reason string) problem {
	switch {
	case reason == "":
		return reasonMissing
	case !textual(reason, approval.MaxReason):
		return reasonFaulty
	}
	return none
}

// names reports whether what was typed is the id as it is shown: its outer spaces, and how its hidden characters were
// entered, do not matter.
func names(typed, id string) bool {
	plain := func(s string) string { return redact.Visible(strings.TrimSpace(s)) }
	return plain(typed) == plain(id) && plain(id) != ""
}

// notDecided shows the proposal as it stands now, since a refusal of the store means that it stands otherwise than it did.
func (h *Handler) notDecided(ctx context.Context, v view, why problem, s sent) answer {
	now, no := h.load(ctx, v.by, v.rec.Proposal.ID)
	if no != none || why == notFound {
		return h.refused(v.by, why)
	}
	return h.proposal(ctx, now, why, s)
}
