// Package bell wakes those who wait for work: many listeners, none of whom is ever waited for.
package bell

import (
	"context"
	"sync"
)

// Bell is silent as its zero value. Safe for concurrent use; not to be copied.
type Bell struct {
	mu        sync.Mutex
	listeners map[chan struct{}]struct{}
}

// Listen returns a channel that gets a value after each Ring, one waiting at most, and is closed when ctx ends.
func (b *Bell) Listen(ctx context.Context) <-chan struct{} {
	ch := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[chan struct{}]struct{}{}
	}
	b.listeners[ch] = struct{}{}
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, ch)
		close(ch)
	})
	return ch
}

// Ring wakes every listener.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.listeners {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// Listeners returns how many listen.
func (b *Bell) Listeners() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.listeners)
}
