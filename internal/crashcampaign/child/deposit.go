package main

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/crashpoint"
	"github.com/toolcontract/toolcontract/tool"
)

// deposit is the write: one effect on one account. The account has no version.
type deposit struct {
	Account string `json:"account" jsonschema:"minLength=1,maxLength=64"`
	Lose    bool   `json:"lose"`
}

type deposited struct {
	tool.Evidence
}

func (o options) write() tool.Write[deposit, deposit, deposited] {
	w := tool.Write[deposit, deposit, deposited]{
		Spec:  tool.Spec{Name: "deposit", Version: 1, Description: "Makes a deposit.", Timeout: 5 * time.Second},
		Class: tool.Irreversible, Contract: idem.Contract(o.contract), Attempts: 1000, Unversioned: true, Lifetime: 4 * time.Hour,
		Preview: func(_ context.Context, _ tool.Caller, in deposit) (tool.Draft[deposit], error) {
			return tool.Draft[deposit]{Plan: in, Target: approval.Target{Type: "account", ID: in.Account}, Summary: "Make a deposit"}, nil
		},
		Commit: o.send,
	}
	switch w.Contract {
	case idem.ReplaySafe:
		w.DedupFor = 4 * time.Hour
	case idem.StatusQueryable:
		w.Status = o.ask
	case idem.NotFoundIsFinal, idem.None:
	}
	return w
}

func (o options) send(ctx context.Context, cmd tool.Approved[deposit]) (deposited, error) {
	form := url.Values{"key": {cmd.ProviderKey}, "account": {cmd.Plan.Account}}
	if cmd.Plan.Lose {
		form.Set("lose", "1")
	}
	envelope.Sent(ctx)
	out, err := o.request(ctx, http.MethodPost, "/do?"+form.Encode())
	crashpoint.Hit(crashpoint.AfterEffect)
	return out, err
}

func (o options) ask(ctx context.Context, cmd tool.Approved[deposit], _ string) (deposited, error) {
	return o.request(ctx, http.MethodGet, "/status?"+url.Values{"key": {cmd.ProviderKey}}.Encode())
}

func (o options) request(ctx context.Context, method, path string) (deposited, error) {
	req, err := http.NewRequestWithContext(ctx, method, o.provider+path, http.NoBody)
	if err != nil {
		return deposited{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return deposited{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	switch {
	case err != nil:
		return deposited{}, err
	case resp.StatusCode == http.StatusNotFound:
		return deposited{}, idem.ErrNotFound
	case resp.StatusCode != http.StatusOK:
		return deposited{}, fmt.Errorf("status %d", resp.StatusCode)
	}
	var a struct {
		Version string    `json:"version"`
		At      time.Time `json:"at"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return deposited{}, errors.New("the provider's answer makes no sense")
	}
	return deposited{tool.Evidence{NewVersion: a.Version, CommittedAt: a.At}}, nil
}
