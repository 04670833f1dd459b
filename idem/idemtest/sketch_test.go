package idemtest_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/idemtest"
)

// sketch is the smallest ledger over idem.Entry, with places to break it.
type sketch struct {
	*sketchData
	flaw flaw
}

type sketchData struct {
	mu      sync.Mutex
	clock   *hands
	rows    map[idem.Key]*row
	slots   map[string]*idem.Slot
	floor   int64
	waiting int
	last    map[string]string // by tools: the tenant that was served last
}

type row struct {
	idem.Entry
	attempts []idem.Attempt
	evidence []idem.Evidence
	tomb     bool
	spoilt   bool
}

// step is a transition under way, as a flaw sees it.
type step struct {
	op      string
	now     time.Time
	e       *row
	slot    *idem.Slot
	command *idem.Command
	claim   *idem.Claim // given in
	given   *idem.Claim // handed out
	outcome *idem.Outcome
	err     *error
	s       *sketch
}

// flaw breaks a sketch. Its zero breaks nothing.
type flaw struct {
	pre, post  func(st *step)
	key        func(idem.Key) idem.Key
	slotKey    func(tenant, resource string) string
	token      func() string
	noReap     func(op string, e *row) bool
	earlier    func(a, b *row) int
	byAge      bool
	oneCursor  bool
	noEvidence bool
	purgeAll   bool
	keepTomb   bool
	noFloor    bool
	noWait     bool
	lists      func(r *row, list, run string) bool
	sweepAll   bool
	pages      bool
	alias      bool
	hides      bool
	opens      bool
	wrap       func(idem.Ledger) idem.Ledger
	peer       func(*sketch) idem.Ledger
	reopen     func(*sketch)
}

func newSketch(f flaw) idemtest.Subject {
	clock := newHands()
	s := &sketch{&sketchData{clock: clock, rows: map[idem.Key]*row{}, slots: map[string]*idem.Slot{}, last: map[string]string{}}, f}
	wrap := func(s *sketch) idem.Ledger {
		if f.wrap != nil {
			return f.wrap(s)
		}
		return s
	}
	return idemtest.Subject{
		Ledger: wrap(s), Advance: clock.Advance,
		Peer: func() (idem.Ledger, error) {
			if f.peer != nil {
				return f.peer(s), nil
			}
			return wrap(s), nil
		},
		Spoil: func(k idem.Key) error {
			r := s.rows[k]
			if r == nil {
				return idem.ErrNotFound
			}
			r.spoilt = true
			return nil
		},
		Reopen: func() (idem.Ledger, error) {
			if f.reopen != nil {
				f.reopen(s)
			}
			return wrap(s), nil
		},
	}
}

func (s *sketch) slot(tenant, resource string) *idem.Slot {
	k := tenant + "\x00" + resource
	if s.flaw.slotKey != nil {
		k = s.flaw.slotKey(tenant, resource)
	}
	if s.slots[k] == nil {
		s.slots[k] = &idem.Slot{Seq: s.floor}
	}
	return s.slots[k]
}

func (s *sketch) fresh() string {
	if s.flaw.token != nil {
		return s.flaw.token()
	}
	return rand.Text()
}

func (s *sketch) reap(st *step) {
	if s.flaw.noReap == nil || !s.flaw.noReap(st.op, st.e) {
		if st.e.Reap(st.now) {
			st.e.keepAttempt()
			reaped := *st
			reaped.op = "reap"
			s.flaw.run(s.flaw.post, &reaped)
		}
	}
}

func (flaw) run(f func(*step), st *step) {
	if f != nil {
		f(st)
	}
}

func (r *row) keepAttempt() {
	if n := len(r.attempts); r.Attempt.Generation > 0 && (n == 0 || r.attempts[n-1].Generation != r.Attempt.Generation) {
		r.attempts = append(r.attempts, r.Attempt)
	} else if n > 0 {
		r.attempts[n-1] = r.Attempt
	}
}

