package crm

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Replacement asks to replace a customer's address if its version is still Version. Key is the caller's idempotency
// key; the service files the effect under it and does not look whether it stood there before.
type Replacement struct {
	Tenant     string `redact:"trusted"`
	CustomerID string
	Version    int64
	Address    Address
	Key        string `redact:"trusted"`
	By         string `redact:"trusted"`
}

// Change is an effect as the service filed it.
type Change struct {
	CustomerID             string
	FromVersion, ToVersion int64
	Address                Address
	At                     time.Time
}

// ReplaceAddress carries out r. [ErrVersion] and [ErrNotFound] are final: the service read the request and changed
// nothing. After any other error, [ErrLost] among them, the change may have been made.
func (c *Conn) ReplaceAddress(ctx context.Context, r Replacement) (Change, error) {
	var ch Change
	err := c.s.carry(ctx, Replace, func() (changed bool, err error) {
		ch, err = c.s.replace(ctx, r)
		return err == nil, err
	})
	if c.s.losing.Load() {
		return Change{}, ErrLost
	}
	return ch, err
}

func (s *Service) replace(ctx context.Context, r Replacement) (Change, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return Change{}, fmt.Errorf("crm: replace address: %w", err)
	}
	ch, answer, refusal, err := s.apply(ctx, tx, r)
	if err == nil {
		_, err = tx.ExecContext(ctx, `INSERT INTO requests (received_at, key, customer_id, answer) VALUES (?, ?, ?, ?)`,
			s.stamp(), r.Key, r.CustomerID, answer)
	}
	if err != nil {
		return Change{}, errors.Join(fmt.Errorf("crm: replace address: %w", err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return Change{}, fmt.Errorf("crm: replace address: %w", err)
	}
	return ch, refusal
}

// apply changes the record and writes the feed, or says in answer and refusal why not.
func (s *Service) apply(ctx context.Context, tx *sql.Tx, r Replacement) (ch Change, answer string, refusal, err error) {
	var version int64
	err = tx.QueryRowContext(ctx, `SELECT version FROM customers WHERE tenant = ? AND id = ?`, r.Tenant, r.CustomerID).Scan(&version)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Change{}, "no such customer", ErrNotFound, nil
	case err != nil:
		return Change{}, "", nil, err
	case version != r.Version:
		return Change{}, "stale version", ErrVersion, nil
	}
	a := r.Address
	if _, err = tx.ExecContext(ctx, `
		UPDATE customers SET version = version + 1, line1 = ?, line2 = ?, city = ?, country = ? WHERE tenant = ? AND id = ?`,
		a.Line1, a.Line2, a.City, a.Country, r.Tenant, r.CustomerID); err != nil {
		return Change{}, "", nil, err
	}
	at := s.now().UTC().Truncate(time.Second)
	if _, err = tx.ExecContext(ctx, `
		INSERT INTO change_feed (changed_at, tenant, customer_id, from_version, to_version, key, changed_by, line1, line2, city, country)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at.Format(time.RFC3339), r.Tenant, r.CustomerID, version, version+1, r.Key, r.By, a.Line1, a.Line2, a.City, a.Country); err != nil {
		return Change{}, "", nil, err
	}
	return Change{CustomerID: r.CustomerID, FromVersion: version, ToVersion: version + 1, Address: a, At: at}, "changed", nil, nil
}

func (s *Service) stamp() string { return s.now().UTC().Format(time.RFC3339) }

// ChangeByKey returns what the request with that key did: its first effect, or [ErrNotFound] when none has arrived so far.
func (c *Conn) ChangeByKey(ctx context.Context, tenant, key string) (ch Change, err error) {
	err = c.s.carry(ctx, Ask, func() (bool, error) {
		ch, err = c.s.byKey(ctx, tenant, key)
		return false, err
	})
	return ch, err
}

func (s *Service) byKey(ctx context.Context, tenant, key string) (Change, error) {
	var ch Change
	var at string
	a := &ch.Address
	err := s.db.QueryRowContext(ctx, `
		SELECT customer_id, from_version, to_version, changed_at, line1, line2, city, country FROM change_feed
		WHERE tenant = ? AND key = ? ORDER BY number LIMIT 1`, tenant, key).
		Scan(&ch.CustomerID, &ch.FromVersion, &ch.ToVersion, &at, &a.Line1, &a.Line2, &a.City, &a.Country)
	if errors.Is(err, sql.ErrNoRows) {
		return Change{}, ErrNotFound
	}
	if err != nil {
		return Change{}, fmt.Errorf("crm: change by key: %w", err)
	}
	if ch.At, err = time.Parse(time.RFC3339, at); err != nil {
		return Change{}, fmt.Errorf("crm: change by key: %w", err)
	}
	return ch, nil
}
