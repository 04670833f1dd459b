package approvalweb_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvalweb"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace := d.visit("grace")
	refused := grace.post(at(p)+"/approve", nil)
	for _, r := range []reply{grace.get("/approvals/"), grace.get(at(p)), grace.get("/approvals/none"), refused, d.visit("").get(at(p))} {
		policy := r.header.Get("Content-Security-Policy")
		for _, part := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
		} {
			require.Contains(t, policy, part)
		}
		require.NotContains(t, policy, "unsafe")
		require.Equal(t, "no-store", r.header.Get("Cache-Control"))
		require.Equal(t, "no-referrer", r.header.Get("Referrer-Policy"))
		require.Equal(t, "nosniff", r.header.Get("X-Content-Type-Options"))
		require.Equal(t, "DENY", r.header.Get("X-Frame-Options"))
		require.Equal(t, "same-origin", r.header.Get("Cross-Origin-Opener-Policy"))
		require.Empty(t, r.header.Get("Set-Cookie"), "the session is the host's")
	}
	require.Equal(t, "text/html; charset=utf-8", grace.get(at(p)).header.Get("Content-Type"))
}

func TestPagesLoadTheirOwnFilesAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose(irreversible)
	body := d.visit("grace").get(at(p)).body
	for _, m := range regexp.MustCompile(`(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		require.True(t, strings.HasPrefix(m[1], "/approvals/"), m[1])
	}
	require.NotRegexp(t, `(?i)\son[a-z]+=|\sstyle=|<style|<script>`, body, "the content policy would refuse it")
	for _, m := range regexp.MustCompile(`"(/approvals/assets/[^"]*)"`).FindAllStringSubmatch(body, -1) {
		file := d.visit("").get(m[1]).says(http.StatusOK)
		require.Contains(t, file.header.Get("Cache-Control"), "immutable")
		require.Regexp(t, `^text/(css|javascript); charset=utf-8$`, file.header.Get("Content-Type"))
	}
	d.visit("").get("/approvals/assets/page.css").says(http.StatusNotFound)
}

// All that the proposal says is on the page, and what it did not say is said to be so.
func TestWhatIsShown(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose(irreversible, func(p *approval.Proposal) {
		p.Tool = "commit_refund_v1"
		p.Consequence.Recipients = []string{"jonas@example.com", "accounts@example.com"}
		p.Consequence.AmountMinor, p.Consequence.Currency = new(int64(125000)), "EUR"
		p.Consequence.Records = new(1200)
		p.Requirement.Group = "finance"
	})
	page := d.visit("finn").get(at(p)).says(http.StatusOK,
		"<title>Replace the shipping address of customer C-1842 · Approvals</title>", `<html lang="en">`,
		"the service <bdi>support-desk</bdi>", ">run9</bdi>", "<dd><bdi>Production</bdi></dd>", "1,200 records", "1,250.00 EUR",
		"<dd><bdi>jonas@example.com</bdi></dd><dd><bdi>accounts@example.com</bdi></dd>", "one approver, role lead, group finance (policy version 3)",
		"version <bdi>17</bdi>, checked just now", "· unchanged", "Approve: Replace the shipping address of customer C-1842",
		"One parcel that leaves today goes to the new address.", `&#34;street&#34;: &#34;4 Harbour Row&#34;`)
	digest := p.Digest[strings.LastIndex(p.Digest, ":")+1:]
	page.says(http.StatusOK, "hs256:k1:"+digest[:6]+"…"+digest[58:])

	bare := d.propose(func(p *approval.Proposal) {
		p.Consequence, p.Diffs, p.Target.Version = approval.Consequence{}, nil, ""
		p.Tool, p.Summary = "commit_address_change_v2", strings.Repeat("long ", 20)
	})
	silent := d.visit("grace").get(at(bare)).says(http.StatusOK, "The proposal lists no fields")
	require.Equal(t, 4, strings.Count(silent.body, "not said"), "environment, records, recipients, amount")

	empty := d.propose(func(p *approval.Proposal) {
		p.Diffs = []approval.Diff{{Field: "Phone", Before: "", After: "+49 451 1"}}
	})
	d.visit("grace").get(at(empty)).says(http.StatusOK, `<em class="unsaid">empty</em>`)
}

