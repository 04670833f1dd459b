package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
)

const dayDesk, nightDesk, otherTenant = "acme/day desk", "acme/night desk", "zenith/day desk"

// teller tells the story and checks it while it is told.
type teller struct {
	w      io.Writer
	h      *host
	names  map[string]string // references by the names that the story gives them: they are never the same twice
	scenes int
	wrong  int
}

// tell plays the story. It reports whether everything was as it must be.
func tell(ctx context.Context, w io.Writer) (_ bool, err error) {
	h, err := newHost(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, h.close(ctx)) }()
	return h.story(ctx, w), nil
}

// story plays it all in a host.
func (h *host) story(ctx context.Context, w io.Writer) bool {
	t := &teller{w: w, h: h, names: map[string]string{}}
	t.cast()
	ref, status := t.review(ctx)
	t.elsewhere(ctx, ref, status)
	request := t.recordings(ctx)
	t.operators(ctx, request)
	t.search(ref)
	if t.wrong > 0 {
		fmt.Fprintln(w, "\nNot everything is as expected; look for ✗.")
		return false
	}
	fmt.Fprintln(w, "\nEverything is as expected.")
	return true
}

func (t *teller) cast() {
	t.say("day desk    an agent of the tenant acme; works through refund cases without knowing whose they are")
	t.say("night desk  another agent of acme, with the same tools")
	t.say("zenith      another tenant, with an agent of its own")
	t.say("billing     another team's system; answers with everything it has. Its answers are recorded")
	t.say("clock       stands still at %s until the story moves it\n", t.h.clock.now().Format("2006-01-02 15:04 UTC"))
}

// review is the ordinary way.
func (t *teller) review(ctx context.Context) (ref, status string) {
	t.scene("Three fields of a whole record")
	list := t.call(ctx, dayDesk, "list_refund_cases_v1", noArguments{})
	cases, err := list.Decode[caseList]()
	t.must("the list", err)
	if len(cases.Items) != 2 {
		t.expect(false, "acme has two open cases")
		return "", ""
	}
	ref = cases.Items[0].CaseRef
	t.name(ref, "ref_A")
	t.name(cases.Items[1].CaseRef, "ref_B")
	for _, c := range cases.Items {
		t.say("         %s  %s, open for %d days", t.short(c.CaseRef), c.ReasonCode, c.OpenDays)
	}
	again, err := t.h.call(ctx, dayDesk, "list_refund_cases_v1", noArguments{}).Decode[caseList]()
	t.must("the list", err)
	t.expect(again.Items[0].CaseRef != ref && len(again.Items[0].CaseRef) == len(ref), "listed again, the same case has another reference: nothing links the two, or says whose it is")
	t.gap()

	sent := t.h.billing.play("whole record")
	answer, err := t.call(ctx, dayDesk, reviewTool, reviewRequest{ref, "duplicate_charge"}).Decode[reviewAnswer]()
	t.must("the review", err)
	t.name(answer.StatusRef, "ref_C")
	t.say("         qualifies: %t, %s, status_ref %s", answer.Qualifies, answer.Reason, t.short(answer.StatusRef))
	paths, tokens := t.h.billing.seen()
	t.expect(answer.Qualifies, "the desk resolved the reference, asked billing, and answered the question")
	t.expect(len(paths) == 1 && paths[0] == "/cases/bc-2207" && tokens[0] == billingToken, "billing was asked for one case, with a credential that no tool has seen")
	t.expect(strings.Contains(sent.Body, "Marit Okonkwo-Lund"), "billing sent %d bytes: customer, bank account, a note that gives orders; five fields of it were read", len(sent.Body))
	t.gap()

	t.h.billing.play("last year's form")
	where, err := t.call(ctx, dayDesk, statusTool, statusQuery{answer.StatusRef}).Decode[statusView]()
	t.must("the status", err)
	t.expect(where.Status == "settled", "billing's form of last year is held to a contract of its own and brought to the present one: %s", where.Status)
	t.gap()
	return ref, answer.StatusRef
}

// elsewhere tries the references where they are not for.
func (t *teller) elsewhere(ctx context.Context, ref, status string) {
	t.scene("A reference is useless elsewhere")
	before, _ := t.h.billing.seen()
	altered := ref[:len(ref)-1] + string("0123456789abcdefghjkmnpqrstvwxyz"[(strings.IndexByte("0123456789abcdefghjkmnpqrstvwxyz", ref[len(ref)-1])+16)%32])
	t.name(altered, "ref_A′")
	for _, row := range []struct {
		who, tool string
		args      any
		why       string
	}{
		{nightDesk, reviewTool, reviewRequest{ref, "other"}, "issued to another agent"},
		{otherTenant, reviewTool, reviewRequest{ref, "other"}, "issued to another tenant"},
		{dayDesk, statusTool, statusQuery{ref}, "issued for another action"},
		{dayDesk, reviewTool, reviewRequest{status, "other"}, "and the other way round"},
		{dayDesk, reviewTool, reviewRequest{altered, "other"}, "altered by one character"},
	} {
		t.refused(t.call(ctx, row.who, row.tool, row.args), envelope.NotFound, row.why)
	}
	t.h.clock.advance(referenceLife)
	t.say("Ten minutes pass.")
	t.refused(t.call(ctx, dayDesk, reviewTool, reviewRequest{ref, "other"}), envelope.NotFound, "its time is over")
	after, _ := t.h.billing.seen()
	t.expect(len(after) == len(before), "billing was asked for none of them")
	t.gap()
}

