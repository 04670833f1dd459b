package approvalweb_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvalweb"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
)

var epoch = time.Date(2026, 3, 9, 16, 15, 0, 0, time.UTC)

// People by the name of their session.
var people = map[string]approval.Principal{
	"grace":  {Kind: approval.Person, Tenant: "acme", Subject: "grace", Roles: []string{"lead"}},
	"linus":  {Kind: approval.Person, Tenant: "acme", Subject: "linus", Roles: []string{"lead"}},
	"finn":   {Kind: approval.Person, Tenant: "acme", Subject: "finn", Roles: []string{"lead", "finance"}},
	"ada":    {Kind: approval.Person, Tenant: "acme", Subject: "ada", Roles: []string{"support"}},
	"olga":   {Kind: approval.Person, Tenant: "acme", Subject: "olga", Roles: []string{"operator"}},
	"nobody": {},
	"policy": {Kind: approval.PolicyDecision, Tenant: "acme", Subject: "policy"},
	"mallet": {Kind: approval.Person, Tenant: "other", Subject: "grace", Roles: []string{"lead", "operator"}},
}

var supportDesk = approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "support-desk"}

// desk is a host of the page: stores in memory on a clock that the test moves, sessions by a cookie, and the dispatcher's
// three functions as short as they can be.
type desk struct {
	t         *testing.T
	clock     *clock
	approvals *approval.Memory
	ledger    *idem.Memory
	digester  *redact.Digester
	config    approvalweb.Config
	fresh     atomic.Pointer[error] // what the check of a target answers
	checks    atomic.Int64
	calls     atomic.Int64 // of Decide
	resolved  atomic.Int64 // calls of Resolve
	proposals int
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func key(id string) redact.Key {
	return redact.Key{ID: id, Secret: []byte(strings.Repeat(id, 32))[:32]}
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, clock: &clock{now: epoch}}
	d.approvals, d.ledger = approval.NewMemory(d.clock.Now), idem.NewMemory(d.clock.Now)
	digester, err := redact.NewDigester(key("k1"))
	require.NoError(t, err)
	d.digester = digester
	d.config = approvalweb.Config{
		Path: "/approvals", Identify: bySession, Approvals: d.approvals, Ledger: d.ledger, Authority: approval.ByRole{},
		Decide: d.decide, Fresh: d.check, Resolve: d.resolve, Keys: []redact.Key{key("w1")},
		Writes: map[string]approvalweb.Write{"commit_address_change_v2": {Verb: "Replace shipping address"}},
	}
	return d
}

var errNoSession = errors.New("no session")

func bySession(r *http.Request) (approval.Principal, error) {
	c, err := r.Cookie("session")
	if err != nil {
		return approval.Principal{}, errNoSession
	}
	who, ok := people[c.Value]
	if !ok {
		return approval.Principal{}, errNoSession
	}
	return who, nil
}

func (d *desk) decide(ctx context.Context, tenant, id string, dec approval.Decision) (approval.Record, error) {
	d.calls.Add(1)
	rec, err := d.approvals.Find(ctx, tenant, id)
	if err == nil {
		err = d.config.Authority.MayApprove(ctx, dec.By, rec.Proposal)
	}
	if err != nil {
		return approval.Record{}, err
	}
	return d.approvals.Decide(ctx, tenant, id, dec)
}

func (d *desk) check(context.Context, approval.Proposal) error {
	d.checks.Add(1)
	if err := d.fresh.Load(); err != nil {
		return *err
	}
	return nil
}

func (d *desk) checksWith(err error) { d.fresh.Store(&err) }

func staleError() error { return envelope.New(envelope.VersionConflict).At("target.version") }

func (d *desk) resolve(ctx context.Context, k idem.Key, by approval.Principal, r idem.Resolution) (idem.Record, error) {
	d.resolved.Add(1)
	if err := d.config.Authority.MayResolve(ctx, by, k.Tenant, k.Operation); err != nil {
		return idem.Record{}, err
	}
	r.By = by.Subject
	return d.ledger.Resolve(ctx, k, r)
}

