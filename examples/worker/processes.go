package main

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

const transfers = 12

// submit is the process that talks to the model: it proposes and commits twelve transfers, and goes.
func submit(ctx context.Context) error {
	h, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	role, err := h.catalog.Role("clerk", "preview_transfer_v1", "commit_transfer_v1")
	if err != nil {
		return err
	}
	run, err := h.dispatcher.Start(tool.RunConfig{
		ID: "run_payday", Principal: approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "clerk"}, Role: role,
		Budget: tool.Budget{Calls: 100}, Deadline: time.Now().Add(10 * time.Minute),
	})
	if err != nil {
		return err
	}
	for i := range transfers {
		args := fmt.Sprintf(`{"to":"acct_%02d","amount_minor":%d,"currency":"EUR"}`, i+1, 1000+100*i)
		r := run.Call(ctx, envelope.Call{Tool: "preview_transfer_v1", Arguments: jsontext.Value(args)})
		if r.Err() != nil {
			return r.Err()
		}
		id, err := proposalID(r.Data)
		if err != nil {
			return err
		}
		r = run.Call(ctx, envelope.Call{Tool: "commit_transfer_v1", Arguments: jsontext.Value(fmt.Sprintf(`{"proposal_id":%q}`, id))})
		if r.OK || r.Error.Code != envelope.InProgress {
			return fmt.Errorf("commit: %w", r.Err())
		}
		fmt.Println(id) // the parent asks the ledger for it
	}
	return nil
}

// work is a worker: any number of them, on any number of machines.
func work(ctx context.Context, name string) error {
	h, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	w, err := tool.NewWorker(h.dispatcher, tool.WorkerConfig{Name: name, Parallel: 1, Poll: 200 * time.Millisecond, Sweep: time.Second})
	if err != nil {
		return err
	}
	return w.Run(ctx)
}
