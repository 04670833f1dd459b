package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"

	"github.com/toolcontract/toolcontract/approval"
)

// door lets one person in, who was given its key: a link with it signs in, a cookie stays signed in. A real host has a
// session of its own, over HTTPS, with Secure cookies.
type door struct{ key, session string }

const cookie = "agentloop_session"

func newDoor() *door { return &door{key: rand.Text(), session: rand.Text()} }

var errNobody = errors.New("nobody is signed in")

func (d *door) identify(r *http.Request) (approval.Principal, error) {
	c, err := r.Cookie(cookie)
	if err != nil || subtle.ConstantTimeCompare([]byte(c.Value), []byte(d.session)) != 1 {
		return approval.Principal{}, errNobody
	}
	return lea(), nil
}

func (d *door) signIn(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("key")), []byte(d.key)) != 1 {
		http.Error(w, "That is not the key.", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // not Secure: it is served on the loopback without TLS
		Name: cookie, Value: d.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	http.Redirect(w, r, "/approvals/", http.StatusSeeOther)
}

// visitor is the scripted person: it does over HTTP what lea does in a browser.
type visitor struct {
	page, key string
	client    *http.Client
}

func newVisitor(page, key string) *visitor {
	jar, _ := cookiejar.New(nil) // fails for no options
	return &visitor{page, key, &http.Client{Jar: jar}}
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// approve signs in, opens the proposal and presses the button under what the page shows.
func (v *visitor) approve(ctx context.Context, proposal string) error {
	queue, err := v.do(ctx, http.MethodGet, "/sign-in?key="+url.QueryEscape(v.key), nil)
	if err != nil {
		return err
	}
	path := "/approvals/p/" + url.PathEscape(proposal)
	if !strings.Contains(queue, `href="`+path+`"`) {
		return errors.New("the page does not list the proposal")
	}
	shown, err := v.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	form := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(shown, -1) {
		form.Set(field[1], field[2])
	}
	_, err = v.do(ctx, http.MethodPost, path+"/approve", form)
	return err
}

func (v *visitor) do(ctx context.Context, method, path string, form url.Values) (page string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, v.page+path, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	answer, err := v.client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the page answered %d", answer.StatusCode)
	}
	return string(body), err
}
