package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// chargeQuery is what billing is asked.
type chargeQuery struct {
	CaseID string `json:"case_id" redact:"internal"`
}

// charge is what of billing's record the desk works with. Billing sends far more; an answer in which one of these is
// missing or of another form is refused as a whole, and whatever else stands in it is never looked at.
type charge struct {
	CaseID          string    `json:"case_id" jsonschema:"pattern=^bc-[0-9]{1\\,10}$" redact:"internal"`
	Status          string    `json:"status" jsonschema:"enum=settled,enum=disputed,enum=refunded"`
	ChargedMinor    int64     `json:"charged_minor" jsonschema:"minimum=0"`
	Currency        string    `json:"currency" jsonschema:"pattern=^[A-Z]{3}$"`
	RefundableUntil time.Time `json:"refundable_until"`
}

// oldCharge is the form that billing sent until last year, and still sends from one of its regions.
type oldCharge struct {
	ID     string    `json:"id" jsonschema:"pattern=^bc-[0-9]{1\\,10}$"`
	State  string    `json:"state" jsonschema:"enum=SETTLED,enum=DISPUTED,enum=REFUNDED"`
	Amount oldAmount `json:"amount"`

	RefundDeadline time.Time `json:"refund_deadline"`
}

type oldAmount struct {
	Value    int64  `json:"value" jsonschema:"minimum=0"`
	Currency string `json:"currency" jsonschema:"pattern=^[A-Z]{3}$"`
}

func (o oldCharge) present() (charge, error) {
	return charge{o.ID, strings.ToLower(o.State), o.Amount.Value, o.Amount.Currency, o.RefundDeadline}, nil
}

// newCharges is the client for billing's case record.
func newCharges(origin string, credentials upstream.Credentials, host upstream.Host) (*upstream.Client[chargeQuery, charge], error) {
	return upstream.NewHTTP(upstream.HTTP[chargeQuery, charge]{
		Operation: upstream.Operation[chargeQuery, charge]{
			Name: "billing.case", Owner: "team billing", Version: "2026-02",
			Select: true, Refuse: []string{"error"},
			Earlier: []upstream.Version[charge]{upstream.Earlier("2025", oldCharge.present)},
			Same: func(asked chargeQuery, got charge) error {
				return validate.Same("case_id", asked.CaseID, got.CaseID)
			},
			Host: host,
		},
		Origin: origin,
		Request: func(q chargeQuery) (upstream.Request, error) {
			return upstream.Request{Path: []string{"cases", q.CaseID}}, nil
		},
		Credentials: credentials,
		Statuses:    map[int]envelope.Code{http.StatusMovedPermanently: envelope.NotFound}, // merged into another case
	})
}

// recorded are answers that billing really gave, in shape.
//
//go:embed testdata/billing.jsonl
var recorded []byte

type recording struct {
	Name    string            `json:"name"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// billing is the other system: a server that plays recordings.
type billing struct {
	origin string
	server *http.Server
	served chan error

	mu     sync.Mutex
	tape   map[string]recording
	next   string
	asked  []string // the paths
	tokens []string // the credentials that came
}

func openBilling(listener net.Listener) (*billing, error) {
	b := &billing{origin: "http://" + listener.Addr().String(), tape: map[string]recording{}, served: make(chan error, 1)}
	lines := bufio.NewScanner(bytes.NewReader(recorded))
	for lines.Scan() {
		var r recording
		if err := json.Unmarshal(lines.Bytes(), &r, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("the recordings: %w", err)
		}
		b.tape[r.Name] = r
	}
	b.server = &http.Server{Handler: b, ReadHeaderTimeout: 5 * time.Second}
	go func() { b.served <- b.server.Serve(listener) }()
	return b, lines.Err()
}

func (b *billing) close() error {
	err := b.server.Close()
	if served := <-b.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// play says which recording comes next, and until further notice.
func (b *billing) play(name string) recording {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = name
	return b.tape[name]
}

// ServeHTTP implements http.Handler.
func (b *billing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked, b.tokens = append(b.asked, r.URL.Path), append(b.tokens, r.Header.Get("Authorization"))
	answer := b.tape[b.next]
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write([]byte(answer.Body)) // a client that has gone is no trouble of the server's
}

// seen is what billing was asked, and with which credentials.
func (b *billing) seen() (paths, tokens []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.asked...), append([]string(nil), b.tokens...)
}
