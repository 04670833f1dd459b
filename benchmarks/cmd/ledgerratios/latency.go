package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcontract/toolcontract/idem"
)

// claimed is how long a worker takes from asking for work to holding it: the median of a hundred and more.
func claimed(ctx context.Context, l idem.Ledger, from int64) (time.Duration, error) {
	const warm, count = 20, 150
	var all []time.Duration
	for n := range int64(warm + count) {
		c := command(from + n)
		c.AvailableIn = 0
		if _, _, err := l.Admit(ctx, c, false); err != nil {
			return 0, err
		}
		start := time.Now()
		d, err := l.Next(ctx, []string{c.Tool}, time.Hour)
		if err != nil {
			return 0, err
		}
		claim, err := l.Claim(ctx, d.Key, "w", time.Hour)
		if err != nil {
			return 0, err
		}
		if n >= warm {
			all = append(all, time.Since(start))
		}
		if _, err := l.Finish(ctx, claim, done); err != nil {
			return 0, err
		}
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// claims compares the latency in one ledger with that in an empty one, in turns: the machine's load falls on both. The
// empty one is cleared before each turn.
func (s settings) claims(ctx context.Context, report func(figure), name string, l idem.Ledger, empty func(context.Context) (idem.Ledger, error)) error {
	var ratios, mine, others []float64
	for range s.pairs {
		from := time.Now().UnixMicro() // names that no turn has used
		a, err := claimed(ctx, l, from)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		e, err := empty(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b, err := claimed(ctx, e, from)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		ratios, mine, others = append(ratios, float64(a)/float64(b)), append(mine, float64(a.Microseconds())), append(others, float64(b.Microseconds()))
	}
	report(figure{name: name, ratio: middle(ratios), goal: 2, most: true, note: fmt.Sprintf("%.0f µs beside %.0f µs", middle(mine), middle(others))})
	return nil
}

// finishedTables are those that a finished operation has a row in, with the column that tells it from others.
func finishedTables() map[string]string {
	return map[string]string{"agent_command": "operation_id", "agent_attempt": "operation_id", "agent_resource": "resource"}
}

// copies is a statement that copies the row of operation 1 for each g; id makes the other's name of it.
func copies(table, key string, columns []string, id, each string) string {
	values := slices.Clone(columns)
	for i, c := range columns {
		if c == key || c == "resource" {
			values[i] = id
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s, %s WHERE %s = '1'", table, strings.Join(columns, ", "), strings.Join(values, ", "), table, each, key)
}

// What copies are called: as an operation is asked for again, or as none is that is still to come.
const (
	same  = "CAST(g AS text)"
	other = "'old_' || g"
)

// fill copies one finished operation many times, with all of its rows.
func (p *postgres) fill(ctx context.Context, rows int, id string) error {
	if err := cycle(ctx, p.ledger, 1); err != nil {
		return err
	}
	for table, key := range finishedTables() {
		names, err := p.pool.Query(ctx, `SELECT attname::text FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`, table)
		if err != nil {
			return err
		}
		columns, err := pgx.CollectRows(names, pgx.RowTo[string])
		if err != nil {
			return err
		}
		if _, err := p.pool.Exec(ctx, copies(table, key, columns, id, "generate_series(2, $1) g"), rows); err != nil {
			return err
		}
	}
	_, err := p.pool.Exec(ctx, "VACUUM ANALYZE")
	return err
}

// latency compares a large ledger with an empty one, and then one of which a snapshot has been held while operations came
// and went.
func (p *postgres) latency(ctx context.Context, s settings, report func(figure)) error {
	if err := p.clear(ctx); err != nil {
		return err
	}
	if err := p.fill(ctx, s.finished, other); err != nil {
		return err
	}
	fresh, err := openPostgres(ctx, 4)
	if err != nil {
		return err
	}
	defer fresh.Close()
	empty := func(ctx context.Context) (idem.Ledger, error) { return fresh.ledger, fresh.clear(ctx) }
	if err := s.claims(ctx, report, fmt.Sprintf("postgres: claim among %d finished / in an empty ledger", s.finished), p.ledger, empty); err != nil {
		return err
	}
	held, err := pgx.Connect(ctx, p.dsn)
	if err != nil {
		return err
	}
	defer held.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it reads
	tx, err := held.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "SELECT count(*) FROM command_outbox"); err != nil {
		return err
	}
	churn := many(2, func(ctx context.Context, n int64) error { return work(ctx, p.ledger, 1_000_000_000+n) })
	perSecond, err := churn(ctx, s.snapshot)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("postgres: the same, a snapshot held for %s and %.0f operations", s.snapshot, perSecond*s.snapshot.Seconds())
	if err := s.claims(ctx, report, name, p.ledger, empty); err != nil {
		return err
	}
	return tx.Rollback(ctx)
}

// work is what a worker does: an operation that is due, from the outbox to its end. Where the other client is at work on
// the only one, there is none.
func work(ctx context.Context, l idem.Ledger, n int64) error {
	c := command(n)
	c.AvailableIn = 0
	if _, _, err := l.Admit(ctx, c, false); err != nil {
		return err
	}
	d, err := l.Next(ctx, []string{c.Tool}, time.Hour)
	if errors.Is(err, idem.ErrEmpty) {
		return nil
	}
	if err != nil {
		return err
	}
	claim, err := l.Claim(ctx, d.Key, "w", time.Hour)
	if err != nil {
		return err
	}
	_, err = l.Finish(ctx, claim, done)
	return err
}
