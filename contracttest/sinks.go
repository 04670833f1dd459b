package contracttest

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"sync"

	"github.com/toolcontract/toolcontract/redact/audit"
)

// Sink is one place where a value could turn up that must not. Drain returns what was written since it was last called.
// Plant writes a text in the way in which the boundary would: the positive control, which must be found.
type Sink struct {
	Drain func() []byte
	Plant func(text string)
}

// Sinks are the places that are searched, by name.
type Sinks map[string]Sink

// buffer keeps text until it is drained.
type buffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

func (b *buffer) Sync() error { return nil }

func (b *buffer) note(args ...any) {
	for _, a := range args {
		_, _ = fmt.Fprintf(b, "%+v\n", a)
	}
}

func (b *buffer) drain() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.text
	b.text = nil
	return out
}

// auditSink keeps the text of events, and hands them on.
type auditSink struct {
	buffer
	next audit.Sink // nil: none
}

// Record implements audit.Sink.
func (s *auditSink) Record(ctx context.Context, e audit.Event) error {
	s.note(e)
	if b, err := json.Marshal(e); err == nil {
		_, _ = s.Write(append(b, '\n'))
	}
	if s.next == nil {
		return nil
	}
	return s.next.Record(ctx, e)
}
