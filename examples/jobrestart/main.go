// Command jobrestart shows a command as the other system: believed only where its answer is fresh, about the run that
// was asked for, and nothing but one document.
//
// An agent looks at the runs of a build system through jobctl and restarts a failed one, once a person has agreed. What
// jobctl prints is recorded; the program runs itself as jobctl, so that a real process ends with a real exit status.
//
//	go run ./examples/jobrestart
//
// The exit status is 1 if anything is not as expected, 2 if the program could not run.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	if code, ok := jobctl(os.Args[1:], os.Stdout, os.Stderr); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command runs the program and returns its exit status.
func command(ctx context.Context, out, complaints io.Writer) int {
	buffer := bufio.NewWriter(out)
	fine, err := tell(ctx, buffer)
	err = errors.Join(err, buffer.Flush())
	switch {
	case err != nil:
		fmt.Fprintln(complaints, "jobrestart:", err)
		return 2
	case !fine:
		return 1
	}
	return 0
}
