package approvalweb_test

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvalweb"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

type moveIn struct {
	CustomerID string   `json:"customer_id" jsonschema:"minLength=1,maxLength=32"`
	Lines      []string `json:"lines" jsonschema:"minItems=1,maxItems=4"`
}

type movePlan struct {
	CustomerID string            `json:"customer_id" jsonschema:"maxLength=32"`
	Lines      []string          `json:"lines" jsonschema:"maxItems=4"`
	Country    *string           `json:"country,omitzero" jsonschema:"maxLength=2"`
	Notes      map[string]string `json:"notes" jsonschema:"maxProperties=4"`
}

type moveOut struct {
	tool.Evidence
}

// office is a dispatcher with one write, a provider that it changes, and the page over both.
type office struct {
	t      *testing.T
	clock  *clock
	events *audit.Recorder
	d      *tool.Dispatcher
	page   *approvalweb.Handler
	run    *tool.Run

	mu      sync.Mutex
	version int
	ran     []movePlan              // what the provider was told
	drafts  []*tool.Draft[movePlan] // what Preview handed out, still in the agent's hands
	lose    bool                    // the provider's answer is lost
	stores  *approval.Memory
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, clock: &clock{now: epoch}, events: &audit.Recorder{}, version: 17}
	o.stores = approval.NewMemory(o.clock.Now)
	ledger := idem.NewMemory(o.clock.Now)
	digester, err := redact.NewDigester(key("k1"))
	require.NoError(t, err)
	catalog, err := tool.NewCatalog(o.write())
	require.NoError(t, err)
	o.d, err = tool.NewDispatcher(catalog, tool.Config{
		Policy:    approval.Everything(approval.Requirement{Level: approval.One, Role: "lead"}),
		Approvals: o.stores, Authority: approval.ByRole{}, Ledger: ledger, Digester: digester, Audit: o.events, Now: o.clock.Now,
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = o.d.Close(context.WithoutCancel(t.Context())) })
	o.page, err = approvalweb.New(approvalweb.Config{
		Path: "/approvals", Identify: bySession, Approvals: o.stores, Ledger: ledger, Authority: approval.ByRole{},
		Decide: o.d.Decide, Fresh: o.d.Fresh, Resolve: o.d.Resolve, Keys: []redact.Key{key("w1")},
	})
	require.NoError(t, err)
	role, err := catalog.Role("desk", "preview_move_v1", "commit_move_v1")
	require.NoError(t, err)
	o.run, err = o.d.Start(tool.RunConfig{
		ID: "run9", Principal: supportDesk, Role: role, Budget: tool.Budget{Calls: 100}, Deadline: epoch.Add(time.Hour),
	})
	require.NoError(t, err)
	return o
}

func (o *office) write() tool.Write[moveIn, movePlan, moveOut] {
	return tool.Write[moveIn, movePlan, moveOut]{
		Spec:    tool.Spec{Name: "move", Version: 1, Description: "Moves a customer.", Timeout: time.Minute},
		Class:   tool.Reversible,
		Preview: o.preview,
		Current: func(context.Context, tool.Caller, approval.Target) (string, error) {
			return strconv.Itoa(o.current()), nil
		},
		Commit: o.commit,
		Settle: time.Minute,
	}
}

func (o *office) current() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.version
}

func (o *office) preview(_ context.Context, _ tool.Caller, in moveIn) (tool.Draft[movePlan], error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := tool.Draft[movePlan]{
		Plan:    movePlan{CustomerID: in.CustomerID, Lines: in.Lines, Country: new("DE"), Notes: map[string]string{"door": "left"}},
		Target:  approval.Target{Type: "customer", ID: in.CustomerID, Version: strconv.Itoa(o.version)},
		Summary: "Move customer " + in.CustomerID,
		Diffs:   []approval.Diff{{Field: "Address", Before: "17 Example Lane", After: strings.Join(in.Lines, ", ")}},
		Consequence: approval.Consequence{
			Recipients: []string{"jonas@example.com"}, AmountMinor: new(int64(4900)), Currency: "EUR", Records: new(1),
		},
	}
	o.drafts = append(o.drafts, &d)
	return d, nil
}

