package main

import (
	"crypto/rand"
	"net/http"
	"sync"

	"github.com/toolcontract/toolcontract/approval"
)

func grace() approval.Principal {
	return approval.Principal{Kind: approval.Person, Tenant: tenant, Subject: "grace", Roles: []string{"support_lead"}}
}

func linus() approval.Principal {
	return approval.Principal{Kind: approval.Person, Tenant: tenant, Subject: "linus", Roles: []string{"support_lead", approval.RoleOperator}}
}

const cookie = "approvalpage_session"

// sessions knows who is signed in, by a random name in a cookie. Whoever has none is grace: this is a demonstration, with
// nothing to protect.
type sessions struct {
	mu     *sync.Mutex
	signed map[string]approval.Principal
}

func newSessions() sessions {
	return sessions{mu: new(sync.Mutex), signed: map[string]approval.Principal{}}
}

func (s sessions) identify(r *http.Request) (approval.Principal, error) {
	c, err := r.Cookie(cookie)
	if err != nil {
		return grace(), nil // no cookie: the first visit
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	who, ok := s.signed[c.Value]
	if !ok {
		return grace(), nil
	}
	return who, nil
}

// signIn begins a session. A real host sets Secure too, and serves over HTTPS.
func (s sessions) signIn(w http.ResponseWriter, who approval.Principal) {
	name := rand.Text()
	s.mu.Lock()
	s.signed[name] = who
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // not Secure: it is served on the loopback without TLS
		Name: cookie, Value: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// routes mounts the page beside the host's own.
func (h *host) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/approvals/", h.page)
	mux.HandleFunc("GET /{$}", h.start)
	mux.HandleFunc("POST /session", h.change)
	return http.NewCrossOriginProtection().Handler(mux)
}

func (h *host) start(w http.ResponseWriter, r *http.Request) {
	who, err := h.people.identify(r)
	if err != nil {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if err := h.welcome.Execute(w, who); err != nil {
		h.say("start page: %v", err)
	}
}

func (h *host) change(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<10)
	switch r.PostFormValue("as") {
	case "grace":
		h.people.signIn(w, grace())
	case "linus":
		h.people.signIn(w, linus())
	default:
		http.Error(w, "nobody of that name", http.StatusBadRequest)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
