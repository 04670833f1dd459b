package main

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

const tenant = "acme"

// command is one of a write that its dispatcher runs at once. Operation and resource are the same number, so that a
// script of pgbench can make both.
func command(n int64) idem.Command {
	id := strconv.FormatInt(n, 10)
	return idem.Command{
		Key: idem.Key{Tenant: tenant, Operation: id}, Tool: "commit_address_change_v2", Proposal: "p_" + id, Run: "run_1",
		RequestHash: "sha256:5f0c1f4c3c6f0d4b8a8f1f6f3a9a5d2ccf4b3a1a", Resource: id,
		Body:     []byte(`{"tenant":"acme","account":"A-1017","street":"Lendkai 12","city":"Graz","zip":"8020"}`),
		Contract: idem.ReplaySafe, ProviderKey: "key_0123456789abcdef", ExpiresIn: 24 * time.Hour, AvailableIn: time.Hour, DedupFor: 12 * time.Hour,
		Meta: map[string]string{"policy": "3", "tool": "2"},
	}
}

var done = idem.Outcome{State: idem.Succeeded, Result: []byte(`{"version":"18"}`)}

// cycle is an operation from its admission to its end.
func cycle(ctx context.Context, l idem.Ledger, n int64) error {
	c := command(n)
	if _, _, err := l.Admit(ctx, c, false); err != nil {
		return err
	}
	claim, err := l.Claim(ctx, c.Key, "w", time.Hour)
	if err != nil {
		return err
	}
	_, err = l.Finish(ctx, claim, done)
	return err
}

// many runs f by so many clients, each time with the next number, and counts.
func many(clients int, f func(ctx context.Context, n int64) error) side {
	var next atomic.Int64
	return func(ctx context.Context, d time.Duration) (float64, error) {
		var wg sync.WaitGroup
		var count atomic.Int64
		var failed atomic.Pointer[error]
		start := time.Now()
		for range clients {
			wg.Go(func() {
				for time.Since(start) < d && failed.Load() == nil && ctx.Err() == nil {
					if err := f(ctx, next.Add(1)); err != nil {
						failed.CompareAndSwap(nil, &err)
						return
					}
					count.Add(1)
				}
			})
		}
		wg.Wait()
		if err := failed.Load(); err != nil {
			return 0, *err
		}
		return float64(count.Load()) / time.Since(start).Seconds(), ctx.Err()
	}
}