func TestVerbs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	button := func(alter func(*approval.Proposal)) string {
		body := d.visit("grace").get(at(d.propose(alter))).body
		return regexp.MustCompile(`class="go"[^>]*><bdi>(.*?)</bdi></button>`).FindStringSubmatch(body)[1]
	}
	require.Equal(t, "Replace shipping address", button(func(*approval.Proposal) {}))
	require.Equal(t, "Approve: Set the limit", button(func(p *approval.Proposal) { p.Tool, p.Summary = "commit_limit_v1", "Set the limit" }))
	require.Equal(t, "Approve: limit change", button(func(p *approval.Proposal) {
		p.Tool, p.Summary = "commit_limit_change_v1", strings.Repeat("a long story ", 6)
	}))
}

func TestAgentsWords(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose(irreversible)
	const label = "What the agent wrote about it · not checked"
	d.visit("grace").get(at(p)).says(http.StatusOK).silent(label)

	d.config.Words = func(_ context.Context, p approval.Proposal) (string, error) {
		p.Diffs[0].After = "elsewhere"
		return "Please approve.\n<b>Urgent</b> http://evil.example\u202e", nil
	}
	body := d.visit("grace").get(at(p)).says(http.StatusOK, label, "&lt;b&gt;Urgent", "4 Harbour Row").silent("elsewhere", "<b>Urgent", `href="http`).body
	at1 := strings.Index(body, label)
	require.NotContains(t, body[strings.LastIndex(body[:at1], "<details"):at1], "open", "folded up")
	for _, before := range []string{"What will change", "What follows from it", "This cannot be taken back", "The exact plan"} {
		require.Less(t, strings.Index(body, before), at1, "the agent's words stand last")
	}

	d.config.Words = func(context.Context, approval.Proposal) (string, error) { return "half of", errors.New("gone") }
	d.visit("grace").get(at(p)).says(http.StatusOK).silent(label, "half of")
}

// A text of somebody else's stays text, wherever it stands.
func TestInjectedHTML(t *testing.T) {
	t.Parallel()
	const attack = `"><script>alert(1)</script><img src=x onerror=alert(2)>'</textarea></title>{{.}} javascript:alert(3)`
	d := newDesk(t)
	d.config.Words = func(context.Context, approval.Proposal) (string, error) { return attack, nil }
	p := d.propose(twoApprovers, everywhere(attack))
	grace, linus := d.visit("grace"), d.visit("linus")
	shown := grace.get(at(p))
	pages := [...]reply{
		shown, grace.get("/approvals/"), grace.post(at(p)+"/reject", shown.form("reason", attack+strings.Repeat("x", 500))),
		grace.post(at(p)+"/approve", shown.form("target", attack+"x")),
		{},
	}
	grace.post(at(p)+"/reject", shown.form("reason", attack)).says(http.StatusSeeOther)
	pages[4] = linus.get(at(p))
	for _, r := range pages {
		require.Contains(t, r.body, "&lt;script&gt;alert(1)")
		r.silent("<script>alert", "<img", "</textarea></title>", `href="javascript`)
		require.Equal(t, 1, strings.Count(r.body, "<script"), "the page's own")
	}
}

// everywhere puts a text wherever a proposal can hold one.
func everywhere(text string) func(*approval.Proposal) {
	return func(p *approval.Proposal) {
		p.Summary, p.Run, p.Requester.Subject = text, text, text
		p.Target = approval.Target{Type: text, ID: text, Version: text}
		p.Diffs = []approval.Diff{{Field: text, Before: text, After: text + "!"}}
		p.Consequence.Environment, p.Consequence.Currency, p.Consequence.AmountMinor = text, text, new(int64(1))
		p.Consequence.Recipients, p.Consequence.Irreversible = []string{text}, []string{text}
		quoted, err := jsontext.AppendQuote(nil, text)
		if err == nil {
			p.Plan = jsontext.Value(`{"note":` + string(quoted) + `}`)
		}
	}
}

