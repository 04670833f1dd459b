package approvalweb

import (
	"encoding/json/jsontext"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// change is a stored proposal, made ready for reading: all that the pages show of it.
type change struct {
	Summary, Tool, Run, Digest string
	Requester                  approval.Principal
	Target                     approval.Target
	Rows                       []row
	Facts                      []fact
	Irreversible               []string // what cannot be taken back, a sentence each
	Final                      bool     // something cannot be taken back, whether it is named or not
	Hides                      bool     // some text holds what is not seen
	Plan                       []string // the lines of the plan that will run
}

// row is one field before and after.
type row struct {
	approval.Diff
	Same bool
}

// fact is one line of what follows. Without values it was not said.
type fact struct {
	Name   string
	Values []string
}

func (h *Handler) change(p approval.Proposal) change {
	c := change{
		Summary: p.Summary, Tool: p.Tool, Run: p.Run, Digest: shortDigest(p.Digest), Requester: p.Requester, Target: p.Target,
		Irreversible: p.Consequence.Irreversible, Final: h.final(p), Plan: planLines(p.Plan),
	}
	texts := append([]string{p.Summary, p.Target.Type, p.Target.ID, p.Target.Version}, p.Consequence.Irreversible...)
	for _, d := range p.Diffs {
		c.Rows = append(c.Rows, row{d, d.Before == d.After})
		texts = append(texts, d.Field, d.Before, d.After)
	}
	c.Facts = facts(p)
	for _, f := range c.Facts {
		texts = append(texts, f.Values...)
	}
	c.Hides = hides(marks, texts...) || hides(dataMarks, c.Plan...)
	return c
}

func facts(p approval.Proposal) []fact {
	said := func(name, value string) fact {
		if value == "" {
			return fact{Name: name}
		}
		return fact{name, []string{value}}
	}
	q := p.Consequence
	records, amount := "", ""
	if q.Records != nil {
		records = count(*q.Records, "record")
	}
	if q.AmountMinor != nil {
		amount = money(*q.AmountMinor, q.Currency)
	}
	return []fact{
		said("Environment", q.Environment),
		said("Records", records),
		{"Sent to", q.Recipients},
		said("Amount", amount),
		said("Rule", rule(p.Requirement, p.PolicyVersion)),
	}
}

// planLines writes the canonical plan with a member a line. Nothing but white space between its tokens differs.
func planLines(plan jsontext.Value) []string {
	v := plan.Clone()
	if len(v) == 0 || v.Indent(jsontext.WithIndent("  ")) != nil {
		return nil
	}
	return strings.Split(string(v), "\n")
}

// timing is where a proposal stands in its time, by the store's clock alone.
type timing struct {
	Age     string
	Left    string // as the countdown begins
	LeftMS  int64
	Expires string // the moment
	Instant string // the moment for machines
}

// storeNow is what the store's clock read when the record was read; after the end of the proposal's time, that end.
func storeNow(r approval.Record) time.Time { return r.Proposal.ExpiresAt.Add(-r.Left) }

func timed(r approval.Record) timing {
	p, now := r.Proposal, storeNow(r)
	return timing{
		Age: age(now.Sub(p.CreatedAt)), Left: clock(r.Left), LeftMS: r.Left.Milliseconds(),
		Expires: at(p.ExpiresAt, now), Instant: p.ExpiresAt.UTC().Format(time.RFC3339),
	}
}
