package approvalweb_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvalweb"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
)

func TestApprove(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace := d.visit("grace")

	shown := grace.get(at(p)).says(http.StatusOK, "Replace the shipping address of customer C-1842", "17 Example Lane", "4 Harbour Row",
		"Replace shipping address</bdi></button>", "checked just now")
	sent := grace.post(at(p)+"/approve", shown.form())
	require.Equal(t, http.StatusSeeOther, sent.status, sent.body)
	require.Equal(t, at(p), sent.header.Get("Location"))

	rec := d.record(p.ID)
	require.Equal(t, approval.Approved, rec.State)
	require.Equal(t, people["grace"], rec.Decisions[0].By)
	require.Equal(t, p.Digest, rec.Decisions[0].Digest)
	grace.get(at(p)).says(http.StatusOK, "Approved, not yet carried out", "by <bdi>grace</bdi>").silent("<form")
}

func TestReject(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, reason string
		status       int
		says         string
		why          string
	}{
		{"without a reason", "", http.StatusUnprocessableEntity, "Say why you turn it down", "the agent is told why"},
		{"with spaces alone", " \r\n\t ", http.StatusUnprocessableEntity, "Say why you turn it down", "no reason either"},
		{"too long", strings.Repeat("ä", 501), http.StatusUnprocessableEntity, "This reason cannot be taken", "bounded in characters"},
		{"not UTF-8", "a\xff", http.StatusUnprocessableEntity, "This reason cannot be taken", "not text"},
		{"as long as can be", strings.Repeat("ä", 500), http.StatusSeeOther, "", "500 characters are allowed"},
		{"in lines", " Ask first.\r\nThe customer is away. ", http.StatusSeeOther, "", "a browser sends CRLF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.propose()
			grace := d.visit("grace")
			r := grace.post(at(p)+"/reject", grace.get(at(p)).form("reason", c.reason))
			r.says(c.status, c.says)
			rec := d.record(p.ID)
			if c.status != http.StatusSeeOther {
				require.Equal(t, approval.Pending, rec.State, c.why)
				require.Zero(t, d.calls.Load(), c.why)
				r.says(c.status, `aria-invalid="true"`, `<a href="#reason">`)
				return
			}
			require.Equal(t, approval.Rejected, rec.State, c.why)
			require.Equal(t, strings.TrimSpace(strings.ReplaceAll(c.reason, "\r", "")), rec.Decisions[0].Reason)
			grace.get(at(p)).says(http.StatusOK, "Turned down", "The agent reads the reason", "<q>").silent("<form")
		})
	}
}

func TestRejectKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace := d.visit("grace")
	reason := strings.Repeat("why? ", 101)
	grace.post(at(p)+"/reject", grace.get(at(p)).form("reason", reason)).
		says(http.StatusUnprocessableEntity, strings.TrimSpace(reason)+"</textarea>")
}

func TestStale(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace := d.visit("grace")
	form := grace.get(at(p)).form()

	d.checksWith(staleError())
	grace.get(at(p)).says(http.StatusOK, "It has changed since it was proposed", " disabled><bdi>Replace shipping address").silent("checked just now")
	grace.post(at(p)+"/approve", form).says(http.StatusConflict, "It has changed since it was proposed", "Your approval was not stored")
	require.Equal(t, approval.Pending, d.record(p.ID).State)
	require.Zero(t, d.calls.Load(), "nothing was even asked")

	form.Set("reason", "stale")
	require.Equal(t, http.StatusSeeOther, grace.post(at(p)+"/reject", form).status, "a no needs no fresh target")
}

func TestNotChecked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace := d.visit("grace")
	form := grace.get(at(p)).form()
	d.checksWith(errors.New("dial tcp 10.0.0.7: secret-host is down"))
	grace.get(at(p)).says(http.StatusOK, "It could not be checked", "Check again", " disabled><bdi>").silent("secret-host", "checked just now")
	grace.post(at(p)+"/approve", form).says(http.StatusServiceUnavailable, "It could not be checked").silent("secret-host")
	require.Equal(t, approval.Pending, d.record(p.ID).State)
}

func TestFreshIsBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	d.config.FreshFor = time.Millisecond
	d.config.Fresh = func(ctx context.Context, _ approval.Proposal) error {
		end, bounded := ctx.Deadline()
		require.True(t, bounded)
		require.Less(t, time.Until(end), time.Second)
		<-ctx.Done() // a target that does not answer
		return ctx.Err()
	}
	d.visit("grace").get(at(p)).says(http.StatusOK, "It could not be checked")
}

