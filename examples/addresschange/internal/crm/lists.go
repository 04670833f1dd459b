package crm

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Order is one order of a customer. Amounts are in the currency's minor unit.
type Order struct {
	ID         string
	Status     string `jsonschema:"enum=open,enum=shipped,enum=cancelled"`
	PlacedAt   time.Time
	TotalMinor int64
	Currency   string `jsonschema:"pattern=^[A-Z]{3}$"`
}

// OpenOrders counts the customer's orders that have not been shipped.
func (c *Conn) OpenOrders(ctx context.Context, tenant, customer string) (n int, err error) {
	err = c.s.db.QueryRowContext(ctx,
		`SELECT count(*) FROM orders WHERE tenant = ? AND customer_id = ? AND status = 'open'`, tenant, customer).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("crm: open orders: %w", err)
	}
	return n, nil
}

// Orders returns a page of at most limit orders of a customer, oldest first, all of them or those of one status, and
// the cursor of the next page: empty at the end. The empty cursor is the beginning.
func (c *Conn) Orders(ctx context.Context, tenant, customer, status string, limit int, cursor string) (_ []Order, next string, err error) {
	after, err := position(cursor)
	if err != nil {
		return nil, "", err
	}
	if _, err := c.Customer(ctx, tenant, customer); err != nil {
		return nil, "", err
	}
	rows, err := c.s.db.QueryContext(ctx, `
		SELECT number, status, placed_at, total_minor, currency FROM orders
		WHERE tenant = ? AND customer_id = ? AND (? = '' OR status = ?) AND number > ?
		ORDER BY number LIMIT ?`, tenant, customer, status, status, after, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("crm: orders: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var page []Order
	for rows.Next() {
		var o Order
		var number int64
		var placed string
		if err := rows.Scan(&number, &o.Status, &placed, &o.TotalMinor, &o.Currency); err != nil {
			return nil, "", fmt.Errorf("crm: orders: %w", err)
		}
		if o.PlacedAt, err = time.Parse(time.RFC3339, placed); err != nil {
			return nil, "", fmt.Errorf("crm: orders: %w", err)
		}
		if len(page) == limit {
			return page, "after_" + strings.TrimPrefix(page[limit-1].ID, "ord_"), nil
		}
		o.ID = "ord_" + strconv.FormatInt(number, 10)
		page = append(page, o)
	}
	return page, "", rows.Err()
}

func position(cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	digits, ok := strings.CutPrefix(cursor, "after_")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 1 {
		return 0, ErrCursor
	}
	return n, nil
}

// Warehouse is a place that ships.
type Warehouse struct {
	ID, City string
	Country  string `jsonschema:"pattern=^[A-Z]{2}$"`
}

// Warehouses returns the tenant's warehouses by id.
func (c *Conn) Warehouses(ctx context.Context, tenant string) (ws []Warehouse, err error) {
	rows, err := c.s.db.QueryContext(ctx, `SELECT id, city, country FROM warehouses WHERE tenant = ? ORDER BY id`, tenant)
	if err != nil {
		return nil, fmt.Errorf("crm: warehouses: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var w Warehouse
		if err := rows.Scan(&w.ID, &w.City, &w.Country); err != nil {
			return nil, fmt.Errorf("crm: warehouses: %w", err)
		}
		ws = append(ws, w)
	}
	return ws, rows.Err()
}

// RefundCase is a customer's complaint about a charge.
type RefundCase struct {
	Ref          string `jsonschema:"pattern=^case_[A-Za-z0-9]{16}$"`
	Open         bool
	ChargedMinor int64
	Currency     string `jsonschema:"pattern=^[A-Z]{3}$"`
}

// RefundCase returns a case of the tenant, or [ErrNotFound].
func (c *Conn) RefundCase(ctx context.Context, tenant, ref string) (RefundCase, error) {
	out := RefundCase{Ref: ref}
	err := c.s.db.QueryRowContext(ctx,
		`SELECT state = 'open', charged, currency FROM refund_cases WHERE tenant = ? AND ref = ?`, tenant, ref).
		Scan(&out.Open, &out.ChargedMinor, &out.Currency)
	if errors.Is(err, sql.ErrNoRows) {
		return RefundCase{}, ErrNotFound
	}
	if err != nil {
		return RefundCase{}, fmt.Errorf("crm: refund case: %w", err)
	}
	return out, nil
}
