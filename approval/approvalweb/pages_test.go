package approvalweb_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
)

// TestBrowser is the page as a person meets it, in a real browser.
func TestBrowser(t *testing.T) {
	t.Parallel()
	path := findChromium()
	var browser context.Context
	if path != "" {
		browser = startChromium(t, path)
	}
	for _, c := range []struct {
		name string
		test func(chrome)
	}{
		{"approve", testApprove},
		{"reject without and with a reason", testReject},
		{"irreversible", testIrreversible},
		{"stale", testStale},
		{"expired", testExpired},
		{"other tenant", testOtherTenant},
		{"self-approval", testSelfApproval},
		{"double submit", testDoubleSubmit},
		{"tampered digest", testTamperedDigest},
		{"injected HTML", testInjected},
		{"bidi text", testBidi},
		{"script disabled", testNoScript},
		{"keyboard only", testKeyboard},
		{"live list", testLiveList},
		{"live fate", testLiveFate},
		{"resolve", testResolve},
		{"screenshots", testScreenshots},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			needsChromium(t, path)
			c.test(chrome{t, browser})
		})
	}
}

const (
	approveButton = "#approve button"
	rejectButton  = "#reject button"
)

func testApprove(c chrome) {
	t := c.t
	d := newDesk(t)
	p := d.propose()
	b := c.browse(d, "grace", "/approvals/")
	b.reads("1 proposal waits for your decision.")
	b.goes(click("#live a"))
	require.Equal(t, at(p), ask[string](b, `location.pathname`))
	b.reads("17 Example Lane", "4 Harbour Row", "checked just now")
	require.Equal(t, http.StatusOK, b.goes(click(approveButton)))
	b.reads("Approved, not yet carried out", "Approved by grace")
	require.Equal(t, approval.Approved, d.record(p.ID).State)
	require.Equal(t, p.Digest, d.record(p.ID).Decisions[0].Digest)
	require.Empty(t, b.complaints())
}

func testReject(c chrome) {
	t := c.t
	d := newDesk(t)
	p := d.propose()
	b := c.browse(d, "grace", at(p))
	require.Equal(t, http.StatusUnprocessableEntity, b.goes(click(rejectButton)))
	b.reads("Say why you turn it down", "Nothing was stored yet")
	require.Equal(t, "problem", ask[string](b, `document.activeElement.id`), "what is wrong is read first")
	require.Equal(t, approval.Pending, d.record(p.ID).State)
	b.do(click("#problem a"))
	require.Equal(t, http.StatusOK, b.goes(typed("#reason", "The customer is away."), click(rejectButton)))
	b.reads("Turned down", "The customer is away.")
	require.Equal(t, "The customer is away.", d.record(p.ID).Decisions[0].Reason)
}

func testIrreversible(c chrome) {
	t := c.t
	d := newDesk(t)
	p := d.propose(irreversible)
	b := c.browse(d, "grace", at(p))
	require.Equal(t, http.StatusUnprocessableEntity, b.goes(typed("#target", "C-1824"), click(approveButton)))
	b.reads("That is not its name")
	require.Equal(t, "C-1824", ask[string](b, `document.querySelector("#target").value`), "what was typed is kept")
	require.Equal(t, approval.Pending, d.record(p.ID).State)
	require.Equal(t, http.StatusOK, b.goes(chromedp.Clear(chromedp.CSS("#target")), typed("#target", "C-1842"+kb.Enter)))
	require.Equal(t, approval.Approved, d.record(p.ID).State)
}

func testStale(c chrome) {
	t := c.t
	d := newDesk(t)
	p := d.propose()
	b := c.browse(d, "grace", at(p))
	d.checksWith(staleError())
	require.Equal(t, http.StatusConflict, b.goes(click(approveButton)))
	b.reads("It has changed since it was proposed", "Your approval was not stored")
	require.True(t, ask[bool](b, `document.querySelector("#approve button").disabled`))
	require.False(t, ask[bool](b, `document.querySelector("#reject button").disabled`))
	b.do(chromedp.Navigate(b.host + at(p)))
	b.reads("It cannot be approved any more")
	require.True(t, ask[bool](b, `document.querySelector("#approve button").disabled`))
	require.Equal(t, approval.Pending, d.record(p.ID).State)
}

