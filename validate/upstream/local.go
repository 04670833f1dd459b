package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// Local runs a program of this machine: no shell, exactly the given environment, standard input empty, a process group
// of its own that is killed when the context ends and whatever of it is left when the program has ended. Plain data;
// [Local.Check] finds what is wrong.
type Local struct {
	Path string            // of the program, absolute; no search through PATH
	Args []string          // before those of a question: the subcommand
	Env  map[string]string // the whole environment; nil is an empty one
	Dir  string            // the working directory, absolute; empty: the root directory
	// Descriptors hands each credential over in a pipe, the variable of its name saying where ("/dev/fd/3"), so that it
	// stands in no environment. False: the variable holds the credential.
	Descriptors bool
}

var (
	errArgument = errors.New("upstream: an argument that cannot be handed over")
	errLocal    = errors.New("upstream: the local command")
)

// Bounds of a command line.
const (
	mostArgs     = 256
	argumentSize = 64 << 10
)

// Check implements [Runner]: it refuses a relative path or directory, NUL in an argument or a variable, and more than
// 256 arguments or 64 KiB of them.
func (l Local) Check(args []string) error {
	switch {
	case !filepath.IsAbs(l.Path):
		return fmt.Errorf("%w: its path is not absolute", errLocal)
	case l.Dir != "" && !filepath.IsAbs(l.Dir):
		return fmt.Errorf("%w: its directory is not absolute", errLocal)
	}
	for name, value := range l.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return fmt.Errorf("%w: its environment", errLocal)
		}
	}
	size := 0
	for _, a := range slices.Concat(l.Args, args) {
		if size += len(a); strings.ContainsRune(a, 0) {
			return fmt.Errorf("%w: it holds NUL", errArgument)
		}
	}
	if len(l.Args)+len(args) > mostArgs || size > argumentSize {
		return fmt.Errorf("%w: too many, or too long", errArgument)
	}
	return nil
}

// reapTime is how long pipes may stay open after the group was killed: somebody who left the group holds them.
const reapTime = time.Second

// Run implements [Runner].
func (l Local) Run(ctx context.Context, j Job) (int, error) {
	cmd, pipes, err := l.prepare(ctx, j)
	defer pipes.close()
	if err != nil {
		return -1, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	envelope.Sent(ctx)
	if err := cmd.Start(); err != nil {
		return -1, fmt.Errorf("upstream: start: %w", err)
	}
	pipes.started()
	err = cmd.Wait()
	_ = killGroup(cmd.Process) // what the program left behind, if anything
	cut := pipes.drain(reapTime)
	if status, ok := errors.AsType[*exec.ExitError](err); ok {
		return status.ExitCode(), err
	}
	if err == nil && cut {
		return -1, errors.New("upstream: the command's output stayed open")
	}
	return 0, err
}

func (l Local) prepare(ctx context.Context, j Job) (*exec.Cmd, *plumbing, error) {
	p := &plumbing{}
	if err := ctx.Err(); err != nil {
		return nil, p, err
	}
	if err := executable(l.Path); err != nil {
		return nil, p, err
	}
	cmd := exec.CommandContext(ctx, l.Path, slices.Concat(l.Args, j.Args)...) //nolint:gosec // the definition's program; arguments are words, not a shell's text
	if cmd.Dir = l.Dir; l.Dir == "" {
		cmd.Dir = string(filepath.Separator)
	}
	cmd.Env = []string{} // nil would be the process's own
	for _, name := range slices.Sorted(maps.Keys(l.Env)) {
		cmd.Env = append(cmd.Env, name+"="+l.Env[name])
	}
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	for _, c := range j.Credentials {
		value := c.Value.Reveal()
		if !l.Descriptors {
			cmd.Env = append(cmd.Env, c.Name+"="+value)
			continue
		}
		end, err := p.feed(value)
		if err != nil {
			return nil, p, err
		}
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=/dev/fd/%d", c.Name, 3+len(cmd.ExtraFiles)))
		cmd.ExtraFiles = append(cmd.ExtraFiles, end)
	}
	var err error
	if cmd.Stdout, err = p.collect(j.Stdout); err != nil {
		return nil, p, err
	}
	cmd.Stderr, err = p.collect(j.Stderr)
	return cmd, p, err
}

// executable reports early what Start would find, so that a missing program is proof that nothing ran.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errLocal
	}
	return nil
}

// plumbing holds our pipes to a command. The command gets files, not writers, so that its end does not wait for those
// who inherited them.
type plumbing struct {
	theirs, ours []*os.File
	copies       sync.WaitGroup
}

// collect returns the end that the command writes to; what comes goes to w.
func (p *plumbing) collect(w io.Writer) (*os.File, error) {
	r, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.theirs, p.ours = append(p.theirs, end), append(p.ours, r)
	p.copies.Go(func() { _, _ = io.Copy(w, r) }) // until the end, or until drain gives up
	return end, nil
}

// feed returns the end from which the command reads the value. A pipe takes 64 KiB without a reader; more would hang.
func (p *plumbing) feed(value string) (*os.File, error) {
	const most = 32 << 10
	if len(value) > most {
		return nil, fmt.Errorf("%w: a credential beyond 32 KiB", errLocal)
	}
	end, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.theirs = append(p.theirs, end)
	_, err = w.WriteString(value)
	return end, errors.Join(err, w.Close())
}

// started closes our copies of the command's ends.
func (p *plumbing) started() { closeAll(&p.theirs) }

// drain waits for the rest of the output and reports whether somebody still held it open at the end of that time.
func (p *plumbing) drain(within time.Duration) (cut bool) {
	done := make(chan struct{})
	go func() {
		p.copies.Wait()
		close(done)
	}()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-done:
		return false
	case <-timer.C:
		closeAll(&p.ours)
		<-done
		return true
	}
}

func (p *plumbing) close() {
	closeAll(&p.theirs)
	closeAll(&p.ours)
	p.copies.Wait()
}

func closeAll(files *[]*os.File) {
	for _, f := range *files {
		_ = f.Close() // read or written to its end
	}
	*files = nil
}
