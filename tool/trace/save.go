package trace

import (
	"bytes"
	"cmp"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/toolcontract/toolcontract/idem"
)

// Why a trace is not saved.
var (
	// ErrCanary: what would be saved holds a registered canary, or a piece of one.
	ErrCanary = errors.New("trace: a canary is still inside")
	// ErrStandIn: no stand-in for a hidden value passes the schema of the place where it stands.
	ErrStandIn = errors.New("trace: nothing can stand for a hidden value")
)

// Save writes the run so far, redacted, one JSON object a line, the last of which says how many there are. Nothing is written
// where it fails: with [ErrStandIn], which names the tool and the place, or [ErrCanary], which names the line and the form in
// which the canary was found; neither holds a value.
//
// In the middle of a run the file holds the run as if what is under way had not begun: without the calls that are not
// answered and the work that has not ended, and without what ended after these began and is about the same operation: looks
// at it, its outcome. A later save has all of it.
func (r *Recorder) Save(w io.Writer, run string) error {
	out, err := r.saved(run)
	if err != nil {
		return err
	}
	for n, line := range bytes.Split(out, []byte("\n")) {
		for _, c := range r.cfg.Canaries {
			if found := c.Search(line); len(found) > 0 {
				return fmt.Errorf("%w: line %d: %s", ErrCanary, n+1, found[0])
			}
		}
	}
	if _, err := w.Write(out); err != nil {
		return fmt.Errorf("trace: save: %w", err)
	}
	return nil
}

func (r *Recorder) saved(run string) ([]byte, error) {
	r.mu.Lock()
	rec := r.runs[run]
	if rec == nil {
		r.mu.Unlock()
		return nil, errRun
	}
	s := saving{
		catalog: rec.catalog, standIns: standIns{key: r.cfg.Key, tries: map[string]int{}, public: map[string]bool{}}, own: map[*taken]bool{},
		notes: r.cfg.Notes, faults: map[*taken]string{}, left: map[*taken][]string{}, numbers: map[string]bool{},
	}
	top := rec.head
	s.steps = rec.kept()
	r.mu.Unlock()
	s.people(&top)
	steps, err := s.redacted()
	if err != nil {
		return nil, err
	}
	top.Principal = s.person(top.Principal)
	var out bytes.Buffer
	for _, line := range append(append([]any{top}, steps...), end{stepEnd, len(steps)}) {
		text, err := json.Marshal(line, json.Deterministic(true), jsontext.EscapeForHTML(false))
		if err != nil {
			return nil, fmt.Errorf("trace: save: %w", err)
		}
		out.Write(append(text, '\n'))
	}
	return out.Bytes(), nil
}

// kept are copies of the steps that came to something. Work has its number, and counts what was over before it was; what it
// asked later still was over when it was, as far as a replay goes.
func (rec *recording) kept() (out []*taken) {
	works, open := 0, rec.underWay()
	for _, t := range rec.steps {
		if t.open() || t.idle() || slices.ContainsFunc(open, t.restsOn) {
			continue
		}
		own := *t
		own.Upstream = slices.Clone(t.Upstream)
		if t.Step == stepWork {
			works++
			own.Case = "work-" + strconv.Itoa(works)
		}
		out = append(out, &own)
	}
	for n, t := range out {
		if t.last != nil {
			t.Until = upTo(out, t.last) - n
		}
		for i := range t.Upstream {
			if e := &t.Upstream[i]; e.since != nil {
				e.After = upTo(out, e.since) - n
				if t.Step == stepWork {
					e.After = min(e.After, t.Until)
				}
			}
		}
	}
	return out
}

// begun is an operation that something is under way for, or its proposal.
type begun struct {
	id string
	n  int // of the step that is under way
}

// underWay are the operations of commits that are not answered, and of work whose handler runs.
func (rec *recording) underWay() (out []begun) {
	for _, t := range rec.steps {
		if !t.open() {
			continue
		}
		if t.Step == stepWork {
			if t.ran { // else it may be another's
				out = append(out, begun{t.Operation, t.n})
			}
			continue
		}
		var in struct {
			Proposal string `json:"proposal_id"`
		}
		if json.Unmarshal(t.raw, &in) == nil && in.Proposal != "" {
			out = append(out, begun{in.Proposal, t.n}, begun{idem.OperationID(rec.head.Principal.Tenant, in.Proposal), t.n})
		}
	}
	return out
}

// open reports whether a step has come to nothing so far.
func (t *taken) open() bool { return (t.Step == stepCall || t.Step == stepWork) && !t.done }

// restsOn reports whether a step is about an operation, and ended when what is under way for it had begun.
func (t *taken) restsOn(b begun) bool {
	if t.Step == stepCall {
		return t.to >= b.n && bytes.Contains(t.raw, []byte(b.id))
	}
	return t.n > b.n && (t.Operation == b.id || t.Proposal == b.id)
}

// upTo is where the last of the steps stands that was noted no later than t.
func upTo(steps []*taken, t *taken) int {
	n, _ := slices.BinarySearchFunc(steps, t.n+1, func(s *taken, n int) int { return cmp.Compare(s.n, n) })
	return n - 1
}
