package pgledger_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/pgtest/pgxtest"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/idemtest"
	"github.com/toolcontract/toolcontract/idem/pgledger"
	"github.com/toolcontract/toolcontract/internal/pgtest"
	"github.com/toolcontract/toolcontract/redact"
)

func sealer(t *testing.T) redact.Sealer {
	t.Helper()
	s, err := redact.NewSealer(redact.Key{ID: "k1", Secret: bytes.Repeat([]byte{7}, 32)})
	require.NoError(t, err)
	return s
}

// server is a schema with the ledger's tables.
type server struct {
	t    *testing.T
	dsn  string
	all  []func()
	cfg  pgledger.Config
	size int32

	hands *pgxpool.Pool // moves the clock
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, dsn: pgtest.Schema(t, pgxtest.Exec), cfg: pgledger.Config{Sealer: sealer(t)}, size: 4}
	pool := s.pool("")
	s.all, s.hands = nil, pool
	t.Cleanup(func() { s.shut(); pool.Close() })
	require.NoError(t, pgledger.Migrate(t.Context(), pool))
	_, err := pool.Exec(t.Context(), pgledger.TestClock)
	require.NoError(t, err)
	return s
}

// pool returns a pool of the server, as role when it is not empty.
func (s *server) pool(role string) *pgxpool.Pool {
	s.t.Helper()
	cfg, err := pgxpool.ParseConfig(s.dsn)
	require.NoError(s.t, err)
	cfg.MaxConns = s.size
	cfg.ConnConfig.RuntimeParams["synchronous_commit"] = "off" // no test here pulls the plug
	if role != "" {
		cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, "SET ROLE "+role)
			return err
		}
	}
	pool, err := pgxpool.NewWithConfig(s.t.Context(), cfg)
	require.NoError(s.t, err)
	s.all = append(s.all, pool.Close)
	return pool
}

func (s *server) open() (idem.Ledger, error) { return s.openOn(s.pool("")) }

func (s *server) openOn(pool *pgxpool.Pool) (*pgledger.Ledger, error) {
	l, err := pgledger.OpenMoved(s.t.Context(), pool, s.cfg)
	if err == nil {
		s.all = append(s.all, l.Shutdown)
	}
	return l, err
}

func (s *server) shut() {
	for i := len(s.all) - 1; i >= 0; i-- {
		s.all[i]()
	}
	s.all = nil
}

func (s *server) exec(sql string) {
	s.t.Helper()
	require.NoError(s.t, pgxtest.Exec(s.t.Context(), s.dsn, sql))
}

func (s *server) advance(d time.Duration) {
	s.t.Helper()
	_, err := s.hands.Exec(s.t.Context(), "UPDATE test_clock SET ahead = ahead + $1", d)
	require.NoError(s.t, err)
}

// spoil alters all that is sealed of an operation.
func (s *server) spoil(k idem.Key) error {
	for _, sql := range []string{
		`UPDATE agent_command SET body = overlay(body placing '\x00' from 1), result = overlay(result placing '\x00' from 1), failure = overlay(failure placing '\x00' from 1)`,
		`UPDATE agent_evidence SET result = overlay(result placing '\x00' from 1), failure = overlay(failure placing '\x00' from 1)`,
	} {
		if _, err := s.hands.Exec(s.t.Context(), sql+" WHERE tenant_id = $1 AND operation_id = $2", k.Tenant, k.Operation); err != nil {
			return err
		}
	}
	return nil
}

func subject(t *testing.T) idemtest.Subject {
	t.Helper()
	s := newServer(t)
	l, err := s.open()
	require.NoError(t, err)
	return idemtest.Subject{
		Ledger: l, Advance: s.advance, Peer: s.open, Spoil: s.spoil,
		Reopen: func() (idem.Ledger, error) { s.shut(); return s.open() },
	}
}

func TestLedger(t *testing.T) {
	t.Parallel()
	idemtest.Run(t, subject)
}

func TestHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		idemtest.Histories(t, subject(t), idemtest.Load{Seed: seed})
	}
}
