package sqlitestore_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/approval/sqlitestore"
	"github.com/toolcontract/toolcontract/redact"
)

// Proposals and decisions outlive the process that made them.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "approvals")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	sealer, err := redact.NewSealer(redact.Key{ID: "2026-11", Secret: bytes.Repeat([]byte{7}, 32)}) // of your key management
	if err != nil {
		panic(err)
	}
	open := func() *sqlitestore.Store {
		s, err := sqlitestore.Open(ctx, filepath.Join(dir, "approvals.db"), sealer)
		if err != nil {
			panic(err)
		}
		return s
	}

	store := open()
	created, err := store.Create(ctx, approval.Proposal{
		ID: "p_1", Tenant: "acme", Run: "run_1", Tool: "commit_refund_v1", Digest: "the dispatcher's",
		Requester: approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent"},
		Plan:      []byte(`{"order_id":"o_1"}`), Target: approval.Target{Type: "order", ID: "o_1"}, Resource: "order/o_1", Summary: "Refund order o_1",
		PolicyVersion: 1, Requirement: approval.Requirement{Level: approval.One, Role: "lead"}, Lifetime: time.Hour,
	})
	fmt.Println(created.State, err)
	if err := store.Close(); err != nil {
		panic(err)
	}

	store = open()
	defer func() { _ = store.Close() }()
	waiting, _, err := store.Pending(ctx, "acme", approval.Page{})
	fmt.Println(len(waiting), waiting[0].Proposal.Summary, err)
	lead := approval.Principal{Kind: approval.Person, Tenant: "acme", Subject: "lea", Roles: []string{"lead"}}
	decided, err := store.Decide(ctx, "acme", "p_1", approval.Decision{Approved: true, By: lead, Digest: created.Proposal.Digest})
	fmt.Println(decided.State, err)
	_, first, err := store.Consume(ctx, "acme", "p_1", created.Proposal.Digest, "op_1")
	fmt.Println(first, err)
	_, _, err = store.Consume(ctx, "acme", "p_1", created.Proposal.Digest, "op_2")
	fmt.Println(err)
	// Output:
	// pending <nil>
	// 1 Refund order o_1 <nil>
	// approved <nil>
	// true <nil>
	// approval: consumed
}
