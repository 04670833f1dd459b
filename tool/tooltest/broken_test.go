package tooltest_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool/tooltest"
)

// flawed is a ledger that gets one thing wrong.
type flawed struct {
	idem.Ledger
	admit  func(c *idem.Command, consumedBefore *bool)
	lease  func(d time.Duration) time.Duration
	finish func(o *idem.Outcome)
	idle   time.Duration // told of every open operation
	open   func() (int64, string)
}

func (l flawed) Admit(ctx context.Context, c idem.Command, consumedBefore bool) (idem.Record, idem.Admission, error) {
	if l.admit != nil {
		l.admit(&c, &consumedBefore)
	}
	return l.Ledger.Admit(ctx, c, consumedBefore)
}

func (l flawed) Claim(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	if l.lease != nil {
		lease = l.lease(lease)
	}
	return l.Ledger.Claim(ctx, k, worker, lease)
}

func (l flawed) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	if l.finish != nil {
		l.finish(&o)
	}
	return l.Ledger.Finish(ctx, c, o)
}

func (l flawed) ClaimOpen(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	c, err := l.Ledger.ClaimOpen(ctx, k, worker, lease)
	c.Idle += l.idle
	return c, err
}

func (l flawed) Resource(ctx context.Context, tenant, resource string) (int64, string, error) {
	if l.open != nil {
		seq, open := l.open()
		return seq, open, nil
	}
	return l.Ledger.Resource(ctx, tenant, resource)
}

// credulous is an approval store whose Consume looks at nothing.
type credulous struct{ approval.Store }

func (s credulous) Consume(ctx context.Context, tenant, id, _, _ string) (approval.Record, bool, error) {
	rec, err := s.Find(ctx, tenant, id)
	return rec, true, err
}

// brokenStores are stores with one fault each, and an interleaving that has to find it.
func brokenStores() map[string]struct {
	finds     string
	ledger    flawed
	approvals func(s approval.Store) approval.Store
} {
	type broken = struct {
		finds     string
		ledger    flawed
		approvals func(s approval.Store) approval.Store
	}
	command := func(f func(c *idem.Command)) flawed { return flawed{admit: func(c *idem.Command, _ *bool) { f(c) }} }
	return map[string]broken{
		"a resource of its own for each operation": {finds: "I2", ledger: flawed{
			admit: func(c *idem.Command, _ *bool) { c.Resource, c.Seq = c.Key.Operation, 0 },
			open:  func() (int64, string) { return 0, "" },
		}},
		"an open resource looks free":         {finds: "I22-cancelled", ledger: flawed{open: func() (int64, string) { return 0, "" }}},
		"a consumed approval is admitted":     {finds: "I8-restored", ledger: flawed{admit: func(_ *idem.Command, consumed *bool) { *consumed = false }}},
		"an operation without an expiry":      {finds: "I4", ledger: command(func(c *idem.Command) { c.ExpiresIn = 10_000 * time.Hour })},
		"a provider's window without an end":  {finds: "I15", ledger: command(func(c *idem.Command) { c.DedupFor = 10_000 * time.Hour })},
		"a request was never under way":       {finds: "I28", ledger: flawed{idle: 10_000 * time.Hour}},
		"attempts without a bound":            {finds: "I31", ledger: command(func(c *idem.Command) { c.Attempts = 1000 })},
		"a lease without an end":              {finds: "I17", ledger: flawed{lease: func(time.Duration) time.Duration { return 10_000 * time.Hour }}},
		"unknown is stored as failed":         {finds: "I6", ledger: flawed{finish: func(o *idem.Outcome) { fail(o, idem.Failed) }}},
		"unknown is stored as not sent":       {finds: "I1", ledger: flawed{finish: func(o *idem.Outcome) { fail(o, idem.Pending) }}},
		"an approval is consumed unlooked-at": {finds: "I13", approvals: func(s approval.Store) approval.Store { return credulous{s} }},
	}
}

func fail(o *idem.Outcome, to idem.State) {
	if o.State == idem.Unknown {
		*o = idem.Outcome{State: to}
	}
}

const flaw = "TOOLTEST_FLAW"

// TestFlawed is run by TestBrokenStoresAreFound, in a process of its own.
func TestFlawed(t *testing.T) {
	b, ok := brokenStores()[os.Getenv(flaw)]
	if !ok {
		t.Skip("run by TestBrokenStoresAreFound")
	}
	tooltest.Interleavings(t, func(*testing.T) tooltest.Stores {
		c := &clock{}
		ledger := func() idem.Ledger {
			l := b.ledger
			l.Ledger = idem.NewMemory(c.Now)
			return l
		}
		s := tooltest.Stores{Approvals: approval.NewMemory(c.Now), Ledger: ledger(), Advance: c.advance, Forgotten: ledger}
		if b.approvals != nil {
			s.Approvals = b.approvals(s.Approvals)
		}
		return s
	})
}

// Each broken pair of stores fails the interleaving that is about its fault.
func TestBrokenStoresAreFound(t *testing.T) {
	t.Parallel()
	for name, b := range brokenStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFlawed$/^"+regexp.QuoteMeta(b.finds)+"$", "-test.count=1")
			cmd.Env = append(os.Environ(), flaw+"="+name)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "%s", out)
			require.Contains(t, string(out), "--- FAIL: TestFlawed/"+b.finds, "%s", out)
		})
	}
}
