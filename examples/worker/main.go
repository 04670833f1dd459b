// Command worker shows one outbox worked by two processes on one PostgreSQL, one of which is killed in the middle of a
// request:
//
//	go run ./examples/worker
//
// The program starts itself three more times: a submitting process queues twelve transfers, two workers send them to a
// bank. When the bank has the first worker's third request, and has done it, that worker is killed before it reads the
// answer. The other one finds the operation past its lease, and asks with the same key again; the bank answers what it
// did. At the end a table sets what the ledger says beside what the bank did: one effect each.
//
// It needs a PostgreSQL: TOOLCONTRACT_POSTGRES names one, otherwise 127.0.0.1:5432 with a database test is tried.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	role := flag.String("as", "", "submit or work: what the program starts itself as")
	name := flag.String("name", "", "the worker's name")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	switch *role {
	case "":
		err = show(ctx)
	case "submit":
		err = submit(ctx)
	case "work":
		err = work(ctx, *name)
	default:
		err = fmt.Errorf("-as %q", *role)
	}
	stop()
	var wrong *wrongError
	switch {
	case errors.As(err, &wrong):
		fmt.Println("\n✗", err)
		os.Exit(1)
	case errors.Is(err, errNoServer):
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(noServer)
	case err != nil:
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(2)
	}
}

// noServer is the exit status where there is no PostgreSQL.
const noServer = 3

// wrongError: it ran, and the table is not as it must be.
type wrongError struct{ what string }

func (w *wrongError) Error() string { return w.what }