func testExpired(c chrome) {
	t := c.t
	d := newDesk(t)
	p := d.propose()
	d.clock.forward(15*time.Minute - 2*time.Second)
	b := c.browse(d, "grace", at(p))
	b.waitsFor("Its time is over") // counted down in the page
	require.Equal(t, 2, ask[int](b, `document.querySelectorAll(".decide button:disabled").length`))
	d.clock.forward(2 * time.Second)
	require.Equal(t, http.StatusConflict, b.goes(chromedp.Evaluate[chromedp.Void](`void setTimeout(() => document.querySelector("#approve").submit())`)))
	b.reads("Its time is over", "Nothing was stored")
	require.Equal(t, approval.Expired, d.record(p.ID).State)
	require.Empty(t, d.record(p.ID).Decisions)
}

func testOtherTenant(c chrome) {
	t := c.t
	d := newDesk(t)
	p := d.propose()
	b := c.browse(d, "mallet", "/approvals/")
	b.reads("Nothing waits for your decision.")
	require.Equal(t, http.StatusNotFound, b.goes(chromedp.Navigate(b.host+at(p))))
	require.NotContains(t, ask[string](b, `document.documentElement.outerHTML`), "C-1842")
}

func testSelfApproval(c chrome) {
	t := c.t
	d := newDesk(t)
	p := d.propose(func(p *approval.Proposal) { p.Requester = people["grace"] })
	b := c.browse(d, "grace", "/approvals/")
	b.reads("You asked for it yourself.", "Nothing waits for your decision.")
	b.goes(click("#live a"))
	b.reads("You asked for this yourself", "Somebody else must decide about it.")
	require.Zero(t, ask[int](b, `document.forms.length`))
	require.Equal(t, approval.Pending, d.record(p.ID).State)
}

func testDoubleSubmit(c chrome) {
	t := c.t
	d := newDesk(t)
	p := d.propose()
	b := c.browse(d, "grace", at(p))
	b.goes(chromedp.DoubleClick(chromedp.CSS(approveButton)))
	b.waitsFor("Approved, not yet carried out")
	require.Len(t, d.record(p.ID).Decisions, 1)
	require.Equal(t, approval.Approved, d.record(p.ID).State)

	b.goes(chromedp.NavigateBack())
	b.waits(`location.pathname === ` + quote(at(p)))
	b.waitsFor("Approved, not yet carried out") // no form to send again
	require.Len(t, d.record(p.ID).Decisions, 1)
}

func testTamperedDigest(c chrome) {
	t := c.t
	d := newDesk(t)
	p := d.propose()
	b := c.browse(d, "grace", at(p))
	b.do(chromedp.SetAttributeValue(chromedp.CSS(`#approve [name="digest"]`), "value", p.Digest[:len(p.Digest)-1]+"x"))
	require.Equal(t, http.StatusForbidden, b.goes(click(approveButton)))
	b.reads("This form is not valid here")
	require.Empty(t, d.record(p.ID).Decisions)
}

func testInjected(c chrome) {
	t := c.t
	const attack = `"><script>document.title="owned"</script><img src=x onerror='document.title="owned"'><a href="https://evil.example">x</a> https://evil.example`
	d := newDesk(t)
	d.config.Words = func(context.Context, approval.Proposal) (string, error) { return attack, nil }
	p, link := d.propose(everywhere(attack)), d.propose(everywhere("https://evil.example/"))
	b := c.browse(d, "grace", at(p))
	for _, path := range []string{at(p), at(link), "/approvals/"} {
		b.do(chromedp.Navigate(b.host + path))
		require.NotEqual(t, "owned", ask[string](b, `document.title`))
		require.Equal(t, 1, ask[int](b, `document.scripts.length`), "the page's own")
		require.Zero(t, ask[int](b, `document.images.length + document.querySelectorAll("iframe,object,embed,style").length`))
		require.Zero(t, ask[int](b, `[...document.links].filter(a => a.host !== location.host).length`), "no links are made of data")
		require.Zero(t, ask[int](b, `document.querySelectorAll("bdi a, bdi form").length`))
		b.reads("https://evil.example")
		require.Empty(t, b.complaints(), "not even the content policy had anything to refuse")
	}
}

