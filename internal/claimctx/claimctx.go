// Package claimctx carries, in a handler's context, the mark that bytes of the present claim may have left the process.
package claimctx

import (
	"context"
	"sync/atomic"
)

type key struct{}

// Mark is set once and never unset. Safe for concurrent use.
type Mark struct{ sent atomic.Bool }

// With returns a context that carries a fresh mark.
func With(ctx context.Context) (context.Context, *Mark) {
	m := new(Mark)
	return context.WithValue(ctx, key{}, m), m
}

// Set marks the claim that ctx belongs to; outside a claim it does nothing.
func Set(ctx context.Context) {
	if m, ok := ctx.Value(key{}).(*Mark); ok {
		m.sent.Store(true)
	}
}

// Sent reports whether Set was called with the mark's context or one made from it.
func (m *Mark) Sent() bool { return m.sent.Load() }

// Marked reports whether Set was called for the claim that ctx belongs to; outside a claim it is false.
func Marked(ctx context.Context) bool {
	m, ok := ctx.Value(key{}).(*Mark)
	return ok && m.Sent()
}
