package idem_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

// An operation from its admission to its replay, as a dispatcher takes it.
func ExampleMemory() {
	ctx := context.Background()
	ledger := idem.NewMemory(nil)
	cmd := idem.Command{
		Key:  idem.Key{Tenant: "acme", Operation: idem.OperationID("acme", "p_7")},
		Tool: "commit_address_change_v2", RequestHash: "the proposal's digest", Resource: "customer/c_1",
		Body: jsontext.Value(`{"city":"Graz"}`), Contract: idem.StatusQueryable, ExpiresIn: 15 * time.Minute,
	}
	_, how, err := ledger.Admit(ctx, cmd, false)
	fmt.Println(how, err)

	claim, err := ledger.Claim(ctx, cmd.Key, "worker-1", time.Minute) // the barrier: after it bytes may leave
	fmt.Println(string(claim.Command.Body), err)
	_, err = ledger.Claim(ctx, cmd.Key, "worker-2", time.Minute)
	fmt.Println(errors.Is(err, idem.ErrState))

	rec, err := ledger.Finish(ctx, claim, idem.Outcome{State: idem.Succeeded, Result: jsontext.Value(`{"version":"18"}`)})
	fmt.Println(rec.State, err)

	rec, how, err = ledger.Admit(ctx, cmd, false) // the second request
	fmt.Println(how, string(rec.Result), err)
	// Output:
	// admitted <nil>
	// {"city":"Graz"} <nil>
	// true
	// succeeded <nil>
	// replayed {"version":"18"} <nil>
}

// The answer was lost: nobody knows, the resource stays closed, and an operator's word ends it.
func ExampleLedger_unknown() {
	ctx := context.Background()
	var ledger idem.Ledger = idem.NewMemory(nil)
	cmd := idem.Command{
		Key:  idem.Key{Tenant: "acme", Operation: "op_1"},
		Tool: "commit_payment_v1", RequestHash: "d", Resource: "invoice/7", ExpiresIn: time.Hour,
	}
	_, _, err := ledger.Admit(ctx, cmd, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	claim, err := ledger.Claim(ctx, cmd.Key, "worker-1", time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	rec, err := ledger.Finish(ctx, claim, idem.Outcome{State: idem.Unknown})
	fmt.Println(rec.State, err)
	_, open, err := ledger.Resource(ctx, "acme", "invoice/7")
	fmt.Println(open, err)

	word := idem.Resolution{State: idem.Failed, By: "olga", Reason: "not in the bank's list", Evidence: "statement of 1 March"}
	_, err = ledger.Resolve(ctx, cmd.Key, word)
	fmt.Println(errors.Is(err, idem.ErrBusy)) // a request may still land: Settle is not over
	word = idem.Resolution{State: idem.Succeeded, By: "olga", Reason: "in the bank's list", Evidence: "statement of 1 March"}
	rec, err = ledger.Resolve(ctx, cmd.Key, word)
	fmt.Println(rec.State, err)
	// Output:
	// unknown <nil>
	// op_1 <nil>
	// true
	// succeeded <nil>
}
