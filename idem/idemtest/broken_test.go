package idemtest_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/idemtest"
)

const far = 100000 * time.Hour

// pre and post make a flaw of one operation.
func pre(op string, f func(st *step)) flaw {
	return flaw{pre: func(st *step) {
		if st.op == op {
			f(st)
		}
	}}
}

func post(op string, f func(st *step)) flaw {
	return flaw{post: func(st *step) {
		if st.op == op {
			f(st)
		}
	}}
}

// finished is post Finish where it was accepted with the given state.
func finished(s idem.State, f func(st *step)) flaw {
	return post("Finish", func(st *step) {
		if *st.err == nil && st.outcome.State == s {
			f(st)
		}
	})
}

// over is a ledger of which some methods are replaced.
type over struct {
	idem.Ledger
	admit   func(ctx context.Context, c idem.Command, consumed bool) (idem.Record, idem.Admission, error)
	finish  func(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error)
	open    func(ctx context.Context, k idem.Key, w string, lease time.Duration) (idem.Claim, error)
	find    func(ctx context.Context, k idem.Key) (idem.Record, error)
	claim   func(ctx context.Context, k idem.Key, w string, lease time.Duration) (idem.Claim, error)
	next    func(ctx context.Context, tools []string, lease time.Duration) (idem.Delivery, error)
	close   func(ctx context.Context, k idem.Key, to idem.State, reason envelope.Code) (idem.Record, error)
	resolve func(ctx context.Context, k idem.Key, r idem.Resolution) (idem.Record, error)
	purge   func(ctx context.Context, bodies, tombstones time.Duration) (int, error)
}

func (o *over) Admit(ctx context.Context, c idem.Command, consumed bool) (idem.Record, idem.Admission, error) {
	if o.admit != nil {
		return o.admit(ctx, c, consumed)
	}
	return o.Ledger.Admit(ctx, c, consumed)
}

func (o *over) Finish(ctx context.Context, c idem.Claim, out idem.Outcome) (idem.Record, error) {
	if o.finish != nil {
		return o.finish(ctx, c, out)
	}
	return o.Ledger.Finish(ctx, c, out)
}

func (o *over) ClaimOpen(ctx context.Context, k idem.Key, w string, lease time.Duration) (idem.Claim, error) {
	if o.open != nil {
		return o.open(ctx, k, w, lease)
	}
	return o.Ledger.ClaimOpen(ctx, k, w, lease)
}

func (o *over) Find(ctx context.Context, k idem.Key) (idem.Record, error) {
	if o.find != nil {
		return o.find(ctx, k)
	}
	return o.Ledger.Find(ctx, k)
}

func (o *over) Claim(ctx context.Context, k idem.Key, w string, lease time.Duration) (idem.Claim, error) {
	if o.claim != nil {
		return o.claim(ctx, k, w, lease)
	}
	return o.Ledger.Claim(ctx, k, w, lease)
}

func (o *over) Next(ctx context.Context, tools []string, lease time.Duration) (idem.Delivery, error) {
	if o.next != nil {
		return o.next(ctx, tools, lease)
	}
	return o.Ledger.Next(ctx, tools, lease)
}

func (o *over) Close(ctx context.Context, k idem.Key, to idem.State, reason envelope.Code) (idem.Record, error) {
	if o.close != nil {
		return o.close(ctx, k, to, reason)
	}
	return o.Ledger.Close(ctx, k, to, reason)
}

func (o *over) Resolve(ctx context.Context, k idem.Key, r idem.Resolution) (idem.Record, error) {
	if o.resolve != nil {
		return o.resolve(ctx, k, r)
	}
	return o.Ledger.Resolve(ctx, k, r)
}

func (o *over) Purge(ctx context.Context, bodies, tombstones time.Duration) (int, error) {
	if o.purge != nil {
		return o.purge(ctx, bodies, tombstones)
	}
	return o.Ledger.Purge(ctx, bodies, tombstones)
}

func replaced(f func(l idem.Ledger, o *over)) flaw {
	return flaw{wrap: func(l idem.Ledger) idem.Ledger {
		o := &over{Ledger: l}
		f(l, o)
		return o
	}}
}

// deaf is a Waker that never tells anything.
type deaf struct{ idem.Ledger }

func (deaf) Wake(ctx context.Context) (<-chan struct{}, error) {
	ch := make(chan struct{})
	close(ch)
	return ch, ctx.Err()
}

func withAdmit(change func(c *idem.Command, consumed *bool)) flaw {
	return replaced(func(l idem.Ledger, o *over) {
		o.admit = func(ctx context.Context, c idem.Command, consumed bool) (idem.Record, idem.Admission, error) {
			change(&c, &consumed)
			return l.Admit(ctx, c, consumed)
		}
	})
}

