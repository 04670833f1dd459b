package main

import (
	"context"
	"encoding/json/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// provider is the system whose effects are counted. It lives in the campaign's own process and is never killed.
type provider struct {
	replaySafe bool
	server     *http.Server
	address    string

	mu       sync.Mutex
	effects  map[string]int    // by account
	accounts map[string]string // by key
	answers  map[string]answer // by key
	versions map[string]int    // by account
}

// answer is what a request did.
type answer struct {
	Version string    `json:"version"`
	At      time.Time `json:"at"`
}

func startProvider(ctx context.Context, replaySafe bool) (*provider, error) {
	p := &provider{
		replaySafe: replaySafe, effects: map[string]int{}, accounts: map[string]string{}, answers: map[string]answer{}, versions: map[string]int{},
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /do", p.do)
	mux.HandleFunc("GET /status", p.status)
	p.address = "http://" + l.Addr().String()
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

// do has the effect. A replay-safe provider answers a key that it knows as it did before. "lose" has the effect and drops
// the connection.
func (p *provider) do(w http.ResponseWriter, r *http.Request) {
	key, account := r.FormValue("key"), r.FormValue("account")
	p.mu.Lock()
	a, known := p.answers[key]
	if !known || !p.replaySafe {
		p.effects[account]++
		p.versions[account]++
		a = answer{Version: strconv.Itoa(p.versions[account]), At: time.Now().UTC()}
		p.answers[key], p.accounts[key] = a, account
	}
	p.mu.Unlock()
	if r.FormValue("lose") != "" && !known {
		panic(http.ErrAbortHandler)
	}
	write(w, a)
}

func (p *provider) status(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	a, ok := p.answers[r.FormValue("key")]
	p.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	write(w, a)
}

func write(w http.ResponseWriter, a answer) {
	b, err := json.Marshal(a)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(b)
}
