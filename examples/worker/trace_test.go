package main

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/internal/recordtest"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// Two transfers, queued, and what a worker did for them, replay without the bank: the second is sent twice under one key,
// for the first answer to it was lost. So does the run that is kept in testdata: the ids in it are other ones each time.
func TestRecordedRunReplays(t *testing.T) {
	t.Parallel()
	file := record(t)
	recordtest.Keep(t, file)
	for _, recording := range [][]byte{file, recordtest.Kept(t)} {
		b := newBank()
		report := replayed(t, recording, transferTool(clientOf(b, 0)))
		require.NoError(t, report.Err())
		require.Len(t, report.Calls, 8)
		require.Equal(t, 8, report.Count(trace.Same), "and none is left out")
		require.Len(t, report.Work, 3)
		require.Empty(t, report.NotReplayed)
		require.Empty(t, b.requests, "the bank is not asked in a replay")
		require.Contains(t, string(recording), `"operation":"bank.pay"`)
	}
}

// A worker that pays and does not say for which key is found out by the run that is kept.
func TestAnotherQuestionOfTheWorkerIsFound(t *testing.T) {
	t.Parallel()
	changed := transferTool(clientOf(newBank(), 0))
	commit := changed.Commit
	changed.Commit = func(ctx context.Context, cmd tool.Approved[transfer]) (transferred, error) {
		cmd.ProviderKey = "always the same"
		return commit(ctx, cmd)
	}
	report := replayed(t, recordtest.Kept(t), changed)
	require.ErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, []string{"bank.pay"}, report.Work[0].Missing)
	require.Equal(t, []string{"bank.pay"}, report.Work[0].Extra)
}

// Another form of account numbers breaks every caller of the closed contract, unless it is a new version.
func TestRecordedRunOfAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	type toIBAN struct {
		To          string `json:"to" jsonschema:"pattern=^[A-Z]{2}[0-9]{20}$"`
		AmountMinor int64  `json:"amount_minor" jsonschema:"minimum=1,maximum=100000"`
		Currency    string `json:"currency" jsonschema:"enum=EUR"`
	}
	b := newBank()
	was := transferTool(clientOf(b, 0))
	report := replayed(t, recordtest.Kept(t), tool.Write[toIBAN, transfer, transferred]{
		Spec: was.Spec, Class: was.Class, Contract: was.Contract, DedupFor: was.DedupFor, Queued: was.Queued, Unversioned: was.Unversioned,
		Lifetime: was.Lifetime, Commit: was.Commit,
		Preview: func(context.Context, tool.Caller, toIBAN) (tool.Draft[transfer], error) {
			return tool.Draft[transfer]{}, envelope.New(envelope.NotFound)
		},
	})
	recordtest.Refused(t, report, 8) // the previews, and all that rests on one
	require.Empty(t, report.Work, "what a worker did for them is passed over")
	require.Empty(t, b.requests)
}

// Another name in the answer breaks every reader of the closed contract too: the report says which it was, and nothing else.
func TestAnotherNameInTheAnswerIsRefused(t *testing.T) {
	t.Parallel()
	type renamed struct {
		tool.Evidence
		Reference string `json:"reference" jsonschema:"pattern=^bank_[0-9]+$"`
	}
	b := newBank()
	was := transferTool(clientOf(b, 0))
	report := replayed(t, recordtest.Kept(t), tool.Write[transfer, transfer, renamed]{
		Spec: was.Spec, Class: was.Class, Contract: was.Contract, DedupFor: was.DedupFor, Queued: was.Queued, Unversioned: was.Unversioned,
		Lifetime: was.Lifetime, Preview: was.Preview,
		Commit: func(ctx context.Context, cmd tool.Approved[transfer]) (renamed, error) {
			out, err := was.Commit(ctx, cmd)
			return renamed{out.Evidence, out.BankReference}, err
		},
	})
	recordtest.Refused(t, report, 2) // the commits that were answered
	require.ErrorContains(t, report.Err(), `UNKNOWN_FIELD at "bank_reference"`)
	require.Empty(t, b.requests)
}

// short is the line to the bank without a network. It loses the answer to the request of one number.
type short struct {
	bank *bank
	lost int32
	sent atomic.Int32
}

func clientOf(b *bank, lost int32) bankClient {
	return bankClient{"http://bank.example", &http.Client{Transport: &short{bank: b, lost: lost}}}
}

