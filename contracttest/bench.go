package contracttest

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
)

// bench is the testing.TB of a fixture outside of a test: of [Check], and where a catalogue is looked at before the first
// case. It has every method but those that change the process, which fail.
type bench struct {
	testing.TB

	name     string
	ctx      context.Context //nolint:containedctx // as testing.T has it
	cancel   context.CancelFunc
	cleanups []func()
	failed   []string
}

func newBench(name string) *bench {
	ctx, cancel := context.WithCancel(context.Background())
	return &bench{name: name, ctx: ctx, cancel: cancel}
}

func (b *bench) Helper()                  {}
func (b *bench) Name() string             { return b.name }
func (b *bench) Context() context.Context { return b.ctx }
func (b *bench) Cleanup(f func())         { b.cleanups = append(b.cleanups, f) }
func (b *bench) Failed() bool             { return len(b.failed) > 0 }
func (b *bench) Skipped() bool            { return false }
func (b *bench) Log(...any)               {}
func (b *bench) Logf(string, ...any)      {}
func (b *bench) Attr(string, string)      {}
func (b *bench) Output() io.Writer        { return io.Discard }

func (b *bench) Fail()             { b.Error("failed") }
func (b *bench) Error(args ...any) { b.failed = append(b.failed, fmt.Sprint(args...)) }
func (b *bench) Errorf(format string, args ...any) {
	b.Error(fmt.Sprintf(format, args...))
}

func (b *bench) FailNow() { b.Fatal("failed") }
func (b *bench) Fatal(args ...any) {
	b.Error(args...)
	runtime.Goexit()
}

func (b *bench) Fatalf(format string, args ...any) { b.Fatal(fmt.Sprintf(format, args...)) }

// What was skipped was not checked.
func (b *bench) Skip(args ...any)                 { b.Fatal("a fixture cannot be skipped: ", fmt.Sprint(args...)) }
func (b *bench) Skipf(format string, args ...any) { b.Skip(fmt.Sprintf(format, args...)) }
func (b *bench) SkipNow()                         { b.Skip() }

func (b *bench) Setenv(string, string) { b.Fatal("a fixture cannot change the environment") }
func (b *bench) Chdir(string)          { b.Fatal("a fixture cannot change the working directory") }

func (b *bench) TempDir() string {
	dir, err := os.MkdirTemp("", "contracttest")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			b.Error(err)
		}
	})
	return dir
}

func (b *bench) ArtifactDir() string { return b.TempDir() }

func (b *bench) done() {
	b.cancel()
	for i := len(b.cleanups) - 1; i >= 0; i-- {
		b.cleanups[i]()
	}
	b.cleanups = nil
}