func testBidi(c chrome) {
	t := c.t
	d := newDesk(t)
	p := d.propose(func(p *approval.Proposal) {
		p.Diffs = []approval.Diff{
			{Field: "City", Before: "Kiel", After: "Lübeck\u202egro.live"},
			{Field: "Name", Before: "שלום", After: "שלום"},
		}
	})
	b := c.browse(d, "grace", at(p))
	b.reads("Lübeck⟦U+202E⟧gro.live", "cannot be seen")
	require.False(t, ask[bool](b, `document.body.innerText.includes("\u202e")`))
	require.Positive(t, ask[float64](b, `document.querySelector("td .cp").getBoundingClientRect().width`))
	require.Equal(t, "1px", ask[string](b, `getComputedStyle(document.querySelector("td .cp")).borderTopWidth`), "marks look like nothing else")
	require.True(t, ask[bool](b, `(() => {
		const cell = document.querySelector("td.same"), name = cell.querySelector("bdi"), rest = document.createRange();
		rest.selectNodeContents(name.nextSibling);
		return rest.getBoundingClientRect().left >= name.getBoundingClientRect().right - 1;
	})()`), "text from right to left does not move the page's own words")
}

func testNoScript(c chrome) {
	t := c.t
	d := newDesk(t)
	p, other := d.propose(irreversible), d.propose()
	b := c.browse(d, "grace", "/approvals/", withoutScript())
	b.reads("2 proposals wait for your decision.", "15:00")
	require.Equal(t, http.StatusOK, b.goes(click("#live a")))
	b.reads("Expires in 15:00, at 16:30 UTC")
	b.do(click("details summary"))
	b.reads(`"street": "4 Harbour Row"`)
	require.Equal(t, http.StatusOK, b.goes(typed("#target", "C-1842"), click(approveButton)))
	b.reads("Approved, not yet carried out")
	require.Equal(t, approval.Approved, d.record(p.ID).State)

	b.do(chromedp.Navigate(b.host + at(other)))
	require.Equal(t, http.StatusUnprocessableEntity, b.goes(click(rejectButton)))
	require.Equal(t, http.StatusOK, b.goes(typed("#reason", "No."), click(rejectButton)))
	require.Equal(t, approval.Rejected, d.record(other.ID).State)
}

func testKeyboard(c chrome) {
	t := c.t
	d := newDesk(t)
	d.config.Words = func(context.Context, approval.Proposal) (string, error) { return "Please.", nil }
	p := d.propose(irreversible)
	b := c.browse(d, "grace", "/approvals/")
	tabTo := func(want ...string) {
		for _, w := range want {
			b.do(chromedp.KeyEvent(kb.Tab))
			require.Contains(t, ask[string](b, `document.activeElement.id || document.activeElement.innerText`), w)
			require.Equal(t, "solid", ask[string](b, `getComputedStyle(document.activeElement).outlineStyle`), "focus is seen at %q", w)
		}
	}
	tabTo("Waiting for you", "Unknown outcomes", "Replace the shipping address")
	require.Equal(t, http.StatusOK, b.goes(chromedp.KeyEvent(kb.Enter)))
	tabTo("Waiting for you", "Unknown outcomes", "target")
	b.do(chromedp.KeyEvent("C-1842"))
	tabTo("The exact plan")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.reads(`"street": "4 Harbour Row"`)
	tabTo("What the agent wrote", "reason", "Turn it down", "Replace shipping address")
	require.Equal(t, http.StatusOK, b.goes(chromedp.KeyEvent(kb.Enter)))
	b.reads("Approved, not yet carried out")
	require.Equal(t, approval.Approved, d.record(p.ID).State)
}

