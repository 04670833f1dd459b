package idemtest

import (
	"fmt"
	"strings"

	"github.com/toolcontract/toolcontract/idem"
)

// The contract once more, written apart from idem.Entry: what a ledger may answer to one tenant with one resource and
// three operations on it. Time is counted in ticks, of an hour each; what a clock adds by running does not reach a tick.

const (
	specOps      = 3
	specLease    = 2  // ticks
	specExpires  = 20 // of the first operation; the others live on
	specDedup    = 7
	specRun      = 4
	specSettle   = 2
	specRetry    = 1
	specAttempts = 3
	never        = 1 << 20
)

// spec is a state. It is comparable.
type spec struct {
	now  int
	seq  int64
	open int // operation + 1
	ops  [specOps]opSpec
}

type opSpec struct {
	state                idem.State // "": not admitted
	seq                  int64
	gen, turn            int64
	token                string // "?…": nobody knows it, its answer was lost
	finished             string // token and state of the last Finish, until something else changes it
	lease, due, retry    int
	sent, idle, until    int
	expires              int
	dispatches, attempts int
	doubtful, forgotten  bool
	evidence             string
}

// call is what a client asked, answer what it was told. A lost answer says nothing, not even whether the call was made.
type call struct {
	op       string
	tenant   int // -1: all
	i        int // operation
	hash     string
	seq      int64
	consumed bool
	gen      int64
	token    string
	state    idem.State // of Finish, Close, Resolve
	turn     int64
	ticks    int
	alone    bool // Next, when no other client is there
}

type answer struct {
	lost     bool
	err      string
	how      idem.Admission
	state    idem.State
	gen      int64
	token    string
	i        int // of Next
	turn     int64
	seq      int64
	open     int
	attempts int
	evidence int
}

// step returns every state that the ledger may be in after it answered a to c in state s.
func (s spec) step(c call, a answer) []spec {
	var out []spec
	for _, r := range s.results(c, a) {
		if a.lost || r.fits(c, a) {
			out = append(out, r.next)
		}
	}
	if a.lost {
		out = append(out, s)
	}
	return out
}

// result is a state and what the contract lets the ledger say on the way to it.
type result struct {
	next spec
	says answer
}

func (r result) fits(c call, a answer) bool {
	switch {
	case c.op == "Sweep" || c.op == "Advance" || c.op == "Later":
		return a.err == ""
	case c.op == "Next" && !c.alone: // what it says of the operation is a hint
		a.state, a.attempts = r.says.state, r.says.attempts
	}
	return r.says == a
}

func (s spec) results(c call, a answer) []result {
	switch c.op {
	case "Advance":
		s.now += c.ticks
		return []result{{s, answer{}}}
	case "Admit":
		return s.admit(c)
	case "Resource":
		return []result{{s, answer{seq: s.seq, open: s.open}}}
	case "Next":
		return s.deliver(c.alone)
	case "Sweep":
		return s.sweep()
	}
	o := &s.ops[c.i]
	if o.state == "" {
		if c.op == "Later" {
			return []result{{s, answer{}}}
		}
		return refuse(s, idem.ErrNotFound)
	}
	if c.op == "Finish" {
		return s.finish(c)
	}
	s.reap(c.i)
	switch c.op {
	case "Find":
		return []result{{s, s.record(c.i)}}
	case "Claim":
		return s.claim(c, a)
	case "ClaimOpen":
		return s.claimOpen(c, a)
	case "Resend":
		return s.resend(c, a)
	case "Renew":
		return s.renew(c)
	case "Close":
		return s.shut(c)
	case "Resolve":
		return s.resolve(c)
	case "Later":
		if !o.state.Terminal() && !o.held(s.now) && c.turn == o.turn {
			o.due = s.now + c.ticks
		}
		return []result{{s, answer{}}}
	}
	return nil
}

func refuse(s spec, err error) []result { return []result{{s, answer{err: err.Error()}}} }

func (s spec) record(i int) answer {
	o := s.ops[i]
	return answer{state: o.state, seq: o.seq, attempts: o.attempts, evidence: strings.Count(o.evidence, ";")}
}

func (o *opSpec) held(now int) bool { return o.token != "" && now < o.lease }

func (o *opSpec) holds(c call) bool { return o.token != "" && o.token == c.token && o.gen == c.gen }

