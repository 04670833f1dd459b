// Command addresschange shows the boundary at work on a small customer service of its own.
//
// Without arguments it first runs every recorded call of testdata/calls.jsonl, calls as models really sent them, and then
// plays one write from the question to the proof, with everything that can go wrong on the way:
//
//	go run ./examples/addresschange
//
// With -calls it runs a file of your own instead, one call a line, - for standard input:
//
//	echo '{"tool":"get_customer_v1","arguments":{"customer_id":"cus_9Qm4"}}' | go run ./examples/addresschange -calls -
//
// With -dir it keeps the service, the approvals and the ledger in a directory and plays one change to its end. Kill it at
// any moment and start it again: it goes on where it was, and the change is made once.
//
// The exit status is 1 if anything is not as expected, 2 if the program could not run.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command runs the program and returns its exit status.
func command(ctx context.Context, args []string, in io.Reader, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("addresschange", flag.ContinueOnError)
	flags.SetOutput(complaints)
	dir := flags.String("dir", "", "keep everything in this directory and play one change to its end; killed and started again, it goes on")
	file := flags.String("calls", "", "run the calls of this file instead, one JSON object a line; - is standard input")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintln(complaints, "addresschange: takes no arguments but its flags")
		return 2
	}
	buffer := bufio.NewWriter(out)
	play := func() (bool, error) { return play(ctx, *file, in, buffer) }
	if *dir != "" {
		play = func() (bool, error) { return goOn(ctx, *dir, buffer) }
	}
	fine, err := play()
	err = errors.Join(err, buffer.Flush())
	switch {
	case err != nil:
		fmt.Fprintln(complaints, "addresschange:", err)
		return 2
	case !fine:
		return 1
	}
	return 0
}

func play(ctx context.Context, file string, in io.Reader, out io.Writer) (fine bool, err error) {
	switch file {
	case "":
		return playAll(ctx, out)
	case "-":
		return runCalls(ctx, out, in)
	}
	f, err := os.Open(file) //nolint:gosec // the file that the user named
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return runCalls(ctx, out, f)
}

func playAll(ctx context.Context, out io.Writer) (bool, error) {
	heading(out, "Part 1 · Calls as models really sent them")
	calls, err := runCalls(ctx, out, bytes.NewReader(recorded))
	if err != nil {
		return false, err
	}
	fmt.Fprintln(out)
	heading(out, "Part 2 · One write, from the question to the proof")
	told, err := tell(ctx, out)
	if err != nil {
		return false, err
	}
	if calls && told {
		fmt.Fprintln(out, "\nEverything is as expected.")
		return true, nil
	}
	fmt.Fprintln(out, "\nNot everything is as expected; look for ✗.")
	return false, nil
}

func heading(w io.Writer, text string) { fmt.Fprintf(w, "%s\n\n", text) }
