package approvalweb_test

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvalweb"
)

var nextLink = regexp.MustCompile(`href="([^"]*)" rel="next"`)

func nextPage(t *testing.T, r reply) string {
	t.Helper()
	m := nextLink.FindStringSubmatch(r.body)
	require.NotNil(t, m, "there is a next page")
	return m[1]
}

func TestQueue(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	grace := d.visit("grace")
	grace.get("/approvals/").says(http.StatusOK, "Nothing waits for your decision.", "Nothing here.")

	first := d.propose()
	d.clock.forward(3 * time.Minute)
	rich := d.propose(twoApprovers, irreversible, func(p *approval.Proposal) {
		p.Consequence.AmountMinor, p.Consequence.Currency, p.Summary = new(int64(4900)), "JPY", "Refund"
	})
	grace.get("/approvals/").says(http.StatusOK, "2 proposals wait for your decision.", `href="`+at(first)+`"`, `href="`+at(rich)+`"`,
		"3 minutes ago", "12:00", "just now", "15:00", "One approver", "Two approvers", "4,900 JPY", "Cannot be taken back", "Production",
		"support-desk", "run9")
}

func TestQueueShowsRiskOfTheClass(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.propose()
	d.visit("grace").get("/approvals/").says(http.StatusOK).silent("Cannot be taken back")
	d.config.Writes["commit_address_change_v2"] = approvalweb.Write{Irreversible: true}
	d.visit("grace").get("/approvals/").says(http.StatusOK, "Cannot be taken back")
}

func TestQueuePages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.config.PageSize = 2
	ps := make([]approval.Proposal, 0, 5)
	for range 5 {
		ps = append(ps, d.propose())
		d.clock.forward(time.Second)
	}
	grace := d.visit("grace")
	page := grace.get("/approvals/").says(http.StatusOK, at(ps[0]), at(ps[1]), "2 proposals wait for your decision on this page; there are more pages.").silent(at(ps[2]), "First page")
	page = grace.get(nextPage(t, page)).says(http.StatusOK, at(ps[2]), at(ps[3]), "First page").silent(at(ps[1]), at(ps[4]))
	grace.get(nextPage(t, page)).says(http.StatusOK, at(ps[4]), "1 proposal waits for your decision.").silent(`rel="next"`)
	grace.get("/approvals/?after=nonsense!").says(http.StatusBadRequest, "There is no such page of the list")
}

// Everybody sees what is theirs to decide and what they asked for.
func TestQueueIsOnesOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	leads := d.propose()
	chiefs := d.propose(func(p *approval.Proposal) { p.Requirement.Role = "chief" })
	own := d.propose(func(p *approval.Proposal) { p.Requester = people["grace"] })
	asked := d.propose(func(p *approval.Proposal) {
		p.Requester, p.Requirement.Role, p.Requirement.Self = people["grace"], "chief", true
	})
	both := d.propose(twoApprovers)
	grace, linus := d.visit("grace"), d.visit("linus")
	grace.post(at(both)+"/approve", grace.get(at(both)).form()).says(http.StatusSeeOther)

	grace.get("/approvals/").says(http.StatusOK, "1 proposal waits for your decision.", at(leads), at(own), "You asked for it yourself.",
		at(asked), "somebody else decides", at(both), "You have approved it; another approver must agree.").silent(at(chiefs))
	linus.get("/approvals/").says(http.StatusOK, "3 proposals wait for your decision.", at(leads), at(own), at(both)).silent(at(chiefs), at(asked))
	d.visit("ada").get("/approvals/").says(http.StatusOK, "Nothing waits").silent("/p/p_")

	d.clock.forward(15 * time.Minute)
	grace.get("/approvals/").says(http.StatusOK, "Nothing waits").silent("/p/p_")
}
