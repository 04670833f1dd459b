// Command crashcampaign kills a process at the named steps of a commit, again and again, and counts effects at a provider
// that survives:
//
//	go run ./internal/crashcampaign -ledger sqlite -kills 1000
//
// It prints one line, "kills N effects N duplicates 0 lost 0 stuck 0", and exits 1 unless it is so. That every kill has
// its effect is what replay_safe promises alone, where the same request is sent again. With -contract status_queryable or
// none an operation whose request never left, or whose answer nobody can ask for, stays unknown, and the line says how many
// did: "kills N effects M unknown U duplicates 0 lost 0 stuck 0". There it exits 1 unless each operation has its effect or
// is unknown. The PostgreSQL server is the one of the tests (TOOLCONTRACT_POSTGRES, or 127.0.0.1:5432 with a database test).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	var c campaign
	flag.StringVar(&c.ledger, "ledger", "sqlite", "sqlite or postgres")
	flag.IntVar(&c.kills, "kills", 100, "how many processes are killed")
	flag.StringVar(&c.contract, "contract", "replay_safe", "what the provider promises: replay_safe, status_queryable or none")
	flag.BoolVar(&c.verbose, "v", false, "say what happens to each process, on standard error")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	report, err := c.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crashcampaign:", err)
		os.Exit(2)
	}
	fmt.Println(report)
	if !report.clean() {
		os.Exit(1)
	}
}