// flaws has a ledger that is broken in one way for every rule.
func flaws() map[string]flaw {
	all := map[string]flaw{}
	for _, group := range []map[string]flaw{admitFlaws(), claimFlaws(), finishFlaws(), openFlaws(), outboxFlaws(), operatorFlaws(), otherFlaws()} {
		for name, f := range group {
			all[name] = f
		}
	}
	return all
}

func admitFlaws() map[string]flaw {
	return map[string]flaw{
		"admit/new": post("Admit", func(st *step) { st.slot.Seq++ }),
		"admit/same": replaced(func(l idem.Ledger, o *over) {
			o.admit = func(ctx context.Context, c idem.Command, consumed bool) (idem.Record, idem.Admission, error) {
				r, how, err := l.Admit(ctx, c, consumed)
				if how == idem.Replayed {
					how = idem.InProgress
				}
				return r, how, err
			}
		}),
		"admit/conflict": replaced(func(l idem.Ledger, o *over) {
			o.admit = func(ctx context.Context, c idem.Command, consumed bool) (idem.Record, idem.Admission, error) {
				r, how, err := l.Admit(ctx, c, consumed)
				if errors.Is(err, idem.ErrConflict) {
					r, err = l.Find(ctx, c.Key)
					return r, idem.InProgress, err
				}
				return r, how, err
			}
		}),
		"admit/once": replaced(func(l idem.Ledger, o *over) {
			o.admit = func(ctx context.Context, c idem.Command, consumed bool) (idem.Record, idem.Admission, error) {
				r, how, err := l.Admit(ctx, c, consumed)
				if how == idem.InProgress && r.State == idem.Pending {
					how = idem.Admitted
				}
				return r, how, err
			}
		}),
		"admit/tenants": {key: func(k idem.Key) idem.Key { return idem.Key{Tenant: "all", Operation: k.Operation} }},
		"admit/bytes": withAdmit(func(c *idem.Command, _ *bool) {
			c.Body = append(jsontext.Value(nil), c.Body...)
			_ = c.Body.Canonicalize()
		}),
		"admit/faulty": replaced(func(l idem.Ledger, o *over) {
			o.admit = func(ctx context.Context, c idem.Command, consumed bool) (idem.Record, idem.Admission, error) {
				r, how, err := l.Admit(ctx, c, consumed)
				if errors.Is(err, idem.ErrInvalid) {
					err = nil
				}
				return r, how, err
			}
		}),
		"admit/available":   withAdmit(func(c *idem.Command, _ *bool) { c.AvailableIn = 0 }),
		"forgotten/unknown": withAdmit(func(_ *idem.Command, consumed *bool) { *consumed = false }),
		"forgotten/once": replaced(func(l idem.Ledger, o *over) {
			o.admit = func(ctx context.Context, c idem.Command, consumed bool) (idem.Record, idem.Admission, error) {
				r, how, err := l.Admit(ctx, c, consumed)
				if how == idem.InProgress && r.State == idem.Unknown { // its own operation keeps the resource
					return idem.Record{}, "", idem.ErrBusy
				}
				return r, how, err
			}
		}),
		"forgotten/busy":         pre("Admit", func(st *step) { st.slot.Open = "" }),
		"forgotten/never-resent": pre("Resend", func(st *step) { st.e.Forgotten, st.e.SentAt = false, st.now }),
	}
}

func claimFlaws() map[string]flaw {
	noGuard := pre("Claim", func(st *step) {
		if st.e.State == idem.Dispatching {
			st.e.State, st.e.Command.Seq, st.slot.Open = idem.Pending, st.slot.Seq, ""
		}
	})
	return map[string]flaw{
		"claim/barrier":  noGuard,
		"claim/one":      noGuard,
		"claim/expired":  pre("Claim", func(st *step) { st.e.ExpiresAt = st.now.Add(1) }),
		"claim/sequence": pre("Claim", func(st *step) { st.e.Command.Seq = st.slot.Seq }),
		"claim/busy":     pre("Claim", func(st *step) { st.slot.Open = "" }),
		"claim/attempts": pre("Claim", func(st *step) { st.e.Dispatches = 0 }),
		"claim/back-off": pre("Claim", func(st *step) { st.e.RetryAt = time.Time{} }),
		"claim/fresh":    {token: func() string { return "the same" }},
		"claim/lease": replaced(func(l idem.Ledger, o *over) {
			o.claim = func(ctx context.Context, k idem.Key, w string, lease time.Duration) (idem.Claim, error) {
				return l.Claim(ctx, k, w, max(lease, 1))
			}
		}),
		"lease/reaped": {noReap: func(op string, _ *row) bool { return op == "Next" }},
		"lease/fenced": pre("Finish", func(st *step) {
			if !st.e.State.Terminal() {
				st.claim.Token, st.claim.Generation = st.e.Token, st.e.Generation
				if st.e.Token == "" {
					st.e.Token, st.claim.Token = "any", "any"
				}
			}
		}),
		"lease/late-holder": pre("Finish", func(st *step) { st.e.Reap(st.now) }),
		"lease/renewed": {
			noReap: func(op string, _ *row) bool { return op == "Renew" },
			pre: func(st *step) {
				if st.op == "Renew" {
					st.e.LeaseUntil = st.now.Add(1)
				}
			},
		},
		"lease/due":      post("Claim", func(st *step) { st.e.DueAt = st.now }),
		"lease/resource": post("reap", func(st *step) { st.slot.Open = "" }),
	}
}