var errLost = errors.New("the answer was lost")

func (o *office) commit(_ context.Context, cmd tool.Approved[movePlan]) (moveOut, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ran = append(o.ran, cmd.Plan)
	if o.lose {
		return moveOut{}, errLost
	}
	o.version++
	var out moveOut
	out.NewVersion, out.CommittedAt = strconv.Itoa(o.version), o.clock.Now()
	return out, nil
}

func (o *office) visit(who string) visitor { return visitor{o.t, o.page, who} }

// propose is the agent's call; it returns the answer and the proposal's id.
func (o *office) propose(args jsontext.Value) (envelope.Result, string) {
	o.t.Helper()
	r := o.run.Call(o.t.Context(), envelope.Call{Tool: "preview_move_v1", Arguments: args})
	require.NoError(o.t, r.Err())
	var v struct {
		ProposalID string `json:"proposal_id"`
	}
	require.NoError(o.t, json.Unmarshal(r.Data, &v))
	return r, v.ProposalID
}

func (o *office) commits(id string) envelope.Result {
	o.t.Helper()
	return o.run.Call(o.t.Context(), envelope.Call{Tool: "commit_move_v1", Arguments: jsontext.Value(`{"proposal_id":"` + id + `"}`)})
}

func (o *office) approve(who, id string) reply {
	o.t.Helper()
	v := o.visit(who)
	return v.post("/approvals/p/"+id+"/approve", v.get("/approvals/p/"+id).form())
}

const move = `{"customer_id":"C-1842","lines":["4 Harbour Row","Lübeck"]}`

// shownPlan reads the plan off the page, as a person does.
func shownPlan(t *testing.T, r reply) movePlan {
	t.Helper()
	pre := regexp.MustCompile(`(?s)<pre>(.*?)</pre>`).FindStringSubmatch(r.body)
	require.NotNil(t, pre)
	text := html.UnescapeString(regexp.MustCompile(`</?bdi>`).ReplaceAllString(pre[1], ""))
	var p movePlan
	require.NoError(t, json.Unmarshal([]byte(text), &p, json.RejectUnknownMembers(true)))
	return p
}

// What is shown is rendered from what is stored; what was approved is what runs, whatever becomes of any copy that the
// agent, or the host's own code, still holds.
func TestWhatRunsIsWhatWasShown(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	args := jsontext.Value(move)
	answer, id := o.propose(args)

	grace := o.visit("grace")
	page := grace.get("/approvals/p/"+id).says(http.StatusOK, "Move customer C-1842", "17 Example Lane", "4 Harbour Row, Lübeck", "49.00 EUR",
		"jonas@example.com", "checked just now")
	shown := shownPlan(t, page)
	require.Equal(t, movePlan{CustomerID: "C-1842", Lines: []string{"4 Harbour Row", "Lübeck"}, Country: new("DE"), Notes: map[string]string{"door": "left"}}, shown)

	mutate := func() { // every copy that is out
		for i := range args {
			args[i] = ' '
		}
		for i := range answer.Data {
			answer.Data[i] = 'x'
		}
		o.mu.Lock()
		for _, d := range o.drafts {
			d.Plan.CustomerID, d.Plan.Lines[0], *d.Plan.Country, d.Plan.Notes["door"] = "C-1", "elsewhere", "XX", "open"
			d.Target.ID, d.Diffs[0].After, d.Consequence.Recipients[0] = "C-1", "elsewhere", "mallet@example.com"
			*d.Consequence.AmountMinor, *d.Consequence.Records = 1, 0
		}
		o.mu.Unlock()
		rec, err := o.stores.Find(t.Context(), "acme", id)
		require.NoError(t, err)
		copy(rec.Proposal.Plan, []byte(strings.ReplaceAll(string(rec.Proposal.Plan), "Harbour", "Outlaw!")))
		rec.Proposal.Diffs[0].After, *rec.Proposal.Consequence.AmountMinor = "elsewhere", 1
		recs, _, err := o.stores.Pending(t.Context(), "acme", approval.Page{})
		require.NoError(t, err)
		for _, r := range recs {
			r.Proposal.Plan[2] = '!'
		}
	}
	mutate()
	again := grace.get("/approvals/p/" + id)
	require.Equal(t, page.body, again.body, "the page says the same to the byte")
	grace.post("/approvals/p/"+id+"/approve", again.form()).says(http.StatusSeeOther)
	mutate()

	smuggled := o.run.Call(t.Context(), envelope.Call{Tool: "commit_move_v1", Arguments: jsontext.Value(`{"proposal_id":"` + id + `","lines":["elsewhere"]}`)})
	require.Equal(t, envelope.UnknownField, smuggled.Error.Code, "a commit takes a proposal id and nothing else")
	require.NoError(t, o.commits(id).Err())
	require.Equal(t, []movePlan{shown}, o.ran, "what ran is what was shown, once")
	grace.get("/approvals/p/"+id).says(http.StatusOK, "Carried out", "2026-03-09 16:15:00 UTC", "<bdi>18</bdi>")

	require.Equal(t, "person:grace", o.audited()["decide"], "audited in the approver's name")
}

