package approvalweb

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
)

// operationsPage is the operator's queue: operations whose outcome nobody knows, the oldest first.
type operationsPage struct {
	frame
	Rows  []operationRow
	Said  string
	Next  string
	Later bool
}

type operationRow struct {
	Address, Summary, Tool, Operation string
	Since                             time.Time
	Attempts, Late                    string
}

func (h *Handler) operations(r *http.Request, by approval.Principal) answer {
	ctx, cursor := r.Context(), r.URL.Query().Get("after")
	recs, next, err := h.cfg.Ledger.Unknown(ctx, by.Tenant, idem.Page{Size: h.cfg.PageSize, Cursor: cursor})
	switch {
	case errors.Is(err, idem.ErrInvalid):
		return h.refused(by, badPage)
	case err != nil:
		h.failed("operations", err)
		return h.refused(by, notAsked)
	}
	page := operationsPage{frame: h.frame(by, "Unknown outcomes"), Later: cursor != ""}
	for _, op := range recs {
		switch err := h.cfg.Authority.MayResolve(ctx, by, by.Tenant, op.Command.Key.Operation); {
		case errors.Is(err, approval.ErrNotAllowed):
			continue
		case err != nil:
			h.failed("authority", err)
			return h.refused(by, notAsked)
		}
		page.Rows = append(page.Rows, h.operationRow(ctx, op))
	}
	page.Said = saidOfOperations(len(page.Rows), next != "")
	if next != "" {
		page.Next = h.cfg.Path + "/operations?after=" + url.QueryEscape(next)
	}
	return answer{status: http.StatusOK, page: "operations", data: page}
}

func saidOfOperations(n int, more bool) string {
	said := "No unknown outcome is yours to resolve"
	if n > 0 {
		said = count(n, "unknown outcome")
	}
	if more {
		return said + " on this page; there are more pages."
	}
	return said + "."
}

func (h *Handler) operationRow(ctx context.Context, op idem.Record) operationRow {
	row := operationRow{
		Address: h.operationPath(op.Command.Key.Operation), Tool: op.Command.Tool, Operation: op.Command.Key.Operation,
		Since: op.CreatedAt, Attempts: count(len(op.Attempts), "attempt"), Late: count(len(op.Evidence), "late answer"),
	}
	if op.Sealed != nil {
		row.Late += "; parts do not open"
	}
	if rec, err := h.cfg.Approvals.Find(ctx, op.Command.Key.Tenant, op.Command.Proposal); err == nil {
		row.Summary = rec.Proposal.Summary
	}
	return row
}

func (h *Handler) operationPath(id string) string {
	return h.cfg.Path + "/operations/" + url.PathEscape(id)
}

// operationPage shows one operation, with all that is known of it, and the form to say what became of it.
type operationPage struct {
	frame
	Problem  saying
	Fate     fate
	Unknown  bool
	Tool     string
	Change   *change // nil: the proposal is no longer kept
	Facts    []fact
	Attempts []idem.Attempt
	Late     []lateAnswer
	Earliest string // when "it failed" can be said

	Address, Token, Known   string
	State, Reason, Evidence string // as sent before
}

// lateAnswer is what a claim that had lost its place brought in.
type lateAnswer struct {
	Attempt string
	At      time.Time
	State   string
	Facts   []fact
	Result  []string // the lines of a result
}

// loadOperation finds an operation of the principal's tenant, if they may resolve it.
func (h *Handler) loadOperation(ctx context.Context, by approval.Principal, id string) (idem.Record, problem) {
	switch err := h.cfg.Authority.MayResolve(ctx, by, by.Tenant, id); {
	case errors.Is(err, approval.ErrNotAllowed):
		return idem.Record{}, notOperator
	case err != nil:
		h.failed("authority", err)
		return idem.Record{}, notAsked
	}
	op, err := h.cfg.Ledger.Find(ctx, idem.Key{Tenant: by.Tenant, Operation: id})
	switch {
	case errors.Is(err, idem.ErrNotFound):
		return idem.Record{}, notFound
	case errors.Is(err, idem.ErrGone):
		return idem.Record{}, forgotten
	case errors.Is(err, idem.ErrSealed): // it can be resolved all the same
		h.failed("ledger", err)
	case err != nil:
		h.failed("ledger", err)
		return idem.Record{}, notAsked
	}
	return op, none
}