func TestBidiText(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.config.Words = func(context.Context, approval.Proposal) (string, error) { return "pay \u202eme", nil }
	p := d.propose(everywhere("gro.\u202elive\u200b"))
	shown := d.visit("grace").get(at(p)).says(http.StatusOK, "There are characters here that cannot be seen",
		`gro.<span class="cp" title="right-to-left override">⟦U&#43;202E⟧</span>live<span class="cp" title="zero-width space">⟦U&#43;200B⟧</span>`)
	shown.silent("\u202e", "\u200b")
	require.Equal(t, strings.Count(shown.body, "<bdi"), strings.Count(shown.body, "</bdi>"))
	// Each mark stands within a bdi: no text of the proposal is beside the page's own.
	outside := regexp.MustCompile(`(?s)<bdi[^>]*>.*?</bdi>`).ReplaceAllString(shown.body, "")
	require.Equal(t, 1, strings.Count(outside, "⟦U&#43;202E⟧"), "the window's title")
	require.Equal(t, 1, strings.Count(outside, "⟦U+202E⟧"), "the notice that explains the mark")

	plain := d.propose()
	d.config.Words = nil
	d.visit("grace").get(at(plain)).says(http.StatusOK).silent("characters here that cannot be seen", "⟦")
	inPlan := d.propose(func(p *approval.Proposal) { p.Plan = jsontext.Value("{\"note\":\"\u202e\"}") })
	d.visit("grace").get(at(inPlan)).says(http.StatusOK, "There are characters here that cannot be seen")
}

func TestFailuresAreLoggedWithoutTheirText(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	core, logs := observer.New(zap.DebugLevel)
	d.config.Logger = zap.New(core)
	d.checksWith(errors.New("password=hunter2"))
	d.visit("grace").get(at(p)).says(http.StatusOK).silent("hunter2")
	require.Len(t, logs.All(), 1)
	require.Equal(t, map[string]any{"place": "fresh", "type": "*errors.errorString"}, logs.All()[0].ContextMap())
}

func TestStoresThatFail(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	d.config.Approvals = down{d.approvals}
	for _, path := range []string{"/approvals/", at(p)} {
		d.visit("grace").get(path).says(http.StatusServiceUnavailable, "It cannot be shown now").silent("connection")
	}
	_, err := d.approvals.Find(over, "acme", p.ID)
	require.Error(t, err)
	require.False(t, errors.Is(err, approval.ErrNotFound))
}

// down is a store whose machinery fails.
type down struct{ approval.Store }

var errDown = errors.New("connection refused")

func (down) Find(context.Context, string, string) (approval.Record, error) {
	return approval.Record{}, errDown
}

func (down) Pending(context.Context, string, approval.Page) ([]approval.Record, string, error) {
	return nil, "", errDown
}

