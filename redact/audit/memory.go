package audit

import (
	"context"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/redact"
)

// MemoryQuarantineConfig configures a [MemoryQuarantine]. Its zero value keeps and opens nothing to anybody.
type MemoryQuarantineConfig struct {
	Audit     Sink             // records each opening; nil: nothing can be opened
	Requests  int              // of how many requests items are kept; the oldest give way. Zero or less: 1024
	Retention time.Duration    // of items whose For is zero; zero: DefaultRetention
	Now       func() time.Time // nil: time.Now
}

// MemoryQuarantine keeps items in this process, as they are: causes stay the errors that they were. Nothing is sealed
// and nothing survives the process. Make it with [NewMemoryQuarantine].
type MemoryQuarantine struct {
	cfg MemoryQuarantineConfig

	mu    sync.Mutex
	held  redact.Secret[map[string][]Item] // by request; behind a Secret so that no printed pointer shows it
	order []string                         // the requests, the oldest first
}

// NewMemoryQuarantine returns an empty quarantine.
func NewMemoryQuarantine(cfg MemoryQuarantineConfig) *MemoryQuarantine {
	if cfg.Requests <= 0 {
		cfg.Requests = 1024
	}
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the default clock, taken once
	}
	return &MemoryQuarantine{cfg: cfg, held: redact.NewSecret(map[string][]Item{})}
}

// Keep implements [Quarantine].
func (q *MemoryQuarantine) Keep(_ context.Context, i Item) error {
	i, err := i.prepare(q.cfg.Now(), q.cfg.Retention)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	held := q.held.Reveal()
	items := held[i.RequestID]
	if len(items) == 0 {
		if len(q.order) == q.cfg.Requests {
			delete(held, q.order[0])
			q.order = q.order[1:]
		}
		q.order = append(q.order, i.RequestID)
	}
	if len(items) == MaxBefore {
		items = items[:MaxBefore-1]
	}
	held[i.RequestID] = append(items, i)
	return nil
}

// Open implements [Quarantine].
func (q *MemoryQuarantine) Open(ctx context.Context, by, requestID string) (Item, error) {
	now := q.cfg.Now()
	q.mu.Lock()
	var found *Item
	if live := living(q.held.Reveal()[requestID], now); len(live) > 0 {
		item := stacked(live)
		found = &item
	}
	q.mu.Unlock()
	if err := opening(ctx, q.cfg.Audit, now, by, requestID, found, nil); err != nil {
		return Item{}, err
	}
	return *found, nil
}

// Purge implements [Quarantine].
func (q *MemoryQuarantine) Purge(context.Context) (int, error) {
	now := q.cfg.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	held, purged := q.held.Reveal(), 0
	var order []string
	for _, request := range q.order {
		live := living(held[request], now)
		purged += len(held[request]) - len(live)
		if len(live) == 0 {
			delete(held, request)
			continue
		}
		held[request] = live
		order = append(order, request)
	}
	q.order = order
	return purged, nil
}

func living(items []Item, now time.Time) []Item {
	var live []Item
	for _, i := range items {
		if !i.expired(now) {
			live = append(live, i)
		}
	}
	return live
}