func testLiveList(c chrome) {
	t := c.t
	d := newDesk(t)
	d.config.Refresh = 50 * time.Millisecond
	first := d.propose()
	b := c.browse(d, "grace", "/approvals/")
	b.do(chromedp.Focus(chromedp.CSS("#live a")))
	d.propose(func(p *approval.Proposal) { p.Summary = "Refund order 88-1204" })
	b.waitsFor("Refund order 88-1204")
	b.waits(`document.querySelector("#news").innerText === "2 proposals wait for your decision."`)
	require.Equal(t, at(first), ask[string](b, `document.activeElement.getAttribute("href") ?? ""`), "the focus stays where it was")

	_, err := d.approvals.Decide(t.Context(), "acme", first.ID, approval.Decision{Approved: true, By: people["linus"], Digest: first.Digest})
	require.NoError(t, err)
	b.waits(`document.querySelectorAll("#live tbody tr").length === 1`)
	b.reads("1 proposal waits for your decision.")
	require.Empty(t, b.complaints())
}

func testLiveFate(c chrome) {
	t := c.t
	d := newDesk(t)
	d.config.Refresh = 50 * time.Millisecond
	p := d.propose()
	b := c.browse(d, "grace", at(p))
	b.goes(click(approveButton))
	b.waitsFor("Approved, not yet carried out")
	claim := d.claim(p)
	b.waitsFor("It is being carried out")
	d.finish(claim, idem.Outcome{State: idem.Unknown})
	b.waitsFor("Nobody knows yet whether it was carried out")
	_, err := d.ledger.Resolve(t.Context(), operationOf(p), idem.Resolution{State: idem.Succeeded, By: "olga", Reason: "seen", Evidence: "ticket"})
	require.NoError(t, err)
	b.waitsFor("What was approved has been written.")
	require.Equal(t, "Carried out", ask[string](b, `document.querySelector("#news").innerText`), "said to those who do not see it")
	require.Zero(t, ask[int](b, `document.querySelectorAll("[data-live]").length`), "and that is that")
	require.Empty(t, b.complaints())
}

func testResolve(c chrome) {
	t := c.t
	d := newDesk(t)
	p, _ := d.lost()
	b := c.browse(d, "olga", "/approvals/operations")
	b.goes(click("#live a"))
	b.reads("Nobody knows yet whether it was carried out", "worker-3")
	require.Equal(t, http.StatusUnprocessableEntity, b.goes(click("main button")))
	b.reads("Say what became of it", "Choose one of the two.")
	require.Equal(t, http.StatusConflict, b.goes(click(`[value="failed"]`), typed("#reason", "Not seen."), typed("#evidence", "Ticket 1"), click("main button")))
	b.reads("It is too early to say that it failed")
	require.Equal(t, "Not seen.", ask[string](b, `document.querySelector("#reason").value`))
	require.Equal(t, http.StatusOK, b.goes(click(`[value="succeeded"]`), click("main button")))
	b.reads("Carried out", "Resolved by", "olga", "Ticket 1")
	require.Equal(t, idem.Succeeded, d.state(p))
	require.Empty(t, b.complaints())
}

// testScreenshots takes pictures of the pages, and looks for what a machine can see: nothing is wider than the window, every
// field has its label, all text has contrast. Set TOOLCONTRACT_SCREENSHOTS to keep the pictures in a folder.
func testScreenshots(c chrome) {
	t := c.t
	folder := os.Getenv("TOOLCONTRACT_SCREENSHOTS")
	if folder == "" {
		folder = t.TempDir()
	}
	d := newDesk(t)
	pages := gallery(t, d)
	b := c.browse(d, "finn", "/approvals/")
	for name, path := range pages {
		for _, width := range []int64{360, 1400} {
			for _, set := range []string{"light", "dark"} {
				b.do(scheme(set), chromedp.EmulateViewport(width, 900), chromedp.Navigate(b.host+path))
				require.LessOrEqual(t, ask[int64](b, `document.documentElement.scrollWidth`), width, "%s at %d px", name, width)
				require.Empty(t, ask[[]string](b, faint), "%s in %s", name, set)
				require.Zero(t, ask[int](b, `[...document.querySelectorAll("input:not([type=hidden]),textarea")].filter(e => !e.labels.length).length`))
				require.Equal(t, 1, ask[int](b, `document.querySelectorAll("h1").length`))
				picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				require.NoError(t, err)
				file := filepath.Join(folder, name+"-"+strconv.FormatInt(width, 10)+"-"+set+".png")
				require.NoError(t, os.WriteFile(file, picture, 0o600))
			}
		}
	}
	require.Empty(t, b.complaints())
}