// The host's own functions get copies: none of them alters what is shown.
func TestHostCannotAlterWhatIsShown(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	alter := func(p approval.Proposal) { p.Diffs[0].After, p.Plan[2] = "elsewhere", 'X' }
	d.config.Authority = altering{alter: alter}
	d.config.Fresh = func(_ context.Context, p approval.Proposal) error {
		alter(p)
		return nil
	}
	d.config.Words = func(_ context.Context, p approval.Proposal) (string, error) {
		alter(p)
		return "", nil
	}
	d.visit("grace").get(at(p)).says(http.StatusOK, "4 Harbour Row", "&#34;city&#34;").silent("elsewhere")
}

type altering struct {
	approval.ByRole
	alter func(approval.Proposal)
}

func (a altering) MayApprove(ctx context.Context, by approval.Principal, p approval.Proposal) error {
	a.alter(p)
	return a.ByRole.MayApprove(ctx, by, p)
}

func TestExpired(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace := d.visit("grace")
	form := grace.get(at(p)).says(http.StatusOK, `role="timer" data-left="900000">15:00</b>`, "16:30 UTC").form("reason", "late")
	d.clock.forward(15*time.Minute - 1)
	grace.get(at(p)).says(http.StatusOK, "<form", ">0:01</b>")
	d.clock.forward(1)
	grace.get(at(p)).says(http.StatusOK, "Its time is over", "by 16:30 UTC").silent("<form")
	grace.post(at(p)+"/approve", form).says(http.StatusConflict, "Its time is over")
	grace.post(at(p)+"/reject", form).says(http.StatusConflict, "Its time is over")
	require.Empty(t, d.record(p.ID).Decisions)
	require.Zero(t, d.calls.Load(), "nothing was even asked")
}

func TestOtherTenant(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace, mallet := d.visit("grace"), d.visit("mallet")
	form := grace.get(at(p)).form("reason", "no")
	nothing := mallet.get("/approvals/p/p_none").says(http.StatusNotFound)
	for _, r := range []reply{mallet.get(at(p)), mallet.post(at(p)+"/approve", form), mallet.post(at(p)+"/reject", form)} {
		r.says(http.StatusNotFound).silent("C-1842", "Harbour")
		require.Equal(t, nothing.body, r.body, "no difference from one that is not there")
	}
	require.Equal(t, approval.Pending, d.record(p.ID).State)
	mallet.get("/approvals/").says(http.StatusOK, "Nothing waits").silent("C-1842")
}

func TestStoreThatMixesTenants(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	d.config.Approvals = mixedUp{d.approvals}
	mallet := d.visit("mallet")
	mallet.get(at(p)).says(http.StatusNotFound).silent("C-1842")
	mallet.get("/approvals/").says(http.StatusOK).silent("C-1842")
}

// mixedUp answers every tenant with the records of acme.
type mixedUp struct{ approval.Store }

func (m mixedUp) Find(ctx context.Context, _, id string) (approval.Record, error) {
	return m.Store.Find(ctx, "acme", id)
}

func (m mixedUp) Pending(ctx context.Context, _ string, page approval.Page) ([]approval.Record, string, error) {
	return m.Store.Pending(ctx, "acme", page)
}

func TestSelfApproval(t *testing.T) {
	t.Parallel()
	byGrace := func(p *approval.Proposal) { p.Requester = people["grace"] }
	t.Run("refused in words", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.propose(byGrace)
		grace, linus := d.visit("grace"), d.visit("linus")
		grace.get(at(p)).says(http.StatusOK, "You asked for this yourself", "Somebody else must decide", "4 Harbour Row").silent("<form")
		form := linus.get(at(p)).form()
		grace.post(at(p)+"/approve", form).says(http.StatusForbidden, "This form is not valid here")
		require.Zero(t, d.calls.Load())
	})
	t.Run("refused with a form of her own", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.propose(byGrace)
		form := lenient(d).visit("grace").get(at(p)).form()
		d.visit("grace").post(at(p)+"/approve", form).says(http.StatusForbidden, "Nobody approves what they have asked for")
		require.Zero(t, d.calls.Load())
		require.Equal(t, approval.Pending, d.record(p.ID).State)
	})
	t.Run("allowed by the rule", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.propose(byGrace, func(p *approval.Proposal) { p.Requirement.Self = true })
		grace := d.visit("grace")
		form := grace.get(at(p)).says(http.StatusOK, "the requester may be one").form()
		require.Equal(t, http.StatusSeeOther, grace.post(at(p)+"/approve", form).status)
		require.Equal(t, approval.Approved, d.record(p.ID).State)
	})
}

