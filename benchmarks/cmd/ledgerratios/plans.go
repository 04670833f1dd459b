package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcontract/toolcontract/idem"
)

// plans prints how PostgreSQL goes about each statement of the ledger among many finished operations.
func plans(ctx context.Context, s settings) error {
	p, err := openPostgres(ctx, s.clients)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.fill(ctx, s.finished, other); err != nil {
		return err
	}
	// What is open at one time: a few thousand.
	for n := range int64(2000) {
		c := command(10_000 + n)
		c.AvailableIn = 0
		if _, _, err := p.ledger.Admit(ctx, c, false); err != nil {
			return err
		}
	}
	if _, err := p.pool.Exec(ctx, "ANALYZE"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, call := range calls() {
		p.sent.take()
		if err := call.do(ctx, p.traced); err != nil {
			return fmt.Errorf("%s: %w", call.name, err)
		}
		fmt.Printf("\n## %s\n", call.name)
		for _, r := range p.sent.take() {
			for _, q := range r {
				if err := explain(ctx, p, q, seen); err != nil {
					return fmt.Errorf("%s: %s: %w", call.name, q.sql, err)
				}
			}
		}
	}
	return nil
}

func explain(ctx context.Context, p *postgres, q sent, seen map[string]bool) error {
	line := strings.Join(strings.Fields(q.sql), " ")
	known := seen[line]
	seen[line] = true
	switch word, _, _ := strings.Cut(line, " "); word {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
	default:
		fmt.Printf("\n%s\n", line)
		return nil
	}
	fmt.Printf("\n%s\n", line)
	if known {
		fmt.Println("    as above")
		return nil
	}
	rows, err := p.pool.Query(ctx, "EXPLAIN (COSTS OFF) "+q.sql, q.args...)
	if err != nil {
		return err
	}
	text, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, t := range text {
		fmt.Println("    " + t)
	}
	return err
}

type call struct {
	name string
	do   func(ctx context.Context, l idem.Ledger) error
}

// calls is each method of a ledger, in an order in which it finds something to do.
func calls() []call {
	c := command(1_000_000)
	c.AvailableIn = 0
	var d idem.Delivery
	var held idem.Claim
	return []call{
		{"Admit, of a new key", func(ctx context.Context, l idem.Ledger) error { _, _, err := l.Admit(ctx, c, false); return err }},
		{"Admit, of one that was committed", func(ctx context.Context, l idem.Ledger) error {
			_, _, err := l.Admit(ctx, command(1), true)
			return err
		}},
		{"Admit, of a forgotten key", func(ctx context.Context, l idem.Ledger) error {
			_, _, err := l.Admit(ctx, command(1_000_001), true)
			return err
		}},
		{"Next", func(ctx context.Context, l idem.Ledger) (err error) {
			d, err = l.Next(ctx, []string{c.Tool}, time.Hour)
			return err
		}},
		{"Later", func(ctx context.Context, l idem.Ledger) error { return l.Later(ctx, d, time.Second) }},
		{"Claim", func(ctx context.Context, l idem.Ledger) (err error) {
			held, err = l.Claim(ctx, c.Key, "w", time.Hour)
			return err
		}},
		{"Renew", func(ctx context.Context, l idem.Ledger) (err error) {
			held, err = l.Renew(ctx, held, time.Hour)
			return err
		}},
		{"Finish, unknown", func(ctx context.Context, l idem.Ledger) error {
			_, err := l.Finish(ctx, held, idem.Outcome{State: idem.Unknown})
			return err
		}},
		{"ClaimOpen", func(ctx context.Context, l idem.Ledger) (err error) {
			held, err = l.ClaimOpen(ctx, c.Key, "w", time.Hour)
			return err
		}},
		{"Resend", func(ctx context.Context, l idem.Ledger) (err error) {
			held, err = l.Resend(ctx, held, time.Hour)
			return err
		}},
		{"Finish, succeeded", func(ctx context.Context, l idem.Ledger) error { _, err := l.Finish(ctx, held, done); return err }},
		{"Finish, too late", func(ctx context.Context, l idem.Ledger) error {
			late := held
			late.Token = "another"
			if _, err := l.Finish(ctx, late, done); !errors.Is(err, idem.ErrFenced) {
				return fmt.Errorf("not fenced: %w", err)
			}
			return nil
		}},
		{"Close", func(ctx context.Context, l idem.Ledger) error {
			_, err := l.Close(ctx, command(10_001).Key, idem.Cancelled, "")
			return err
		}},
		{"Find", func(ctx context.Context, l idem.Ledger) error { _, err := l.Find(ctx, c.Key); return err }},
		{"Resource", func(ctx context.Context, l idem.Ledger) error {
			_, _, err := l.Resource(ctx, tenant, c.Resource)
			return err
		}},
		{"Open", func(ctx context.Context, l idem.Ledger) error {
			_, _, err := l.Open(ctx, tenant, "run_1", idem.Page{})
			return err
		}},
		{"Unknown", func(ctx context.Context, l idem.Ledger) error {
			_, _, err := l.Unknown(ctx, tenant, idem.Page{})
			return err
		}},
		{"Resolve", func(ctx context.Context, l idem.Ledger) error {
			_, err := l.Resolve(ctx, command(1_000_001).Key, idem.Resolution{State: idem.Succeeded, By: "olga", Reason: "asked", Evidence: "ticket"})
			return err
		}},
		{"Sweep", func(ctx context.Context, l idem.Ledger) error { _, err := l.Sweep(ctx); return err }},
		{"Purge", func(ctx context.Context, l idem.Ledger) error {
			_, err := l.Purge(ctx, time.Hour, 2*time.Hour)
			return err
		}},
	}
}
