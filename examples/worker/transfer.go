package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

type transfer struct {
	To          string `json:"to" jsonschema:"pattern=^acct_[0-9]{2}$"`
	AmountMinor int64  `json:"amount_minor" jsonschema:"minimum=1,maximum=100000"`
	Currency    string `json:"currency" jsonschema:"enum=EUR"`
}

type transferred struct {
	tool.Evidence
	BankReference string `json:"bank_reference" jsonschema:"pattern=^bank_[0-9]+$"`
}

// transferTool pays. The bank answers a key that it knows as it did the first time, for a day: so what may be lost on the
// way may be sent again under the same key, by whichever worker finds it.
func transferTool(bank bankClient) tool.Write[transfer, transfer, transferred] {
	return tool.Write[transfer, transfer, transferred]{
		Spec: tool.Spec{
			Name: "transfer", Version: 1, Description: "Transfer money to an account.", Purpose: "Pay suppliers", Owner: "payments",
			Timeout: 5 * time.Second,
		},
		Class: tool.Irreversible, Contract: idem.ReplaySafe, DedupFor: 23 * time.Hour, // a day, less the time on the way
		Queued: true, Unversioned: true, Lifetime: time.Hour,
		Preview: func(_ context.Context, _ tool.Caller, in transfer) (tool.Draft[transfer], error) {
			return tool.Draft[transfer]{
				Plan: in, Target: approval.Target{Type: "account", ID: in.To},
				Summary:     fmt.Sprintf("Transfer %s to %s", euros(in.AmountMinor), in.To),
				Consequence: approval.Consequence{AmountMinor: &in.AmountMinor, Currency: in.Currency, Recipients: []string{in.To}},
			}, nil
		},
		Commit: func(ctx context.Context, cmd tool.Approved[transfer]) (transferred, error) {
			receipt, err := bank.pay(ctx, cmd.ProviderKey, cmd.Plan)
			if err != nil {
				return transferred{}, err // nobody knows: the resolver asks with the same key again
			}
			return transferred{tool.Evidence{CommittedAt: receipt.At}, receipt.Reference}, nil
		},
	}
}

func euros(minor int64) string {
	return strconv.FormatInt(minor/100, 10) + "." + fmt.Sprintf("%02d", minor%100) + " EUR"
}