// gallery makes one of everything, and returns where it is.
func gallery(t *testing.T, d *desk) map[string]string {
	t.Helper()
	d.config.Words = func(context.Context, approval.Proposal) (string, error) {
		return "The customer moved last week and wants the parcel there.", nil
	}
	finn := people["finn"]
	finn.Roles = append(finn.Roles, "operator")
	d.config.Identify = func(*http.Request) (approval.Principal, error) { return finn, nil }
	d.config.Fresh = func(_ context.Context, p approval.Proposal) error {
		if p.Run == "run-stale" {
			return staleError()
		}
		return nil
	}
	lost, claim := d.lost(irreversible)
	_, err := d.ledger.Finish(t.Context(), claim, idem.Outcome{State: idem.Succeeded, Receipt: "rcpt-9", Result: []byte(`{"new_version":"18"}`)})
	require.ErrorIs(t, err, idem.ErrFenced)
	approved := d.propose()
	_, err = d.approvals.Decide(t.Context(), "acme", approved.ID, approval.Decision{Approved: true, By: people["grace"], Digest: approved.Digest})
	require.NoError(t, err)
	rejected := d.propose()
	_, err = d.approvals.Decide(t.Context(), "acme", rejected.ID, approval.Decision{By: people["grace"], Digest: rejected.Digest, Reason: "The customer is away until Monday."})
	require.NoError(t, err)
	d.clock.forward(2 * time.Minute)
	return map[string]string{
		"refusal": "/approvals/p/none", "unknown": at(lost), "operation": operationAt(lost), "approved": at(approved), "rejected": at(rejected),
		"proposal": at(d.propose(irreversible, func(p *approval.Proposal) { p.Diffs[1].After = "Lübeck\u202e" })),
		"stale":    at(d.propose(irreversible, func(p *approval.Proposal) { p.Run = "run-stale" })),
		"rich": at(d.propose(twoApprovers, func(p *approval.Proposal) {
			p.Tool, p.Summary = "commit_refund_v1", "Refund order 88-1204 to the customer"
			p.Consequence.Recipients = []string{"jonas.petersen@example.com", "accounts@example.com"}
			p.Consequence.AmountMinor, p.Consequence.Currency = new(int64(125000)), "EUR"
		})),
		"long": at(d.propose(func(p *approval.Proposal) {
			p.Summary = "Replace_" + string(make255('x')) + " and the notes of the customer"
			p.Diffs = []approval.Diff{{Field: "Notes", Before: string(make255('y')), After: "Line one\nLine two\n\tindented   wide"}}
			p.Target.ID = string(make255('z'))
		})),
		"queue": "/approvals/", "operations": "/approvals/operations",
	}
}

func make255(c byte) []byte {
	b := make([]byte, 255)
	for i := range b {
		b[i] = c
	}
	return b
}

// faint lists the texts whose contrast with what is behind them is under 4.5 to 1 (WCAG 2.2, 1.4.3), but for what is disabled.
const faint = `(() => {
	const part = (c) => { c /= 255; return c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
	const rgb = (s) => s.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
	const out = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || e.closest(":disabled,script") || !e.checkVisibility()) continue;
		const a = light(rgb(getComputedStyle(e).color)), b = light(behind(e));
		if ((Math.max(a, b) + .05) / (Math.min(a, b) + .05) < 4.5) out.push(walk.currentNode.data);
	}
	return out;
})()`