// audited is who authorised each kind of event last.
func (o *office) audited() map[string]string {
	by := map[string]string{}
	for _, e := range o.events.Events() {
		by[e.Kind] = e.AuthorizedBy
	}
	return by
}

func TestDispatcherStale(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, id := o.propose(jsontext.Value(move))
	grace := o.visit("grace")
	form := grace.get("/approvals/p/" + id).form()
	o.mu.Lock()
	o.version++
	o.mu.Unlock()
	grace.get("/approvals/p/"+id).says(http.StatusOK, "It has changed since it was proposed", "disabled")
	grace.post("/approvals/p/"+id+"/approve", form).says(http.StatusConflict, "It has changed since it was proposed")
	require.Equal(t, envelope.ApprovalPending, o.commits(id).Error.Code)
	require.Empty(t, o.ran)
}

func TestDispatcherRejects(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, id := o.propose(jsontext.Value(move))
	grace := o.visit("grace")
	grace.post("/approvals/p/"+id+"/reject", grace.get("/approvals/p/"+id).form("reason", "The customer is away.")).says(http.StatusSeeOther)
	r := o.commits(id)
	require.Equal(t, envelope.ApprovalRejected, r.Error.Code)
	require.Equal(t, "The customer is away.", r.Error.Reason, "the agent reads why")
	require.Empty(t, o.ran)
}

func TestDispatcherUnknown(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.lose = true
	_, id := o.propose(jsontext.Value(move))
	o.approve("grace", id).says(http.StatusSeeOther)
	require.Equal(t, envelope.OutcomeUnknown, o.commits(id).Error.Code)
	o.visit("grace").get("/approvals/p/"+id).says(http.StatusOK, "Nobody knows yet whether it was carried out")
	o.approveAgain("grace", id)

	olga, path := o.visit("olga"), "/approvals/operations/"+idem.OperationID("acme", id)
	olga.get("/approvals/operations").says(http.StatusOK, "1 unknown outcome.", path, "Move customer C-1842")
	form := answers(olga.get(path).form(), "failed", "The office never got it.", "Ticket 4711")
	olga.post(path+"/resolve", form).says(http.StatusConflict, "It is too early to say that it failed")
	o.clock.forward(time.Minute)
	olga.post(path+"/resolve", form).says(http.StatusSeeOther)
	o.visit("grace").get("/approvals/p/"+id).says(http.StatusOK, "Not carried out", "The office never got it.", "Ticket 4711")
	require.Equal(t, "person:olga", o.audited()["resolve"], "audited in the operator's name")
	require.Len(t, o.ran, 1)
}

// approveAgain sends a form that was good before the approval was used.
func (o *office) approveAgain(who, id string) {
	o.t.Helper()
	rec, err := o.stores.Find(o.t.Context(), "acme", id)
	require.NoError(o.t, err)
	require.Equal(o.t, approval.Consumed, rec.State)
	require.Len(o.t, rec.Decisions, 1)
	o.visit(who).get("/approvals/p/" + id).silent("<form")
}
