package approvalweb

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/toolcontract/toolcontract/approval"
)

// queuePage lists the proposals that wait for a decision, the oldest first, and are the principal's to see.
type queuePage struct {
	frame
	Rows  []waitingRow
	Said  string // the state of the list in a sentence
	Next  string // the address of the next page; empty: none
	Later bool   // not the first page
}

type waitingRow struct {
	Address, Summary string
	Requester, Run   string
	Timing           timing
	Level            string
	Final            bool
	Amount           string // empty: not said
	Environment      string // empty: not said
	Note             string // why it is not this person's turn; empty: it is
}

func (h *Handler) queue(r *http.Request, by approval.Principal) answer {
	cursor := r.URL.Query().Get("after")
	recs, next, err := h.cfg.Approvals.Pending(r.Context(), by.Tenant, approval.Page{Size: h.cfg.PageSize, Cursor: cursor})
	switch {
	case errors.Is(err, approval.ErrInvalid):
		return h.refused(by, badPage)
	case err != nil:
		h.failed("queue", err)
		return h.refused(by, notAsked)
	}
	page := queuePage{frame: h.frame(by, "Waiting for you"), Later: cursor != ""}
	mine := 0
	for _, rec := range recs {
		v, no := h.visible(r.Context(), by, rec)
		switch {
		case no == notYours:
			continue
		case no != none:
			return h.refused(by, no)
		}
		row := h.waitingRow(v)
		if row.Note == "" {
			mine++
		}
		page.Rows = append(page.Rows, row)
	}
	page.Said = saidOfQueue(mine, next != "")
	if next != "" {
		page.Next = h.cfg.Path + "/?after=" + url.QueryEscape(next)
	}
	return answer{status: http.StatusOK, page: "queue", data: page}
}

func saidOfQueue(mine int, more bool) string {
	said := "Nothing waits for your decision"
	switch {
	case mine == 1:
		said = "1 proposal waits for your decision"
	case mine > 1:
		said = count(mine, "proposal") + " wait for your decision"
	}
	if more {
		return said + " on this page; there are more pages."
	}
	return said + "."
}

func (h *Handler) waitingRow(v view) waitingRow {
	p := v.rec.Proposal
	w := waitingRow{
		Address: h.ProposalPath(p.ID), Summary: p.Summary, Requester: p.Requester.Subject, Run: p.Run, Timing: timed(v.rec),
		Level: levelWords(p.Requirement.Level), Final: h.final(p), Environment: p.Consequence.Environment, Note: note(v),
	}
	if p.Consequence.AmountMinor != nil {
		w.Amount = money(*p.Consequence.AmountMinor, p.Consequence.Currency)
	}
	return w
}

func note(v view) string {
	_, has := v.mine()
	switch {
	case has:
		return "You have approved it; another approver must agree."
	case v.barred():
		return "You asked for it yourself."
	case !v.may:
		return "You asked for it; somebody else decides."
	}
	return ""
}

func levelWords(l approval.Level) string {
	switch l {
	case approval.One:
		return "One approver"
	case approval.Two:
		return "Two approvers"
	case approval.None, approval.Deny:
	}
	return "No approver"
}
