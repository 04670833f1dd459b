package upstream

import (
	"bytes"
	"sync"
)

// bounded keeps the first bytes that are written to it and counts the rest. Safe for concurrent use: a run that was
// given up may still write.
type bounded struct {
	most     int
	patience int    // zero: without end
	kill     func() // called once patience is over

	mu    sync.Mutex
	kept  bytes.Buffer
	total int
}

// Write never fails: a command that cannot write would end otherwise than it meant to.
func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept.Write(p[:min(len(p), b.most-b.kept.Len())])
	b.total += len(p)
	if b.patience > 0 && b.total > b.patience {
		b.kill()
	}
	return len(p), nil
}

func (b *bounded) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.kept.Bytes())
}

func (b *bounded) over() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total > b.most
}

func (b *bounded) gaveUp() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.patience > 0 && b.total > b.patience
}