// repeats is a ledger that believes a claim that finished before.
func repeats(believed func(first, then idem.Outcome) bool) flaw {
	return replaced(func(l idem.Ledger, o *over) {
		said := map[string]idem.Outcome{}
		o.finish = func(ctx context.Context, c idem.Claim, out idem.Outcome) (idem.Record, error) {
			if first, ok := said[c.Token]; ok && believed(first, out) {
				return l.Find(ctx, c.Key)
			}
			r, err := l.Finish(ctx, c, out)
			if err == nil {
				said[c.Token] = out
			}
			return r, err
		}
	})
}

func finishFlaws() map[string]flaw {
	return map[string]flaw{
		"finish/ends":  finished(idem.Failed, func(st *step) { st.e.Attempt.EndedAt = time.Time{} }),
		"finish/token": pre("Finish", func(st *step) { st.claim.Generation = st.e.Generation }),
		"finish/unknown then known": pre("Finish", func(st *step) {
			if st.e.State == idem.Unknown && st.e.Token == "" {
				st.outcome.State, st.outcome.Result = idem.Unknown, nil
			}
		}),
		"finish/again":    pre("Finish", func(st *step) { st.e.Finished = "" }),
		"finish/other":    repeats(func(_, _ idem.Outcome) bool { return true }),
		"finish/since":    repeats(func(first, then idem.Outcome) bool { return first.State == then.State }),
		"finish/terminal": pre("ClaimOpen", func(st *step) { st.e.State = idem.Unknown }),
		"finish/states": pre("Finish", func(st *step) {
			if st.outcome.State == idem.Denied {
				st.outcome.State = idem.Failed
			}
		}),
		"finish/faulty": pre("Finish", func(st *step) {
			if st.outcome.Result != nil && !st.outcome.Result.IsValid() {
				st.outcome.Result = nil
			}
		}),
		"finish/faulty-output": pre("Finish", func(st *step) {
			if st.outcome.State == idem.Succeeded {
				st.outcome.Failure = nil
			}
		}),
		"evidence/kept": {noEvidence: true},
		"evidence/receipt": replaced(func(l idem.Ledger, o *over) {
			o.finish = func(ctx context.Context, c idem.Claim, out idem.Outcome) (idem.Record, error) {
				out.Receipt = ""
				return l.Finish(ctx, c, out)
			}
		}),
		"not-sent/pending": finished(idem.Pending, func(st *step) {
			if st.e.State == idem.Pending {
				st.e.Command.Seq = 0
			}
		}),
		"not-sent/raises": finished(idem.Pending, func(st *step) {
			if st.e.State == idem.Pending {
				st.slot.Seq--
				st.e.Command.Seq--
			}
		}),
		"not-sent/doubtful": pre("Finish", func(st *step) { st.e.Doubtful = false }),
		"resource/own":      post("Close", func(st *step) { st.slot.Open = "" }),
		"resource/held":     finished(idem.Running, func(st *step) { st.slot.Open = "" }),
		"resource/raised":   finished(idem.Failed, func(st *step) { st.slot.Seq-- }),
		"resource/tenant":   {slotKey: func(_, resource string) string { return resource }},
	}
}

