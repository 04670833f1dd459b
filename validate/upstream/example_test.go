package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// A vendor's broad record, of which three fields are taken, and an answer about another change than the one asked for.
func ExampleNewHTTP() {
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"change_id":"CR-4471","decision":"approved","reviewed_by":"harbor-desk","author":{"email":"a@b.example"}}`)
	}))
	defer vendor.Close()

	type query struct {
		ChangeID string `json:"change_id"`
	}
	type status struct {
		ChangeID   string `json:"change_id" jsonschema:"pattern=^CR-[0-9]{1\\,10}$"`
		Decision   string `json:"decision" jsonschema:"enum=approved,enum=rejected,enum=pending"`
		ReviewedBy string `json:"reviewed_by" jsonschema:"minLength=1,maxLength=128"`
	}
	reviews, err := upstream.NewHTTP(upstream.HTTP[query, status]{
		Operation: upstream.Operation[query, status]{
			Name:   "reviews.status",
			Select: true,
			Same:   func(asked query, got status) error { return validate.Same("change_id", asked.ChangeID, got.ChangeID) },
		},
		Origin: vendor.URL,
		Request: func(q query) (upstream.Request, error) {
			return upstream.Request{Path: []string{"changes", q.ChangeID}}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	by := upstream.Caller{Tenant: "acme", RequestID: "req_1"}
	got, err := reviews.Ask(context.Background(), by, query{"CR-4471"})
	fmt.Println(got, err)
	got, err = reviews.Ask(context.Background(), by, query{"CR-9"})
	fmt.Println(got, err)
	fmt.Println(errors.Unwrap(err))
	// Output:
	// {CR-4471 approved harbor-desk} <nil>
	// {  } INVALID_RESPONSE at change_id
	// upstream reviews.status: INVALID_RESPONSE, rule same at change_id, status 200
}

// What a write's Commit returns for an error of Ask: the upstream's final no, the proof that nothing was sent, or the
// error itself, which leaves the outcome unknown.
func ExampleProof() {
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the version is 18", http.StatusConflict)
	}))
	type change struct {
		ID string `json:"id"`
	}
	changes, err := upstream.NewHTTP(upstream.HTTP[change, change]{
		Operation: upstream.Operation[change, change]{Name: "crm.change"},
		Origin:    vendor.URL,
		Request: func(c change) (upstream.Request, error) {
			return upstream.Request{Method: http.MethodPost, Path: []string{"changes", c.ID}}, nil
		},
		Statuses: map[int]envelope.Code{http.StatusConflict: envelope.VersionConflict},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	by := upstream.Caller{Tenant: "acme", RequestID: "req_1"}
	_, err = changes.Ask(context.Background(), by, change{"c1"})
	fmt.Println(upstream.Proof(err, http.StatusConflict))
	vendor.Close()
	_, err = changes.Ask(context.Background(), by, change{"c1"})
	fmt.Println(upstream.Proof(err, http.StatusConflict))
	// Output:
	// refused: VERSION_CONFLICT
	// not sent
}