func (s *spec) reap(i int) {
	o := &s.ops[i]
	switch {
	case o.state == idem.Dispatching && s.now >= o.lease:
		o.idle = o.lease
	case o.state == idem.Running && s.now >= o.until:
	default:
		return
	}
	o.doubt()
	o.retry, o.due = 0, min(o.due, s.now)
}

func (o *opSpec) doubt() {
	o.state, o.token, o.finished, o.doubtful = idem.Unknown, "", "", true
	o.gen++
}

func (o *opSpec) expire() { o.state, o.finished, o.due, o.retry = idem.Expired, "", never, 0 }

func (s *spec) end(i int, to idem.State) {
	o := &s.ops[i]
	o.state, o.token, o.finished, o.due = to, "", "", never
	if s.open == i+1 {
		s.seq, s.open = s.seq+1, 0
	}
}

func (s spec) admit(c call) []result {
	o := &s.ops[c.i]
	if o.state != "" {
		s.reap(c.i)
		if c.hash != "h" {
			return refuse(s, idem.ErrConflict)
		}
		says := s.record(c.i)
		says.how = idem.InProgress
		if o.state.Terminal() {
			says.how = idem.Replayed
		}
		return []result{{s, says}}
	}
	if c.hash != "h" {
		return nil // the workload asks so only for what is there
	}
	if c.consumed && s.open != 0 {
		return refuse(s, idem.ErrBusy)
	}
	*o = opSpec{state: idem.Pending, seq: c.seq, due: s.now, expires: never}
	if c.i == 0 {
		o.expires = s.now + specExpires
	}
	if c.consumed {
		o.state, o.doubtful, o.forgotten, o.idle = idem.Unknown, true, true, s.now
		s.seq, s.open = s.seq+1, c.i+1
	}
	says := s.record(c.i)
	says.how = idem.Admitted
	return []result{{s, says}}
}

func (s spec) claim(c call, a answer) []result {
	o := &s.ops[c.i]
	switch {
	case o.state != idem.Pending:
		return refuse(s, idem.ErrState)
	case s.now >= o.expires:
		o.expire()
		return refuse(s, idem.ErrState)
	case o.seq != s.seq:
		return refuse(s, idem.ErrSequence)
	case s.open != 0:
		return refuse(s, idem.ErrBusy)
	case o.dispatches >= specAttempts:
		return refuse(s, idem.ErrAttempts)
	case s.now < o.retry:
		return refuse(s, idem.ErrBusy)
	}
	s.seq, s.open = s.seq+1, c.i+1
	o.sent = s.now
	return s.dispatch(c.i, specLease, a)
}

// give hands out a claim. Its token is what the answer says; where that was lost, one that nobody has.
func (s spec) give(i, lease int, a answer) []result {
	o := &s.ops[i]
	o.gen++
	o.token, o.finished, o.lease, o.due = a.token, "", s.now+lease, s.now+lease
	if a.lost {
		o.token = fmt.Sprint("?", o.gen)
	}
	return []result{{s, answer{gen: o.gen, token: a.token}}}
}

func (s spec) dispatch(i, lease int, a answer) []result {
	o := &s.ops[i]
	o.state = idem.Dispatching
	o.dispatches++
	o.attempts++
	return s.give(i, lease, a)
}

func (s spec) claimOpen(c call, a answer) []result {
	o := &s.ops[c.i]
	switch {
	case o.held(s.now):
		return refuse(s, idem.ErrBusy)
	case o.state != idem.Unknown && o.state != idem.Running:
		return refuse(s, idem.ErrState)
	}
	return s.give(c.i, specLease, a)
}

func (s spec) resend(c call, a answer) []result {
	o := &s.ops[c.i]
	if !o.holds(c) || !o.held(s.now) {
		return refuse(s, idem.ErrFenced)
	}
	window := o.sent + specDedup - s.now
	switch {
	case o.state != idem.Unknown, o.forgotten, window <= 0, s.now >= o.expires:
		return refuse(s, idem.ErrState)
	case o.dispatches >= specAttempts:
		return refuse(s, idem.ErrAttempts)
	}
	return s.dispatch(c.i, min(specLease, window), a)
}

func (s spec) renew(c call) []result {
	o := &s.ops[c.i]
	if !o.holds(c) || !o.held(s.now) {
		return refuse(s, idem.ErrFenced)
	}
	lease := specLease
	if o.state == idem.Dispatching && o.doubtful {
		lease = min(lease, o.sent+specDedup-s.now)
	}
	o.lease, o.due = s.now+lease, s.now+lease
	return []result{{s, answer{gen: c.gen, token: c.token}}}
}