// recordings plays what billing sends on bad days. It returns the request id of one of them.
func (t *teller) recordings(ctx context.Context) (request string) {
	t.scene("What billing sends on bad days, and what the agent reads")
	t.h.clock.advance(-referenceLife)
	cases, err := t.h.call(ctx, dayDesk, "list_refund_cases_v1", noArguments{}).Decode[caseList]()
	t.must("the list", err)
	for _, row := range []struct {
		name string
		code envelope.Code
		wait time.Duration
	}{
		{"sign-in page", envelope.InvalidResponse, 0},
		{"somebody else's case", envelope.InvalidResponse, 0},
		{"amount as text", envelope.InvalidResponse, 0},
		{"error inside a 200", envelope.InvalidResponse, 0},
		{"slow down", envelope.RateLimited, 90 * time.Second},
		{"stack trace", envelope.UpstreamUnavailable, 0},
		{"no such case", envelope.NotFound, 0},
	} {
		sent := t.h.billing.play(row.name)
		r := t.h.call(ctx, dayDesk, reviewTool, reviewRequest{cases.Items[0].CaseRef, "other"})
		if r.Error == nil {
			t.expect(false, "%s was refused", row.name)
			continue
		}
		read := string(r.Error.Code)
		if r.Error.RetryAfter > 0 {
			read += ", again in " + r.Error.RetryAfter.String()
		}
		t.expect(r.Error.Code == row.code && r.Error.RetryAfter == row.wait && r.Data == nil, "%-22s %d  %3d bytes  →  %s", row.name, sent.Status, len(sent.Body), read)
		if row.name == "amount as text" {
			request = r.RequestID
		}
	}
	t.gap()
	return request
}

// operators opens what was refused.
func (t *teller) operators(ctx context.Context, request string) {
	t.scene("What the operators can see")
	item, err := t.h.quarantine.Open(ctx, "ines.brandt", request)
	t.must("the quarantine", err)
	for _, kept := range append(item.Before, item) {
		if kept.Source != "billing.case" {
			continue
		}
		t.say("upstream    %s, looked after by %s, adapter %s, status %d", kept.Source, kept.Owner, kept.AdapterVersion, kept.Status)
		t.say("broken      rule %s at %s", kept.Rule, kept.Path)
		t.say("response    %d bytes, kept for %s, digest %s…", len(kept.Raw), kept.For, kept.Digest[:20])
		t.expect(kept.Rule == "type" && kept.Path == "charged_minor" && strings.Contains(string(kept.Raw), `"4950"`), "the whole answer, by the request id that the agent was given")
	}
	events := t.h.trail.Events()
	last := events[len(events)-1]
	t.expect(last.Kind == "quarantine_open" && last.Subject == "ines.brandt", "that %s opened it stands in the audit", last.Subject)
	t.gap()
}

// search looks for what must not have crossed, in everything that the agents, the log and the audit got.
func (t *teller) search(ref string) {
	t.scene("Looking for the customer")
	outputs := []struct{ name, text string }{
		{"what the agents read", t.h.answers.String()},
		{"the log", t.h.log.String()},
		{"the audit", fmt.Sprintf("%+v", t.h.trail.Events())},
	}
	for _, secret := range []struct{ what, value string }{
		{"name", "Marit Okonkwo-Lund"},
		{"e-mail", "marit.okonkwo@post.example"},
		{"bank account", "GB33 BUKB 2020 1555 5555 55"},
		{"card token", "ntk_77Zq0xP4wLdV"},
		{"case number", "bc-2207"},
		{"billing's host", "billing.internal.example"},
		{"credential", billingToken},
	} {
		found := ""
		for _, o := range outputs {
			found += t.traces(o.name, o.text, secret.value)
		}
		t.expect(found == "", "%-15s nowhere, whole or in pieces of six characters, plain or encoded%s", secret.what, found)
	}
	found := t.traces(outputs[0].name, outputs[0].text, ref)
	t.expect(found != "", "%-15s found, so the search can find", "a reference")
}

// traces says where pieces of a value are found.
func (t *teller) traces(where, text, value string) (found string) {
	c, err := redact.NewCanary(value)
	if !t.must("the search", err) {
		return ""
	}
	for _, trace := range c.Search([]byte(text)) {
		found += fmt.Sprintf("; %s: %s", where, trace)
	}
	return found
}