// lenient is the same desk with a store that says that requesters may decide: its pages have forms, whose tokens are good.
func lenient(d *desk) *desk {
	l := &desk{t: d.t, config: d.config}
	l.config.Approvals = selfAllowed{d.approvals}
	return l
}

type selfAllowed struct{ approval.Store }

func (s selfAllowed) Find(ctx context.Context, tenant, id string) (approval.Record, error) {
	rec, err := s.Store.Find(ctx, tenant, id)
	rec.Proposal.Requirement.Self = true
	return rec, err
}

func TestNotAuthorized(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	form := d.visit("grace").get(at(p)).form("reason", "no")
	ada := d.visit("ada")
	ada.get(at(p)).says(http.StatusForbidden, "You may not decide about this").silent("C-1842", "Harbour", "<form")
	ada.post(at(p)+"/approve", form).says(http.StatusForbidden).silent("C-1842")
	ada.post(at(p)+"/reject", form).says(http.StatusForbidden).silent("C-1842")
	require.Equal(t, approval.Pending, d.record(p.ID).State)

	own := d.propose(func(p *approval.Proposal) { p.Requester = people["ada"] })
	ada.get(at(own)).says(http.StatusOK, "You asked for this yourself").silent("<form")
	self := d.propose(func(p *approval.Proposal) { p.Requester, p.Requirement.Self = people["ada"], true })
	ada.get(at(self)).says(http.StatusOK, "deciding needs a role or a group that you do not have").silent("<form")
}

func TestAuthorityThatFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	d.config.Authority = absent{}
	grace := d.visit("grace")
	grace.get(at(p)).says(http.StatusServiceUnavailable).silent("C-1842", "ldap")
	grace.get("/approvals/").says(http.StatusServiceUnavailable).silent("C-1842", "ldap")
	grace.get("/approvals/operations/op_1").says(http.StatusServiceUnavailable).silent("ldap")
}

// absent is an authority that cannot be asked.
type absent struct{ approval.ByRole }

var errAbsent = errors.New("ldap://directory is down")

func (absent) MayApprove(context.Context, approval.Principal, approval.Proposal) error {
	return errAbsent
}

func (absent) MayResolve(context.Context, approval.Principal, string, string) error { return errAbsent }

func TestDoubleSubmit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace := d.visit("grace")
	form := grace.get(at(p)).form()
	var clicks sync.WaitGroup
	for range 8 {
		clicks.Go(func() { grace.post(at(p)+"/approve", form).says(http.StatusSeeOther) })
	}
	clicks.Wait()
	require.Len(t, d.record(p.ID).Decisions, 1)

	_, _, err := d.approvals.Consume(t.Context(), "acme", p.ID, p.Digest, idem.OperationID("acme", p.ID))
	require.NoError(t, err)
	d.checksWith(staleError()) // by the change itself
	before := d.calls.Load()
	grace.post(at(p)+"/approve", form).says(http.StatusSeeOther)
	require.Equal(t, before, d.calls.Load(), "what is stored is not sent again")
	d.clock.forward(time.Hour)
	grace.post(at(p)+"/approve", form).says(http.StatusSeeOther)
	require.Len(t, d.record(p.ID).Decisions, 1)

	form.Set("reason", "changed my mind")
	grace.post(at(p)+"/reject", form).says(http.StatusConflict, "It is being carried out already")
}

func TestDecidedMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace, linus := d.visit("grace"), d.visit("linus")
	form := grace.get(at(p)).form()
	linus.post(at(p)+"/reject", linus.get(at(p)).form("reason", "not now")).says(http.StatusSeeOther)
	grace.post(at(p)+"/approve", form).says(http.StatusConflict, "It is decided already", "Turned down", "not now")
	require.Len(t, d.record(p.ID).Decisions, 1)
	require.Equal(t, int64(1), d.calls.Load(), "linus's alone")
}

func TestTwoApprovers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose(twoApprovers)
	grace, linus := d.visit("grace"), d.visit("linus")
	form := grace.get(at(p)).says(http.StatusOK, "two different approvers").form("reason", "no")
	grace.post(at(p)+"/approve", form).says(http.StatusSeeOther)
	grace.get(at(p)).says(http.StatusOK, "Another approver must agree").silent("<form")
	grace.post(at(p)+"/reject", form).says(http.StatusConflict, "It is decided already")
	second := linus.get(at(p)).says(http.StatusOK, "Decided so far", "by <bdi>grace</bdi>", "<form").form()
	require.Equal(t, approval.Pending, d.record(p.ID).State)
	linus.post(at(p)+"/approve", second).says(http.StatusSeeOther)
	require.Equal(t, approval.Approved, d.record(p.ID).State)
}

func TestTypedTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, id, typed string
		status          int
		why             string
	}{
		{"not typed", "C-1842", "", http.StatusUnprocessableEntity, "the name must be typed"},
		{"another", "C-1842", "C-1843", http.StatusUnprocessableEntity, "another name"},
		{"other case", "C-1842", "c-1842", http.StatusUnprocessableEntity, "exactly as shown"},
		{"typed", "C-1842", "C-1842", http.StatusSeeOther, "as shown"},
		{"with a space of the clipboard", "C-1842", " C-1842\n", http.StatusSeeOther, "outer spaces are not typed"},
		{"hidden character as shown", "C\u202e1842", "C⟦U+202E⟧1842", http.StatusSeeOther, "what is seen can be typed"},
		{"hidden character left out", "C\u202e1842", "C1842", http.StatusUnprocessableEntity, "not what is seen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.propose(irreversible, func(p *approval.Proposal) { p.Target.ID = c.id })
			grace := d.visit("grace")
			shown := grace.get(at(p)).says(http.StatusOK, "This cannot be taken back", "One parcel that leaves today")
			grace.post(at(p)+"/approve", shown.form("target", c.typed)).says(c.status)
			want := approval.Pending
			if c.status == http.StatusSeeOther {
				want = approval.Approved
			}
			require.Equal(t, want, d.record(p.ID).State, c.why)
		})
	}
	t.Run("by the tool's class", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.config.Writes["commit_address_change_v2"] = approvalweb.Write{Irreversible: true}
		p := d.propose()
		grace := d.visit("grace")
		shown := grace.get(at(p)).says(http.StatusOK, "This cannot be taken back", "No other change undoes this one")
		grace.post(at(p)+"/approve", shown.form()).says(http.StatusUnprocessableEntity, "That is not its name")
	})
	t.Run("a rejection needs none", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.propose(irreversible)
		grace := d.visit("grace")
		grace.post(at(p)+"/reject", grace.get(at(p)).form("reason", "no")).says(http.StatusSeeOther)
	})
}

func TestToken(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, other := d.propose(), d.propose()
	grace, linus := d.visit("grace"), d.visit("linus")
	good := grace.get(at(p)).form("reason", "no")
	for _, c := range []struct {
		name string
		form url.Values
		why  string
	}{
		{"none", url.Values{"digest": good["digest"]}, "anybody could send it"},
		{"empty", url.Values{"digest": good["digest"], "token": {""}}, "anybody could send it"},
		{"of another person", linus.get(at(p)).form(), "a token is one person's"},
		{"of another proposal", grace.get(at(other)).form(), "a token is one proposal's"},
		{"of another digest", url.Values{"digest": {p.Digest[:len(p.Digest)-1] + "_"}, "token": good["token"]}, "a token is for what was shown"},
		{"without the digest", url.Values{"token": good["token"]}, "a decision carries what was shown"},
		{"altered", url.Values{"digest": good["digest"], "token": {good.Get("token") + "0"}}, "HMAC"},
	} {
		for _, verb := range []string{"approve", "reject"} {
			c.form.Set("reason", "no")
			grace.post(at(p)+"/"+verb, c.form).says(http.StatusForbidden, "This form is not valid here")
			require.Equal(t, approval.Pending, d.record(p.ID).State, c.name+": "+c.why)
		}
	}
	require.Zero(t, d.calls.Load())

	d.config.Keys = []redact.Key{key("w2"), key("w1")}
	require.Equal(t, http.StatusSeeOther, d.visit("grace").post(at(p)+"/approve", good).status, "rotation: the old key still verifies")
	d.config.Keys = []redact.Key{key("w2")}
	d.visit("grace").post(at(other)+"/approve", grace.get(at(other)).form()).says(http.StatusForbidden)
}

func TestStoredProposalWasAltered(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	form := d.visit("grace").get(at(p)).form()
	d.config.Approvals = altered{d.approvals}
	d.visit("grace").post(at(p)+"/approve", form).says(http.StatusConflict, "This is not what was shown")
	require.Empty(t, d.record(p.ID).Decisions)
}