// RoundTrip implements http.RoundTripper.
func (s *short) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.bank.pay(w, r)
	if s.sent.Add(1) == s.lost {
		return nil, errors.New("connection reset")
	}
	return w.Result(), nil
}

// staged is the example's dispatcher before stores in memory, and a clerk's run.
func staged(t *testing.T, now func() time.Time, transfers tool.Definition, wire func(*tool.Config) error) (*tool.Dispatcher, *tool.Run) {
	t.Helper()
	catalog, err := tool.NewCatalog(transfers)
	require.NoError(t, err)
	cfg, err := configuration(approval.NewMemory(now), idem.NewMemory(now))
	require.NoError(t, err)
	cfg.Now = now
	require.NoError(t, wire(&cfg))
	d, err := tool.NewDispatcher(catalog, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close(context.WithoutCancel(t.Context()))) })
	role, err := catalog.Role("clerk", "preview_transfer_v1", "commit_transfer_v1")
	require.NoError(t, err)
	run, err := d.Start(tool.RunConfig{
		ID: "run_payday", Principal: approval.Principal{Kind: approval.Service, Tenant: tenant, Subject: "clerk"}, Role: role,
		Budget: tool.Budget{Calls: 100}, Deadline: now().Add(time.Hour),
	})
	require.NoError(t, err)
	return d, run
}

// record lets a worker work what a clerk queued, in a bubble whose time goes by when everybody waits.
func record(t *testing.T) []byte {
	t.Helper()
	var saved bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		rec, err := trace.NewRecorder(trace.Config{Key: bytes.Repeat([]byte{1}, 32), Now: time.Now})
		require.NoError(t, err)
		b := newBank()
		d, plain := staged(t, time.Now, transferTool(clientOf(b, 2)), func(cfg *tool.Config) error { rec.Wire(cfg); return nil })
		run, err := rec.Run(plain)
		require.NoError(t, err)
		w, err := tool.NewWorker(d, tool.WorkerConfig{Name: "worker one"})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()

		require.NoError(t, rec.Note(run.ID(), trace.Request, "Pay the suppliers."))
		for i := range 2 {
			queue(t, run, fmt.Sprintf(`{"to":"acct_%02d","amount_minor":%d,"currency":"EUR"}`, i+1, 1000+100*i))
		}
		require.NoError(t, rec.Note(run.ID(), trace.Answer, "Both are paid."))
		stop()
		require.NoError(t, <-done)
		require.Equal(t, map[string]int{"acct_01": 1, "acct_02": 1}, b.payments)
		require.Equal(t, map[string]int{"acct_01": 1, "acct_02": 2}, b.asked)
		require.NoError(t, rec.Save(&saved, run.ID()))
	})
	return saved.Bytes()
}

// queue proposes and commits a transfer, and asks for it until it is done.
func queue(t *testing.T, run *trace.Run, arguments string) {
	t.Helper()
	call := func(name, arguments string) envelope.Result {
		return run.Call(t.Context(), envelope.Call{Tool: name, Arguments: jsontext.Value(arguments)})
	}
	r := call("preview_transfer_v1", arguments)
	require.NoError(t, r.Err())
	id, err := proposalID(r.Data)
	require.NoError(t, err)
	commit := fmt.Sprintf(`{"proposal_id":%q}`, id)
	require.Equal(t, envelope.InProgress, call(commitTransfer, commit).Error.Code)
	time.Sleep(time.Minute)
	synctest.Wait()
	r = call("get_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, key(id).Operation))
	require.NoError(t, r.Err())
	require.Contains(t, string(r.Data), `"state":"succeeded"`)
	require.NoError(t, call(commitTransfer, commit).Err())
}

// replayed makes the recorded run again, with the transfer as it is now.
func replayed(t *testing.T, recording []byte, transfers tool.Definition) *trace.Report {
	t.Helper()
	recorded, err := trace.Load(strings.NewReader(string(recording)))
	require.NoError(t, err)
	at := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // when bubbles begin
	p := trace.NewPlayer(recorded, trace.PlayerConfig{At: func(t time.Time) { at = t }})
	d, run := staged(t, func() time.Time { return at }, transfers, p.Wire)
	report, err := p.Play(t.Context(), d, run)
	require.NoError(t, err)
	require.Len(t, report.Calls, recorded.Calls())
	return report
}
