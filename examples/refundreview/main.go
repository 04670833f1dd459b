// Command refundreview shows how little of a record has to cross the boundary for an agent to do its work.
//
// An agent asks whether refund cases qualify for a review. It never learns whose cases they are: it holds references
// that are useless to anybody else and for anything else, and of what the billing system answers, customer and bank
// account included, it gets three fields. The answers are recorded and come over a socket of this machine; nothing
// leaves it.
//
//	go run ./examples/refundreview
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
		fmt.Fprintln(complaints, "refundreview:", err)
		return 2
	case !fine:
		return 1
	}
	return 0
}