// propose stores the address change of customer C-1842, as altered.
func (d *desk) propose(alter ...func(*approval.Proposal)) approval.Proposal {
	d.t.Helper()
	d.proposals++
	p := approval.Proposal{
		ID: fmt.Sprintf("p_%04d", d.proposals), Tenant: "acme", Run: "run9", Tool: "commit_address_change_v2", Requester: supportDesk,
		Plan:     jsontext.Value(`{"city":"Lübeck","customer_id":"C-1842","street":"4 Harbour Row"}`),
		Target:   approval.Target{Type: "customer", ID: "C-1842", Version: "17"},
		Resource: fmt.Sprintf("customer/%d", d.proposals), Summary: "Replace the shipping address of customer C-1842",
		Diffs: []approval.Diff{
			{Field: "Street", Before: "17 Example Lane", After: "4 Harbour Row"},
			{Field: "City", Before: "Kiel", After: "Lübeck"},
			{Field: "Country", Before: "DE", After: "DE"},
		},
		Consequence:   approval.Consequence{Environment: "Production", Records: new(1)},
		PolicyVersion: 3, Requirement: approval.Requirement{Level: approval.One, Role: "lead"}, Lifetime: 15 * time.Minute,
	}
	for _, a := range alter {
		a(&p)
	}
	canonical, err := p.Canonical()
	require.NoError(d.t, err)
	p.Digest = d.digester.Sum(p.Tenant, canonical)
	rec, err := d.approvals.Create(d.t.Context(), p)
	require.NoError(d.t, err)
	return rec.Proposal
}

func irreversible(p *approval.Proposal) {
	p.Consequence.Irreversible = []string{"One parcel that leaves today goes to the new address."}
}

func twoApprovers(p *approval.Proposal) { p.Requirement.Level = approval.Two }

func (d *desk) record(id string) approval.Record {
	d.t.Helper()
	rec, err := d.approvals.Find(d.t.Context(), "acme", id)
	require.NoError(d.t, err)
	return rec
}

func (d *desk) page() *approvalweb.Handler {
	d.t.Helper()
	page, err := approvalweb.New(d.config)
	require.NoError(d.t, err)
	return page
}

// visitor is somebody at the page, without a browser.
type visitor struct {
	t    *testing.T
	page http.Handler
	who  string
}

func (d *desk) visit(who string) visitor { return visitor{d.t, d.page(), who} }

// reply is what the visitor got.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

func (v visitor) send(r *http.Request) reply {
	v.t.Helper()
	if v.who != "" {
		r.AddCookie(&http.Cookie{Name: "session", Value: v.who})
	}
	w := httptest.NewRecorder()
	v.page.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	require.NoError(v.t, err)
	return reply{v.t, w.Code, w.Header(), string(body)}
}

func (v visitor) get(path string) reply {
	v.t.Helper()
	return v.send(httptest.NewRequestWithContext(v.t.Context(), http.MethodGet, path, http.NoBody))
}

func (v visitor) post(path string, form url.Values) reply {
	v.t.Helper()
	r := httptest.NewRequestWithContext(v.t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return v.send(r)
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// form takes the hidden fields out of a page, and adds what the visitor typed.
func (r reply) form(typed ...string) url.Values {
	r.t.Helper()
	form := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(r.body, -1) {
		form.Set(m[1], m[2])
	}
	require.NotEmpty(r.t, form.Get("token"), "the page has a form")
	for i := 0; i+1 < len(typed); i += 2 {
		form.Set(typed[i], typed[i+1])
	}
	return form
}

// says asserts the status and that the page has each of the texts.
func (r reply) says(status int, texts ...string) reply {
	r.t.Helper()
	require.Equal(r.t, status, r.status, r.words())
	for _, text := range texts {
		require.True(r.t, strings.Contains(r.body, text), "%q is not on the page: %s", text, r.words())
	}
	return r
}

var tag = regexp.MustCompile(`<[^>]*>\s*`)

// words is the page without its tags, for messages.
func (r reply) words() string { return tag.ReplaceAllString(r.body, " ") }

func (r reply) silent(texts ...string) reply {
	r.t.Helper()
	for _, text := range texts {
		require.False(r.t, strings.Contains(r.body, text), "%q is on the page: %s", text, r.words())
	}
	return r
}

func at(p approval.Proposal) string { return "/approvals/p/" + p.ID }
