package main

import (
	"encoding/json/jsontext"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/addresschange/internal/crm"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

func (h *host) ok(t *testing.T, name, arguments string) envelope.Result {
	t.Helper()
	r := h.run.Call(t.Context(), envelope.Call{Tool: name, Arguments: jsontext.Value(arguments)})
	require.NoError(t, r.Err())
	return r
}

func TestRoleShowsTheWireNames(t *testing.T) {
	t.Parallel()
	tools := start(t).run.Tools()
	names := make([]string, len(tools))
	for i, p := range tools {
		names[i] = p.Name
	}
	require.Equal(t, []string{
		"cancel_operation_v1", "commit_address_change_v2", "get_customer_v1", "get_operation_v1", "list_orders_v1",
		"list_warehouses_v1", "preview_address_change_v2", "request_refund_review_v1",
	}, names)
}

// A schema that fell to the general validator would be checked many times more slowly.
func TestEverySchemaIsCompiled(t *testing.T) {
	t.Parallel()
	c, err := tool.NewCatalog(definitions(nil)...)
	require.NoError(t, err)
	require.Empty(t, c.General())
}

func TestOrdersGoOnAtTheCursor(t *testing.T) {
	t.Parallel()
	h := start(t)
	first, err := h.ok(t, "list_orders_v1", `{"customer_id":"cus_9Qm4","limit":3}`).Decode[validate.Page[orderView]]()
	require.NoError(t, err)
	require.Len(t, first.Items, 3)
	require.Equal(t, orderView{"ord_1001", "shipped", time.Date(2026, time.January, 12, 10, 20, 0, 0, time.UTC), 4990, "EUR"}, first.Items[0])

	rest, err := h.ok(t, "list_orders_v1", `{"customer_id":"cus_9Qm4","limit":3,"cursor":"`+first.NextCursor+`"}`).Decode[validate.Page[orderView]]()
	require.NoError(t, err)
	require.Len(t, rest.Items, 1)
	require.Empty(t, rest.NextCursor)
	require.JSONEq(t, `{"items":[]}`, string(h.ok(t, "list_orders_v1", `{"customer_id":"cus_2Zt6"}`).Data), "nothing is an empty list, not null")
}

func TestRefundReview(t *testing.T) {
	t.Parallel()
	h := start(t)
	for _, row := range []struct{ name, why, arguments, want string }{
		{"no amount", "an open case qualifies", `{"case_ref":"case_A1b2C3d4E5f6G7h8","reason_code":"other"}`, "qualifies"},
		{"the whole charge", "the bound is inclusive", `{"case_ref":"case_A1b2C3d4E5f6G7h8","reason_code":"other","amount_minor":4990,"currency":"EUR"}`, "qualifies"},
		{"one cent more", "more than was charged", `{"case_ref":"case_A1b2C3d4E5f6G7h8","reason_code":"other","amount_minor":4991,"currency":"EUR"}`, "more_than_charged"},
		{"other currency", "amounts of two currencies do not compare", `{"case_ref":"case_A1b2C3d4E5f6G7h8","reason_code":"other","amount_minor":1,"currency":"CHF"}`, "other_currency"},
		{"closed", "a closed case stays closed", `{"case_ref":"case_Z9y8X7w6V5u4T3s2","reason_code":"other"}`, "case_closed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			v, err := h.ok(t, "request_refund_review_v1", row.arguments).Decode[reviewView]()
			require.NoError(t, err)
			require.Equal(t, row.want, v.Reason, row.why)
			require.Equal(t, row.want == "qualifies", v.Qualifies)
		})
	}
}

func TestDomainRefusals(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why, tool, arguments string
		unplug                     bool
		code                       envelope.Code
		field                      string
	}{
		{name: "another tenant's customer", why: "is no customer here", tool: "get_customer_v1", arguments: `{"customer_id":"cus_8Xe3"}`, code: envelope.NotFound, field: "customer_id"},
		{name: "another tenant's case", why: "is no case here", tool: "request_refund_review_v1", arguments: `{"case_ref":"case_Q1q2Q3q4Q5q6Q7q8","reason_code":"other"}`, code: envelope.NotFound, field: "case_ref"},
		{name: "cursor of nobody", why: "a cursor is the service's", tool: "list_orders_v1", arguments: `{"customer_id":"cus_9Qm4","cursor":"x"}`, code: envelope.PreconditionFailed, field: "cursor"},
		{name: "amount alone", why: "an amount needs its currency", tool: "request_refund_review_v1", arguments: `{"case_ref":"case_A1b2C3d4E5f6G7h8","reason_code":"other","amount_minor":1}`, code: envelope.PreconditionFailed, field: "currency"},
		{name: "currency alone", why: "and the other way round", tool: "request_refund_review_v1", arguments: `{"case_ref":"case_A1b2C3d4E5f6G7h8","reason_code":"other","currency":"EUR"}`, code: envelope.PreconditionFailed, field: "currency"},
		{name: "no such saved address", why: "the place is the union's member", tool: "preview_address_change_v2", arguments: `{"customer_id":"cus_9Qm4","destination":{"kind":"saved","address_id":"addr_404"}}`, code: envelope.NotFound, field: "destination.address_id"},
		{name: "the address it has", why: "nothing would change", tool: "preview_address_change_v2", arguments: `{"customer_id":"cus_9Qm4","destination":{"kind":"saved","address_id":"addr_1"}}`, code: addressUnchanged},
		{name: "service off the network", why: "a read may be asked again", tool: "list_warehouses_v1", arguments: `{}`, unplug: true, code: envelope.UpstreamUnavailable},
		{name: "preview off the network", why: "nothing was proposed", tool: "preview_address_change_v2", arguments: `{"customer_id":"cus_9Qm4","destination":{"kind":"saved","address_id":"addr_2"}}`, unplug: true, code: envelope.UpstreamUnavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := start(t)
			h.crm.Unplug(row.unplug)
			r := h.run.Call(t.Context(), envelope.Call{Tool: row.tool, Arguments: jsontext.Value(row.arguments)})
			require.NotNil(t, r.Error)
			require.Equal(t, row.code, r.Error.Code, row.why)
			require.Equal(t, row.field, r.Error.Field, row.why)
			require.NotEmpty(t, r.Error.Message)
		})
	}
}

func TestNewAddressIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	h := start(t)
	p, err := h.ok(t, "preview_address_change_v2",
		`{"customer_id":"cus_7Rw8","destination":{"kind":"new","line1":"5 King's Row","city":"Cork","country":"IE"}}`).Decode[proposal]()
	require.NoError(t, err)
	rec, err := h.approvals.Find(t.Context(), tenant, p.ProposalID)
	require.NoError(t, err)
	require.Equal(t, []approval.Diff{
		{Field: "line1", Before: "12 Quay Street", After: "5 King's Row"},
		{Field: "line2", Before: "Flat 2", After: ""},
		{Field: "city", Before: "Galway", After: "Cork"},
	}, rec.Proposal.Diffs)
	require.Equal(t, approval.Target{Type: "customer", ID: "cus_7Rw8", Version: "4"}, rec.Proposal.Target)
}

// What the handler's errors prove is the heart of a write; each of them is provoked.
func TestCommitProvesNoMoreThanItKnows(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why string
		version   string
		customer  string
		fault     func(*crm.Service)
		proof     envelope.Proof
		refusal   envelope.Code
	}{
		{name: "off the network", why: "no byte left", version: "17", customer: "cus_9Qm4", fault: func(s *crm.Service) { s.Unplug(true) }, proof: envelope.ProofNotSent},
		{name: "answer lost", why: "nobody knows", version: "17", customer: "cus_9Qm4", fault: func(s *crm.Service) { s.LoseAnswers(true) }, proof: envelope.ProofNothing},
		{name: "stale", why: "the service's final no", version: "16", customer: "cus_9Qm4", proof: envelope.ProofRefused, refusal: envelope.VersionConflict},
		{name: "gone", why: "the service's final no", version: "17", customer: "cus_404", proof: envelope.ProofRefused, refusal: envelope.NotFound},
		{name: "no version", why: "found before the first byte", version: "", customer: "cus_9Qm4", proof: envelope.ProofNotSent},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := start(t)
			if row.fault != nil {
				row.fault(h.crm)
			}
			_, err := desk{h.crm}.commitChange(t.Context(), command17(row.customer, row.version))
			require.Error(t, err)
			proof, refusal, _ := envelope.Proven(err)
			require.Equal(t, row.proof, proof, row.why)
			if row.refusal != "" {
				require.Equal(t, row.refusal, refusal.Code)
			}
		})
	}
}

func TestStatusAsksByKey(t *testing.T) {
	t.Parallel()
	h := start(t)
	d, cmd := desk{h.crm}, command17("cus_9Qm4", "17")
	_, err := d.changeStatus(t.Context(), cmd, "")
	require.ErrorIs(t, err, idem.ErrNotFound, "not found proves nothing by itself; the contract decides")

	made, err := d.commitChange(t.Context(), cmd)
	require.NoError(t, err)
	found, err := d.changeStatus(t.Context(), cmd, "")
	require.NoError(t, err)
	require.Equal(t, made, found, "the service says later what it said at once")

	h.crm.Unplug(true)
	_, err = d.changeStatus(t.Context(), cmd, "")
	proof, _, _ := envelope.Proven(err)
	require.Equal(t, envelope.ProofNothing, proof)
	require.True(t, errors.Is(err, crm.ErrUnreachable) && !errors.Is(err, idem.ErrNotFound))
}

func command17(customer, version string) tool.Approved[addressPlan] {
	return tool.Approved[addressPlan]{
		Plan:        addressPlan{customer, address{Line1: "4 Harbour Row", City: "Lübeck", Country: "DE"}},
		Target:      approval.Target{Type: "customer", ID: customer, Version: version},
		By:          tool.Caller{Principal: agent()},
		ProviderKey: "key_1",
	}
}