// altered answers with another digest than the one that was stored.
type altered struct{ approval.Store }

func (a altered) Find(ctx context.Context, tenant, id string) (approval.Record, error) {
	rec, err := a.Store.Find(ctx, tenant, id)
	rec.Proposal.Digest = strings.Replace(rec.Proposal.Digest, "hs256:", "hs999:", 1)
	return rec, err
}

func TestRefusalsOfDecide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{approval.ErrNotFound, http.StatusNotFound, "There is nothing here"},
		{approval.ErrSelf, http.StatusForbidden, "You asked for this yourself"},
		{approval.ErrNotAllowed, http.StatusForbidden, "You may not decide about this"},
		{approval.ErrDigest, http.StatusConflict, "This is not what was shown"},
		{approval.ErrExpired, http.StatusConflict, "Its time is over"},
		{approval.ErrConsumed, http.StatusConflict, "It is being carried out already"},
		{approval.ErrDecided, http.StatusConflict, "It is decided already"},
		{approval.ErrReason, http.StatusUnprocessableEntity, "This reason cannot be taken"},
		{errors.New("pq: connection to 10.0.0.9 lost"), http.StatusServiceUnavailable, "It is not known whether that was stored"},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.propose()
			d.config.Decide = func(context.Context, string, string, approval.Decision) (approval.Record, error) {
				return approval.Record{}, errors.Join(c.err)
			}
			grace := d.visit("grace")
			grace.post(at(p)+"/approve", grace.get(at(p)).form()).says(c.status, c.says).silent("10.0.0.9", "pq:")
		})
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace := d.visit("grace")
	form := grace.get(at(p)).form()
	post := func(kind, body string, header ...string) reply {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, at(p)+"/approve", strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return grace.send(r)
	}
	const urlencoded = "application/x-www-form-urlencoded"
	post("text/plain", form.Encode()).says(http.StatusBadRequest)
	post("", form.Encode()).says(http.StatusBadRequest)
	post("multipart/form-data; boundary=x", "--x--").says(http.StatusBadRequest)
	post(urlencoded, form.Encode()+"&digest=another").says(http.StatusBadRequest)
	post(urlencoded, form.Encode()+"&%zz").says(http.StatusBadRequest)
	post(urlencoded, form.Encode()+"&reason="+strings.Repeat("x", 64<<10)).says(http.StatusBadRequest)
	post(urlencoded, form.Encode(), "Sec-Fetch-Site", "cross-site").says(http.StatusForbidden, "another site")
	post(urlencoded, form.Encode(), "Sec-Fetch-Site", "same-site").says(http.StatusForbidden, "another site")
	post(urlencoded, form.Encode(), "Origin", "https://evil.example").says(http.StatusForbidden, "another site")
	require.Equal(t, approval.Pending, d.record(p.ID).State)

	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, at(p)+"/approve?"+form.Encode(), http.NoBody)
	r.Header.Set("Content-Type", urlencoded)
	grace.send(r).says(http.StatusForbidden, "This form is not valid here")
	require.Equal(t, approval.Pending, d.record(p.ID).State, "an address decides nothing")
	post(urlencoded+"; charset=utf-8", form.Encode(), "Sec-Fetch-Site", "same-origin").says(http.StatusSeeOther)
}

func TestNothingChangesOnGet(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace := d.visit("grace")
	form := grace.get(at(p)).form("reason", "no")
	before := d.record(p.ID)
	for _, path := range []string{"/approvals/", at(p), at(p) + "/approve?" + form.Encode(), at(p) + "/reject?" + form.Encode(), "/approvals/operations"} {
		grace.get(path)
		grace.send(httptest.NewRequestWithContext(t.Context(), http.MethodHead, path, http.NoBody))
	}
	require.Equal(t, http.StatusMethodNotAllowed, grace.get(at(p)+"/approve?"+form.Encode()).status)
	require.Equal(t, before, d.record(p.ID))
	require.Zero(t, d.calls.Load())
}

func TestWhoIsAsking(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	form := d.visit("grace").get(at(p)).form()
	for _, who := range []string{"", "stranger", "nobody", "policy"} {
		v := d.visit(who)
		for _, r := range []reply{v.get("/approvals/"), v.get(at(p)), v.post(at(p)+"/approve", form), v.get("/approvals/operations")} {
			r.says(http.StatusUnauthorized, "You are not signed in").silent("C-1842")
		}
	}
	require.Equal(t, approval.Pending, d.record(p.ID).State)
}
