package approvalweb_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/approvalweb"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
)

// A host mounts the page beside its own. Here the store stands in for the dispatcher: a real host hands over the methods
// Decide, Fresh and Resolve of its tool.Dispatcher.
func ExampleNew() {
	store := approval.NewMemory(nil)
	kim := approval.Principal{Kind: approval.Person, Tenant: "acme", Subject: "kim", Roles: []string{"support"}}
	page, err := approvalweb.New(approvalweb.Config{
		Path:      "/approvals",
		Identify:  func(*http.Request) (approval.Principal, error) { return kim, nil }, // from the host's session
		Approvals: store, Ledger: idem.NewMemory(nil), Authority: approval.ByRole{}, Decide: store.Decide,
		Fresh:  func(context.Context, approval.Proposal) error { return nil },
		Keys:   []redact.Key{{ID: "forms1", Secret: make([]byte, 32)}}, // from the host's key management
		Writes: map[string]approvalweb.Write{"commit_refund_v1": {Verb: "Refund the customer", Irreversible: true}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = store.Create(context.Background(), approval.Proposal{
		ID: "p_1", Tenant: "acme", Run: "run_1", Tool: "commit_refund_v1", Digest: "…", Lifetime: 15 * time.Minute, Summary: "Refund order 88-1204",
		Requester:   approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent-7"},
		Requirement: approval.Requirement{Level: approval.One, Role: "support"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/approvals/", page)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/approvals/p/p_1", http.NoBody))
	fmt.Println(w.Code, strings.Contains(w.Body.String(), "Refund the customer"))
	// Output:
	// 200 true
}