// What became of an approved proposal, by the state of its operation.
func TestFate(t *testing.T) {
	t.Parallel()
	refused := envelope.New(envelope.PreconditionFailed)
	for _, c := range []struct {
		name    string
		become  func(d *desk, p approval.Proposal)
		says    []string
		settled bool
	}{
		{"not admitted", func(*desk, approval.Proposal) {}, []string{"Approved, not yet carried out"}, false},
		{"pending", func(d *desk, p approval.Proposal) { d.admit(p) }, []string{"It is being carried out"}, false},
		{"dispatching", func(d *desk, p approval.Proposal) { d.claim(p) }, []string{"It is being carried out"}, false},
		{"succeeded", func(d *desk, p approval.Proposal) {
			d.finish(d.claim(p), idem.Outcome{
				State:  idem.Succeeded,
				Result: jsontext.Value(`{"new_version":"18","changed_fields":["street","city"],"committed_at":"2026-03-09T16:17:00Z","more":1}`),
			})
		}, []string{"Carried out", "2026-03-09 16:17:00 UTC", "<bdi>18</bdi>", "<bdi>street</bdi>"}, true},
		{"succeeded, faulty report", func(d *desk, p approval.Proposal) {
			d.finish(d.claim(p), idem.Outcome{State: idem.Succeeded, Failure: envelope.New(envelope.OutputInvalid)})
		}, []string{"Carried out", "Its report was faulty"}, true},
		{"failed", func(d *desk, p approval.Proposal) {
			d.finish(d.claim(p), idem.Outcome{State: idem.Failed, Failure: refused})
		}, []string{"Not carried out", "finally refused", "PRECONDITION_FAILED"}, true},
		{"unknown", func(d *desk, p approval.Proposal) {
			d.finish(d.claim(p), idem.Outcome{State: idem.Unknown})
		}, []string{"Nobody knows yet whether it was carried out", "Do not repeat it"}, false},
		{"denied", func(d *desk, p approval.Proposal) { d.close(p, idem.Denied) }, []string{"Not carried out", "refused before anything was sent"}, true},
		{"cancelled", func(d *desk, p approval.Proposal) { d.close(p, idem.Cancelled) }, []string{"Stopped"}, true},
		{"consumed without a record", func(d *desk, p approval.Proposal) {
			_, _, err := d.approvals.Consume(d.t.Context(), "acme", p.ID, p.Digest, idem.OperationID("acme", p.ID))
			require.NoError(d.t, err)
		}, []string{"The approval has been used", "Do not repeat it"}, false},
		{"purged", func(d *desk, p approval.Proposal) {
			d.finish(d.claim(p), idem.Outcome{State: idem.Succeeded})
			_, err := d.ledger.Purge(d.t.Context(), 0, time.Hour)
			require.NoError(d.t, err)
		}, []string{"Carried out"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.propose()
			grace := d.visit("grace")
			grace.post(at(p)+"/approve", grace.get(at(p)).form()).says(http.StatusSeeOther)
			c.become(d, p)
			r := grace.get(at(p)).says(http.StatusOK, c.says...).silent("<form", "/operations/op_")
			require.Equal(t, !c.settled, strings.Contains(r.body, "data-live"), "news is looked for until it is settled")
			require.Equal(t, int64(2), d.checks.Load(), "shown and approved; what is decided is not checked again")
		})
	}
	t.Run("ledger that fails", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.propose()
		grace := d.visit("grace")
		grace.post(at(p)+"/approve", grace.get(at(p)).form()).says(http.StatusSeeOther)
		d.config.Ledger = noLedger{d.ledger}
		d.visit("grace").get(at(p)).says(http.StatusOK, "could not be read just now").silent("connection refused")
	})
}

type noLedger struct{ idem.Ledger }

func (noLedger) Find(context.Context, idem.Key) (idem.Record, error) { return idem.Record{}, errDown }

func (noLedger) Unknown(context.Context, string, idem.Page) ([]idem.Record, string, error) {
	return nil, "", errDown
}

func TestWithdrawn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.propose()
	grace := d.visit("grace")
	grace.post(at(p)+"/approve", grace.get(at(p)).form()).says(http.StatusSeeOther)
	_, err := d.approvals.Withdraw(t.Context(), "acme", p.ID, d.record(p.ID).Decisions[0].ID, people["linus"])
	require.NoError(t, err)
	grace.get(at(p)).says(http.StatusOK, "An approval was taken back").silent("<form")
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	_, err := approvalweb.New(approvalweb.Config{Path: "approvals/", PageSize: -1})
	require.Error(t, err)
	for _, what := range []string{"identify", "approvals", "ledger", "authority", "decide", "fresh", "keys", "path", "negative"} {
		require.Contains(t, err.Error(), what)
	}
	for path, ok := range map[string]bool{
		"": true, "/a": true, "/a/b-c_d.e": true, "/": false, "/a/": false, "a": false, "/a//b": false, "/a/../b": false, "/{x}": false, "/a b": false, "/a%2f": false,
	} {
		d := newDesk(t)
		d.config.Path = path
		_, err := approvalweb.New(d.config)
		require.Equal(t, ok, err == nil, "%q: %v", path, err)
	}
}

func TestMountedAtTheRoot(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.config.Path = ""
	p := d.propose()
	grace := d.visit("grace")
	grace.get("/").says(http.StatusOK, `href="/p/`+p.ID+`"`)
	sent := grace.post("/p/"+p.ID+"/approve", grace.get("/p/"+p.ID).form())
	require.Equal(t, "/p/"+p.ID, sent.header.Get("Location"))
}
