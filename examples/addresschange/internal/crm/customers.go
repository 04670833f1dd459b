package crm

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Address is where parcels go. Line2 may be empty.
type Address struct {
	Line1   string `redact:"personal"`
	Line2   string `redact:"personal"`
	City    string `redact:"personal"`
	Country string `jsonschema:"pattern=^[A-Z]{2}$"`
}

// Saved is an entry of a customer's address book.
type Saved struct {
	ID string
	Address
}

// Customer is one record; Version rises by one with each change.
type Customer struct {
	ID      string
	Name    string `redact:"personal"`
	Version int64
	Address Address
	Book    []Saved // by id
}

// Customer returns a customer of the tenant, or [ErrNotFound].
func (c *Conn) Customer(ctx context.Context, tenant, id string) (Customer, error) {
	out := Customer{ID: id}
	a := &out.Address
	err := c.s.db.QueryRowContext(ctx,
		`SELECT name, version, line1, line2, city, country FROM customers WHERE tenant = ? AND id = ?`, tenant, id).
		Scan(&out.Name, &out.Version, &a.Line1, &a.Line2, &a.City, &a.Country)
	if errors.Is(err, sql.ErrNoRows) {
		return Customer{}, ErrNotFound
	}
	if err != nil {
		return Customer{}, fmt.Errorf("crm: customer: %w", err)
	}
	out.Book, err = c.book(ctx, tenant, id)
	return out, err
}

func (c *Conn) book(ctx context.Context, tenant, customer string) (book []Saved, err error) {
	rows, err := c.s.db.QueryContext(ctx,
		`SELECT id, line1, line2, city, country FROM address_book WHERE tenant = ? AND customer_id = ? ORDER BY id`, tenant, customer)
	if err != nil {
		return nil, fmt.Errorf("crm: address book: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e Saved
		if err := rows.Scan(&e.ID, &e.Line1, &e.Line2, &e.City, &e.Country); err != nil {
			return nil, fmt.Errorf("crm: address book: %w", err)
		}
		book = append(book, e)
	}
	return book, rows.Err()
}
