package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// person is somebody at the running program, with a browser's cookies.
type person struct {
	t      *testing.T
	base   string
	client *http.Client
}

func newPerson(t *testing.T, base, name string) person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	p := person{t, base, &http.Client{Jar: jar}}
	require.Contains(t, p.post("/session", url.Values{"as": {name}}, http.StatusOK), "You are signed in as <b>"+name+"</b>")
	return p
}

func (p person) do(method, path string, form url.Values, status int) string {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, strings.NewReader(form.Encode()))
	require.NoError(p.t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	answer, err := p.client.Do(r)
	require.NoError(p.t, err)
	defer func() { require.NoError(p.t, answer.Body.Close()) }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(p.t, err)
	require.Equal(p.t, status, answer.StatusCode, "%s", body)
	return string(body)
}

func (p person) get(path string) string {
	p.t.Helper()
	return p.do(http.MethodGet, path, nil, http.StatusOK)
}

func (p person) post(path string, form url.Values, status int) string {
	p.t.Helper()
	return p.do(http.MethodPost, path, form, status)
}

// open follows the link whose text has the words, and returns where it led and the page.
func (p person) open(list, words string) (path, page string) {
	p.t.Helper()
	for _, m := range regexp.MustCompile(`<a href="([^"]*)"><bdi>([^<]*)</bdi>`).FindAllStringSubmatch(p.get(list), -1) {
		if strings.Contains(m[2], words) {
			return m[1], p.get(m[1])
		}
	}
	require.Fail(p.t, "no such link", words)
	return "", ""
}

// form takes the hidden fields of a page, and adds what is typed.
func form(page string, typed ...string) url.Values {
	f := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`).FindAllStringSubmatch(page, -1) {
		f.Set(m[1], m[2])
	}
	for i := 0; i+1 < len(typed); i += 2 {
		f.Set(typed[i], typed[i+1])
	}
	return f
}

// started runs the program and returns its address and what it says, line by line.
func started(t *testing.T) (base string, says func(words string)) {
	t.Helper()
	out, in := io.Pipe()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan int, 1)
	go func() {
		ended <- command(ctx, []string{"-addr", "127.0.0.1:0"}, in, in)
		_ = in.Close()
	}()
	t.Cleanup(func() {
		go func() { _, _ = io.Copy(io.Discard, out) }()
		stop()
		require.Zero(t, <-ended, "it ends in order")
	})
	lines := bufio.NewScanner(out)
	next := func(words string) string {
		for lines.Scan() {
			if strings.Contains(lines.Text(), words) {
				return lines.Text()
			}
		}
		require.Fail(t, "it never said", words)
		return ""
	}
	base = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(next("The approval page is at http://127.0.0.1:"))
	next("You are signed in as grace")
	return base, func(words string) { t.Helper(); next(words) }
}

func TestStory(t *testing.T) {
	t.Parallel()
	base, says := started(t)
	grace, linus := newPerson(t, base, "grace"), newPerson(t, base, "linus")
	require.Contains(t, grace.get("/approvals/"), "4 proposals wait for your decision.")

	// A plain one: approved, and committed by the agent.
	path, page := grace.open("/approvals/", "Replace the shipping address of customer C-1842")
	require.Contains(t, page, "What the agent wrote about it · not checked")
	grace.post(path+"/approve", form(page), http.StatusOK)
	says("agent: commit_address_change_v1: done, C-1842 is now version 18")
	require.Contains(t, grace.get(path), "Carried out")

	// One of 1,250.00 EUR: two people, and the order's number typed.
	path, page = grace.open("/approvals/", "Pay back order 88-1204")
	require.Contains(t, page, "1,250.00 EUR")
	require.Contains(t, page, "jonas.petersen@example.com")
	require.Contains(t, grace.post(path+"/approve", form(page), http.StatusUnprocessableEntity), "That is not its name")
	require.Contains(t, grace.post(path+"/approve", form(page, "target", "88-1204"), http.StatusOK), "Another approver must agree")
	linus.post(path+"/approve", form(linus.get(path), "target", "88-1204"), http.StatusOK)
	says("agent: commit_refund_v1: done, 88-1204 is now version 4")
	require.Contains(t, linus.get(path), "Carried out")

	// One that cannot be undone: turned down, with a reason.
	path, page = grace.open("/approvals/", "Delete the account of customer C-0977")
	require.Contains(t, page, "The customer cannot sign in again.")
	require.Contains(t, grace.post(path+"/reject", form(page), http.StatusUnprocessableEntity), "Say why you turn it down")
	require.Contains(t, grace.post(path+"/reject", form(page, "reason", "Not by telephone."), http.StatusOK), "Turned down")
	says("agent: Delete the account of customer C-0977: rejected")

	// One that is stale.
	path, page = grace.open("/approvals/", "Change the price of article A-77")
	require.Contains(t, page, "It has changed since it was proposed")
	grace.post(path+"/approve", form(page), http.StatusConflict)

	// One whose outcome nobody knows, resolved by the operator.
	require.Contains(t, grace.get("/approvals/operations"), "No unknown outcome is yours to resolve.")
	path, page = linus.open("/approvals/operations", "Pay back order 88-0999")
	early := form(page, "state", "failed", "reason", "The bank says no.", "evidence", "Statement 12")
	require.Contains(t, linus.post(path+"/resolve", early, http.StatusConflict), "It is too early to say that it failed")
	seen := form(page, "state", "succeeded", "reason", "The bank paid it.", "evidence", "Statement 12")
	require.Contains(t, linus.post(path+"/resolve", seen, http.StatusOK), "Carried out")
}

func TestStartPage(t *testing.T) {
	t.Parallel()
	base, _ := started(t)
	p := newPerson(t, base, "linus")
	require.Contains(t, p.get("/approvals/"), "Signed in as <b><bdi>linus</bdi></b>")
	p.post("/session", url.Values{"as": {"mallet"}}, http.StatusBadRequest)
	nobody := person{t, base, http.DefaultClient}
	require.Contains(t, nobody.get("/"), "You are signed in as <b>grace</b>", "the first visit")

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/session", strings.NewReader("as=linus"))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusForbidden, answer.StatusCode, "another site signs nobody in")
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"help", []string{"-h"}, 0, "-addr"},
		{"unknown flag", []string{"-x"}, 2, "-x"},
		{"an address that others reach", []string{"-addr", "0.0.0.0:0"}, 1, "loopback"},
		{"no address", []string{"-addr", "nowhere"}, 1, "address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, complaints bytes.Buffer
			require.Equal(t, c.code, command(t.Context(), c.args, &out, &complaints))
			require.Contains(t, complaints.String(), c.says)
		})
	}
}
