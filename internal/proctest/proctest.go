// Package proctest lets a test race against itself in other processes: it runs the test's own binary again.
//
// TestMain hands children over, the test starts them together and reads what each printed:
//
//	func TestMain(m *testing.M) {
//		proctest.Main(func(arg string, begin func()) (string, error) { …; begin(); … })
//		os.Exit(m.Run())
//	}
package proctest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// variable marks a child and holds its argument.
const variable = "TOOLCONTRACT_PROCTEST_CHILD"

// Main runs child and ends the process if this is a child; otherwise it returns. The child calls begin when it is
// ready: begin returns when all are. What child returns is what Race returns for it, a single line.
func Main(child func(arg string, begin func()) (string, error)) {
	arg, ok := os.LookupEnv(variable) //nolint:forbidigo // the one way to tell a test binary that it is a child
	if !ok {
		return
	}
	in := bufio.NewReader(os.Stdin)
	line, err := child(arg, func() {
		_, _ = fmt.Fprintln(os.Stdout, "ready")
		_, _ = in.ReadString('\n') // the end of the parent begins as well
	})
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // a child is a program
	}
	_, _ = fmt.Fprintln(os.Stdout, line)
	os.Exit(0) //nolint:forbidigo // a child is a program
}

// T is what is used of a test: testing.TB has it.
type T interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
}

// Race starts a child for each argument, lets them begin together when all are ready, and returns their lines in order.
// A child that fails fails the test.
func Race(t T, args ...string) []string {
	t.Helper()
	children := make([]*process, len(args))
	for i, arg := range args {
		p, err := start(t.Context(), arg)
		if err != nil {
			t.Fatalf("start a child: %v", err)
		}
		children[i] = p
	}
	for _, p := range children {
		if line, err := p.out.ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("a child did not get ready: %q %v: %s", line, err, p.fail())
		}
	}
	for _, p := range children {
		if _, err := io.WriteString(p.in, "\n"); err != nil {
			t.Fatalf("begin: %v", err)
		}
	}
	lines := make([]string, len(children))
	for i, p := range children {
		rest, _ := io.ReadAll(p.out)
		if err := p.cmd.Wait(); err != nil {
			t.Fatalf("a child failed: %v: %s", err, p.errs.String())
		}
		lines[i] = strings.TrimSpace(string(rest))
	}
	return lines
}

// Ready starts a child and returns when it has called begin: how to kill it there, as kill -9 does.
func Ready(t T, arg string) (kill func()) {
	t.Helper()
	p, err := start(t.Context(), arg)
	if err != nil {
		t.Fatalf("start a child: %v", err)
	}
	if line, err := p.out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("a child did not get ready: %q %v: %s", line, err, p.fail())
	}
	return func() {
		t.Helper()
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatalf("kill: %v", err)
		}
		if err := p.cmd.Wait(); err == nil {
			t.Fatalf("a killed child ended well")
		}
	}
}

type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs *strings.Builder
}

func start(ctx context.Context, arg string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, self), errs: new(strings.Builder)} //nolint:gosec // the test's own binary
	p.cmd.Env = append(os.Environ(), variable+"="+arg)                             //nolint:forbidigo // a child lives where its parent does
	p.cmd.Stderr = p.errs
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.cmd.Start()
}

// fail waits for a child that ended early and returns what it complained of.
func (p *process) fail() string {
	_ = p.cmd.Wait()
	return p.errs.String()
}
