package idemtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/toolcontract/toolcontract/idem"
)

// Load says how large a history is. A zero field is the one of DefaultLoad.
type Load struct {
	Seed     uint64        // of the clients' choices; what the scheduler does is not repeatable
	Tenants  int           // histories that are judged apart; each has a resource and three operations
	Clients  int           // at once
	Calls    int           // of each client
	Patience time.Duration // for the judge
}

// DefaultLoad is a history of a second or two on a ledger in memory.
func DefaultLoad() Load {
	return Load{Seed: 1, Tenants: 8, Clients: 6, Calls: 100, Patience: time.Minute}
}

// Histories runs clients against a fresh subject and fails unless their answers are those of some order of the calls,
// one answer in twenty being lost on the way and one call in forty never made. The subject needs a clock that can be
// moved.
func Histories(t *testing.T, s Subject, l Load) {
	t.Helper()
	if s.Advance == nil {
		t.Skip("the subject declares no clock that can be moved (Advance); not judged: concurrent histories")
	}
	if err := CheckHistory(t.Context(), s, l); err != nil {
		t.Error(err)
	}
}

// CheckHistory is Histories without a test. Its errors are [Broken], or say that the judge found no verdict in time.
func CheckHistory(ctx context.Context, s Subject, l Load) error {
	d := DefaultLoad()
	l = Load{l.Seed, or(l.Tenants, d.Tenants), or(l.Clients, d.Clients), or(l.Calls, d.Calls), or(l.Patience, d.Patience)}
	h := &history{subject: s, load: l, start: time.Now(), there: make([]atomic.Bool, l.Tenants*specOps)} //nolint:forbidigo // the order of calls, by the monotonic clock
	if err := h.run(ctx); err != nil {
		return err
	}
	for tenant, ops := range h.split() {
		switch porcupine.CheckOperationsTimeout(specModel(), ops, l.Patience) {
		case porcupine.Ok:
		case porcupine.Illegal:
			return &Broken{"history", "the answers of concurrent calls are those of some order of the calls", fmt.Errorf("tenant %d: no order of its %d calls gives these answers", tenant, len(ops))}
		case porcupine.Unknown:
			return fmt.Errorf("idemtest: tenant %d: no verdict on %d calls within %v", tenant, len(ops), l.Patience)
		}
	}
	return nil
}

func or[T comparable](v, zero T) T {
	var none T
	if v == none {
		return zero
	}
	return v
}

func specModel() porcupine.Model {
	return (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{spec{}} },
		Step: func(state, in, out any) []any {
			states := state.(spec).step(in.(call), out.(answer)) //nolint:errcheck // made below
			next := make([]any, len(states))
			for i, s := range states {
				next[i] = s
			}
			return next
		},
	}).ToModel()
}

type history struct {
	subject Subject
	load    Load
	start   time.Time
	mu      sync.Mutex
	events  []event
	clock   sync.RWMutex
	there   []atomic.Bool // operations that are known to be admitted
}

type event struct {
	tenant int // -1: all
	op     porcupine.Operation
}

func (h *history) at() int64 { return int64(time.Since(h.start)) } //nolint:forbidigo // as above

func (h *history) run(ctx context.Context) error {
	var wg sync.WaitGroup
	var failed atomic.Pointer[error]
	for i := range h.load.Clients {
		wg.Go(func() {
			c := &client{h: h, id: i, rng: rand.New(rand.NewPCG(h.load.Seed, uint64(i)))} //nolint:gosec // a workload, no secret
			for range h.load.Calls {
				if err := c.turn(ctx); err != nil {
					failed.CompareAndSwap(nil, &err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return h.drain(ctx)
}

// drain takes out of the outbox what is in it, when all others are gone: nothing may have been lost there.
func (h *history) drain(ctx context.Context) error {
	c := &client{h: h, id: h.load.Clients, rng: rand.New(rand.NewPCG(h.load.Seed, 0))} //nolint:gosec // a workload, no secret
	if err := c.make(call{op: "Advance", tenant: -1, ticks: 2 * specLease}, c.advance(2*specLease), 0); err != nil {
		return err
	}
	for t := range h.load.Tenants {
		for range specOps + 1 {
			in := call{op: "Next", tenant: t, alone: true}
			if err := c.make(in, c.next(ctx, in), kept); err != nil {
				return err
			}
		}
	}
	return nil
}

// split gives every tenant its calls and those that reach all.
func (h *history) split() [][]porcupine.Operation {
	all := make([][]porcupine.Operation, h.load.Tenants)
	for _, e := range h.events {
		for t := range all {
			if e.tenant == t || e.tenant < 0 {
				all[t] = append(all[t], e.op)
			}
		}
	}
	return all
}

// client makes calls one after the other, with what it was given before.
type client struct {
	h      *history
	id     int
	rng    *rand.Rand
	claims []call // each with what gave it, tenant, operation, generation and token
	turns  []call // each with tenant, operation and turn
}

func tenantName(t int) string { return fmt.Sprint("tenant-", t) }

func operationKey(t, i int) idem.Key {
	return idem.Key{Tenant: tenantName(t), Operation: fmt.Sprint("op_", i)}
}

// turn makes one call and records it.
func (c *client) turn(ctx context.Context) error {
	in, do := c.choose(ctx)
	return c.make(in, do, c.rng.IntN(40))
}

// What may happen to a call.
const (
	notMade = iota
	answerLost
	answerLostToo
	kept
)

func (c *client) make(in call, do makeCall, luck int) error {
	// A jump of hours while a call is between its look at the clock and its commit is nothing that a clock does.
	if in.op == "Advance" {
		c.h.clock.Lock()
		defer c.h.clock.Unlock()
	} else {
		c.h.clock.RLock()
		defer c.h.clock.RUnlock()
	}
	began := c.h.at()
	out := answer{lost: true}
	if luck != notMade || in.op == "Advance" {
		said, err := do()
		if out = said; err != nil {
			if out.err = name(err); out.err == "" {
				return fmt.Errorf("idemtest: %s: %w", in.op, err)
			}
		}
	}
	ended := c.h.at()
	if luck == answerLost || luck == answerLostToo {
		out = answer{lost: in.op != "Advance"}
	}
	if !out.lost {
		c.keep(in, out)
	}
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	c.h.events = append(c.h.events, event{in.tenant, porcupine.Operation{ClientId: c.id, Input: in, Call: began, Output: out, Return: ended}})
	return nil
}

// name returns the text of the contract's error that err is, "" for the machinery's.
func name(err error) string {
	for _, e := range []error{
		idem.ErrState, idem.ErrConflict, idem.ErrBusy, idem.ErrSequence, idem.ErrAttempts, idem.ErrEmpty, idem.ErrFenced,
		idem.ErrNotFound, idem.ErrGone, idem.ErrInvalid,
	} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	return ""
}

// keep remembers what may be used later.
func (c *client) keep(in call, out answer) {
	switch {
	case out.err != "":
	case in.op == "Admit":
		c.h.there[in.tenant*specOps+in.i].Store(true)
	case slices.Contains([]string{"Claim", "ClaimOpen", "Resend"}, in.op):
		c.claims = append(c.claims, call{op: in.op, tenant: in.tenant, i: in.i, gen: out.gen, token: out.token})
	case in.op == "Next":
		c.turns = append(c.turns, call{tenant: in.tenant, i: out.i, turn: out.turn})
	}
}
