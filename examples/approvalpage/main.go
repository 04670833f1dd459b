// Command approvalpage serves the approval page on this machine, with a few proposals that an agent has made to a small
// shop of its own: a plain one, one with an amount and a recipient that needs two people, one that cannot be undone, one
// whose target has changed since, and a refund whose outcome nobody knows.
//
//	go run ./examples/approvalpage
//
// Open the address that it says, decide, and see the agent commit what was approved. Everybody who opens it is grace until
// they switch to linus, on the start page. Everything is kept in memory and ends with the program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command runs the program until ctx ends and returns its exit status.
func command(ctx context.Context, args []string, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("approvalpage", flag.ContinueOnError)
	flags.SetOutput(complaints)
	address := flags.String("addr", "127.0.0.1:8650", "where to listen: a loopback address, since anybody who reaches it is let in")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if err := serve(ctx, *address, out); err != nil {
		fmt.Fprintln(complaints, "approvalpage:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, address string, out io.Writer) (err error) {
	listener, err := listen(ctx, address)
	if err != nil {
		return err
	}
	h, err := newHost(out, setup{})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	defer func() {
		stop() // the agent waits for decisions no longer
		err = errors.Join(err, h.close(ctx))
	}()
	if err := h.begin(ctx); err != nil {
		return errors.Join(err, listener.Close())
	}
	url := "http://" + listener.Addr().String()
	h.say("The approval page is at %s/approvals/", url)
	h.say("You are signed in as grace, support lead. To be linus, support lead and operator: %s/", url)

	server := &http.Server{Handler: h.routes(), ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return server.Shutdown(closing)
}

// listen refuses every address that others could reach: this program has no passwords.
func listen(ctx context.Context, address string) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !at.IP.IsLoopback() {
		return nil, errors.New("the address must be a loopback address, such as 127.0.0.1:8650")
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", at.String())
}
