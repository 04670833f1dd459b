package approvaltest

import (
	"slices"

	"github.com/toolcontract/toolcontract/approval"
)

func listRules() []rule {
	return []rule{
		{
			name:        "alike/what is not consumed",
			explanation: "a preview joins what is there: every proposal with one of the digests that is not consumed, rejected and withdrawn ones too",
			check:       alike,
		},
		{
			name:        "pending/what waits for a decision",
			explanation: "the queue of those who decide: what is pending, and nothing else",
			check: func(p *probe) {
				p.create("p_new")
				p.create("p_half", at(approval.Two))
				p.decide("p_half", yes(person("a")))
				p.approved("p_approved")
				p.create("p_rejected")
				p.decide("p_rejected", no(person("a")))
				p.create("p_half_rejected", at(approval.Two))
				p.decide("p_half_rejected", no(person("a")))
				p.approved("p_consumed")
				p.consume("p_consumed")
				r := p.approved("p_withdrawn")
				_, err := p.store.Withdraw(p.ctx, tenant, "p_withdrawn", decisionOf(r, "a").ID, person("a"))
				p.ok("Withdraw", err)
				got, next, err := p.store.Pending(p.ctx, tenant, approval.Page{})
				p.ok("Pending", err)
				p.equal("cursor after the last", "", next)
				p.equal("proposals", []string{"p_half", "p_new"}, sorted(idsOf(got)))
				for _, r := range got {
					p.equal("state", approval.Pending, r.State)
				}
			},
		},
		{
			name:        "pending/pages lose nothing",
			explanation: "page after page, each proposal once and the oldest first, whatever is decided or added meanwhile",
			check:       pages,
		},
	}
}

func alike(p *probe) {
	other := func(d string) func(*approval.Proposal) {
		return func(pr *approval.Proposal) { pr.Digest = d }
	}
	p.create("p_pending")
	p.approved("p_approved")
	p.create("p_rejected")
	p.decide("p_rejected", no(person("a")))
	r := p.approved("p_withdrawn")
	_, err := p.store.Withdraw(p.ctx, tenant, "p_withdrawn", decisionOf(r, "a").ID, person("a"))
	p.ok("Withdraw", err)
	p.approved("p_consumed")
	p.consume("p_consumed")
	p.create("p_old_key", other("hmac-sha256:k0:YmFy"))
	p.create("p_other", other("hmac-sha256:k1:YmF6"))

	got, err := p.store.Alike(p.ctx, tenant, []string{digest, "hmac-sha256:k0:YmFy", digest})
	p.ok("Alike", err)
	p.equal("proposals", []string{"p_approved", "p_old_key", "p_pending", "p_rejected", "p_withdrawn"}, sorted(idsOf(got)))
	p.equal("newest first, then by id downwards", true, slices.IsSortedFunc(got, func(a, b approval.Record) int { return -older(a, b) }))
	for _, r := range got {
		p.unchanged("Alike against Find", r)
	}
	for _, digests := range [][]string{nil, {}, {""}, {"hmac-sha256:k9:eA"}} {
		got, err := p.store.Alike(p.ctx, tenant, digests)
		p.ok("Alike", err)
		p.equal("proposals of no such digest", 0, len(got))
	}
}

func older(a, b approval.Record) int {
	if a.Proposal.CreatedAt.Equal(b.Proposal.CreatedAt) {
		if a.Proposal.ID < b.Proposal.ID {
			return -1
		}
		return 1
	}
	return a.Proposal.CreatedAt.Compare(b.Proposal.CreatedAt)
}

func sorted(ids []string) []string {
	slices.Sort(ids)
	return ids
}

func pages(p *probe) {
	var want []string
	for _, id := range []string{"p_c", "p_a", "p_e", "p_b", "p_d", "p_f", "p_g"} {
		p.create(id)
		want = append(want, id)
	}
	var got []approval.Record
	cursor := ""
	for n := 0; n < 20; n++ {
		page, next, err := p.store.Pending(p.ctx, tenant, approval.Page{Size: 2, Cursor: cursor})
		p.ok("Pending", err)
		p.equal("at most as many as asked for", true, len(page) <= 2)
		got = append(got, page...)
		if n == 0 && len(page) == 2 { // decided, or added, behind the cursor and before it
			p.decide(page[1].Proposal.ID, yes(person("a")))
			p.create("p_late")
			want = append(want, "p_late")
		}
		if cursor = next; next == "" {
			break
		}
	}
	p.equal("the last page has no cursor", "", cursor)
	p.equal("each proposal once", sorted(want), sorted(idsOf(slices.Clone(got))))
	p.equal("oldest first, then by id", true, slices.IsSortedFunc(got, older))

	all, next, err := p.store.Pending(p.ctx, tenant, approval.Page{Size: len(want) - 1})
	p.ok("Pending", err)
	p.equal("a page that holds them all", len(want)-1, len(all))
	p.equal("a page that holds them all: cursor", "", next)
	for _, bad := range []string{"x", "!", "0", "AAAA\n"} {
		_, _, err := p.store.Pending(p.ctx, tenant, approval.Page{Cursor: bad})
		p.refused("a malformed cursor", approval.ErrInvalid, err)
	}
}