func openFlaws() map[string]flaw {
	noLease := pre("ClaimOpen", func(st *step) { st.e.LeaseUntil = st.now })
	return map[string]flaw{
		"running/receipt": finished(idem.Running, func(st *step) { st.e.DueAt = st.now }),
		"running/until":   {noReap: func(_ string, e *row) bool { return e.State == idem.Running }},
		"running/poll":    finished(idem.Running, func(st *step) { st.e.RunningUntil = st.now.Add(st.e.Command.RunFor) }),
		"running/cancelled": pre("Finish", func(st *step) {
			if st.outcome.State == idem.Cancelled {
				st.outcome.State = idem.Unknown
			}
		}),
		"running/fences": finished(idem.Running, func(st *step) { st.e.Token = st.claim.Token }),
		"open/states": pre("ClaimOpen", func(st *step) {
			if st.e.State == idem.Pending {
				st.e.State = idem.Unknown
			}
		}),
		"open/one":  noLease,
		"open/busy": noLease,
		"open/idle": pre("ClaimOpen", func(st *step) { st.e.IdleSince = st.e.Attempt.StartedAt }),
		"open/release": pre("Finish", func(st *step) {
			if st.outcome.State == idem.Unknown {
				st.outcome.RetryAfter = 0
			}
		}),
		"resend/given": post("Resend", func(st *step) {
			if *st.err == nil {
				st.e.Token, st.e.Generation, st.e.Attempt.Generation = st.claim.Token, st.claim.Generation, st.claim.Generation
			}
		}),
		"resend/contract": pre("Resend", func(st *step) { st.e.Command.Contract = idem.ReplaySafe }),
		"resend/state":    pre("Resend", func(st *step) { st.e.State = idem.Unknown }),
		"resend/window":   pre("Resend", func(st *step) { st.e.Command.DedupFor = far }),
		"resend/expired":  pre("Resend", func(st *step) { st.e.ExpiresAt = st.now.Add(far) }),
		"resend/attempts": pre("Resend", func(st *step) { st.e.Dispatches = 0 }),
		"resend/holder":   pre("Resend", func(st *step) { st.e.LeaseUntil = st.now.Add(1) }),
	}
}

func outboxFlaws() map[string]flaw {
	return map[string]flaw{
		"close/pending": replaced(func(l idem.Ledger, o *over) {
			o.close = func(ctx context.Context, k idem.Key, to idem.State, _ envelope.Code) (idem.Record, error) {
				return l.Close(ctx, k, to, "")
			}
		}),
		"close/others": pre("Close", func(st *step) {
			if st.e.State == idem.Unknown {
				st.e.State = idem.Pending
			}
		}),
		"close/expired": pre("Close", func(st *step) { st.e.ExpiresAt = st.now }),
		"outbox/order":  {earlier: func(a, b *row) int { return b.DueAt.Compare(a.DueAt) }},
		"outbox/tools": replaced(func(l idem.Ledger, o *over) {
			o.next = func(ctx context.Context, _ []string, lease time.Duration) (idem.Delivery, error) {
				return l.Next(ctx, nil, lease)
			}
		}),
		"outbox/soft": post("Next", func(st *step) { st.slot.Open = st.e.Command.Key.Operation }),
		"outbox/lost": post("Next", func(st *step) { st.e.DueAt = st.now.Add(far) }),
		"outbox/later": pre("Later", func(st *step) { // acknowledging by name
			st.e.Turn = 1
		}),
		"outbox/held": pre("Later", func(st *step) { st.e.DueAt = st.now }),
		"outbox/fenced": post("Finish", func(st *step) {
			if st.outcome.State.Terminal() {
				st.e.DueAt = st.now.Add(far)
			}
		}),
		"outbox/once": post("Next", func(st *step) { st.e.DueAt = st.now }),
		"outbox/fair": {byAge: true},
		"list/open": {lists: func(r *row, list, _ string) bool {
			return !r.State.Terminal() && (list == "Open" || r.State == idem.Unknown)
		}},
		"list/unknown": {lists: func(r *row, list, run string) bool {
			return !r.State.Terminal() && (list == "Unknown" || r.Command.Run == run)
		}},
		"list/pages": {pages: true},
	}
}

