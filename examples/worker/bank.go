package main

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// bank is the other system. It runs in the parent, so no killed worker takes it along.
type bank struct {
	address string
	server  *http.Server

	mu       sync.Mutex
	receipts map[string]receipt // by key
	payments map[string]int     // effects, by account
	asked    map[string]int     // requests, by account
	requests map[int]int        // by process id
	third    func(pid int)      // told once, when a process's third request is done and not yet answered
}

type receipt struct {
	Reference string    `json:"reference" jsonschema:"pattern=^bank_[0-9]+$"`
	At        time.Time `json:"at"`
}

// payment is what the bank is asked for, as a recorded run keeps it.
type payment struct {
	Key         string `json:"key" redact:"trusted"`
	To          string `json:"to" jsonschema:"pattern=^acct_[0-9]{2}$"`
	AmountMinor int64  `json:"amount_minor"`
}

func newBank() *bank {
	return &bank{receipts: map[string]receipt{}, payments: map[string]int{}, asked: map[string]int{}, requests: map[int]int{}}
}

func openBank(ctx context.Context) (*bank, error) {
	b := newBank()
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b.address = "http://" + l.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /pay", b.pay)
	b.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = b.server.Serve(l) }()
	return b, nil
}

// pay does what it is asked once for each key, and answers the same each time.
func (b *bank) pay(w http.ResponseWriter, r *http.Request) {
	key, to := r.FormValue("key"), r.FormValue("to")
	pid, err := strconv.Atoi(r.FormValue("pid"))
	if err != nil {
		http.Error(w, "", http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	got, known := b.receipts[key]
	if !known {
		b.payments[to]++
		got = receipt{Reference: "bank_" + strconv.Itoa(1000+len(b.receipts)), At: time.Now().UTC().Truncate(time.Second)}
		b.receipts[key] = got
	}
	b.asked[to]++
	b.requests[pid]++
	var tell func(int)
	if b.third != nil && b.requests[pid] == 3 {
		tell, b.third = b.third, nil
	}
	b.mu.Unlock()
	if tell != nil {
		tell(pid)
		<-r.Context().Done() // the worker is dead; its answer goes nowhere
		return
	}
	time.Sleep(40 * time.Millisecond) // a bank takes its time
	body, err := json.Marshal(got)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(body)
}

// bankClient is the adapter's side.
type bankClient struct {
	address string
	client  *http.Client
}

// pay asks the bank, so that a recorder sees it, and a replay answers in the bank's place.
func (c bankClient) pay(ctx context.Context, key string, t transfer) (receipt, error) {
	return trace.Do(ctx, "bank.pay", payment{key, t.To, t.AmountMinor}, func(ctx context.Context) (receipt, error) {
		envelope.Sent(ctx)
		return c.post(ctx, key, t)
	})
}

func (c bankClient) post(ctx context.Context, key string, t transfer) (receipt, error) {
	form := url.Values{"key": {key}, "to": {t.To}, "amount": {strconv.FormatInt(t.AmountMinor, 10)}, "pid": {strconv.Itoa(os.Getpid())}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+"/pay?"+form.Encode(), http.NoBody)
	if err != nil {
		return receipt{}, err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return receipt{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<12))
	if err != nil || resp.StatusCode != http.StatusOK {
		return receipt{}, fmt.Errorf("bank: status %d: %w", resp.StatusCode, err)
	}
	var r receipt
	return r, json.Unmarshal(body, &r, json.RejectUnknownMembers(true))
}
