package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/pgledger"
	"github.com/toolcontract/toolcontract/internal/pgtest/pgxtest"
	"github.com/toolcontract/toolcontract/redact"
)

// postgres is a ledger in a schema of its own.
type postgres struct {
	dsn    string
	pool   *pgxpool.Pool
	ledger *pgledger.Ledger
	sent   *tracer // of a second ledger
	traced *pgledger.Ledger
	close  []func()
}

func openPostgres(ctx context.Context, clients int) (p *postgres, err error) {
	server, schema, drop, err := pgxtest.Schema(ctx, "ledgerratios")
	if err != nil {
		return nil, err
	}
	p = &postgres{dsn: with(server, schema), sent: new(tracer), close: []func(){drop}}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if p.pool, p.ledger, err = p.open(ctx, clients, nil); err != nil {
		return nil, err
	}
	_, p.traced, err = p.open(ctx, 1, p.sent)
	return p, err
}

func (p *postgres) open(ctx context.Context, clients int, t *tracer) (*pgxpool.Pool, *pgledger.Ledger, error) {
	cfg, err := pgxpool.ParseConfig(p.dsn)
	if err != nil {
		return nil, nil, err
	}
	cfg.MaxConns = int32(clients) //nolint:gosec // a few
	if t != nil {
		cfg.ConnConfig.Tracer = t
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	p.close = append(p.close, pool.Close)
	if err := pgledger.Migrate(ctx, pool); err != nil {
		return nil, nil, err
	}
	l, err := pgledger.Open(ctx, pool, pgledger.Config{Sealer: redact.Plain()})
	if err != nil {
		return nil, nil, err
	}
	p.close = append(p.close, l.Shutdown)
	return pool, l, nil
}

// with puts the schema into the connection string as libpq takes it, which pgbench is made of.
func with(dsn, schema string) string {
	switch {
	case !strings.Contains(dsn, "://"):
		return dsn + " options='-c search_path=" + schema + "'"
	case strings.Contains(dsn, "?"):
		return dsn + "&options=-c%20search_path%3D" + schema
	}
	return dsn + "?options=-c%20search_path%3D" + schema
}

// Close removes the schema.
func (p *postgres) Close() {
	for i := len(p.close) - 1; i >= 0; i-- {
		p.close[i]()
	}
}

// clear empties the tables: each side of a figure begins with as much as the other.
func (p *postgres) clear(ctx context.Context) error {
	_, err := p.pool.Exec(ctx, "TRUNCATE agent_command, command_outbox, agent_resource, agent_attempt, agent_evidence")
	return err
}

// script traces what one call sends and writes it down for pgbench.
func (p *postgres) script(ctx context.Context, n int64, set string, call func(l idem.Ledger, n int64) error) (s script, err error) {
	p.sent.take()
	if err := call(p.traced, n); err != nil {
		return s, err
	}
	rounds := p.sent.take()
	err = p.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) (err error) {
		s, err = newScript(ctx, c.Conn(), rounds, strconv.FormatInt(n, 10), set)
		return err
	})
	return s, err
}

const (
	anyOperation = `\set op random(1000000000, 9000000000000000000)`
	stock        = 10_000 // finished operations that are asked for again
	ofStock      = `\set op random(1, 10000)`
)

func postgresFigures(ctx context.Context, s settings, report func(figure)) error {
	p, err := openPostgres(ctx, s.clients)
	if err != nil {
		return err
	}
	defer p.Close()
	dir, err := os.MkdirTemp("", "ledgerratios")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // temporary
	return errors.Join(
		p.admissions(ctx, s, dir, report),
		p.cycles(ctx, s, dir, report),
		p.replays(ctx, s, dir, report),
		p.latency(ctx, s, report),
	)
}

func (p *postgres) admissions(ctx context.Context, s settings, dir string, report func(figure)) error {
	admit := func(l idem.Ledger, n int64) error { _, _, err := l.Admit(ctx, command(n), false); return err }
	sql, err := p.script(ctx, 7, anyOperation, admit)
	if err != nil {
		return err
	}
	bare, err := sql.bench(dir, "admit", p.dsn, s.clients)
	if err != nil {
		return err
	}
	return s.pair(ctx, report, "postgres: admissions / the same statement by pgbench", 0.9,
		many(s.clients, func(ctx context.Context, n int64) error {
			_, _, err := p.ledger.Admit(ctx, command(100+n), false)
			return err
		}), bare)
}

func (p *postgres) cycles(ctx context.Context, s settings, dir string, report func(figure)) error {
	if err := p.clear(ctx); err != nil {
		return err
	}
	sql, err := p.script(ctx, 7, anyOperation, func(l idem.Ledger, n int64) error { return cycle(ctx, l, n) })
	if err != nil {
		return err
	}
	bare, err := sql.bench(dir, "cycle", p.dsn, s.clients)
	if err != nil {
		return err
	}
	return s.pair(ctx, report, "postgres: admit, claim, finish / their statements by pgbench", 0.9,
		many(s.clients, func(ctx context.Context, n int64) error { return cycle(ctx, p.ledger, 100+n) }), bare)
}

// bareSelect is what a host without a ledger would write to find an answer again.
const bareSelect = "SELECT state, request_hash, body, result FROM agent_command WHERE tenant_id = $1 AND operation_id = $2"

func (p *postgres) replays(ctx context.Context, s settings, dir string, report func(figure)) error {
	if err := p.clear(ctx); err != nil {
		return err
	}
	if err := p.fill(ctx, stock, same); err != nil {
		return err
	}
	replay := many(s.clients, func(ctx context.Context, n int64) error {
		_, how, err := p.ledger.Admit(ctx, command(1+n%stock), true)
		if err == nil && how != idem.Replayed {
			return fmt.Errorf("admission %s", how)
		}
		return err
	})
	driver := many(s.clients, func(ctx context.Context, n int64) error {
		var state, hash string
		var body, result []byte
		return p.pool.QueryRow(ctx, bareSelect, tenant, strconv.FormatInt(1+n%stock, 10)).Scan(&state, &hash, &body, &result)
	})
	if err := s.pair(ctx, report, "postgres: replays / a SELECT by primary key, same driver", 0.9, replay, driver); err != nil {
		return err
	}
	same, err := p.script(ctx, 7, ofStock, func(l idem.Ledger, n int64) error { _, _, err := l.Admit(ctx, command(n), true); return err })
	if err != nil {
		return err
	}
	bare := script{text: ofStock + "\n" + strings.NewReplacer("$1", ":tenant", "$2", ":op").Replace(bareSelect) + ";\n", args: []string{"tenant=" + tenant}}
	for name, sql := range map[string]script{"the same statement by pgbench": same, "a SELECT by primary key by pgbench": bare} {
		b, err := sql.bench(dir, strings.ReplaceAll(name, " ", "_"), p.dsn, s.clients)
		if err != nil {
			return err
		}
		if err := s.pair(ctx, report, "postgres: replays / "+name, 0, replay, b); err != nil {
			return err
		}
	}
	return nil
}
