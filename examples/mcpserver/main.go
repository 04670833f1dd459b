// Command mcpserver serves a small service desk over the Model Context Protocol: customers and parcels to read, an address that
// a person must approve, a note that needs nobody, and a reroute that takes its time. Everything is kept in SQLite files.
//
// On standard input and output, for a client that starts it:
//
//	go run ./examples/mcpserver -dir desk
//
// Over HTTP, with the page on which people decide. It prints the address, and a token for the agent of each of two tenants:
//
//	go run ./examples/mcpserver -dir desk -http 127.0.0.1:8750
//
// Both may run at once on one directory: what the first proposes is decided on the page of the second. Look at either with the
// protocol's own inspector:
//
//	npx -y @modelcontextprotocol/inspector --cli --method tools/list go run ./examples/mcpserver
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/toolcontract/toolcontract/tool/mcptool"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a client that is killed does not end what was begun for it
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command runs the program until ctx ends or the client has gone, and returns its exit status. In stdio mode nothing but the
// protocol goes to out.
func command(ctx context.Context, args []string, in io.Reader, out, notes io.Writer) int {
	flags := flag.NewFlagSet("mcpserver", flag.ContinueOnError)
	flags.SetOutput(notes)
	dir := flags.String("dir", "", "keep everything in this directory; empty: in a temporary one that goes with the program")
	address := flags.String("http", "", "serve over HTTP on this loopback address, with the approval page; empty: on standard input and output")
	page := flags.String("page", "http://127.0.0.1:8750", "where the approval page is served, told to clients; with -http it is the server's own")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintln(notes, "mcpserver: takes no arguments but its flags")
		return 2
	}
	serve := func() error { return serveStdio(ctx, *dir, *page, in, out) }
	if *address != "" {
		serve = func() error { return serveHTTP(ctx, *dir, *address, notes) }
	}
	if err := serve(); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(notes, "mcpserver:", err)
		return 1
	}
	return 0
}

// serveStdio serves one run to the client that started the program. Who that client is, the machine's own login has settled.
func serveStdio(ctx context.Context, dir, page string, in io.Reader, out io.Writer) (err error) {
	h, err := newHost(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close(ctx)) }()
	rc := h.run(acme)
	rc.ID = "desk-stdio" // the next start goes on with what this one proposed
	run, err := h.dispatcher.Start(rc)
	if err != nil {
		return err
	}
	return mcptool.ServeStdio(ctx, run, h.config(page), in, out)
}
