package approvalweb_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

func operationOf(p approval.Proposal) idem.Key {
	return idem.Key{Tenant: p.Tenant, Operation: idem.OperationID(p.Tenant, p.ID)}
}

// admit takes the proposal's operation into the ledger, its approval used where there is one.
func (d *desk) admit(p approval.Proposal) idem.Record {
	d.t.Helper()
	rec, _, err := d.ledger.Admit(d.t.Context(), idem.Command{
		Key: operationOf(p), Tool: p.Tool, Proposal: p.ID, Run: p.Run, RequestHash: p.Digest, Resource: p.Resource, Body: p.Plan,
		ProviderKey: "key-77", ExpiresIn: time.Hour, Contract: idem.StatusQueryable,
	}, false)
	require.NoError(d.t, err)
	return rec
}

func (d *desk) claim(p approval.Proposal) idem.Claim {
	d.t.Helper()
	d.admit(p)
	_, _, err := d.approvals.Consume(d.t.Context(), p.Tenant, p.ID, p.Digest, operationOf(p).Operation)
	require.NoError(d.t, err)
	c, err := d.ledger.Claim(d.t.Context(), operationOf(p), "worker-3", time.Minute)
	require.NoError(d.t, err)
	return c
}

func (d *desk) finish(c idem.Claim, o idem.Outcome) {
	d.t.Helper()
	_, err := d.ledger.Finish(d.t.Context(), c, o)
	require.NoError(d.t, err)
}

func (d *desk) close(p approval.Proposal, to idem.State) {
	d.t.Helper()
	d.admit(p)
	_, err := d.ledger.Close(d.t.Context(), operationOf(p), to, envelope.Cancelled)
	require.NoError(d.t, err)
}

// lost is a proposal that was approved and sent, and whose answer was lost.
func (d *desk) lost(alter ...func(*approval.Proposal)) (approval.Proposal, idem.Claim) {
	d.t.Helper()
	p := d.propose(alter...)
	_, err := d.approvals.Decide(d.t.Context(), p.Tenant, p.ID, approval.Decision{Approved: true, By: people["grace"], Digest: p.Digest})
	require.NoError(d.t, err)
	c := d.claim(p)
	d.finish(c, idem.Outcome{State: idem.Unknown})
	return p, c
}

// unopened is a ledger in which nothing that is sealed opens.
type unopened struct{ idem.Ledger }

func (unopened) without(r idem.Record) idem.Record {
	r.Command.Body, r.Result, r.Sealed = nil, nil, idem.ErrSealed
	return r
}

func (u unopened) Find(ctx context.Context, k idem.Key) (idem.Record, error) {
	r, err := u.Ledger.Find(ctx, k)
	if err != nil {
		return r, err
	}
	return u.without(r), idem.ErrSealed
}

func (u unopened) Unknown(ctx context.Context, tenant string, page idem.Page) ([]idem.Record, string, error) {
	rs, next, err := u.Ledger.Unknown(ctx, tenant, page)
	for i := range rs {
		rs[i] = u.without(rs[i])
	}
	return rs, next, err
}

// An operation whose body was altered is in the queue, says so, and can be resolved.
func TestOperationThatDoesNotOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, _ := d.lost()
	d.config.Ledger = unopened{d.ledger}
	olga := d.visit("olga")
	olga.get("/approvals/operations").says(http.StatusOK, operationAt(p), "1 attempt, 0 late answers; parts do not open")
	page := olga.get(operationAt(p)).says(http.StatusOK, "Nobody knows yet", "Parts of its record do not open", "Say what became of it")
	d.visit("grace").get(at(p)).says(http.StatusOK, "Nobody knows yet", "Parts of its record do not open")
	olga.post(operationAt(p)+"/resolve", answers(page.form(), "succeeded", "seen at the provider", "ticket 4"))
	require.Equal(t, idem.Succeeded, d.state(p))
}

func (d *desk) state(p approval.Proposal) idem.State {
	d.t.Helper()
	rec, err := d.ledger.Find(d.t.Context(), operationOf(p))
	require.NoError(d.t, err)
	return rec.State
}

func operationAt(p approval.Proposal) string {
	return "/approvals/operations/" + operationOf(p).Operation
}

func answers(form url.Values, state, reason, evidence string) url.Values {
	form.Set("state", state)
	form.Set("reason", reason)
	form.Set("evidence", evidence)
	return form
}

