package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/internal/recordtest"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// The page's proposals, decided and committed, replay without the shop, and so does the run that is kept in testdata: the
// ids in them are other ones each time.
func TestRecordedRunReplays(t *testing.T) {
	t.Parallel()
	file := record(t)
	recordtest.Keep(t, file)
	for _, recording := range [][]byte{file, recordtest.Kept(t)} {
		report := replayed(t, recording, func([]tool.Definition) {})
		require.NoError(t, report.Err())
		require.Len(t, report.Calls, 9)
		require.Equal(t, 9, report.Count(trace.Same), "and none is left out")
	}
}

// Another form of customers' numbers breaks every caller of the closed contract, unless it is a new version.
func TestRecordedRunOfAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	type newAddress struct {
		CustomerID string `json:"customer_id" jsonschema:"pattern=^CUS-[0-9]{6}$"`
		Street     string `json:"street" jsonschema:"minLength=1,maxLength=80"`
		City       string `json:"city" jsonschema:"minLength=1,maxLength=80"`
	}
	report := replayed(t, recordtest.Kept(t), func(defs []tool.Definition) {
		was, ok := defs[0].(tool.Write[addressIn, addressIn, done])
		require.True(t, ok)
		defs[0] = tool.Write[newAddress, addressIn, done]{
			Spec: was.Spec, Class: was.Class, Current: was.Current, Commit: was.Commit,
			Preview: func(context.Context, tool.Caller, newAddress) (tool.Draft[addressIn], error) {
				return tool.Draft[addressIn]{}, envelope.New(envelope.NotFound)
			},
		}
	})
	recordtest.Refused(t, report, 2) // the address's preview, and the commit that rests on it
	require.Equal(t, 7, report.Count(trace.Same))
}

// Names, streets and e-mail addresses are not in the file that is kept; what is nobody's is.
func TestRecordedRunHoldsNothingPersonal(t *testing.T) {
	t.Parallel()
	file := recordtest.Kept(t)
	for _, c := range personal(t) {
		require.Empty(t, c.Search(file))
	}
	require.Contains(t, string(file), `"step":"resolution"`, "with an operator's reason")
	require.Contains(t, string(file), `"country":"DE"`, "of the customers whose names and streets are searched for")
	require.Contains(t, string(file), `"price":"84.90 EUR"`)
}

func personal(t *testing.T) []redact.Canary {
	t.Helper()
	texts := []string{
		"Jonas Petersen", "jonas.petersen@example.com", "17 Example Lane", "4 Harbour Row", "Lübeck", "Mira Lund", "mira.lund@example.com", "2 Mill Road", "Flensburg",
	}
	out := make([]redact.Canary, 0, len(texts))
	for _, text := range texts {
		c, err := redact.NewCanary(text)
		require.NoError(t, err)
		out = append(out, c)
	}
	return out
}

// lines are what the agent says.
type lines chan string

// Write implements io.Writer.
func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// staged is a host on the clock, and its run.
func staged(t *testing.T, c *recordtest.Clock, said lines, wire func([]tool.Definition, *tool.Config) error) (*host, *tool.Run) {
	t.Helper()
	h, err := newHost(said, setup{now: c.Now, wire: wire})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	run, ok := h.run.(*tool.Run)
	require.True(t, ok)
	return h, run
}

func record(t *testing.T) []byte {
	t.Helper()
	c, said := recordtest.NewClock(), make(lines, 100)
	rec, err := trace.NewRecorder(trace.Config{Canaries: personal(t), Key: bytes.Repeat([]byte{1}, 32), Now: c.Now})
	require.NoError(t, err)
	h, run := staged(t, c, said, func(_ []tool.Definition, cfg *tool.Config) error { rec.Wire(cfg); return nil })
	h.run, err = rec.Run(run)
	require.NoError(t, err)
	decide := func(by approval.Principal, approved bool, summary, reason string) {
		t.Helper()
		c.Set(c.Now().Add(time.Minute))
		waiting, _, err := h.approvals.Pending(t.Context(), tenant, approval.Page{})
		require.NoError(t, err)
		i := slices.IndexFunc(waiting, func(r approval.Record) bool { return strings.HasPrefix(r.Proposal.Summary, summary) })
		require.GreaterOrEqual(t, i, 0, summary)
		p := waiting[i].Proposal
		_, err = h.dispatcher.Decide(t.Context(), tenant, p.ID, approval.Decision{Approved: approved, By: by, Reason: reason, Digest: p.Digest})
		require.NoError(t, err)
	}
	says := func(words string) {
		t.Helper()
		require.Contains(t, <-said, words)
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	require.NoError(t, rec.Note(run.ID(), trace.Request, "Jonas Petersen moved to 4 Harbour Row. Pay back 88-1204 and 88-0999, and Mira Lund is leaving."))
	require.NoError(t, h.begin(ctx))
	says("agent: commit_refund_v1: OUTCOME_UNKNOWN")
	decide(grace(), true, "Replace the shipping address", "")
	says("agent: commit_address_change_v1: done")
	decide(grace(), true, "Pay back order 88-1204", "")
	decide(linus(), true, "Pay back order 88-1204", "")
	says("agent: commit_refund_v1: done")
	decide(grace(), false, "Delete the account", "Mira Lund did not ask for it herself.")
	says("agent: Delete the account of customer C-0977: rejected")
	decide(grace(), true, "Change the price", "")
	says("agent: commit_price_change_v1: VERSION_CONFLICT")
	for id, words := range h.words {
		if words == "The parcel never arrived." {
			_, err := h.dispatcher.Resolve(t.Context(), idem.Key{Tenant: tenant, Operation: idem.OperationID(tenant, id)}, linus(), idem.Resolution{
				State: idem.Failed, Reason: "Mira Lund's bank has nothing.", Evidence: "its letter of 2 March",
			})
			require.NoError(t, err)
		}
	}
	require.NoError(t, rec.Note(run.ID(), trace.Answer, "The parcels of C-1842 go to 4 Harbour Row, and 88-1204 is paid back. 88-0999 is not."))
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	return file.Bytes()
}

func replayed(t *testing.T, file []byte, definitions func([]tool.Definition)) *trace.Report {
	t.Helper()
	recorded, err := trace.Load(bytes.NewReader(file))
	require.NoError(t, err)
	c := recordtest.NewClock()
	p := trace.NewPlayer(recorded, trace.PlayerConfig{At: c.Set})
	h, run := staged(t, c, make(lines, 100), func(defs []tool.Definition, cfg *tool.Config) error {
		definitions(defs)
		return p.Wire(cfg)
	})
	h.shop.things = nil // nothing in a replay comes from it
	report, err := p.Play(t.Context(), h.dispatcher, run)
	require.NoError(t, err)
	require.Len(t, report.Calls, recorded.Calls())
	return report
}
