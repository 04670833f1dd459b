package upstream

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/redact"
)

// CacheConfig bounds a [Cache].
type CacheConfig struct {
	TTL     time.Duration // how long an answer is good; must be above zero
	Entries int           // at most so many answers, the least used give way; zero: 1024
	Bytes   int           // at most so many bytes of them; zero: 16 MiB
}

// Cache keeps answers that have passed, in this process, for their tenant and their question alone. Every hit is
// decoded anew, bound to its question and held to the operation's Fresh at that moment; what is no longer fresh is
// asked again. Errors are not kept. Callers of one tenant with one question share one request; each waits no longer
// than its own context. In a recorded run and in a replay (package tool/trace) it is neither read nor written. Whoever may see the answer of a question is the tool's to check before: within the tenant the
// cache does not ask. Safe for concurrent use.
type Cache[Q, A any] struct {
	client *Client[Q, A]
	cfg    CacheConfig

	mu      sync.Mutex
	entries map[cacheKey]*list.Element // of *entry
	recent  *list.List                 // the most recently used first
	bytes   int
	flights map[cacheKey]*flight[A]
}

type cacheKey [sha256.Size]byte

type entry struct {
	key   cacheKey
	doc   []byte
	form  int
	until time.Time
}

// flight is a request that several may wait for.
type flight[A any] struct {
	done   chan struct{}
	answer accepted[A]
	err    error // of the upstream: shared
	own    bool  // the asker's own end, or a panic: those who waited ask for themselves
}

// NewCache returns an empty cache in front of the client. A type of question that JSON does not write whole is an
// error: an unexported field, one with json:"-", an interface.
func NewCache[Q, A any](c *Client[Q, A], cfg CacheConfig) (*Cache[Q, A], error) {
	switch {
	case c == nil:
		return nil, errors.New("upstream: cache: no client")
	case cfg.TTL <= 0:
		return nil, named(c.op.Name, errors.New("cache: ttl: must be above zero"))
	case cfg.Entries < 0, cfg.Bytes < 0:
		return nil, named(c.op.Name, errors.New("cache: entries, bytes: must not be negative"))
	}
	if err := distinct(reflect.TypeFor[Q](), "the question", map[reflect.Type]bool{}); err != nil {
		return nil, named(c.op.Name, fmt.Errorf("cache: %w", err))
	}
	if cfg.Entries == 0 {
		cfg.Entries = 1024
	}
	if cfg.Bytes == 0 {
		cfg.Bytes = 16 << 20
	}
	return &Cache[Q, A]{client: c, cfg: cfg, entries: map[cacheKey]*list.Element{}, recent: list.New(), flights: map[cacheKey]*flight[A]{}}, nil
}

// Ask is [Client.Ask] through the cache. A question that has no canonical form (redact.Canonical) is INTERNAL; nothing
// is sent.
func (c *Cache[Q, A]) Ask(ctx context.Context, by Caller, q Q) (A, error) {
	var none A
	if err := by.check(); err != nil {
		return none, err
	}
	if tape.From(ctx) != nil { // what is recorded is asked, and what is played is no answer for others
		return c.client.Ask(ctx, by, q)
	}
	key, err := keyOf(by.Tenant, q)
	if err != nil {
		return none, c.client.refuse(ctx, by, reply{}, unmade(err))
	}
	for {
		if got, ok := c.hit(key, q); ok {
			return got, nil
		}
		f, leads := c.join(key)
		if leads {
			return c.lead(ctx, by, q, key, f)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			f := ended(ctx, nil)
			f.unsent = true
			return none, c.client.refuse(ctx, by, reply{}, f)
		}
		switch {
		case f.own:
		case f.err != nil:
			return none, f.err
		default:
			return c.copy(f.answer)
		}
	}
}

// keyOf is of the tenant and the whole question.
func keyOf[Q any](tenant string, q Q) (cacheKey, error) {
	canonical, err := redact.Canonical(q)
	if err != nil {
		return cacheKey{}, err
	}
	text := binary.BigEndian.AppendUint64(nil, uint64(len(tenant)))
	return sha256.Sum256(append(append(text, tenant...), canonical...)), nil
}

// hit returns a kept answer that still stands.
func (c *Cache[Q, A]) hit(key cacheKey, q Q) (got A, ok bool) {
	c.mu.Lock()
	element := c.entries[key]
	if element == nil {
		c.mu.Unlock()
		return got, false
	}
	e, _ := element.Value.(*entry)
	c.recent.MoveToFront(element)
	c.mu.Unlock()
	if c.client.op.Host.Now().Before(e.until) {
		if a, f := c.client.contract.forms[e.form].decode(e.doc); f == nil && c.client.bind(q, accepted[A]{e.doc, e.form, a}) == nil {
			return a, true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key] == element {
		c.drop(element)
	}
	return got, false
}

// join returns the flight of the question; leads says that it is the caller's to fly.
func (c *Cache[Q, A]) join(key cacheKey) (f *flight[A], leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.flights[key]; ok {
		return f, false
	}
	f = &flight[A]{done: make(chan struct{}), own: true}
	c.flights[key] = f
	return f, true
}

func (c *Cache[Q, A]) lead(ctx context.Context, by Caller, q Q, key cacheKey, f *flight[A]) (A, error) {
	defer func() { // after a panic too
		c.mu.Lock()
		delete(c.flights, key)
		c.mu.Unlock()
		close(f.done)
	}()
	asked := c.client.op.Host.Now()
	answer, err := c.client.ask(ctx, by, q)
	f.answer, f.err, f.own = answer, err, ctx.Err() != nil
	if err != nil {
		return answer.got, err
	}
	c.keep(&entry{key: key, doc: answer.doc, form: answer.form, until: asked.Add(c.cfg.TTL)})
	return answer.got, nil
}

// copy decodes an answer for one more caller: no two share what a pointer, a slice or a map of it holds.
func (c *Cache[Q, A]) copy(a accepted[A]) (A, error) {
	got, f := c.client.contract.forms[a.form].decode(a.doc)
	if f != nil { // it passed a moment ago
		return got, errForm
	}
	return got, nil
}

func (c *Cache[Q, A]) keep(e *entry) {
	if len(e.doc) > c.cfg.Bytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.entries[e.key]; old != nil {
		c.drop(old)
	}
	c.entries[e.key] = c.recent.PushFront(e)
	c.bytes += len(e.doc)
	for len(c.entries) > c.cfg.Entries || c.bytes > c.cfg.Bytes {
		c.drop(c.recent.Back())
	}
}

// drop forgets an entry. The lock is held.
func (c *Cache[Q, A]) drop(element *list.Element) {
	if e, ok := c.recent.Remove(element).(*entry); ok {
		delete(c.entries, e.key)
		c.bytes -= len(e.doc)
	}
}