func TestOperationsQueue(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.config.PageSize = 2
	olga := d.visit("olga")
	olga.get("/approvals/operations").says(http.StatusOK, "No unknown outcome is yours to resolve.")
	ps := make([]approval.Proposal, 0, 3)
	for range 3 {
		p, _ := d.lost()
		ps = append(ps, p)
		d.clock.forward(time.Second)
	}
	first := olga.get("/approvals/operations").says(http.StatusOK, operationAt(ps[0]), operationAt(ps[1]), "2 unknown outcomes on this page", "1 attempt, 0 late answers",
		"Replace the shipping address of customer C-1842").silent(operationAt(ps[2]))
	olga.get(nextPage(t, first)).says(http.StatusOK, operationAt(ps[2]), "1 unknown outcome.", "First page").silent(operationAt(ps[0]))
	olga.get("/approvals/operations?after=%00").says(http.StatusBadRequest, "There is no such page")

	for _, who := range []string{"grace", "mallet"} {
		d.visit(who).get("/approvals/operations").says(http.StatusOK, "No unknown outcome is yours").silent("op_", "C-1842")
	}
	d.config.Ledger = noLedger{d.ledger}
	d.visit("olga").get("/approvals/operations").says(http.StatusServiceUnavailable)
}

func TestOperation(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, c := d.lost(func(p *approval.Proposal) { p.Diffs[1].After = "Lübeck\u202e" })
	_, err := d.ledger.Finish(t.Context(), c, idem.Outcome{
		State: idem.Succeeded, Receipt: "rcpt-9", Result: jsontext.Value(`{"new_version":"18<script>"}`),
	})
	require.ErrorIs(t, err, idem.ErrFenced, "kept as evidence")
	d.visit("olga").get(operationAt(p)).says(http.StatusOK,
		"Nobody knows yet whether it was carried out", operationOf(p).Operation, "key-77", "worker-3", "proves nothing", "2026-03-09 16:15:00 UTC",
		"<b>succeeded</b>, from attempt 1", "rcpt-9", "18&lt;script&gt;", "17 Example Lane", "4 Harbour Row", "There are characters here that cannot be seen",
		"from <span class=\"left\">2026-03-09 16:16:00 UTC</span> on", "<form").silent("<script>")

	d.visit("grace").get(operationAt(p)).says(http.StatusForbidden, "You may not resolve this").silent("key-77")
	d.visit("mallet").get(operationAt(p)).says(http.StatusNotFound).silent("key-77")
	d.visit("olga").get("/approvals/operations/op_none").says(http.StatusNotFound)

	d.config.Approvals = down{d.approvals}
	d.visit("olga").get(operationAt(p)).says(http.StatusOK, "The proposal is no longer kept", "commit_address_change_v2", "<form")
}

func TestResolve(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, _ := d.lost()
	olga := d.visit("olga")
	form := olga.get(operationAt(p)).form()
	for _, c := range []struct {
		name, state, reason, evidence string
		says                          string
	}{
		{"nothing", "", "", "", "Say what became of it"},
		{"another state", "cancelled", "because", "ticket", "Say what became of it"},
		{"no reason", "succeeded", " ", "ticket", "Say why you are sure"},
		{"long reason", "succeeded", strings.Repeat("x", 501), "ticket", "Say why you are sure"},
		{"no evidence", "succeeded", "because", "", "Say what proves it"},
		{"long evidence", "succeeded", "because", strings.Repeat("x", 2001), "Say what proves it"},
	} {
		olga.post(operationAt(p)+"/resolve", answers(form, c.state, c.reason, c.evidence)).says(http.StatusUnprocessableEntity, c.says)
		require.Equal(t, idem.Unknown, d.state(p), c.name)
	}
	form = answers(form, "succeeded", "The carrier has it.", "Ticket 4711\r\nLabel 88")
	for range 2 { // twice is once
		sent := olga.post(operationAt(p)+"/resolve", form)
		require.Equal(t, http.StatusSeeOther, sent.status, sent.words())
		require.Equal(t, operationAt(p), sent.header.Get("Location"))
	}
	rec, err := d.ledger.Find(t.Context(), operationOf(p))
	require.NoError(t, err)
	require.Equal(t, idem.Resolution{State: idem.Succeeded, By: "olga", Reason: "The carrier has it.", Evidence: "Ticket 4711\nLabel 88"}, *rec.Resolution)
	olga.get(operationAt(p)).says(http.StatusOK, "Carried out", "Resolved by", "The carrier has it.").silent("<form")
	d.visit("grace").get(at(p)).says(http.StatusOK, "Carried out", "Resolved by", "<bdi>olga</bdi>")
	olga.post(operationAt(p)+"/resolve", answers(form, "failed", "No.", "None.")).says(http.StatusConflict, "It is no longer unknown")
	require.Equal(t, int64(1), d.resolved.Load(), "what is refused here is not handed on, and what was said is not said again")
}

