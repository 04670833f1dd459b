package approvalweb

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/toolcontract/toolcontract/approval"
)

// view is a proposal as one principal may see it.
type view struct {
	rec approval.Record
	by  approval.Principal
	may bool // by may decide, as far as the authority says
}

func (v view) own() bool { return v.by.Is(v.rec.Proposal.Requester) }

// barred: by asked for it, and the rule lets no requester decide.
func (v view) barred() bool { return v.own() && !v.rec.Proposal.Requirement.Self }

// mine returns the decision that by has made.
func (v view) mine() (approval.Decision, bool) {
	i := slices.IndexFunc(v.rec.Decisions, func(d approval.Decision) bool { return d.By.Is(v.by) })
	if i < 0 {
		return approval.Decision{}, false
	}
	return v.rec.Decisions[i], true
}

// open reports whether by can still decide.
func (v view) open() bool {
	_, has := v.mine()
	return v.rec.State == approval.Pending && v.may && !v.barred() && !has
}

// load finds a proposal of the principal's tenant, if it is theirs to see: those see it who may decide about it and who
// asked for it.
func (h *Handler) load(ctx context.Context, by approval.Principal, id string) (view, problem) {
	rec, err := h.cfg.Approvals.Find(ctx, by.Tenant, id)
	switch {
	case errors.Is(err, approval.ErrNotFound):
		return view{}, notFound
	case err != nil:
		h.failed("proposal", err)
		return view{}, notAsked
	case rec.Proposal.Tenant != by.Tenant:
		return view{}, notFound
	}
	return h.visible(ctx, by, rec)
}

// visible makes a record a view, if it is the principal's to see.
func (h *Handler) visible(ctx context.Context, by approval.Principal, rec approval.Record) (view, problem) {
	v := view{rec: rec, by: by}
	switch err := h.cfg.Authority.MayApprove(ctx, by, rec.Proposal.Clone()); {
	case err == nil:
		v.may = true
	case !errors.Is(err, approval.ErrNotAllowed):
		h.failed("authority", err)
		return view{}, notAsked
	case !v.own():
		return view{}, notYours
	}
	return v, none
}

// fresh checks the target now.
func (h *Handler) fresh(ctx context.Context, p approval.Proposal) freshness {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.FreshFor)
	defer cancel()
	err := h.cfg.Fresh(ctx, p.Clone())
	f := judged(err)
	if f == "" {
		h.failed("fresh", err)
	}
	return f
}

func (h *Handler) showProposal(r *http.Request, by approval.Principal) answer {
	v, no := h.load(r.Context(), by, r.PathValue("id"))
	if no != none {
		return h.refused(by, no)
	}
	return h.proposal(r.Context(), v, none, sent{})
}

// proposalPage shows one proposal: to be decided, or what became of it.
type proposalPage struct {
	frame
	Problem saying // of what was sent; its zero Heading: none
	Change  change
	Timing  timing
	Waits   bool // for decisions
	Open    bool // for this person's decision
	Barred  bool
	Approve bool // the button can be used
	Fresh   freshness
	Fate    fate
	Verb    string
	Words   []string // the agent's, a paragraph each

	Address, Token, Digest string
	Reason, Typed          string // as sent before
}

// proposal is the page of one proposal, with what was wrong with what was sent.
func (h *Handler) proposal(ctx context.Context, v view, why problem, s sent) answer {
	p := v.rec.Proposal
	page := proposalPage{
		frame: h.frame(v.by, p.Summary), Problem: why.say(), Change: h.change(p), Timing: timed(v.rec),
		Waits: v.rec.State == approval.Pending, Open: v.open(), Barred: v.barred(), Verb: h.verb(p), Fate: h.fate(ctx, v),
		Words: h.words(ctx, p), Address: h.ProposalPath(p.ID), Digest: p.Digest,
		Reason: s.again("reason"), Typed: s.again("target"),
	}
	page.Fate.Live = !page.Fate.Settled && !page.Open
	if page.Open {
		page.Token = h.signer.token(v.by, toDecide, p.ID, p.Digest)
		page.Fresh = h.fresh(ctx, p)
		page.Approve = page.Fresh == isFresh
	}
	return answer{status: page.Problem.Status, page: "proposal", data: page}
}

// ProposalPath returns where a proposal is shown, below the origin that the host serves the page at: "/approvals/p/p_06f2".
func (h *Handler) ProposalPath(id string) string { return h.cfg.Path + "/p/" + url.PathEscape(id) }

// words are what the agent wrote, a paragraph each, bounded.
func (h *Handler) words(ctx context.Context, p approval.Proposal) []string {
	if h.cfg.Words == nil {
		return nil
	}
	text, err := h.cfg.Words(ctx, p.Clone())
	if err != nil {
		h.failed("words", err)
		return nil
	}
	return paragraphs(text)
}