func (s spec) finish(c call) []result {
	o := &s.ops[c.i]
	switch {
	case o.finished == c.token+" "+string(c.state):
		return []result{{s, s.record(c.i)}}
	case !o.holds(c):
		if e := fmt.Sprintf("%d %s;", c.gen, c.state); c.state != idem.Unknown && c.gen <= o.gen && !strings.Contains(o.evidence, e) {
			o.evidence += e
		}
		return refuse(s, idem.ErrFenced)
	case c.state == idem.Cancelled && o.state != idem.Running:
		return refuse(s, idem.ErrState)
	}
	if o.state == idem.Dispatching {
		o.idle = s.now
	}
	switch c.state {
	case idem.Succeeded, idem.Failed, idem.Cancelled:
		s.end(c.i, c.state)
		o.finished = c.token + " " + string(c.state)
		return []result{{s, s.record(c.i)}}
	case idem.Running:
		if o.state != idem.Running {
			o.until = s.now + specRun
		}
		o.state, o.token = idem.Running, ""
	case idem.Pending, idem.Unknown:
		s.nothing(c.i, c.state)
	case idem.Dispatching, idem.Denied, idem.Expired: // the workload does not ask for them
	}
	o.retry, o.due, o.finished = s.now+specRetry, s.now+specRetry, c.token+" "+string(c.state)
	return []result{{s, s.record(c.i)}}
}

// nothing ends a claim that proved nothing, or that nothing was sent.
func (s *spec) nothing(i int, proved idem.State) {
	o := &s.ops[i]
	switch {
	case o.state != idem.Dispatching:
		o.token = ""
	case proved == idem.Pending && !o.doubtful:
		o.state, o.token = idem.Pending, ""
		s.seq, s.open = s.seq+1, 0
		o.seq = s.seq
	default:
		o.doubt()
	}
}

func (s spec) shut(c call) []result {
	if s.ops[c.i].state != idem.Pending {
		says := s.record(c.i)
		says.err = idem.ErrState.Error()
		return []result{{s, says}}
	}
	o := &s.ops[c.i]
	o.state, o.finished, o.due, o.retry = c.state, "", never, 0
	return []result{{s, s.record(c.i)}}
}

func (s spec) resolve(c call) []result {
	o := &s.ops[c.i]
	switch {
	case o.state != idem.Unknown:
		return refuse(s, idem.ErrState)
	case c.state == idem.Failed && s.now < o.idle+specSettle:
		return refuse(s, idem.ErrBusy)
	}
	o.gen++
	s.end(c.i, c.state)
	return []result{{s, s.record(c.i)}}
}

// deliver may choose among the rows that are due: those of one tick have no order. Beside other calls it may pass over
// any row, for they may be at work on it, and find that there was nothing to reap; alone it may not.
func (s spec) deliver(alone bool) []result {
	var rs []result
	first := never
	for _, o := range s.ops {
		if o.state != "" && !o.state.Terminal() {
			first = min(first, o.due)
		}
	}
	for i, o := range s.ops {
		if o.state == "" || o.state.Terminal() || o.due > s.now || alone && o.due > first {
			continue
		}
		rs = append(rs, s.handOut(i, true))
		if !alone {
			rs = append(rs, s.handOut(i, false))
		}
	}
	if rs == nil || !alone {
		rs = append(rs, refuse(s, idem.ErrEmpty)...)
	}
	return rs
}

func (s spec) handOut(i int, reap bool) result {
	if reap {
		s.reap(i)
	}
	o := &s.ops[i]
	o.turn++
	o.due = s.now + specLease
	return result{s, answer{i: i, state: o.state, attempts: o.dispatches, turn: o.turn}}
}

// sweep may do a part.
func (s spec) sweep() []result {
	rs := make([]result, 0, 1<<specOps)
	for which := range 1 << specOps {
		n := s
		for i := range n.ops {
			if o := &n.ops[i]; which&(1<<i) != 0 && o.state != "" {
				n.reap(i)
				if o.state == idem.Pending && n.now >= o.expires {
					o.expire()
				}
			}
		}
		rs = append(rs, result{n, answer{}})
	}
	return rs
}