func TestResolveTooEarly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, _ := d.lost()
	olga := d.visit("olga")
	form := answers(olga.get(operationAt(p)).form(), "failed", "The carrier never saw it.", "Ticket 4712")
	olga.post(operationAt(p)+"/resolve", form).says(http.StatusConflict, "It is too early to say that it failed", "2026-03-09 16:16:00 UTC",
		`value="failed" checked`, "The carrier never saw it.</textarea>", "Ticket 4712</textarea>")
	require.Equal(t, idem.Unknown, d.state(p))
	d.clock.forward(time.Minute)
	olga.post(operationAt(p)+"/resolve", form).says(http.StatusSeeOther)
	require.Equal(t, idem.Failed, d.state(p))
}

func TestResolveIsForWhatWasShown(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, c := d.lost()
	other, _ := d.lost()
	olga := d.visit("olga")
	form := answers(olga.get(operationAt(p)).form(), "succeeded", "because", "ticket")

	for name, bad := range map[string]url.Values{
		"no token":         {},
		"of another":       olga.get(operationAt(other)).form(),
		"of a decision":    {"token": {"hs256:w1:00"}},
		"altered knowing":  {"token": form["token"], "known": {form.Get("known") + " "}},
		"without knowing":  {"token": form["token"]},
		"another's, known": {"token": olga.get(operationAt(other)).form()["token"], "known": form["known"]},
	} {
		olga.post(operationAt(p)+"/resolve", answers(bad, "succeeded", "because", "ticket")).says(http.StatusForbidden, "This form is not valid here")
		require.Equal(t, idem.Unknown, d.state(p), name)
	}
	d.visit("grace").post(operationAt(p)+"/resolve", form).says(http.StatusForbidden, "You may not resolve this")
	d.visit("mallet").post(operationAt(p)+"/resolve", form).says(http.StatusNotFound)

	_, err := d.ledger.Finish(t.Context(), c, idem.Outcome{State: idem.Failed, Failure: envelope.New(envelope.PreconditionFailed)})
	require.ErrorIs(t, err, idem.ErrFenced)
	olga.post(operationAt(p)+"/resolve", form).says(http.StatusConflict, "More is known than you were shown", "PRECONDITION_FAILED")
	require.Equal(t, idem.Unknown, d.state(p))
}

func TestRefusalsOfResolve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{idem.ErrNotFound, http.StatusNotFound, "There is nothing here"},
		{&idem.Gone{State: idem.Failed}, http.StatusGone, "It is no longer kept"},
		{approval.ErrNotAllowed, http.StatusForbidden, "You may not resolve this"},
		{idem.ErrBusy, http.StatusConflict, "It is too early"},
		{idem.ErrState, http.StatusConflict, "It is no longer unknown"},
		{errors.New("pq: 10.0.0.9"), http.StatusServiceUnavailable, "It is not known whether that was stored"},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p, _ := d.lost()
			d.config.Resolve = func(context.Context, idem.Key, approval.Principal, idem.Resolution) (idem.Record, error) {
				return idem.Record{}, fmt.Errorf("tool: resolve: %w", c.err)
			}
			olga := d.visit("olga")
			form := answers(olga.get(operationAt(p)).form(), "succeeded", "because", "ticket")
			olga.post(operationAt(p)+"/resolve", form).says(c.status, c.says).silent("10.0.0.9")
		})
	}
}

func TestPurgedOperation(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	d.close(p, idem.Cancelled)
	_, err := d.ledger.Purge(t.Context(), 0, time.Hour)
	require.NoError(t, err)
	d.visit("olga").get(operationAt(p)).says(http.StatusGone, "It is no longer kept")
}

func TestWithoutResolve(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, _ := d.lost()
	d.config.Resolve = nil
	olga := d.visit("olga")
	olga.get("/approvals/").says(http.StatusOK).silent("Unknown outcomes")
	require.Equal(t, http.StatusNotFound, olga.get("/approvals/operations").status)
	require.Equal(t, http.StatusNotFound, olga.get(operationAt(p)).status)
	d.visit("grace").get(at(p)).says(http.StatusOK, "Nobody knows yet").silent("/operations")
}

func TestOperatorIsShownTheWay(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	people := people["grace"]
	people.Roles = []string{"lead", "operator"}
	d.config.Identify = func(*http.Request) (approval.Principal, error) { return people, nil }
	p, _ := d.lost()
	d.visit("").get(at(p)).says(http.StatusOK, `href="`+operationAt(p)+`"`)
}