func (r *row) record(now time.Time, alias bool) idem.Record {
	r.keepAttempt()
	rec := r.Record(now, slices.Clone(r.attempts), slices.Clone(r.evidence))
	if r.spoilt {
		rec.Command.Body, rec.Result, rec.Sealed = nil, nil, idem.ErrSealed
		for i := range rec.Evidence {
			rec.Evidence[i].Outcome.Result = nil
		}
	}
	if alias {
		rec.Command.Body, rec.Command.Meta, rec.Result = r.Command.Body, r.Command.Meta, r.Result
	}
	return rec
}

// with is one transaction on a row.
func (s *sketch) with(ctx context.Context, st *step, k idem.Key, f func(st *step) error) (idem.Record, error) {
	if err := ctx.Err(); err != nil {
		return idem.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flaw.key != nil {
		k = s.flaw.key(k)
	}
	r := s.rows[k]
	switch {
	case r == nil:
		return idem.Record{}, idem.ErrNotFound
	case r.tomb:
		return idem.Record{Command: idem.Command{Key: k}, State: r.State}, &idem.Gone{State: r.State}
	}
	st.s, st.now, st.e, st.slot = s, s.clock.Now(), r, s.slot(k.Tenant, r.Command.Resource)
	if st.op != "Finish" {
		s.reap(st)
	}
	s.flaw.run(s.flaw.pre, st)
	err := f(st)
	st.err = &err
	s.flaw.run(s.flaw.post, st)
	return r.record(st.now, s.flaw.alias), err
}

func (s *sketch) Admit(ctx context.Context, c idem.Command, consumed bool) (idem.Record, idem.Admission, error) {
	how := idem.InProgress
	rec, err := s.with(ctx, &step{op: "Find"}, c.Key, func(st *step) error {
		if st.e.Command.RequestHash != c.RequestHash {
			return idem.ErrConflict
		}
		if st.e.State.Terminal() {
			how = idem.Replayed
		}
		return nil
	})
	if err != idem.ErrNotFound { //nolint:errorlint // with's own value
		return rec, how, cmp.Or(err, rec.Sealed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := c.Key
	if s.flaw.key != nil {
		key = s.flaw.key(key)
	}
	if s.rows[key] != nil {
		return s.rows[key].record(s.clock.Now(), false), idem.InProgress, nil
	}
	if s.waiting > 0 && !s.flaw.noWait {
		return idem.Record{}, "", idem.ErrBusy
	}
	st := &step{op: "Admit", now: s.clock.Now(), slot: &idem.Slot{}, command: &c, s: s}
	if c.Resource != "" {
		st.slot = s.slot(c.Key.Tenant, c.Resource)
	}
	s.flaw.run(s.flaw.pre, st)
	e, err := idem.NewEntry(st.now, c, consumed, st.slot)
	if err != nil {
		return idem.Record{}, "", err
	}
	st.e = &row{Entry: e}
	s.rows[key] = st.e
	s.flaw.run(s.flaw.post, st)
	return st.e.record(st.now, s.flaw.alias), idem.Admitted, nil
}

func (s *sketch) take(ctx context.Context, op string, c *idem.Claim, f func(st *step) (idem.Claim, error)) (idem.Claim, error) {
	var given idem.Claim
	spoilt := false
	_, err := s.with(ctx, &step{op: op, claim: c, given: &given}, c.Key, func(st *step) (err error) {
		given, err = f(st)
		spoilt = op != "Renew" && st.e.spoilt && !s.flaw.opens
		return err
	})
	if err != nil {
		return idem.Claim{}, err
	}
	if spoilt {
		_, err := s.Finish(ctx, given, idem.Outcome{State: idem.Pending, RetryAfter: given.Lease})
		return idem.Claim{}, cmp.Or(err, idem.ErrSealed)
	}
	return given, nil
}

func (s *sketch) Claim(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	return s.take(ctx, "Claim", &idem.Claim{Key: k}, func(st *step) (idem.Claim, error) {
		return st.e.Claim(st.now, st.slot, s.waiting > 0 && !s.flaw.noWait, s.fresh(), worker, lease)
	})
}

func (s *sketch) ClaimOpen(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	return s.take(ctx, "ClaimOpen", &idem.Claim{Key: k}, func(st *step) (idem.Claim, error) {
		return st.e.ClaimOpen(st.now, s.fresh(), worker, lease)
	})
}

func (s *sketch) Renew(ctx context.Context, c idem.Claim, lease time.Duration) (idem.Claim, error) {
	return s.take(ctx, "Renew", &c, func(st *step) (idem.Claim, error) { return st.e.Renew(st.now, *st.claim, lease) })
}

func (s *sketch) Resend(ctx context.Context, c idem.Claim, lease time.Duration) (idem.Claim, error) {
	return s.take(ctx, "Resend", &c, func(st *step) (idem.Claim, error) {
		return st.e.Resend(st.now, *st.claim, s.waiting > 0 && !s.flaw.noWait, s.fresh(), lease)
	})
}

func (s *sketch) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	rec, err := s.with(ctx, &step{op: "Finish", claim: &c, outcome: &o}, c.Key, func(st *step) error {
		err := st.e.Finish(st.now, *st.claim, *st.outcome, st.slot)
		if err == idem.ErrFenced && !s.flaw.noEvidence { //nolint:errorlint // Entry's own value
			ev, ok := st.e.Late(st.now, c, o)
			if ok && !slices.ContainsFunc(st.e.evidence, func(x idem.Evidence) bool {
				return x.Generation == ev.Generation && x.Outcome.State == ev.Outcome.State
			}) {
				st.e.evidence = append(st.e.evidence, ev)
			}
		}
		return err
	})
	return rec, err
}

func (s *sketch) Close(ctx context.Context, k idem.Key, to idem.State, reason envelope.Code) (idem.Record, error) {
	return s.with(ctx, &step{op: "Close"}, k, func(st *step) error { return st.e.Close(st.now, to, reason) })
}

func (s *sketch) Find(ctx context.Context, k idem.Key) (idem.Record, error) {
	rec, err := s.with(ctx, &step{op: "Find"}, k, func(*step) error { return nil })
	return rec, cmp.Or(err, rec.Sealed)
}

func (s *sketch) Resource(_ context.Context, tenant, resource string) (int64, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sl := s.slot(tenant, resource)
	return sl.Seq, sl.Open, nil
}

func (s *sketch) Resolve(ctx context.Context, k idem.Key, r idem.Resolution) (idem.Record, error) {
	return s.with(ctx, &step{op: "Resolve"}, k, func(st *step) error {
		waited := st.e.Restored
		err := st.e.Resolve(st.now, r, st.slot)
		if err == nil && waited {
			s.waiting--
		}
		return err
	})
}

func (s *sketch) Next(ctx context.Context, tools []string, lease time.Duration) (idem.Delivery, error) {
	if lease <= 0 {
		return idem.Delivery{}, idem.ErrInvalid
	}
	if err := ctx.Err(); err != nil {
		return idem.Delivery{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := strings.Join(tools, " ")
	if s.flaw.oneCursor {
		asked = ""
	}
	due := s.sorted(func(r *row) bool {
		return !r.State.Terminal() && !r.DueAt.After(s.clock.Now()) && (tools == nil || slices.Contains(tools, r.Command.Tool))
	}, func(a, b *row) int {
		if s.flaw.earlier != nil {
			return s.flaw.earlier(a, b)
		}
		turn := 0
		if x, y := a.Command.Key.Tenant, b.Command.Key.Tenant; !s.flaw.byAge && x != y {
			last := s.last[asked]
			turn = cmp.Or(strings.Compare(fmt.Sprint(x <= last), fmt.Sprint(y <= last)), strings.Compare(x, y))
		}
		return cmp.Or(turn, a.DueAt.Compare(b.DueAt))
	})
	if len(due) == 0 {
		return idem.Delivery{}, idem.ErrEmpty
	}
	s.last[asked] = due[0].Command.Key.Tenant
	st := &step{op: "Next", now: s.clock.Now(), e: due[0], slot: s.slot(due[0].Command.Key.Tenant, due[0].Command.Resource), s: s}
	s.reap(st)
	d := due[0].Deliver(st.now, lease)
	s.flaw.run(s.flaw.post, st)
	return d, nil
}

func (s *sketch) sorted(want func(*row) bool, order func(a, b *row) int) []*row {
	var rs []*row
	for _, r := range s.rows {
		if want(r) {
			rs = append(rs, r)
		}
	}
	slices.SortFunc(rs, order)
	return rs
}

func (s *sketch) Later(ctx context.Context, d idem.Delivery, after time.Duration) error {
	_, err := s.with(ctx, &step{op: "Later"}, d.Key, func(st *step) error {
		st.e.Later(st.now, d, after)
		return nil
	})
	if err == idem.ErrNotFound { //nolint:errorlint // with's own value
		return nil
	}
	return err
}

func (s *sketch) list(list, tenant, run string, page idem.Page) ([]idem.Record, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	skip := 0
	if page.Cursor != "" {
		var err error
		if skip, err = strconv.Atoi(page.Cursor); err != nil {
			return nil, "", idem.ErrInvalid
		}
	}
	for _, r := range s.rows {
		s.reap(&step{op: list, now: now, e: r, slot: s.slot(r.Command.Key.Tenant, r.Command.Resource), s: s})
	}
	rs := s.sorted(func(r *row) bool {
		if s.flaw.lists != nil {
			return s.flaw.lists(r, list, run)
		}
		return !r.State.Terminal() && r.Command.Key.Tenant == tenant && (list == "Open" && r.Command.Run == run || list == "Unknown" && r.State == idem.Unknown)
	}, func(a, b *row) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Command.Key.Operation, b.Command.Key.Operation))
	})
	size, next := cmp.Or(page.Size, 100), ""
	rs = rs[min(skip, len(rs)):]
	if len(rs) > size {
		rs, next = rs[:size], strconv.Itoa(skip+size)
	}
	if s.flaw.pages && next != "" {
		next = strconv.Itoa(skip + size + 1)
	}
	var out []idem.Record
	for _, r := range rs {
		rec := r.record(now, false)
		if rec.Sealed != nil && s.flaw.hides {
			return nil, "", rec.Sealed
		}
		out = append(out, rec)
	}
	return out, next, nil
}

func (s *sketch) Open(_ context.Context, tenant, run string, page idem.Page) ([]idem.Record, string, error) {
	return s.list("Open", tenant, run, page)
}

func (s *sketch) Unknown(_ context.Context, tenant string, page idem.Page) ([]idem.Record, string, error) {
	return s.list("Unknown", tenant, "", page)
}

func (s *sketch) Sweep(context.Context) (idem.Swept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var n idem.Swept
	for _, r := range s.rows {
		now := s.clock.Now()
		if s.flaw.sweepAll && !r.State.Terminal() && !now.Before(r.ExpiresAt) {
			r.State = idem.Pending
		}
		if r.Reap(now) {
			n.Unknown++
		}
		if r.Expire(now) {
			n.Expired++
		}
	}
	return n, nil
}

func (s *sketch) Purge(_ context.Context, bodies, tombstones time.Duration) (int, error) {
	if bodies < 0 || tombstones < bodies {
		return 0, idem.ErrInvalid
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for k, r := range s.rows {
		age := s.clock.Now().Sub(r.UpdatedAt)
		switch {
		case !r.State.Terminal() && !s.flaw.purgeAll || age < bodies:
		case age >= tombstones && !s.flaw.keepTomb:
			delete(s.rows, k)
			s.flaw.run(s.flaw.post, &step{op: "Purge", e: r, slot: s.slot(k.Tenant, r.Command.Resource), s: s})
			n++
		case !r.tomb:
			r.tomb = true
			n++
		}
	}
	return n, nil
}

func (s *sketch) Restored(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if !s.flaw.noFloor {
		s.floor = max(s.floor+1, now.UnixMicro())
	}
	for _, sl := range s.slots {
		sl.Seq = max(sl.Seq+1, s.floor)
	}
	s.waiting = 0
	for k, r := range s.rows {
		if !r.State.Terminal() {
			st := &step{op: "Restored", now: now, e: r, slot: s.slot(k.Tenant, r.Command.Resource), s: s}
			s.flaw.run(s.flaw.pre, st)
			r.Restore(now, st.slot)
			s.flaw.run(s.flaw.post, st)
			s.waiting++
		}
	}
	return nil
}
