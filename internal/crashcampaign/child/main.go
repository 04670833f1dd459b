// Command child is the process that a crash campaign kills: it proposes a change, commits it, works the outbox, and says
// on standard output what became of it.
package main

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

type options struct {
	ledger, dir, provider, contract string
	account, commit, drain          string
	lose                            bool
	patience                        time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.ledger, "ledger", "", "sqlite or postgres")
	flag.StringVar(&o.dir, "dir", "", "where SQLite's files are")
	flag.StringVar(&o.provider, "provider", "", "the provider's address")
	flag.StringVar(&o.contract, "contract", "", "the provider's contract")
	flag.StringVar(&o.account, "account", "", "the account to change; empty: none")
	flag.StringVar(&o.commit, "commit", "", "earlier proposals to commit again, separated by commas")
	flag.StringVar(&o.drain, "drain", "", "a file with proposals, one a line, to bring to their end")
	flag.BoolVar(&o.lose, "lose", false, "have the provider lose its first answer")
	flag.DurationVar(&o.patience, "for", 20*time.Second, "how long to wait for the end")
	flag.Parse()
	if err := play(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(2)
	}
}

const (
	tenant = "campaign"
	lease  = 400 * time.Millisecond
)

func play(ctx context.Context, o options) error {
	approvals, ledger, err := open(ctx, o)
	if err != nil {
		return err
	}
	digester, err := redact.NewDigester(redact.Key{ID: "k1", Secret: bytes.Repeat([]byte{1}, 32)})
	if err != nil {
		return err
	}
	catalog, err := tool.NewCatalog(o.write())
	if err != nil {
		return err
	}
	d, err := tool.NewDispatcher(catalog, tool.Config{
		Policy: approval.Everything(approval.Requirement{Level: approval.None}), Approvals: approvals, Authority: approval.ByRole{},
		Ledger: ledger, Digester: digester, Audit: &audit.Recorder{}, Lease: lease,
	})
	if err != nil {
		return err
	}
	role, err := catalog.Role("campaign", "preview_deposit_v1", "commit_deposit_v1")
	if err != nil {
		return err
	}
	run, err := d.Start(tool.RunConfig{
		ID: "campaign", Principal: approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "campaign"}, Role: role,
		Budget: tool.Budget{Calls: 1 << 30, Parallel: 64}, Deadline: time.Now().Add(4 * time.Hour),
	})
	if err != nil {
		return err
	}
	w, err := tool.NewWorker(d, tool.WorkerConfig{Parallel: 8, Poll: 20 * time.Millisecond, Sweep: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	working := make(chan error, 1)
	go func() { working <- w.Run(ctx) }()
	c := client{run: run, ledger: ledger, patience: o.patience, replayed: o.contract == string(idem.ReplaySafe)}
	if o.drain != "" {
		return c.drain(ctx, o.drain)
	}
	return c.deposit(ctx, o)
}

// client is what commits.
type client struct {
	run      *tool.Run
	ledger   idem.Ledger
	patience time.Duration
	replayed bool // what is unknown is sent again, after back-offs of up to a minute
}

func (c client) deposit(ctx context.Context, o options) error {
	r := c.run.Call(ctx, envelope.Call{Tool: "preview_deposit_v1", Arguments: jsontext.Value(fmt.Sprintf(`{"account":%q,"lose":%t}`, o.account, o.lose))})
	v, err := r.Decode[struct {
		ProposalID string          `json:"proposal_id"`
		State      string          `json:"state"`
		Level      string          `json:"level"`
		Summary    string          `json:"summary"`
		Target     approval.Target `json:"target"`
		ExpiresAt  time.Time       `json:"expires_at"`
	}]()
	if err != nil {
		return fmt.Errorf("preview: %w", err)
	}
	fmt.Println("proposal", v.ProposalID)
	for id := range strings.SplitSeq(o.commit, ",") {
		if id != "" {
			go c.commit(ctx, id) // as a client does that got no answer
		}
	}
	c.commit(ctx, v.ProposalID)
	_, err = c.settle(ctx, []string{v.ProposalID})
	return err
}

func (c client) commit(ctx context.Context, id string) {
	_ = c.run.Call(ctx, envelope.Call{Tool: "commit_deposit_v1", Arguments: jsontext.Value(fmt.Sprintf(`{"proposal_id":%q}`, id))})
}

// drain brings every proposal of the file to its end and prints what it came to.
func (c client) drain(ctx context.Context, file string) error {
	text, err := os.ReadFile(file) //nolint:gosec // the campaign's own file
	if err != nil {
		return err
	}
	ids := strings.Fields(string(text))
	for _, id := range ids {
		c.commit(ctx, id)
	}
	states, err := c.settle(ctx, ids)
	for id, state := range states {
		fmt.Println(id, "is", state)
	}
	return err
}

// settle waits until no operation changes any more: all are terminal, or those that are unknown have been asked for
// often enough.
func (c client) settle(ctx context.Context, ids []string) (map[string]idem.State, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	states := map[string]idem.State{}
	asked := map[string]int{}
	for {
		open := 0
		for _, id := range ids {
			if states[id].Terminal() {
				continue
			}
			rec, err := c.ledger.Find(ctx, idem.Key{Tenant: tenant, Operation: idem.OperationID(tenant, id)})
			switch {
			case errors.Is(err, idem.ErrNotFound), ctx.Err() != nil:
			case err != nil:
				return states, err
			case rec.State != states[id]:
				states[id] = rec.State
				asked[id] = 0
			}
			if asked[id]++; !states[id].Terminal() && (states[id] != idem.Unknown || c.replayed || asked[id] < 200) {
				open++
			}
		}
		if open == 0 {
			return states, nil
		}
		select {
		case <-ctx.Done():
			return states, nil
		case <-tick.C:
		}
	}
}
