package main

import (
	"context"

	"github.com/toolcontract/toolcontract/examples/addresschange/internal/crm"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// network is a connection to the service whose every exchange can be recorded, and replayed without the service.
type network struct{ conn *crm.Conn }

type nothing struct{}

func (d desk) dial(ctx context.Context) (n network, err error) {
	_, err = trace.Do(ctx, "crm.dial", nothing{}, func(ctx context.Context) (_ nothing, err error) {
		n.conn, err = d.crm.Dial(ctx)
		return nothing{}, err
	}, crm.ErrUnreachable)
	return n, err
}

// asking is a question by an id of the tenant's.
type asking struct {
	ID string `json:"id" jsonschema:"maxLength=128"`
}

func (n network) Customer(ctx context.Context, tenant, id string) (crm.Customer, error) {
	return trace.Do(ctx, "crm.customer", asking{id}, func(ctx context.Context) (crm.Customer, error) {
		return n.conn.Customer(ctx, tenant, id)
	}, crm.ErrNotFound)
}

type orderPage struct {
	Orders []crm.Order
	Next   string `redact:"trusted"`
}

func (n network) Orders(ctx context.Context, tenant, customer, status string, limit int, cursor string) ([]crm.Order, string, error) {
	asked := orderQuery{CustomerID: customer, Status: status, Limit: limit, Cursor: cursor}
	page, err := trace.Do(ctx, "crm.orders", asked, func(ctx context.Context) (p orderPage, err error) {
		p.Orders, p.Next, err = n.conn.Orders(ctx, tenant, customer, status, limit, cursor)
		return p, err
	}, crm.ErrNotFound, crm.ErrCursor)
	return page.Orders, page.Next, err
}

type count struct{ N int }

func (n network) OpenOrders(ctx context.Context, tenant, customer string) (int, error) {
	c, err := trace.Do(ctx, "crm.open_orders", asking{customer}, func(ctx context.Context) (c count, err error) {
		c.N, err = n.conn.OpenOrders(ctx, tenant, customer)
		return c, err
	}, crm.ErrNotFound)
	return c.N, err
}

type warehouses struct{ All []crm.Warehouse }

func (n network) Warehouses(ctx context.Context, tenant string) ([]crm.Warehouse, error) {
	ws, err := trace.Do(ctx, "crm.warehouses", nothing{}, func(ctx context.Context) (ws warehouses, err error) {
		ws.All, err = n.conn.Warehouses(ctx, tenant)
		return ws, err
	})
	return ws.All, err
}

func (n network) RefundCase(ctx context.Context, tenant, ref string) (crm.RefundCase, error) {
	return trace.Do(ctx, "crm.refund_case", asking{ref}, func(ctx context.Context) (crm.RefundCase, error) {
		return n.conn.RefundCase(ctx, tenant, ref)
	}, crm.ErrNotFound)
}

func (n network) ReplaceAddress(ctx context.Context, r crm.Replacement) (crm.Change, error) {
	return trace.Do(ctx, "crm.replace_address", r, func(ctx context.Context) (crm.Change, error) {
		return n.conn.ReplaceAddress(ctx, r)
	}, crm.ErrVersion, crm.ErrNotFound, crm.ErrLost)
}

// byKey is a question by the key that the library gave the write.
type byKey struct {
	Key string `json:"key" redact:"trusted"`
}

func (n network) ChangeByKey(ctx context.Context, tenant, key string) (crm.Change, error) {
	return trace.Do(ctx, "crm.change_by_key", byKey{key}, func(ctx context.Context) (crm.Change, error) {
		return n.conn.ChangeByKey(ctx, tenant, key)
	}, crm.ErrNotFound)
}
