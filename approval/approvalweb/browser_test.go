package approvalweb_test

import (
	"context"
	"encoding/json/v2"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// findChromium returns the browser of this machine, empty where there is none.
func findChromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// needsChromium skips the test where there is no browser; in CI that is a failure.
func needsChromium(t *testing.T, path string) {
	t.Helper()
	if path != "" {
		return
	}
	const how = "no chromium on PATH; on Debian: apt-get install -y chromium"
	if os.Getenv("CI") != "" {
		t.Fatal(how)
	}
	t.Skip(how)
}

// startChromium starts one browser for many tabs; it ends with the test.
func startChromium(t *testing.T, path string) context.Context {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	if os.Geteuid() == 0 { // Chromium's sandbox refuses root
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the browser's end, so that its directory can go
		cancel()
		stop()
	})
	require.NoError(t, chromedp.Do(ctx))
	return ctx
}

// chrome is a browser that runs, in one test.
type chrome struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the browser in it
}

// tab is a page of the browser that shares no cookies with any other.
type tab struct {
	t    *testing.T
	ctx  context.Context //nolint:containedctx // chromedp keeps the tab in it
	host string

	mu     sync.Mutex
	faults []string // exceptions of scripts, and what the content policy refused
}

// patience is how long a step may take on a busy machine.
const patience = time.Minute

// browse serves the desk and opens a tab at path, in the session of who.
func (c chrome) browse(d *desk, who, path string, before ...chromedp.Action[chromedp.Void]) *tab {
	c.t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/approvals/", d.page())
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{
			Name: "session", Value: r.URL.Query().Get("as"), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
	})
	server := httptest.NewServer(mux)
	b := &tab{t: c.t, host: server.URL}
	ctx, cancel := chromedp.NewContext(c.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.listen))
	b.ctx = ctx
	c.t.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		cancel()
		server.Close()
	})
	require.NoError(c.t, chromedp.Do(ctx))
	b.do(enable(), chromedp.EmulateViewport(1400, 1000), chromedp.Navigate(server.URL+"/login?as="+who))
	b.do(before...)
	b.do(chromedp.Navigate(server.URL + path))
	return b
}

func enable() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, log.Enable, cdp.Empty{})
		return err
	})
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity {
			b.faults = append(b.faults, e.Entry.Text)
		}
	}
}

func (b *tab) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.faults)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, steps...))
}

// ask evaluates an expression in the page. A page that is just being replaced cannot answer: it is asked again.
func ask[T any](b *tab, expression string) T {
	b.t.Helper()
	var v T
	b.until(func() bool {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		var err error
		v, err = chromedp.Run(ctx, chromedp.Evaluate[T](expression))
		if e, thrown := errors.AsType[*chromedp.ExceptionError](err); thrown {
			require.NoError(b.t, e, expression)
		}
		return err == nil
	}, expression)
	return v
}

// until asks again and again, until it is so.
func (b *tab) until(so func() bool, what string) {
	b.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); !so(); {
		select {
		case <-tick.C:
		case <-deadline:
			require.Fail(b.t, "it never came", what)
		}
	}
}

// reads asserts that a reader sees each of the texts.
func (b *tab) reads(texts ...string) {
	b.t.Helper()
	seen := ask[string](b, `document.body.innerText`)
	for _, text := range texts {
		require.Contains(b.t, seen, text)
	}
}

// waits until the expression is true.
func (b *tab) waits(expression string) {
	b.t.Helper()
	b.until(func() bool { return ask[bool](b, expression) }, expression)
}

func (b *tab) waitsFor(text string) {
	b.t.Helper()
	b.waits(`document.body.innerText.includes(` + quote(text) + `)`)
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// goes does what leads to another page, waits for that page, and returns its status.
func (b *tab) goes(steps ...chromedp.Action[chromedp.Void]) int {
	b.t.Helper()
	before := b.document()
	b.do(steps...)
	status := 0
	b.until(func() bool {
		if b.document() != before {
			status = ask[int](b, `document.readyState === "complete" ? performance.getEntriesByType("navigation")[0].responseStatus : 0`)
		}
		return status != 0
	}, "another page")
	return status
}

// document names the document in the tab; every load has a name of its own.
func (b *tab) document() cdp.LoaderID {
	b.t.Helper()
	tree, err := chromedp.Run(b.ctx, func(ctx context.Context, t *chromedp.Target) (page.GetFrameTreeResult, error) {
		return cdp.Call(ctx, t, page.GetFrameTree, cdp.Empty{})
	})
	require.NoError(b.t, err)
	return tree.FrameTree.Frame.LoaderID
}

func click(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}

func typed(selector, text string) chromedp.Action[chromedp.Void] {
	return chromedp.SendKeys(chromedp.CSS(selector), text)
}

func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	})
}

func withoutScript() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
}
