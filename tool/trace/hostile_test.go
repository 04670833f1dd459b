package trace_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// storing calls a function before each outcome is stored, and one after it.
type storing struct {
	idem.Ledger
	before, after func()
}

func (l *storing) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	l.before()
	rec, err := l.Ledger.Finish(ctx, c, o)
	l.after()
	return rec, err
}

// What a handler left behind asks after the work's word, beside calls that see it as it was.
func TestWhatIsAskedAfterTheWordIsSaved(t *testing.T) {
	t.Parallel()
	var goOn, told chan struct{}
	defs := queued(func(_ *registry, w *tool.Write[moveIn, moveIn, moveOut]) {
		commit := w.Commit
		w.Commit = func(ctx context.Context, cmd tool.Approved[moveIn]) (moveOut, error) {
			out, err := commit(ctx, cmd)
			go func(goOn <-chan struct{}, told chan<- struct{}) { // tells somebody, and does not wait for it
				<-goOn
				_, _ = trace.Do(ctx, "registry.tell", moving{"k", "w"}, func(context.Context) (moved, error) { return moved{}, nil })
				close(told)
			}(goOn, told)
			return out, err
		}
	})
	var o *office
	var files []string
	keep := func() {
		var file bytes.Buffer
		require.NoError(t, o.rec.Save(&file, o.run.ID()))
		files = append(files, file.String())
	}
	file := worked(t, trace.Config{}, defs, func(c *tool.Config) {
		c.Ledger = &storing{c.Ledger, func() {
			time.Sleep(30 * time.Second) // a slow store
			keep()
			close(goOn)
			<-told
			keep()
		}, keep}
	}, func(started *office) {
		o = started
		goOn, told = make(chan struct{}), make(chan struct{})
		op := o.move("pat_4711")
		for range 20 {
			time.Sleep(time.Second)
			o.state(op)
			keep()
		}
		o.later(op)
	}).saved()
	require.Contains(t, strings.Join(lines(file, "work"), ""), `"registry.tell"`)
	for n, file := range append(files, file) {
		_, err := trace.Load(strings.NewReader(file))
		require.NoError(t, err, "save %d: %v", n, lines(file, "work"))
	}
}

// A player whose context is over plays nothing.
func TestPlayEndsWithItsContext(t *testing.T) {
	t.Parallel()
	file := plainMove(t, trace.Config{}, queued(nil), nil).saved()
	for name, after := range map[string]int{"before it begins": 0, "at a step": 2, "at the last": len(strings.Split(file, "\n")) - 3} {
		tr, err := trace.Load(strings.NewReader(file))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		var h *house
		p := trace.NewPlayer(tr, trace.PlayerConfig{At: func(at time.Time) {
			if n++; n == after {
				cancel()
			}
			h.clock.set(at)
		}})
		h = newHouse(t, func(c *tool.Config) error { unasked(c); return p.Wire(c) }, queued(nil))
		if after == 0 {
			cancel()
		}
		report, err := p.Play(ctx, h.dispatcher, h.run)
		cancel()
		require.ErrorIs(t, err, context.Canceled, name)
		require.Nil(t, report, name)
	}
}
