package pgledger_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/pgtest/pgxtest"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/pgledger"
	"github.com/toolcontract/toolcontract/internal/pgtest"
	"github.com/toolcontract/toolcontract/redact"
)

// clients is how many connections a benchmark uses, and at least as many goroutines.
const clients = 16

func bench(b *testing.B) (*pgxpool.Pool, *pgledger.Ledger) {
	b.Helper()
	cfg, err := pgxpool.ParseConfig(pgtest.Schema(b, pgxtest.Exec))
	require.NoError(b, err)
	cfg.MaxConns = clients
	pool, err := pgxpool.NewWithConfig(b.Context(), cfg)
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	require.NoError(b, pgledger.Migrate(b.Context(), pool))
	l, err := pgledger.Open(b.Context(), pool, pgledger.Config{Sealer: redact.Plain()})
	require.NoError(b, err)
	b.Cleanup(l.Shutdown)
	b.SetParallelism(clients)
	return pool, l
}

func benchCommand(i int64) idem.Command {
	c := command(fmt.Sprintf("op_%d", i))
	c.AvailableIn = time.Hour // of a write that its dispatcher runs
	return c
}

func BenchmarkAdmit(b *testing.B) {
	_, l := bench(b)
	var n atomic.Int64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, _, err := l.Admit(context.Background(), benchCommand(n.Add(1)), false); err != nil {
				b.Error(err)
			}
		}
	})
}

const stock = 500 // finished operations

func filled(b *testing.B, l *pgledger.Ledger) {
	b.Helper()
	for i := range int64(stock) {
		c := benchCommand(i)
		_, _, err := l.Admit(b.Context(), c, false)
		require.NoError(b, err)
		claim, err := l.Claim(b.Context(), c.Key, "w", time.Hour)
		require.NoError(b, err)
		_, err = l.Finish(b.Context(), claim, idem.Outcome{State: idem.Succeeded, Result: []byte(`{"version":"18"}`)})
		require.NoError(b, err)
	}
}

func BenchmarkReplay(b *testing.B) {
	pool, l := bench(b)
	filled(b, l)
	b.Run("ledger", func(b *testing.B) {
		b.SetParallelism(clients)
		b.ReportAllocs()
		var n atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, how, err := l.Admit(context.Background(), benchCommand(n.Add(1)%stock), true); err != nil || how != idem.Replayed {
					b.Error(how, err)
				}
			}
		})
	})
	b.Run("row", func(b *testing.B) { // the same columns, by the driver alone, and not looked at
		b.SetParallelism(clients)
		peek := pgledger.Statements()["peek"][0]
		var n atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				rows, err := pool.Query(context.Background(), peek, pgx.QueryResultFormats{pgx.BinaryFormatCode}, "acme", fmt.Sprintf("op_%d", n.Add(1)%stock))
				if err != nil {
					b.Error(err)
					continue
				}
				for rows.Next() {
					rows.RawValues()
				}
				rows.Close()
			}
		})
	})
	b.Run("four columns", func(b *testing.B) {
		b.SetParallelism(clients)
		var n atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				var state, hash string
				var body, result []byte
				if err := pool.QueryRow(context.Background(), "SELECT state, request_hash, body, result FROM agent_command WHERE tenant_id = $1 AND operation_id = $2", "acme", fmt.Sprintf("op_%d", n.Add(1)%stock)).
					Scan(&state, &hash, &body, &result); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

func BenchmarkCycle(b *testing.B) {
	_, l := bench(b)
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c := benchCommand(n.Add(1))
			_, _, err := l.Admit(context.Background(), c, false)
			var claim idem.Claim
			if err == nil {
				claim, err = l.Claim(context.Background(), c.Key, "w", time.Hour)
			}
			if err == nil {
				_, err = l.Finish(context.Background(), claim, idem.Outcome{State: idem.Succeeded, Result: []byte(`{"version":"18"}`)})
			}
			if err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkNext(b *testing.B) {
	_, l := bench(b)
	for i := range int64(stock) {
		c := benchCommand(i)
		c.AvailableIn = 0
		_, _, err := l.Admit(b.Context(), c, false)
		require.NoError(b, err)
	}
	for b.Loop() {
		if _, err := l.Next(b.Context(), []string{"commit_x_v1"}, time.Microsecond); err != nil {
			b.Fatal(err)
		}
	}
}