func operatorFlaws() map[string]flaw {
	return map[string]flaw{
		"resolve/word":   post("Resolve", func(st *step) { st.e.Resolution = nil }),
		"resolve/state":  pre("Resolve", func(st *step) { st.e.State = idem.Unknown }),
		"resolve/settle": pre("Resolve", func(st *step) { st.e.IdleSince = st.now.Add(-far) }),
		"resolve/fences": {pre: func(st *step) {
			if st.op == "Finish" && st.e.State == idem.Succeeded {
				st.e.State, st.e.Token, st.e.Generation = idem.Unknown, st.claim.Token, st.claim.Generation
			}
		}},
		"resolve/said": replaced(func(l idem.Ledger, o *over) {
			o.resolve = func(ctx context.Context, k idem.Key, r idem.Resolution) (idem.Record, error) {
				r.By = "somebody"
				return l.Resolve(ctx, k, r)
			}
		}),
		"sweep/both":     {sweepAll: true},
		"purge/terminal": {purgeAll: true},
		"purge/tombstone": replaced(func(l idem.Ledger, o *over) {
			o.claim = func(ctx context.Context, k idem.Key, w string, lease time.Duration) (idem.Claim, error) {
				c, err := l.Claim(ctx, k, w, lease)
				if errors.Is(err, idem.ErrGone) {
					err = idem.ErrNotFound
				}
				return c, err
			}
		}),
		"purge/forgotten": {keepTomb: true},
		"purge/resource":  post("Purge", func(st *step) { *st.slot = idem.Slot{} }),
		"purge/ages": replaced(func(l idem.Ledger, o *over) {
			o.purge = func(ctx context.Context, bodies, tombstones time.Duration) (int, error) {
				return l.Purge(ctx, min(bodies, 0), tombstones)
			}
		}),
		"restored/unknown":  post("Restored", func(st *step) { st.e.Restored = false }),
		"restored/waits":    {noWait: true},
		"restored/shared":   post("Restored", func(st *step) { st.slot.Open = st.e.Command.Key.Operation }),
		"restored/sequence": {noFloor: true},
	}
}

func otherFlaws() map[string]flaw {
	return map[string]flaw{
		"border/not-found": replaced(func(l idem.Ledger, o *over) {
			o.find = func(ctx context.Context, k idem.Key) (idem.Record, error) {
				r, err := l.Find(ctx, k)
				if errors.Is(err, idem.ErrNotFound) {
					err = nil
				}
				return r, err
			}
		}),
		"border/text": replaced(func(l idem.Ledger, o *over) {
			o.next = func(ctx context.Context, tools []string, lease time.Duration) (idem.Delivery, error) {
				for _, tool := range tools {
					if !utf8.ValidString(tool) || strings.ContainsRune(tool, 0) {
						return idem.Delivery{}, errors.New("invalid byte sequence for encoding")
					}
				}
				return l.Next(ctx, tools, lease)
			}
		}),
		"border/context": replaced(func(l idem.Ledger, o *over) {
			o.finish = func(ctx context.Context, c idem.Claim, out idem.Outcome) (idem.Record, error) {
				return l.Finish(context.WithoutCancel(ctx), c, out)
			}
		}),
		"sealed/shown":   {hides: true},
		"sealed/refused": {opens: true},
		"border/copies":  {alias: true},
		"border/wake":    {wrap: func(l idem.Ledger) idem.Ledger { return deaf{l} }},
		"durable/all": {reopen: func(s *sketch) {
			for _, sl := range s.slots {
				sl.Open = ""
			}
		}},
		"peer/one": {peer: func(s *sketch) idem.Ledger {
			return &sketch{s.sketchData, pre("Claim", func(st *step) {
				if st.e.State == idem.Dispatching {
					st.e.State, st.e.Command.Seq, st.slot.Open = idem.Pending, st.slot.Seq, ""
				}
			})}
		}},
		"peer/sees": {peer: func(s *sketch) idem.Ledger {
			return &sketch{s.sketchData, flaw{noReap: func(string, *row) bool { return true }}}
		}},
	}
}

func TestSketch(t *testing.T) {
	t.Parallel()
	idemtest.Run(t, func(*testing.T) idemtest.Subject { return newSketch(flaw{}) })
}

// Every rule has a ledger that breaks it, and fails on that rule by name.
func TestBrokenLedgersFail(t *testing.T) {
	t.Parallel()
	all := flaws()
	for _, name := range idemtest.Rules() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, ok := all[name]
			require.True(t, ok, "no broken ledger for the rule")
			err := idemtest.Check(t.Context(), func() (idemtest.Subject, error) { return newSketch(f), nil })
			require.Contains(t, broke(err), name)
		})
	}
	require.Len(t, idemtest.Rules(), len(all), "a flaw without its rule")
}

// A ledger whose turns go by age alone breaks the one rule about them, and a ledger with one cursor for all workers too.
func TestUnfairLedgers(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]flaw{"by age": {byAge: true}, "one cursor": {oneCursor: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := idemtest.Check(t.Context(), func() (idemtest.Subject, error) { return newSketch(f), nil })
			require.Equal(t, []string{"outbox/fair"}, broke(err))
		})
	}
}

func broke(err error) []string {
	var names []string
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			var b *idemtest.Broken
			if errors.As(e, &b) {
				names = append(names, b.Rule)
			}
		}
	}
	return names
}
