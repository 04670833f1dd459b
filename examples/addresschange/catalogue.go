package main

import (
	"bytes"
	_ "embed"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/examples/addresschange/internal/crm"
	"github.com/toolcontract/toolcontract/tool"
)

//go:embed policy.json
var policyFile []byte

// definitions are the desk's tools: four reads and one write, which is two tools to a model.
func definitions(s *crm.Service) []tool.Definition {
	d := desk{s}
	return []tool.Definition{d.getCustomer(), d.listOrders(), d.listWarehouses(), d.requestRefundReview(), d.addressChange()}
}

// supportRole is what the support agent may call.
func supportRole(c *tool.Catalog) (tool.Role, error) {
	return c.Role("support", "get_customer_v1", "list_orders_v1", "list_warehouses_v1", "request_refund_review_v1",
		"preview_address_change_v2", "commit_address_change_v2")
}

func policy() (approval.Table, error) { return approval.ParseTable(bytes.NewReader(policyFile)) }