func (h *Handler) showOperation(r *http.Request, by approval.Principal) answer {
	op, no := h.loadOperation(r.Context(), by, r.PathValue("id"))
	if no != none {
		return h.refused(by, no)
	}
	return h.operation(r.Context(), by, op, none, sent{})
}

func (h *Handler) operation(ctx context.Context, by approval.Principal, op idem.Record, why problem, s sent) answer {
	id := op.Command.Key.Operation
	page := operationPage{
		frame: h.frame(by, "Operation "+id), Problem: why.say(), Fate: outcome(op), Unknown: op.State == idem.Unknown, Tool: op.Command.Tool, Facts: operationFacts(op),
		Attempts: op.Attempts, Address: h.operationPath(id), Known: known(op),
		Token: h.signer.token(by, toResolve, id, known(op)),
		State: s.field("state"), Reason: s.again("reason"), Evidence: s.again("evidence"), Earliest: when(settled(op)),
	}
	page.Fate.Live = !page.Fate.Settled && !page.Unknown
	for _, e := range op.Evidence {
		page.Late = append(page.Late, newLateAnswer(op, e))
	}
	rec, err := h.cfg.Approvals.Find(ctx, by.Tenant, op.Command.Proposal)
	switch {
	case err == nil:
		c := h.change(rec.Proposal)
		page.Change, page.Title = &c, rec.Proposal.Summary
	case !errors.Is(err, approval.ErrNotFound):
		h.failed("proposal", err)
	}
	return answer{status: page.Problem.Status, page: "operation", data: page}
}

func operationFacts(op idem.Record) []fact {
	c := op.Command
	said := func(name, value string) fact {
		if value == "" {
			return fact{Name: name}
		}
		return fact{name, []string{value}}
	}
	return []fact{
		said("Operation", c.Key.Operation), said("Tool", c.Tool), said("Run", c.Run), said("Resource", c.Resource),
		said("The provider's key", c.ProviderKey), said("Its receipt", op.Receipt), said("The provider promises", promise(c.Contract)),
		said("Admitted", when(op.CreatedAt)), said("Last looked at", when(op.UpdatedAt)),
	}
}

func promise(c idem.Contract) string {
	switch c {
	case idem.ReplaySafe:
		return "the same key has one effect"
	case idem.StatusQueryable:
		return "to tell about a key; “not found” proves nothing"
	case idem.NotFoundIsFinal:
		return "to tell about a key; “not found” is final"
	case idem.None, "":
	}
	return "nothing"
}

func newLateAnswer(op idem.Record, e idem.Evidence) lateAnswer {
	l := lateAnswer{Attempt: "a question about it", At: e.At, State: string(e.Outcome.State), Result: resultLines(e.Outcome.Result)}
	for i, a := range op.Attempts {
		if a.Generation == e.Generation {
			l.Attempt = fmt.Sprintf("attempt %d", i+1)
		}
	}
	if e.Outcome.Receipt != "" {
		l.Facts = append(l.Facts, fact{"Receipt", []string{e.Outcome.Receipt}})
	}
	if e.Outcome.Failure != nil {
		l.Facts = append(l.Facts, fact{"Code", []string{codeWords(e.Outcome.Failure)}})
	}
	return l
}

func resultLines(result jsontext.Value) []string {
	if len(result) == 0 {
		return nil
	}
	if lines := planLines(result); lines != nil {
		return lines
	}
	return strings.Split(string(result), "\n")
}

// known names what is known of an operation: a form that was made when less was known is not believed.
func known(op idem.Record) string {
	return fmt.Sprintf("%s %d attempts %d late", op.Command.RequestHash, len(op.Attempts), len(op.Evidence))
}

// settled is when no request can be under way any more, as far as the record shows.
func settled(op idem.Record) time.Time {
	wait := op.Command.Settle
	if wait == 0 {
		wait = idem.DefaultSettle
	}
	for i := len(op.Attempts) - 1; i >= 0; i-- {
		if end := op.Attempts[i].EndedAt; !end.IsZero() {
			return end.Add(wait)
		}
	}
	return op.UpdatedAt.Add(wait)
}
